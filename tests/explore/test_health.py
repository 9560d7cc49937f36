"""check_dissimilarity against brute force, closed forms and matrices with known defects."""

import doctest
import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from scipy.stats import skew
from support.strategies import KINDS, matrix

import medianmap.explore.health
from medianmap import as_dissimilarity, check_dissimilarity
from medianmap.explore import health as samples
from medianmap.explore import health_entries as entries
from medianmap.explore.health import Finding, Health, negative_share, occurrences, skewness, triangles, wilson
from medianmap.sources import CondensedSource, DenseSource


def levels(health):
    return {finding.name: finding.level for finding in health.findings}


def points(n, rng, dimensions=3):
    return squareform(pdist(rng.normal(size=(n, dimensions))))


# --- a healthy matrix, in every form ------------------------------------------------------------------------------


def test_euclidean_distances_have_nothing_to_remark(rng, tmp_path, monkeypatch):
    D = points(60, rng)
    health = check_dissimilarity(D)
    assert health.ok
    assert set(levels(health).values()) == {"ok"}
    assert "nothing to remark" in str(health)
    np.save(tmp_path / "D.npy", D)
    for same in (squareform(D), str(tmp_path / "D.npy"), as_dissimilarity(D), D.tolist()):
        assert check_dissimilarity(same) == health
    monkeypatch.setattr(entries, "TILE", 7)  # a condensed vector is read by half
    for same in (D, squareform(D)):
        assert levels(check_dissimilarity(same)) == levels(health)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "float32", ">f8", "longdouble"])
def test_any_real_type_gives_the_same_figures(dtype, rng):
    D = matrix("ties", 40, rng)
    plain, other = check_dissimilarity(D), check_dissimilarity(D.astype(dtype))
    assert other.dtype == str(np.dtype(dtype))
    assert other.findings == plain.findings
    assert check_dissimilarity(D > 1)["scale"].value["max"] == 1  # booleans


def test_the_report_is_json_and_repeats_itself(rng):
    D = rng.random((80, 80))
    first, again, other = (check_dissimilarity(D, seed=s, max_triples=500) for s in (0, 0, 1))
    assert first == again
    assert first["triangle"].value != other["triangle"].value
    told = json.loads(json.dumps(first.as_dict(), allow_nan=False))
    assert told["ok"] is True
    assert [f["name"] for f in told["findings"]] == [f.name for f in first.findings]
    assert str(first).count("\n") == len(first.findings)


def test_the_example_of_the_docstring_runs():
    result = doctest.testmod(medianmap.explore.health)
    assert (result.attempted, result.failed) == (3, 0)


def test_the_verdict_counts_its_findings():
    health = Health(3, "float64", 0, (Finding("a", "note", "A.", {}), Finding("b", "error", "B.", {}),
                                      Finding("c", "note", "C.", {})))  # fmt: skip
    with pytest.raises(KeyError):
        health["d"]
    assert str(health).splitlines()[0] == "3 x 3 float64 is NOT usable: 1 error, 2 notes."


# --- every defect is found and placed -----------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "kind"), [(np.nan, "nan"), (np.inf, "infinite"), (-np.inf, "infinite"),
                                             (-0.5, "negative")])  # fmt: skip
def test_bad_entries_are_counted_and_the_first_is_placed(value, kind, rng):
    D = points(30, rng)
    D[7, 20] = D[20, 7] = D[11, 3] = value
    D[2, 2] = value
    health = check_dissimilarity(D)
    assert not health.ok
    assert health["entries"].level == "error"
    assert health["entries"].value[f"n_{kind}"] == 4
    assert health["entries"].value[f"first_{kind}"] == [2, 2]
    assert "first D[2, 2]" in health["entries"].sentence
    assert "triangle" not in levels(health)  # no figures from entries that mean nothing
    assert health["symmetry"].value["n_asymmetric_pairs"] == 1
    json.dumps(health.as_dict(), allow_nan=False)


def test_ids_name_the_place(rng):
    D = points(4, rng)
    D[1, 3] = -1
    assert "D[1, 3] (b, d)" in check_dissimilarity(as_dissimilarity(D, ids=list("abcd")))["entries"].sentence


def test_asymmetry_is_measured(rng):
    D = points(50, rng)
    D[4, 9] += 0.25
    health = check_dissimilarity(D)
    assert health["symmetry"].level == "warning"
    value = health["symmetry"].value
    assert (value["n_asymmetric_pairs"], value["where"]) == (1, [4, 9])
    assert value["largest_difference"] == pytest.approx(0.25)
    assert value["share"] == pytest.approx(1 / 1225)
    E = rng.random((50, 50))
    value = check_dissimilarity(E)["symmetry"]
    assert value.level == "note"
    assert value.value["largest_difference"] == np.abs(E - E.T).max()


def test_rounding_is_told_from_asymmetry(rng):
    D = points(50, rng) * (1 + 1e-9 * rng.random((50, 50)))
    assert "rounding" in check_dissimilarity(D)["symmetry"].sentence


def test_a_false_promise_of_symmetry_is_found_out(rng, monkeypatch):
    D = rng.random((20, 20))
    promised = as_dissimilarity(D, symmetric=True)
    assert check_dissimilarity(promised)["symmetry"].value["n_asymmetric_pairs"] == 190
    monkeypatch.setattr(entries, "TILE", 7)  # tiles off the diagonal have a mirror image that must be read
    assert check_dissimilarity(promised)["symmetry"].value["n_asymmetric_pairs"] == 190


def test_duplicates_are_grouped(rng):
    X = rng.normal(size=(40, 2))
    X[5] = X[17] = X[30]
    X[8] = X[2]
    found = check_dissimilarity(X, metric="euclidean")["duplicates"]
    assert found.level == "note"
    assert found.value == {"n_groups": 2, "n_points": 5, "largest_group": 3, "n_zero_entries": 8, "first": [2, 8]}


def test_zeros_in_one_direction_make_no_group(rng):
    D = points(10, rng)
    D[3, 4] = 0
    found = check_dissimilarity(D)["duplicates"]
    assert (found.level, found.value["n_groups"], found.value["n_zero_entries"]) == ("note", 0, 1)


def test_mostly_zeros_are_no_duplicates(rng):
    D = np.where(rng.random((40, 40)) < 0.9, 0.0, 1.0)
    D = np.maximum(D, D.T)
    np.fill_diagonal(D, 0)
    assert check_dissimilarity(D)["duplicates"].level == "warning"


def test_a_constant_matrix_has_no_structure():
    D = 3.0 * (1 - np.eye(20))
    health = check_dissimilarity(D)
    assert health.ok
    assert health["scale"].level == "warning"
    assert health["hubness"].value["skewness"] == 0
    assert check_dissimilarity(np.zeros((20, 20)))["scale"].level == "warning"


def test_entries_whose_sums_overflow_are_an_error(rng):
    assert check_dissimilarity(points(10, rng) * 1e307 * 5)["scale"].level == "error"


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_matrices(n):
    health = check_dissimilarity(1.0 - np.eye(n))
    assert health.ok
    assert ("triangle" in levels(health)) == (n > 2)


# --- similarities ---------------------------------------------------------------------------------------------------


def test_similarities_are_suspected_and_dissimilarities_are_not(rng):
    X = rng.normal(size=(40, 10))
    gauss = np.exp(-squareform(pdist(X, "sqeuclidean")) / 20)
    scores = 100 * gauss + np.diag(rng.random(40))
    gram = X @ X.T + 10
    cases = {
        "unit": gauss,
        "correlation": np.corrcoef(X),
        "scores": scores,
        "kernel": gram,
        "negated": -points(40, rng),
    }
    for kind, S in cases.items():
        found = check_dissimilarity(S)["similarity"]
        assert (found.value["suspected"], found.level) == (kind, "warning"), kind
        assert "convert with D = " in found.sentence
    noisy = points(40, rng) + 0.01  # a diagonal that is not zero, yet smaller than the rest
    for D in (points(40, rng), np.ones((9, 9)), noisy, rng.random((40, 40)), 1 - np.eye(9)):
        assert check_dissimilarity(D)["similarity"].value["suspected"] is None


def test_the_advised_conversions_give_usable_matrices(rng):
    X = rng.normal(size=(30, 6))
    S = np.exp(-squareform(pdist(X)))
    G = X @ X.T
    for D in (1 - S, 1 - S / np.sqrt(np.outer(np.diag(S), np.diag(S))),
              np.sqrt(np.maximum(np.diag(G)[:, None] + np.diag(G) - 2 * G, 0))):  # fmt: skip
        health = check_dissimilarity(D)
        assert health.ok
        assert health["similarity"].level == "ok"


# --- sampled figures against independent ones ---------------------------------------------------------------------


def brute_force_triangles(D):
    """Share of triples of points with a broken inequality in any direction, and the largest relative excess."""
    n, broken, worst = len(D), set(), 0.0
    for i, j, k in permutations(range(n), 3):
        if D[i, k] > (D[i, j] + D[j, k]) * (1 + 16 * np.finfo(D.dtype).eps):
            broken.add(frozenset((i, j, k)))
            worst = max(worst, (D[i, k] - D[i, j] - D[j, k]) / D[i, k])
    return len(broken) / (n * (n - 1) * (n - 2) / 6), worst


@pytest.mark.parametrize("kind", KINDS)
def test_all_triples_equal_brute_force(kind, rng):
    D = matrix(kind, 11, rng)
    share, worst = brute_force_triangles(D)
    value = check_dissimilarity(D)["triangle"].value
    assert not value["sampled"]
    assert value["n_triples"] == 165
    assert value["share"] == value["interval"][0] == pytest.approx(share)
    assert value["largest_relative_excess"] == pytest.approx(worst)
    if worst:
        i, j, k = value["where"]
        assert (D[i, k] - D[i, j] - D[j, k]) / D[i, k] == pytest.approx(worst)


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric"])
def test_sampled_triples_bracket_the_truth(kind, rng):
    D = matrix(kind, 18, rng)
    truth, _ = brute_force_triangles(D)
    inside = 0
    for seed in range(60):
        value = check_dissimilarity(D, seed=seed, max_triples=300)["triangle"].value
        assert value["sampled"]
        inside += value["interval"][0] <= truth <= value["interval"][1]
    assert inside >= 52  # 95% of 60 is 57; 51 or fewer happen once in 200 such runs


def test_random_triples_are_distinct_and_uniform(rng):
    triples = samples._distinct_triples(4, 24000, rng)
    assert (np.sort(triples, axis=1)[:, 1:] > np.sort(triples, axis=1)[:, :-1]).all()
    _, counts = np.unique(triples, axis=0, return_counts=True)
    assert len(counts) == 24
    assert np.abs(counts - 1000).max() < 160


def test_triples_of_a_source_without_single_entries_are_the_same(rng, monkeypatch):
    D = points(90, rng, 2)
    dense, condensed = DenseSource(D, True), CondensedSource(squareform(D, checks=False), 90)
    monkeypatch.setattr(samples, "HOLD", 10)
    names = entries.Names(np.arange(90), None)
    first, second = (triangles(s, names, 1001, np.random.default_rng(0)) for s in (dense, condensed))
    assert first == second


def test_wilson_is_the_published_interval():
    # Newcombe (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for hits, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(hits, n) == pytest.approx((low, high), abs=5e-5)
    assert wilson(20, 20)[1] == 1


def test_negative_eigenvalues_equal_the_textbook(rng):
    D = rng.random((25, 25))
    D = D + D.T
    np.fill_diagonal(D, 0)
    J = np.eye(25) - 1 / 25
    for squared, S in ((False, D**2), (True, D)):
        eigenvalues = np.linalg.eigvals(-J @ S @ J / 2).real
        share = np.abs(eigenvalues[eigenvalues < 0]).sum() / np.abs(eigenvalues).sum()
        assert negative_share(D, squared=squared) == pytest.approx(share, rel=1e-9)
    # An equilateral triangle with its centre too near: squares 1, 1, 1 and r^2 < 1/3 cannot be.
    near = np.array([[0, 1, 1, 0.5], [1, 0, 1, 0.5], [1, 1, 0, 0.5], [0.5, 0.5, 0.5, 0]])
    assert negative_share(near, squared=False) > 0.01
    assert negative_share(np.where(near == 0.5, 1 / np.sqrt(3), near), squared=False) < 1e-9


def test_squared_euclidean_distances_are_recognised(rng):
    D = squareform(pdist(rng.normal(size=(50, 4)), "sqeuclidean"))
    found = check_dissimilarity(D)["spectrum"]
    assert found.value["negative_share"] > 0.1
    assert found.value["negative_share_if_squared"] == 0
    assert "square roots" in found.sentence


def test_landmarks_give_an_interval_around_figures_like_the_whole(rng):
    D = points(300, rng, 2) ** 1.5
    whole = check_dissimilarity(D)
    sampled = check_dissimilarity(D, n_landmarks=100)
    assert whole["spectrum"].value["n_landmarks"] == 300
    assert whole["spectrum"].value["interval"] == [whole["spectrum"].value["negative_share"]] * 2
    value = sampled["spectrum"].value
    assert (value["n_landmarks"], value["n_samples"]) == (100, 8)
    assert value["interval"][0] < value["negative_share"] < value["interval"][1]
    assert value["negative_share"] == pytest.approx(whole["spectrum"].value["negative_share"], rel=0.1)
    assert "8 samples of 100 landmarks" in sampled["spectrum"].sentence


def test_hubness_counts_nearest_neighbours(rng):
    D = rng.random((40, 40))  # asymmetric: rows ask, columns are asked for
    np.fill_diagonal(D, 0)
    expected = np.zeros(40)
    for i in range(40):
        expected[[l for l in np.argsort(D[i]) if l != i][:5]] += 1
    assert np.array_equal(occurrences(D, 5), expected)
    assert skewness(expected) == pytest.approx(skew(expected))
    value = check_dissimilarity(D, n_neighbors=5)["hubness"].value
    assert value["skewness"] == pytest.approx(skew(expected))
    assert value["largest_occurrence"] == expected.max()


def test_a_hub_is_noticed(rng):
    D = 1 + rng.random((60, 60))
    D[:, 7] = 0.5  # everybody's nearest
    np.fill_diagonal(D, 0)
    assert check_dissimilarity(D, n_neighbors=1)["hubness"].level == "note"
    assert check_dissimilarity(D.T.copy(), n_neighbors=1)["hubness"].value["largest_occurrence"] < 10


# --- invariances ----------------------------------------------------------------------------------------------------


SEEDS = st.integers(0, 2**32 - 1)


@given(st.sampled_from(KINDS), st.integers(1, 14), SEEDS, st.sampled_from([0.5, 3.0, 2.0**30]))
def test_order_and_scale_change_nothing_that_matters(kind, n, seed, factor):
    rng = np.random.default_rng(seed)
    D = matrix(kind, n, rng)
    order = rng.permutation(n)
    first = check_dissimilarity(D)
    for other in (check_dissimilarity(D[np.ix_(order, order)]), check_dissimilarity(D * factor)):
        assert levels(other) == levels(first)
        for name, keys in {"symmetry": ["n_asymmetric_pairs"], "duplicates": ["n_groups", "n_points", "n_zero_entries"],
                           "triangle": ["share", "largest_relative_excess"], "spectrum": ["negative_share"],
                           "hubness": ["skewness"]}.items():  # fmt: skip
            if name in levels(first):
                for key in keys:
                    assert other[name].value[key] == pytest.approx(first[name].value[key], rel=1e-6, abs=1e-9), name


@given(st.sampled_from(KINDS), st.integers(1, 40), SEEDS, st.sampled_from([np.float32, np.float64]))
def test_tiles_of_any_size_see_the_same(kind, n, seed, dtype):
    D = matrix(kind, n, np.random.default_rng(seed)).astype(dtype)
    whole = entries.scan(DenseSource(D, False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "TILE", 7)
        tiled = entries.scan(DenseSource(D, False))
    for field in ("counts", "first", "diagonal", "row_maxima", "twins"):
        assert np.array_equal(getattr(whole, field), getattr(tiled, field)), field
    assert (whole.low, whole.high, whole.worst, whole.worst_place) == (
        tiled.low,
        tiled.high,
        tiled.worst,
        tiled.worst_place,
    )
    assert whole.total == pytest.approx(tiled.total)


# --- real data, larger than memory, mistakes -----------------------------------------------------------------------


def test_some_points_of_many(rng):
    D = points(200, rng)
    D[:, 150] = D[150] = 7.0
    D[150, 150] = 3.0
    health = check_dissimilarity(D, max_points=199, seed=5)
    assert health["scope"].value == {"n_points_read": 199, "n_points": 200}
    assert "199 of 200" in health["scope"].sentence
    assert health["diagonal"].value["first"] == [150, 150]  # the place in the whole table
    words = ["a" * k for k in range(1, 5)] * 300
    assert check_dissimilarity(words, metric="edit")["scope"].value["n_points_read"] == 1000


def test_a_metric_that_only_claims_to_be_symmetric_is_found_out():
    source = as_dissimilarity(["a", "bb", "ccc"], lambda a, b: max(0, len(a) - len(b)), symmetric=True)
    assert check_dissimilarity(source)["symmetry"].value["n_asymmetric_pairs"] == 3


def test_a_matrix_on_disk_is_never_held(tmp_path):
    import tracemalloc

    n = 6000
    D = np.lib.format.open_memmap(tmp_path / "big.npy", "w+", np.float32, (n, n))
    x = np.random.default_rng(0).normal(size=n).astype(np.float32)
    for start in range(0, n, 1000):
        D[start : start + 1000] = np.abs(x[start : start + 1000, None] - x)
    D.flush()
    check_dissimilarity(str(tmp_path / "big.npy"), max_triples=1000, n_samples=2)  # compiles
    tracemalloc.start()
    health = check_dissimilarity(str(tmp_path / "big.npy"), max_triples=1000, n_samples=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert health.ok
    assert peak < 60 * 2**20  # the matrix is 137 MiB


def test_the_proteins_are_as_described(shared_data):
    health = check_dissimilarity(np.loadtxt(shared_data / "proteins/D.csv", delimiter=","))
    assert health.ok
    assert health["symmetry"].level == health["triangle"].level == "ok"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_triples": 0}, "max_triples is 0"),
        ({"n_landmarks": 2}, "n_landmarks is 2"),
        ({"seed": -1}, "seed is -1"),
        ({"max_points": 0}, "max_points is 0"),
    ],
)
def test_mistakes_are_told(arguments, message):
    with pytest.raises(ValueError, match=message):
        check_dissimilarity(np.zeros((3, 3)), **arguments)
    with pytest.raises(ValueError, match="square matrix"):
        check_dissimilarity(np.zeros((3, 4)))
