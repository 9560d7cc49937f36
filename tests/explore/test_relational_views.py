"""Relational maps, whose prototypes are combinations, in tables, pictures, pages and commands: shown by the data points
nearest to them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from support.extras import optional
from support.fits import WORDS, rows, run

from medianmap import MedianSOM, RelationalKMeans, RelationalNeuralGas, RelationalSOM, save
from medianmap.explore import component_planes, layout, prototype_dissimilarities, two_best
from medianmap.explore.prototypes import as_lengths
from medianmap.metrics import bind
from medianmap.predict.assign_all import ratios
from medianmap.readers import write_phylip
from medianmap.report import report
from medianmap.report.notebook import summary_html

X = load_iris().data
SPECIES = [str(k) for k in load_iris().target]
MAPS = {
    "kmeans": RelationalKMeans(4, metric="sqeuclidean", random_state=0),
    "gas": RelationalNeuralGas(5, metric="sqeuclidean", random_state=0),
    "som": RelationalSOM((2, 3), metric="sqeuclidean", random_state=0),
}


@pytest.fixture(scope="module", params=MAPS)
def fitted(request):
    return MAPS[request.param].fit(X)


def means(model):
    """The prototypes as vectors, which squared Euclidean distances allow to know."""
    return model.coefficients_.toarray() @ X[model.support_]


def test_numbers_are_those_of_the_combinations(fitted):
    W = means(fitted)
    G = ((X[:, None] - W[None]) ** 2).sum(axis=2)
    points = two_best(fitted, X)
    np.testing.assert_allclose(points["dissimilarity"], G.min(axis=1), atol=1e-9)
    np.testing.assert_array_equal(points["prototype"], G.argmin(axis=1))
    P = ((W[:, None] - W[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(prototype_dissimilarities(fitted), P, atol=1e-9)
    np.testing.assert_allclose(as_lengths(fitted, prototype_dissimilarities(fitted)), np.sqrt(P), atol=1e-4)
    assert np.isfinite(layout(as_lengths(fitted, prototype_dissimilarities(fitted))).positions).all()


def test_exemplars_are_the_nearest_points(fitted):
    G = ((X[:, None] - means(fitted)[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(fitted._exemplar_objects(), X[G.argmin(axis=0)])
    np.testing.assert_array_equal(component_planes(fitted)[0], X[G.argmin(axis=0)])


def test_the_page(fitted):
    ids = [f"iris{i}" for i in range(len(X))]
    page = report(fitted, X, ids=ids, y=SPECIES)
    content = page.content
    G = ((X[:, None] - means(fitted)[None]) ** 2).sum(axis=2)
    assert [neuron["exemplar"] for neuron in content["neurons"]] == [ids[i] for i in G.argmin(axis=0)]
    assert content["exemplars"]["kind"] == "vector"
    assert content["exemplars"]["data"][0]["values"] == pytest.approx(X[G[:, 0].argmin()])
    assert [neuron["hits"] for neuron in content["neurons"]] == np.bincount(G.argmin(axis=1)).tolist()
    assert content["training"]["anneals"] == (not isinstance(fitted, RelationalKMeans))
    assert "iris0" in page.html
    assert type(fitted).__name__ in summary_html(fitted)


def test_pictures(fitted):
    pytest.importorskip("matplotlib")
    from medianmap.report.plots import pictures_of

    names = pictures_of(fitted)
    assert names == (["hits", "quality", "u-matrix", "labels", "superclusters", "component", "topology", "training"]
                     if isinstance(fitted, RelationalSOM) else ["topology", "training"])  # fmt: skip
    for name in names:
        assert fitted.plot(name, X, SPECIES).figure_ is not None


def test_less_than_nothing_counts_as_nothing():
    np.testing.assert_array_equal(ratios(np.array([-1.0, -2, 1, 0]), np.array([2.0, -1, 2, 0])), [0, 1, 0.5, 1])


def test_commands_on_a_map_of_a_matrix(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    D = bind("edit").between(WORDS, WORDS)
    ids = [f"w{k}" for k in range(len(WORDS))]
    write_phylip("D.phy", D, ids)
    (tmp_path / "D.tsv").write_text(
        "\t".join(["id", *ids])
        + "\n"
        + "".join("\t".join([i, *map(str, row)]) + "\n" for i, row in zip(ids, D, strict=True))
    )
    from medianmap.readers import read

    model = RelationalSOM((2, 2), metric="precomputed", random_state=0).fit(read("D.phy").source())
    save(model, "m.mmap")
    assert run("info", "m.mmap") == 0
    assert "RelationalSOM, 4 neurons" in capsys.readouterr().out
    # Columns that carry the ids of the exemplars are no dissimilarities to combinations.
    for file in ("D.phy", "D.tsv"):
        assert run("predict", "m.mmap", file, "-o", "p.tsv") == 0
        found = rows("p.tsv")
        assert [int(row["neuron"]) for row in found] == model.labels_.tolist()
        assert {row["exemplar"] for row in found} <= {ids[i] for i in model.exemplar_indices_}
    assert run("report", "m.mmap", "D.phy", "-o", "r.html") == 0
    optional("matplotlib")
    assert run("plot", "m.mmap", "--what", "u-matrix", "-o", "u.svg") == 0  # it knows its prototypes without the matrix
    assert run("plot", "m.mmap", "D.phy", "--what", "topology", "-o", "t.svg") == 0


def test_a_page_of_other_data_names_the_exemplars_of_training():
    """A name at the same place among other points is another's."""
    words = WORDS[:20]
    model = MedianSOM((2, 2), metric="edit", random_state=0).fit(words)
    model.prototype_ids_ = [f"trained{i}" for i in model.medoid_indices_]
    content = report(model, WORDS[20:], ids=[f"new{k}" for k in range(16)]).content
    assert [neuron["exemplar"] for neuron in content["neurons"]] == model.prototype_ids_
    del model.prototype_ids_
    content = report(model, WORDS[20:], ids=[f"new{k}" for k in range(16)]).content
    points = two_best(model, WORDS[20:])
    for j, neuron in enumerate(content["neurons"]):
        at = np.flatnonzero(points["prototype"] == j)
        nearest = f"new{at[points['dissimilarity'][at].argmin()]}" if len(at) else None
        assert neuron["exemplar"] == nearest
