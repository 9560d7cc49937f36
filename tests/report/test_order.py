"""Whether a map can be read as one: its measures in the summary, in words, and where it is torn."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy.spatial.distance import squareform
from sklearn.datasets import load_iris
from support.maps import blob_distances, blobs
from support.pages import page_shows

from medianmap import (
    BatchSOM,
    MedianNeuralGas,
    MedianSOM,
    PrototypeClassifier,
    RelationalSOM,
    as_dissimilarity,
    report,
)
from medianmap.core import quality
from medianmap.core.neighborhood import make_lattice
from medianmap.report import order, text
from medianmap.report.notebook import summary_html
from medianmap.report.summary import MOST_COMPUTED, summarize, written
from medianmap.sources import points_to
from medianmap.utils.files import table

IRIS = load_iris().data
SAID = {"map": "alike nearly everywhere", "torn map": "torn places", "clustering": "as a clustering"}


def read(G, lattice, **known):
    """The facts of a map with dissimilarities G (N, K) whose other measures are known."""
    nearest = np.argsort(G, axis=1, kind="stable")
    facts = {"quality": {"inertia": 1.0, **known}}
    order.add_order(facts, lattice, table(prototype=nearest[:, 0], second=nearest[:, :2][:, -1]))
    return facts


def perfect(shape, rng):
    """Points spread evenly over a lattice whose neurons stand at their places: G (N, K)."""
    lattice = make_lattice(shape)
    W = lattice.positions
    X = W.min(axis=0) - 0.5 + rng.random((25 * len(W), 2)) * (np.ptp(W, axis=0) + 1)
    return np.linalg.norm(X[:, None] - W[None], axis=2), lattice


def moved(share, K, rng):
    """An order of K neurons in which a share of them stands in random places."""
    some, p = rng.choice(K, round(share * K), replace=False), np.arange(K)
    p[some] = rng.permutation(some)
    return p


@pytest.mark.parametrize(("share", "reading"), [(0, "map"), (0.03, "map"), (0.1, "torn map"), (0.4, "clustering")])
def test_the_more_neurons_are_out_of_place_the_less_can_be_read(share, reading, rng):
    G, lattice = perfect((10, 10), rng)
    for _ in range(5):
        facts = read(G[:, moved(share, 100, rng)], lattice)
        assert facts["reading"] == reading
        assert SAID[reading] in facts["verdict"]
        for other in set(SAID) - {reading}:
            assert SAID[other] not in facts["verdict"]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 1])
def test_the_error_of_a_map_with_neurons_out_of_place(share, rng):
    """Two neurons in place still touch, any others do by chance: 1 - (1 - q)^2 of the error of a random order."""
    G, lattice = perfect((12, 12), rng)
    errors = [quality.topographic_error(G[:, moved(share, 144, rng)], lattice) for _ in range(30)]
    expected = (1 - (1 - share) ** 2) * quality.torn_by_chance(lattice)
    assert np.mean(errors) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("shape", [(10, 10), (4, 5), (2, 2), (1, 6)])
def test_a_random_order_is_never_called_a_map(shape, rng):
    G, lattice = perfect(shape, rng)
    readings = [read(G[:, rng.permutation(len(G[0]))], lattice)["reading"] for _ in range(60)]
    assert readings.count("clustering") >= 59  # some order of the 720 of six neurons is right by luck
    if shape == (2, 2):  # any order would do as well
        assert read(G, lattice)["reading"] == "clustering"
    elif shape != (1, 6):
        assert read(G, lattice)["reading"] == "map"


def test_where_all_touch_or_nothing_is_near_there_is_no_order(rng):
    facts = read(rng.random((30, 2)), make_lattice((1, 2)))
    assert facts["reading"] == "clustering"
    assert "no order" in facts["verdict"]
    one = read(rng.random((30, 1)), make_lattice((1, 1)))
    assert (one["reading"], one["verdict"], one["torn"]) == (None, None, [])
    assert one["quality"]["border_share"] is None


def test_what_is_far_apart_and_the_crowd_are_told_where_they_are_known(rng):
    G, lattice = perfect((6, 6), rng)
    for rho, words in ((0.7, "far apart are unlike"), (0.4, "tend to be unlike"), (0.1, "says little")):
        facts = read(G, lattice, rank_correlation=rho)
        assert f"{words} (rank correlation {rho:g})" in facts["verdict"]
    assert "crowd" not in facts["verdict"]
    unknown = read(G, lattice, rank_correlation=float("nan"))
    assert unknown["quality"]["rank_correlation"] is None
    assert "rank correlation" not in unknown["verdict"]
    share = quality.border_share(np.bincount(G.argmin(axis=1), minlength=36), lattice)
    at_border = lattice.neighbors.sum(axis=1)[G.argmin(axis=1)] < 6
    crowded = read(np.concatenate([G, *[G[at_border]] * 9]), lattice)
    assert crowded["quality"]["border_share"] > 1.5 > share
    assert f"{crowded['quality']['border_share']:.2g} times its share" in crowded["verdict"]


# --- in the summary ---------------------------------------------------------------------------------------------------


def test_every_measure_of_a_summary_is_that_of_its_definition(rng):
    D = blob_distances(rng, n=90)
    som = MedianSOM((3, 4), metric="precomputed", random_state=0).fit(D)
    facts = summarize(som, D, pairs=as_dissimilarity(D))
    source, labels, d = as_dissimilarity(D), som.labels_, som.lattice_.distances
    trust, continuity = quality.neighborhood_preservation(source, labels, d)
    G = points_to(source, som.medoid_indices_)
    for name, value in {
        "topographic_error": quality.topographic_error(G, som.lattice_),
        "torn_by_chance": quality.torn_by_chance(som.lattice_),
        "border_share": quality.border_share(som.hits_, som.lattice_),
        "trustworthiness": trust, "continuity": continuity,
        "rank_correlation": quality.rank_correlation(source, labels, d),
    }.items():  # fmt: skip
        assert facts["quality"][name] == pytest.approx(value), name
    assert facts["n_points_compared"] == 90
    shown = json.loads(json.dumps(written(facts), allow_nan=False))
    assert [shown[name] for name in ("reading", "verdict", "torn", "quality")] == [
        facts[name] for name in ("reading", "verdict", "torn", "quality")
    ]
    assert list(facts["quality"]) == [name for name in order.EXPLAINED if name in facts["quality"]]


def test_what_is_not_defined_is_none_and_not_printed(rng):
    X = blobs(rng)
    torus = MedianSOM((4, 4), periodic=True, n_epochs=10, random_state=0).fit(X)
    page = report(torus, X)
    assert page.summary["quality"]["border_share"] is None
    assert not {"border share"} & {name for name, _, _ in page.content["measures"]}
    console = Console(record=True, width=160)
    console.print(text.render(page.summary))
    printed = console.export_text()
    assert "border share" not in printed
    assert f"{page.summary['quality']['rank_correlation']:.4g}" in printed
    assert page.summary["verdict"][:60] in printed
    D = 1.0 - np.eye(12)
    same = MedianSOM((2, 3), metric="precomputed", n_epochs=3, random_state=0).fit(D)
    facts = summarize(same, D, pairs=as_dissimilarity(D))
    assert facts["quality"]["rank_correlation"] is None
    json.dumps(facts, allow_nan=False)


def test_order_is_the_matter_of_lattices_alone(rng):
    X = blobs(rng)
    content = page_shows(MedianNeuralGas(5, random_state=0).fit(X), X)
    assert content["order"] is None
    assert {name for name, _, _ in content["measures"]} == {"quantization error", "inertia", "silhouette"}


def test_a_notebook_tells_of_the_crowd(rng):
    som = MedianSOM((4, 5), n_epochs=10, random_state=0).fit(blobs(rng))
    assert f"{quality.border_share(som.hits_, som.lattice_):.2g} times its share" in summary_html(som)
    torus = MedianSOM((4, 4), periodic=True, n_epochs=10, random_state=0).fit(blobs(rng))
    assert "its share" not in summary_html(torus)


# --- the price of order -----------------------------------------------------------------------------------------------


def price(model, X, pairs, **params):
    return summarize(model, X, pairs=pairs, **params)["quality"]["price_of_order"]


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_price_of_order_against_all_medoids(symmetric, rng):
    D = blob_distances(rng, n=16)
    if not symmetric:
        D = D * (1 + 0.3 * rng.random(D.shape))
    w = [0, 1, 2]
    som = MedianSOM((1, 3), metric="precomputed", init=w, sigma_end=2, annealing="median").fit(D)
    best = min(D[:, list(each)].min(axis=1).sum() for each in combinations(range(16), 3))
    paid = D[:, som.medoid_indices_].min(axis=1).sum() / best
    assert paid > 1.05
    assert price(som, D, as_dissimilarity(D)) == pytest.approx(paid)


def test_no_price_where_it_would_not_be_that_of_order(rng):
    X = blobs(rng)
    source = as_dissimilarity(X, "euclidean")
    som = MedianSOM((2, 3), n_epochs=5, random_state=0).fit(X)
    assert price(som, X, source) >= 1
    assert price(som, X + rng.normal(size=X.shape), source) is None  # other points
    relational = RelationalSOM((2, 3), n_epochs=5, random_state=0).fit(X)
    assert price(relational, X, source) is None
    assert price(BatchSOM((2, 3), n_epochs=5, random_state=0).fit(X), X, source) is None
    labelled = PrototypeClassifier(MedianSOM((2, 3), n_epochs=5, random_state=0)).fit(X, np.arange(len(X)) % 2)
    assert price(labelled, X, source) is None
    same = np.zeros((9, 9))
    flat = MedianSOM((1, 2), metric="precomputed", random_state=0).fit(same)
    assert price(flat, same, as_dissimilarity(same)) is None


def test_a_price_is_of_all_points_or_of_none(rng, monkeypatch):
    X = rng.normal(size=(MOST_COMPUTED + 10, 2))
    som = MedianSOM((2, 3), n_epochs=5, random_state=0).fit(X)
    computed = as_dissimilarity(X, "euclidean")
    assert price(som, X, computed) is None
    kept = computed.kept()
    found = price(som, X, kept)
    assert found >= 1
    monkeypatch.setattr("medianmap.report.summary.MOST_POINTS", 100)
    facts = summarize(som, X, pairs=kept)
    assert facts["n_points_compared"] == 100
    assert facts["quality"]["price_of_order"] == found
    monkeypatch.setattr(order, "MOST_SWAPPED", 100)
    assert price(som, X, kept) is None


# --- where the dissimilarities of a report come from ------------------------------------------------------------------


def test_pairs_in_any_form(rng, tmp_path):
    D = blob_distances(rng, n=24)
    som = MedianSOM((2, 3), metric="precomputed", n_epochs=5, random_state=0).fit(D)
    np.save(tmp_path / "D.npy", D)
    names = [f"p{i}" for i in range(24)]
    every = slice(None)
    for X in (D, as_dissimilarity(D), tmp_path / "D.npy", pd.DataFrame(D, names, names), squareform(D, checks=False)):
        np.testing.assert_allclose(order.pairs_of(som, X).block(every, every), D)
    assert order.pairs_of(som, D[:5]) is None  # new points, compared with those of the fit alone
    words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    compared = as_dissimilarity(words, "edit", matrix=as_dissimilarity(words, "edit").kept())
    of_words = MedianSOM((1, 2), metric="edit", random_state=0).fit(words)
    for X in (words, compared):
        assert order.pairs_of(of_words, X).block(every, every)[0].tolist() == [0, 1, 1, 5, 5, 5]
    assert order.pairs_of(of_words, compared) is compared.matrix
    batch = BatchSOM((2, 3), n_epochs=2, random_state=0).fit(IRIS)
    squares = order.pairs_of(batch, IRIS).block(slice(0, 1), every)[0]
    np.testing.assert_allclose(squares, ((IRIS - IRIS[0]) ** 2).sum(axis=1), atol=1e-9)


def test_objects_of_a_report_are_compared_once_and_a_sample_alone(rng):
    X = rng.normal(size=(MOST_COMPUTED + 60, 2))
    batch = BatchSOM((4, 4), n_epochs=5, random_state=0).fit(X)
    page = report(batch, X)
    assert page.summary["n_points_compared"] == page.content["n_points_compared"] == MOST_COMPUTED
    whole = quality.rank_correlation(as_dissimilarity(X, "sqeuclidean"), batch.labels_, batch.lattice_.distances)
    assert page.summary["quality"]["rank_correlation"] == pytest.approx(whole, abs=0.05)
    calls = []

    def apart(x, y):
        calls.append(1)
        return float(np.maximum(x - y, 0).sum())

    few = rng.normal(size=(40, 2))
    som = MedianSOM((1, 3), metric=apart, n_epochs=3, random_state=0).fit(few)
    calls.clear()
    found = report(som, few).summary["quality"]["rank_correlation"]
    assert len(calls) <= 40 * 40 + 40 * 3 + 3 * 3  # every pair, both ways; and those with exemplars
    D = np.maximum(few[:, None] - few[None], 0).sum(axis=2)
    expected = quality.rank_correlation(as_dissimilarity(D), som.labels_, som.lattice_.distances)
    assert found == pytest.approx(expected)
