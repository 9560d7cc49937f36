"""What a notebook shows of a fitted estimator: its numbers, a drawing that needs nothing, no markup of a stranger."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.maps import BATCH, MEDIAN, METHODS, blobs, estimator

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, PatchClusterer, PrototypeClassifier, load, save
from medianmap.core.neighborhood import make_lattice
from medianmap.report.notebook import FAINTEST, MOST_TITLED, bars, cells, summary_html
from medianmap.sources import as_dissimilarity

HOSTILE = '<script>alert("1")</script>&'


def parsed(html):
    """The summary as a tree: it is well formed, so that it cannot spill over into the rest of a page."""
    return ElementTree.fromstring(html)


def names_of(n):
    return [f"neuron {j}" for j in range(n)]


def table(html):
    return {row.find("th").text: row.find("td").text for row in parsed(html).iter("tr")}


@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
@pytest.mark.parametrize("method", METHODS)
def test_a_fitted_map_tells_its_numbers_below_the_diagram(method, family, rng):
    fitted = estimator(method, 6, family, random_state=0).fit(blobs(rng))
    unfitted = clone(fitted)
    diagram = BaseEstimator._repr_html_inner(fitted)
    summary = summary_html(fitted)
    for shown in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        # scikit-learn counts its diagrams, so ids in them differ
        assert len(shown) == pytest.approx(len(diagram) + len(summary), abs=50)
        assert shown.endswith(summary)
    assert fitted._repr_mimebundle_()["text/plain"] == repr(fitted)
    told = table(summary)
    assert told["model"] == type(fitted).__name__
    assert told["neurons"].startswith("6 on 2 x 3 hexagonal" if method == "som" else "6")
    assert told["epochs"] == f"{fitted.n_iter_}, {'converged' if fitted.converged_ else 'not converged'}"
    assert told["quantization error"] == f"{fitted.quantization_error_:.6g}"
    assert told["hits"] == f"{fitted.hits_.min():g} to {fitted.hits_.max():g}, 60 in all"
    assert told["empty neurons"] == (str((fitted.hits_ == 0).sum()) if (fitted.hits_ == 0).any() else "none")
    assert summary_html(unfitted) == ""
    assert "quantization error" not in unfitted._repr_html_()


def test_a_classifier_and_a_pass_over_patches_tell_what_is_in_them(rng):
    X = blobs(rng)
    y = np.array(["left", HOSTILE, "right"])[np.arange(60) % 3]
    classifier = PrototypeClassifier(MedianSOM((2, 3), n_epochs=5, random_state=0)).fit(X, y)
    told = table(summary_html(classifier))
    assert told["model"] == "PrototypeClassifier of MedianSOM"
    assert told["classes"] == f"{HOSTILE}, left, right"
    patches = PatchClusterer(MedianNeuralGas(3, n_epochs=5, random_state=0), 30).fit(X)
    told = table(summary_html(patches))
    assert told["model"] == "PatchClusterer of MedianNeuralGas"
    assert told["patches"] == "2 over 60 points"
    assert told["quantization error"] == f"{patches.quantization_error_:.6g}"
    assert "epochs" not in told
    both = PrototypeClassifier(PatchClusterer(MedianKMeans(3, random_state=0), 30)).fit(X, np.arange(60) % 20)
    html = both._repr_html_()
    told = table(html[html.rindex("<div style=") :])
    assert told["model"] == "PrototypeClassifier of PatchClusterer of MedianKMeans"
    assert told["classes"] == "0, 1, 2, 3, 4, 5, 6, 7 and 12 more"


def test_neurons_are_filled_by_their_hits_and_empty_ones_are_not(rng):
    fitted = MedianSOM((3, 4), n_epochs=5, random_state=0).fit(blobs(rng))
    hits = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0])
    paths = parsed(cells(fitted.lattice_.positions, "hexagonal", hits, names_of(12))).findall(".//path")
    opacity = [float(path.get("fill-opacity")) for path in paths]
    assert len(paths) == 12
    assert opacity[0] == opacity[11] == 0
    assert opacity[10] == 1
    assert np.all(np.diff(opacity[1:11]) > 0)
    assert opacity[1] == pytest.approx(FAINTEST + (1 - FAINTEST) / 10, abs=0.006)
    assert [path.find("title").text for path in paths][1:3] == ["neuron 1: 1", "neuron 2: 2"]
    # Neuron 0 is on top at the left, as in every other picture.
    corner = [float(x) for x in re.findall(r"[\d.]+", paths[0].get("d"))]
    last = [float(x) for x in re.findall(r"[\d.]+", paths[11].get("d"))]
    assert corner[0] < last[0]
    assert corner[1] < last[1]


def test_bars_fall_and_are_as_high_as_their_hits():
    hits = np.array([3.0, 0, 12, 6])
    paths = parsed(bars(hits, [f"neuron {j}, {name}" for j, name in enumerate(["a", "b", HOSTILE, "d"])])).findall(
        ".//path"
    )
    titles = [path.find("title").text for path in paths]
    assert titles == ["neuron 0, a: 3", f"neuron 2, {HOSTILE}: 12", "neuron 3, d: 6"]  # no bar of no hits
    box = {title: np.array(re.findall(r"[\d.]+", path.get("d")), float).reshape(-1, 2) for title, path in
           zip(titles, paths, strict=True)}  # fmt: skip
    height = {title: np.ptp(corners[:, 1]) for title, corners in box.items()}
    assert height[titles[1]] == 2 * height[titles[2]] == 4 * height[titles[0]]
    assert box[titles[1]][0, 0] < box[titles[2]][0, 0] < box[titles[0]][0, 0]


def test_a_large_map_stays_small(rng):
    hits = rng.integers(0, 300, 2000).astype(float)
    drawn = cells(make_lattice((40, 50)).positions, "hexagonal", hits, names_of(2000))
    assert len(drawn) < 200_000
    assert len(hits) > MOST_TITLED
    assert drawn.count("M") == 2000
    assert len(bars(hits, names_of(2000))) < 100_000


def test_ids_of_a_stranger_are_text(rng):
    X = blobs(rng, n=12)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    source = as_dissimilarity(D, ids=[f"{HOSTILE}{k}" for k in range(12)])
    fitted = MedianKMeans(3, metric="precomputed", random_state=0).fit(source)
    html = summary_html(fitted)
    assert "<script" not in html
    titles = [title.text for title in parsed(html).iter("title")]
    assert any(title.startswith(f"neuron 0, {fitted.prototype_ids_[0]}: ") for title in titles)


def test_nothing_is_fetched_and_nothing_runs(rng):
    html = summary_html(MedianSOM((2, 3), n_epochs=5, random_state=0).fit(blobs(rng)))
    assert not re.search(r"https?:|url\(|<script|<style|\bid=|\bon\w+=", html)


def test_scikit_learn_decides_whether_there_is_html(rng):
    fitted = MedianKMeans(3, random_state=0).fit(blobs(rng))
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}
    pipeline = make_pipeline(StandardScaler(), MedianKMeans(3, random_state=0)).fit(blobs(rng))
    assert "MedianKMeans" in pipeline._repr_html_()


def test_a_loaded_model_shows_the_same(rng, tmp_path):
    fitted = MedianSOM((2, 3), n_epochs=5, random_state=0).fit(blobs(rng))
    save(fitted, tmp_path / "model.mmap")
    assert summary_html(load(tmp_path / "model.mmap")) == summary_html(fitted)


def test_a_metric_of_the_user_has_its_name(rng):
    def apart(x, y):
        return float(abs(x - y).sum())

    fitted = MedianKMeans(2, metric=apart, random_state=0).fit(blobs(rng, n=10))
    assert table(summary_html(fitted))["neurons"] == "2, apart"


def test_matplotlib_is_not_needed(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from medianmap import MedianSOM\n"
        "import numpy as np\n"
        "print('<svg' in MedianSOM((2, 3), n_epochs=2).fit(np.arange(40.0).reshape(20, 2))._repr_html_())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
