"""The report's numbers against brute force, and its page as text: nothing in it can be mistaken for markup."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from support.pages import page_shows

from medianmap import (
    BatchKMeans,
    BatchSOM,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    PrototypeClassifier,
    check_dissimilarity,
    uncertainty,
)
from medianmap.core.quality import topographic_error
from medianmap.estimators.base import BaseMap
from medianmap.explore import judged, superclusters, two_best
from medianmap.report.exemplars import alphabet_of, exemplar_drawings
from medianmap.report.html import PER_LISTED, caps, embedded, n_bytes, page_content, render
from medianmap.report.order import pairs_of
from medianmap.report.summary import summarize, written
from medianmap.sources import as_dissimilarity
from medianmap.utils.palette import RAMPS

IRIS = load_iris()
SPECIES = [str(name) for name in IRIS.target_names[IRIS.target]]
ROUNDED = {"rel": 2e-5, "abs": 1e-12}


@pytest.fixture(scope="module")
def som():
    return MedianSOM((3, 4), random_state=0).fit(IRIS.data)


@pytest.fixture(scope="module")
def gas():
    return MedianNeuralGas(7, random_state=0).fit(IRIS.data)


@pytest.fixture(scope="module")
def D():
    return np.sqrt(((IRIS.data[:, None] - IRIS.data[None]) ** 2).sum(axis=2))


def test_neurons_of_a_lattice_by_brute_force(som, D):
    content = page_shows(som, IRIS.data, y=SPECIES)
    w = som.medoid_indices_
    nearest = D[:, w].argmin(axis=1)
    for j, neuron in enumerate(content["neurons"]):
        at = np.flatnonzero(nearest == j)
        touching = [
            l for l in range(12) if 0 < np.hypot(*(som.lattice_.positions[j] - som.lattice_.positions[l])) < 1.1
        ]
        assert neuron["hits"] == len(at)
        assert (neuron["row"], neuron["column"]) == divmod(j, 4)
        assert neuron["exemplar"] == str(w[j])
        assert neuron["quality"] == pytest.approx(D[at, w[j]].mean(), **ROUNDED)
        assert neuron["u"] == pytest.approx(D[w[j], w[touching]].mean(), **ROUNDED)
        share = [np.mean([SPECIES[i] == name for i in at]) for name in content["class_names"]]
        counts = dict(zip(*[iter(content["labels"]["counts"][j])] * 2, strict=True))
        assert counts == {c: n for c, n in enumerate(np.array(share) * len(at)) if n}
        assert neuron["purity"] == pytest.approx(max(share), **ROUNDED)
        assert neuron["majority"] == content["class_names"][int(np.argmax(share))]
    assert content["n_points"] == 150
    assert content["lattice"] == {"kind": "hexagonal", "grid": [3, 4], "periodic": False}
    assert content["quality"]["quantization_error"] == pytest.approx(som.quantization_error_, **ROUNDED)
    assert content["quality"]["mean_dissimilarity"] == pytest.approx(D[:, w].min(axis=1).mean(), **ROUNDED)
    assert content["quality"]["topographic_error"] == pytest.approx(topographic_error(D[:, w], som.lattice_), **ROUNDED)
    groups = superclusters(D[np.ix_(w, w)], hits=som.hits_)
    assert [neuron["group"] for neuron in content["neurons"]] == groups.groups.tolist()
    assert content["training"]["quantization_error"][-1] == pytest.approx(som.quantization_error_, **ROUNDED)


def test_members_are_sorted_and_complete(som, D):
    ids = [f"flower {i}" for i in range(150)]
    content = page_shows(som, IRIS.data, ids=ids, y=SPECIES)
    G = D[:, som.medoid_indices_]
    for j, members in enumerate(content["members"]):
        at = [i for i in np.argsort(G[:, j], kind="stable") if G[i].argmin() == j]
        assert members["ids"] == [ids[i] for i in at]
        assert members["dissimilarities"] == pytest.approx(G[at, j], rel=1e-4)
        assert [content["class_names"][c] for c in members["classes"]] == [SPECIES[i] for i in at]
        assert members["others"] == []
    assert content["listed"] == {"cap": None, "complete": True, "n_listed": 150, "n_searchable": 150}


def test_the_most_unusual_and_those_on_borders_are_listed(som, gas, D):
    ids = [f"flower {i}" for i in range(150)]
    facts = summarize(som, IRIS.data, ids=ids, pairs=as_dissimilarity(D), structure=True)
    told = judged(two_best(som, IRIS.data), as_dissimilarity(D))
    groups = np.array([neuron["group"] for neuron in facts["neurons"]])
    assert facts["groups"]["n"] == groups.max() + 1
    assert facts["groups"]["why"].startswith(f"{facts['groups']['n']} groups")
    for name, score, flag in (("outliers", "outlier_score", "outlier"), ("borders", "border_score", "border")):
        order = np.argsort(-told[score], kind="stable")[:20]
        for each, i in zip(facts[name], order, strict=True):
            assert (each["point"], each["id"], each["neuron"]) == (i, ids[i], som.labels_[i])
            assert each["score"] == told[score][i]
            assert each["flagged"] == told[flag][i]
            if name == "borders":
                assert groups[each["second"]] != groups[each["neuron"]]
        for members in facts["members"]:
            at = [int(name.split()[1]) for name in members["ids"]]
            assert members[score] == told[score][at].tolist()
    assert facts["n_outliers"] == told["outlier"].sum()
    assert facts["n_border_points"] == told["border"].sum()
    # Where all pairs would have to be computed first, scores are by exemplars, and the page says so.
    assert not facts["scored_by_exemplars"]
    by_exemplars = summarize(som, IRIS.data, pairs=pairs_of(som, IRIS.data), structure=True)
    assert by_exemplars["scored_by_exemplars"]
    assert page_content(by_exemplars)["scored_by_exemplars"]
    kept = written(facts)
    assert (kept["outliers"], kept["borders"], kept["groups"]) == (facts["outliers"], facts["borders"], facts["groups"])
    # Seven prototypes or fewer are each a group of their own.
    assert [each["second"] for each in summarize(gas, IRIS.data)["borders"]] == [
        int(two_best(gas, IRIS.data)["second"][each["point"]]) for each in summarize(gas, IRIS.data)["borders"]
    ]


def test_a_cap_leaves_the_other_ids_to_be_searched(som):
    content = page_shows(som, IRIS.data, members=3)
    full = page_shows(som, IRIS.data)
    for capped, members in zip(content["members"], full["members"], strict=True):
        assert capped["ids"] == members["ids"][:3]
        assert capped["ids"] + capped["others"] == members["ids"]
    assert content["listed"]["cap"] == 3
    assert not content["listed"]["complete"]
    assert content["listed"]["n_searchable"] == 150


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(3, 40)), min_size=1, max_size=60),
    st.integers(0, 4000),
    st.none() | st.integers(1, 20),
)
def test_what_is_listed_fits(points, n_free, most):
    owner, size = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    rank = np.array([int((owner[:i] == owner[i]).sum()) for i in range(len(owner))])
    cap, reach = caps(rank, size, n_free, most)
    taken = size[rank < reach].sum() + PER_LISTED * (rank < cap).sum()
    assert cap <= reach
    if most is None:
        assert taken <= n_free
        if size.sum() <= n_free:  # every id can be found as long as all fit
            assert reach > rank.max()
        if size.sum() + PER_LISTED * len(size) <= n_free:
            assert cap > rank.max()
    else:
        assert cap == min(most, rank.max() + 1)


def test_names_too_long_for_a_page_are_left_to_the_file(rng):
    X = rng.normal(size=(30_000, 2))
    ids = [f"{'<>&' * 12}{i:05d}" for i in range(len(X))]
    content = page_shows(BatchKMeans(20, random_state=0, max_iter=2).fit(X), X, ids=ids)
    listed = content["listed"]
    assert 0 < listed["n_listed"] < listed["n_searchable"] < 30_000
    assert not listed["complete"]
    assert 4_000_000 < len(render(content).encode()) < 5_000_000
    assert max(len(members["ids"]) for members in content["members"]) == listed["cap"]


def test_a_graph_by_brute_force(gas, D):
    content = page_shows(gas, IRIS.data)
    G, w = D[:, gas.medoid_indices_], gas.medoid_indices_
    count = {}
    for row in G:
        pair = tuple(sorted(np.argsort(row, kind="stable")[:2].tolist()))
        count[pair] = count.get(pair, 0) + 1
    assert {(a, b): n for a, b, _, n in content["edges"]} == count
    for a, b, d, _ in content["edges"]:
        assert d == pytest.approx(D[w[a], w[b]], **ROUNDED)
    for j, neuron in enumerate(content["neurons"]):
        joined = [D[w[j], w[l]] for pair in count if j in pair for l in pair if l != j]
        assert neuron["u"] == (pytest.approx(np.mean(joined), **ROUNDED) if joined else None)
    places = np.array([[n["x"], n["y"]] for n in content["neurons"]])
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    S = D[np.ix_(w, w)]
    assert np.ptp(places[:, 0]) == pytest.approx(1.0)
    assert np.corrcoef(apart[np.triu_indices(7, 1)], S[np.triu_indices(7, 1)])[0, 1] > 0.98
    assert content["lattice"] is None
    assert 0 <= content["stress"] < 0.2


def test_too_many_edges_leave_the_strongest(rng):
    X = rng.normal(size=(3000, 12))
    content = page_shows(BatchKMeans(40, random_state=0, max_iter=2).fit(X), X)
    assert len(content["edges"]) == 240
    assert content["edges_left_out"] > 0


def test_the_other_maps(som, D, rng):
    precomputed = page_shows(MedianSOM((3, 4), metric="precomputed", random_state=0).fit(D), D)
    for a, b in zip(precomputed["neurons"], page_shows(som, IRIS.data)["neurons"], strict=True):
        assert a["exemplar"] == b["exemplar"]
        assert a["u"] == pytest.approx(b["u"], **ROUNDED)
    assert precomputed["exemplars"] == {"kind": "id", "data": []}
    named = as_dissimilarity(D, ids=[f"p{i}" for i in range(150)])
    carried = page_shows(MedianKMeans(4, metric="precomputed", random_state=0).fit(named), named)
    assert all(neuron["exemplar"].startswith("p") for neuron in carried["neurons"])

    patches = PatchClusterer(MedianSOM((2, 3), random_state=0), patch_size=50).fit(IRIS.data)
    told = page_shows(patches, IRIS.data)
    assert told["training"] is None
    assert sum(neuron["hits"] for neuron in told["neurons"]) == 150

    y = [name if i % 2 else None for i, name in enumerate(SPECIES)]
    classifier = PrototypeClassifier(MedianNeuralGas(5, random_state=0)).fit(IRIS.data, y)
    told = page_shows(classifier, IRIS.data, y=["" if name is None else name for name in y])
    expected = classifier.classes_[classifier.prototype_labels_.argmax(axis=1)]
    assert [neuron["predicts"] for neuron in told["neurons"]] == expected.tolist()
    assert sum(c < 0 for members in told["members"] for c in members["classes"]) == 75
    assert page_shows(classifier, IRIS.data, y=[""] * 150)["labels"] is None
    of_neurons = np.mean(expected[classifier.estimator_.predict(IRIS.data)] == SPECIES)
    accuracy = summarize(classifier, IRIS.data, y=SPECIES)["accuracy"]
    assert accuracy == classifier.score(IRIS.data, SPECIES) != of_neurons  # points between two neurons

    one = page_shows(BatchSOM((1, 1), n_epochs=2).fit(IRIS.data), IRIS.data)
    assert one["neurons"][0]["hits"] == 150
    assert one["quality"]["topographic_error"] is None


def test_how_sure_points_are_by_brute_force(som, gas, D):
    for model in (som, gas):
        near = np.sort(D[:, model.medoid_indices_], axis=1)[:, :2]
        margin = 1 - near[:, 0] / near[:, 1]
        told = uncertainty(model, IRIS.data, n_resamples=3)
        for sure, how in ((None, margin), (told, told.points["confidence"])):
            facts = summarize(model, IRIS.data, sure=sure)
            for j, neuron in enumerate(facts["neurons"]):
                assert neuron["sure"] == pytest.approx(how[model.labels_ == j].mean())
            certainty = facts["certainty"]
            assert certainty["mean"] == pytest.approx(how.mean())
            assert certainty["n_resamples"] == (0 if sure is None else 3)
            least = [int(point["id"]) for point in certainty["least_sure"]]
            assert len(least) == 10
            assert max(how[least]) <= np.delete(how, least).min() + 1e-12
            assert [point["ratio"] for point in certainty["least_sure"]] == pytest.approx(1 - margin[least])
            assert "certainty" in written(facts)


def test_nobody_is_unsure_on_one_neuron():
    facts = summarize(MedianKMeans(1).fit(IRIS.data), IRIS.data)
    assert facts["certainty"] == {"n_resamples": 0, "mean": None, "least_sure": []}
    assert facts["neurons"][0]["sure"] is None


def test_what_was_told_of_other_points_is_refused(som):
    told = uncertainty(som, IRIS.data, n_resamples=2)
    with pytest.raises(ValueError, match="told of 150 points, but there are 20"):
        summarize(som, IRIS.data[:20], sure=told)


def test_an_empty_neuron_has_no_quality_and_no_nearest_point():
    X = np.array([[0.0], [0.1], [10.0]])
    content = page_shows(BatchKMeans(3, init=np.array([[0.0], [10.0], [99.0]]), max_iter=1).fit(X), X)
    assert content["empty"] == 1
    assert content["neurons"][2] | {"x": 0, "y": 0, "group": 0} == {
        "neuron": 2, "x": 0, "y": 0, "hits": 0, "u": None, "quality": None, "sure": None, "group": 0, "exemplar": None,
    }  # fmt: skip
    assert json.loads(embedded(content)) == content


def test_exemplars_by_their_kind(som, rng):
    vectors = page_shows(som, IRIS.data)["exemplars"]
    assert vectors["kind"] == "vector"
    assert vectors["data"][3]["values"] == pytest.approx(IRIS.data[som.medoid_indices_[3]])
    assert vectors["quantiles"][2] == pytest.approx(
        np.quantile(IRIS.data[:, 2], [0.05, 0.25, 0.5, 0.75, 0.95]), rel=1e-4
    )

    def kind_of(W, metric=None):
        return exemplar_drawings(None, type("Fitted", (BaseMap,), {"cluster_centers_": W, "metric": metric})(), None)

    assert kind_of(["ACGT", "GGCA"])["alphabet"] == "dna"
    assert kind_of(["MKVLAW", "MTEYKL"])["alphabet"] == "protein"
    assert kind_of(["heron", "quark"]) == {
        "kind": "text", "data": [{"text": "heron", "length": 5}, {"text": "quark", "length": 5}],
    }  # fmt: skip
    long = kind_of([rng.normal(size=1000), rng.normal(size=3)])
    assert [len(each["values"]) for each in long["data"]] == [400, 3]
    assert long["data"][0]["length"] == 1000
    spectrum = kind_of([np.column_stack([np.arange(500.0), np.arange(500.0) + 1])], "spectrum-cosine")
    assert spectrum["data"][0]["y"] == [float(k) for k in range(101, 501)]
    assert kind_of([frozenset({"b", "a"})])["data"] == [{"text": "a, b", "length": 4}]
    assert kind_of(["A" * 30_000])["data"][0] == {"text": "A" * 20_000, "length": 30_000}


def test_many_features_show_those_that_set_a_prototype_apart(rng):
    X = rng.normal(size=(60, 100))
    X[:30, 77] += 50
    km = BatchKMeans(2, init=[0, 59]).fit(X)
    shown = page_shows(km, X)["exemplars"]
    assert len(shown["features"]) == 100
    for j, data in enumerate(shown["data"]):
        assert len(data["at"]) == 40
        assert data["at"] == sorted(data["at"])
        assert 77 in data["at"]
        assert data["values"] == pytest.approx(km.cluster_centers_[j, data["at"]], rel=1e-4)


@pytest.mark.parametrize(
    ("texts", "alphabet"),
    [
        (["ACGTTN", "GGRYCA"], "dna"),
        (["AUGGCU"], "dna"),
        (["NNNNA"], None),
        (["MKTAYIAKQR"], "protein"),
        (["A=B=a"], None),
        (["acgt"], None),
        ([""], None),
    ],
)
def test_alphabets(texts, alphabet):
    assert alphabet_of(texts) == alphabet


def test_wrong_lengths_are_refused(som):
    with pytest.raises(ValueError, match="2 ids for 150"):
        page_shows(som, IRIS.data, ids=["a", "b"])
    with pytest.raises(ValueError, match="2 labels in y for 150"):
        page_shows(som, IRIS.data, y=["a", "b"])
    with pytest.raises(ValueError, match="members is 0"):
        page_shows(som, IRIS.data, members=0)


def test_settings_are_plain_and_the_page_repeats_itself(som):
    def function(epoch):
        return None

    settings = {"grid": (3, 4), "metric": function, "big": np.arange(99), "sigma": np.float64(0.5), "inf": np.inf}
    points = two_best(som, IRIS.data)
    content = page_shows(
        som, IRIS.data, points=points, settings=settings, health=check_dissimilarity(IRIS.data, metric="euclidean")
    )
    assert content["settings"] == {
        "grid": "(3, 4)", "metric": "function", "big": "array of shape (99,)", "sigma": 0.5, "inf": "inf",
    }  # fmt: skip
    assert content["health"]["ok"]
    assert content["versions"].keys() >= {"medianmap", "Python", "numpy"}
    again = page_shows(som, IRIS.data, settings=settings, health=content["health"])
    assert render(content) == render(again)


# --- the page as text -------------------------------------------------------------------------------------------------

HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    "\"><b>'&amp;",
    "<!--<script>",
    "]]>\u2028\u2029",
    "tab\tline\nend",
    "\u202egnirts",
    "\ud800",
]


class Elements(HTMLParser):
    """Tags and the text of scripts and styles, as a parser of HTML sees them."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.inside, self.text = [], None, {}
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag + str(dict(attrs).get("type", ""))

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.text[self.inside] = self.text.get(self.inside, "") + data


@pytest.fixture(scope="module")
def hostile_page():
    words = [f"{text}{'x' * k}" for k, text in enumerate(HOSTILE)]
    km = MedianKMeans(3, metric="edit", random_state=0).fit(words)
    content = page_shows(km, words, ids=HOSTILE, y=HOSTILE, title=HOSTILE[0], settings={HOSTILE[1]: HOSTILE[2]})
    return content, render(content)


def test_hostile_text_is_never_markup(hostile_page):
    content, page = hostile_page
    seen = Elements(page)
    assert [tag for tag, _ in seen.tags].count("script") == 2
    assert [tag for tag, _ in seen.tags].count("img") == 0
    assert json.loads(seen.text["scriptapplication/json"]) == content
    assert seen.text["title"] == HOSTILE[0]
    for text in HOSTILE:
        if "<" in text:
            assert text not in page
    assert page.lower().count("</script") == 2
    page.encode()


def test_the_policy_names_the_very_texts(hostile_page):
    page = hostile_page[1]
    seen = Elements(page)
    policy = next(attrs["content"] for tag, attrs in seen.tags if attrs.get("http-equiv"))
    for directive, text in (("style-src", seen.text["style"]), ("script-src", seen.text["script"])):
        assert f"{directive} 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert not any(name == "style" or name.startswith("on") for _, attrs in seen.tags for name in attrs)
    asked = [value for _, attrs in seen.tags for name, value in attrs.items() if name in ("src", "href")]
    assert all(address.startswith(("data:", "#")) for address in asked)


def test_no_markup_is_made_from_text():
    scripts = [path for path in (files("medianmap") / "report/page").iterdir() if path.name.endswith(".js")]
    assert len(scripts) >= 9
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|fetch\(|XMLHttp|import\("
    for path in scripts:
        assert not re.search(forbidden, path.read_text()), path.name


@given(st.text(st.characters(exclude_categories=())) | st.sampled_from(HOSTILE))
def test_any_text_survives_and_stays_inert(text):
    told = embedded({"id": text})
    joined = text.encode("utf-16", "surrogatepass").decode(
        "utf-16", "surrogatepass"
    )  # halves of a pair find each other
    assert json.loads(told) == {"id": joined}
    assert not set(told) & set("<>&\u2028\u2029")
    assert n_bytes(text) == len(embedded(text).encode())


# --- colours ----------------------------------------------------------------------------------------------------------


def luminance(color):
    rgb = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgb)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def test_text_can_be_read_in_both_themes():
    style = (files("medianmap") / "report/page/report.css").read_text()
    colors = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}, #\w{6})\)", style))
    tints = [name for name in colors if name.startswith("tint-")]
    assert len(tints) == 10
    grounds = ("page", "card", "hover")
    pairs = [(ink, ground) for ink in ("text", "muted", "accent") for ground in grounds]
    pairs += [("text", tint) for tint in tints]
    pairs += [(level, "card") for level in ("ok", "note", "warning", "error")]
    for ink, ground in pairs:
        for a, b in zip(colors[ink].split(", "), colors[ground].split(", "), strict=True):
            assert contrast(a, b) >= 4.5, (ink, ground, a, b)
    for ring, card in zip(colors["ring"].split(", "), colors["card"].split(", "), strict=True):
        assert contrast(ring, card) >= 3


def test_the_ramps_leave_the_ground_steadily():
    for name, away in (("light", -1), ("dark", 1)):
        steps = np.diff([luminance(color) for color in RAMPS[name]])
        assert (away * steps > 0).all()


def test_what_the_training_was_like(som):
    """Why the error rises at the end, and what came after the last epoch."""
    assert page_shows(som, IRIS.data)["training"]["combines"]
    for model, combines in (
        (MedianKMeans(3, random_state=0), True),
        (MedianKMeans(3, random_state=0, refine="swap"), False),
        (MedianKMeans(3, random_state=0, refine="swap", annealing="relational"), True),
        (MedianNeuralGas(3, random_state=0, annealing="median", refine="swap"), False),
        (BatchKMeans(3, random_state=0), False),
    ):
        training = page_shows(model.fit(IRIS.data), IRIS.data)["training"]
        assert training["combines"] == combines
        assert training["swaps"] == getattr(model, "n_swaps_", None)
