"""Swap refinement against brute force: local optima of the stated cost, the same at any number of threads."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.maps import blob_distances
from support.strategies import cases, matrix

from medianmap import MedianKMeans, MedianSOM, PrototypeClassifier, reference
from medianmap.core.neighborhood import make_lattice
from medianmap.estimators.fit import as_generator, own_generators
from medianmap.refine import candidates, descent, refine_som, swap_medoids
from medianmap.refine.medoid_swaps import swap_starts
from medianmap.refine.swap_kernels import two_nearest
from medianmap.sources import DenseSource, as_dissimilarity


def loss_of(D, w, m):
    """sum_i m_i min_j D[i, w_j], in float64."""
    return float((m * D[:, w].astype(np.float64).min(axis=1)).sum())


def swaps_of(D, w):
    """All sets of medoids that one swap makes of w."""
    for j, c in product(range(len(w)), range(len(D))):
        if c not in w:
            yield np.array([*w[:j], c, *w[j + 1 :]])


def assert_local_optimum(D, w, m):
    loss = loss_of(D, w, m)
    for other in swaps_of(D, w):
        assert loss_of(D, other, m) >= loss * (1 - 1e-13) - 1e-320


@given(cases(max_points=12), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=150)
def test_local_optimum_over_all_single_swaps(case, dtype):
    D = case.D.astype(dtype)
    result = swap_medoids(D, case.start, case.m)
    assert result.converged
    assert len(set(result.medoids)) == case.K
    assert result.loss == loss_of(D, result.medoids, case.m)
    assert result.loss <= loss_of(D, case.start, case.m)
    assert (result.n_swaps == 0) == np.array_equal(result.medoids, case.start)
    assert_local_optimum(D, result.medoids, case.m)


def test_what_two_outliers_could_gain_is_not_covered_by_rounding(rng):
    """A medoid on one of them cannot be spared, by so much that rounding hides what the other is better by."""
    for seed in range(5):
        D = matrix("symmetric", 14, rng)
        D[12:], D[:, 12:] = 1e20, 1e20
        D[12:, 12:] = [[0, 1], [0.5, 0]]
        result = swap_medoids(D, np.array([13, *rng.permutation(12)[:3]]), random_state=seed)
        assert_local_optimum(D, result.medoids, np.ones(14))
        assert 12 in result.medoids


def changes(D, w, c, m):
    """(K,) what the loss changes by when each of the medoids w is replaced by c."""
    return np.array([loss_of(D, np.array([*w[:j], c, *w[j + 1 :]]), m) for j in range(len(w))]) - loss_of(D, w, m)


def first_order(n):
    """In which candidates are tried if nobody gives a seed."""
    return reference.turns(n, np.random.default_rng(0))


def eager(D, w, m, order=None):
    """Swaps in the order that the module promises, every change of the loss summed from scratch."""
    order = first_order(len(D)) if order is None else order
    w, N, idle, t, swaps = w.copy(), len(D), 0, 0, 0
    while idle < N:
        c = order[t % N]
        change = changes(D, w, c, m)
        if c not in w and change.min() < 0:
            w[int(np.argmin(change))] = c
            swaps, idle = swaps + 1, 0
        else:
            idle += 1
        t += 1
    return w, swaps


@pytest.mark.parametrize("n", [1, 64, 65, 300])
def test_the_order_is_random_in_runs_of_neighbours_and_that_of_the_reference(n):
    order = candidates.turns(n, np.random.default_rng(5))
    np.testing.assert_array_equal(order, reference.turns(n, np.random.default_rng(5)))
    assert sorted(order) == list(range(n))
    assert n == 1 or not np.array_equal(order, candidates.turns(n, np.random.default_rng(6)))
    runs = order // candidates.RUN
    assert np.count_nonzero(np.diff(runs)) == len(set(runs)) - 1  # each run is read once
    first = np.flatnonzero(runs == 0)
    assert n == 1 or (np.diff(order[first]) < 0).any()


@pytest.mark.parametrize("symmetric", [True, False])
def test_more_than_one_run_of_neighbours(rng, symmetric):
    """Over 64 points the order is not simply random; the oracle follows it."""
    D = rng.integers(1, 50, (150, 150)).astype(float)
    D = (D + D.T if symmetric else D) * (1 - np.eye(150))
    start = rng.permutation(150)[:9]
    results = []
    for seed in range(4):
        w, swaps = eager(D, start, np.ones(150), reference.turns(150, np.random.default_rng(seed)))
        result = swap_medoids(D, start, random_state=seed)
        np.testing.assert_array_equal(result.medoids, w)
        assert result.n_swaps == swaps
        results.append(result.loss)
    assert len(set(results)) > 1  # other orders lead elsewhere


@pytest.mark.parametrize("make", [
    lambda seed: MedianKMeans(9, refine="swap", metric="precomputed", init=np.arange(9), random_state=seed),
    lambda seed: MedianSOM((3, 3), refine="swap", metric="precomputed", annealing="none", init=np.arange(9),
                           max_swaps=40, random_state=seed),
])  # fmt: skip
@pytest.mark.parametrize("labels", [False, True])
def test_maps_draw_the_order_from_their_generator(rng, make, labels):
    """The start is the same for all seeds, so that nothing but the order of candidates can make a difference."""
    D, y = rng.random((90, 90)) * (1 - np.eye(90)), rng.integers(3, size=90)

    def exemplars(seed):
        if not labels:
            return tuple(make(seed).fit(D).medoid_indices_)
        return tuple(PrototypeClassifier(make(seed), beta=0.7).fit(D, y).estimator_.medoid_indices_)

    assert exemplars(0) == exemplars(0)
    assert len({exemplars(seed) for seed in range(4)}) > 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("K", [1, 2, 7, 19, 20])
@pytest.mark.parametrize("kind", ["ties", "duplicates", "asymmetric"])
def test_same_swaps_as_the_plain_definition(kind, K, seed):
    rng = np.random.default_rng(seed)
    D = np.round(matrix(kind, 20, rng) * 4)  # whole numbers: sums are exact, so ties are ties for both
    m = rng.integers(1, 3, 20).astype(float)
    start = rng.permutation(20)[:K]
    w, swaps = eager(D, start, m)
    result = swap_medoids(D, start, m)
    assert result.n_swaps == swaps
    np.testing.assert_array_equal(result.medoids, w)
    assert result.loss == loss_of(D, w, m)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("K", [1, 2, 7, 15, 20])
@pytest.mark.parametrize("kind", ["ties", "duplicates", "asymmetric"])
def test_one_walk_along_ties_as_the_plain_definition_has_it(kind, K, seed):
    rng = np.random.default_rng(seed)
    D = np.round(matrix(kind, 20, rng) * 3)
    m = np.ones(20)
    start = rng.permutation(20)[:K]
    plain, swaps = eager(D, start, m)
    w = plain.copy()
    for c in first_order(20) if K > 1 else ():
        change = changes(D, w, c, m)
        if c not in w and change.min() <= 0:
            w[int(np.argmin(change))] = c
            swaps += 1
    walked, more = eager(D, w, m)
    result = swap_medoids(D, start, plateau=True)
    if loss_of(D, walked, m) < loss_of(D, plain, m):
        np.testing.assert_array_equal(result.medoids, walked)
        assert result.n_swaps == swaps + more
    else:
        np.testing.assert_array_equal(result.medoids, plain)
    assert result.converged
    assert_local_optimum(D, result.medoids, m)


def test_ties_lead_on_and_threads_and_blocks_change_nothing(rng, monkeypatch):
    X = rng.integers(0, 12, (200, 3))
    D = np.abs(X[:, None] - X).sum(axis=2).astype(float)
    start = rng.permutation(200)[:120]
    plain, walked = swap_medoids(D, start), swap_medoids(D, start, plateau=True)
    assert walked.loss < plain.loss
    np.testing.assert_array_equal(swap_medoids(D, start, plateau=True, max_swaps=10**6).medoids, plain.medoids)
    fitted = MedianKMeans(120, metric="precomputed", init=start, refine="swap", random_state=0).fit(D)
    again = swap_medoids(D, start, plateau=True, random_state=as_generator(0))
    np.testing.assert_array_equal(fitted.medoid_indices_, again.medoids)
    monkeypatch.setattr(descent, "PATIENCE", 8)
    monkeypatch.setattr(descent, "WORTH_THREADS", 0)
    monkeypatch.setattr(candidates, "LARGEST_BLOCK", 64)
    again = swap_medoids(D, start, plateau=True, n_jobs=3)
    np.testing.assert_array_equal(again.medoids, walked.medoids)
    assert again.n_swaps == walked.n_swaps


@pytest.mark.parametrize("K", [1, 8, 69])
@pytest.mark.parametrize("symmetric", [True, False])
def test_kicks_go_on_as_from_a_new_start(rng, symmetric, K):
    D = rng.random((70, 70))
    D = (D + D.T if symmetric else D) * (1 - np.eye(70))
    m = rng.uniform(0.5, 2.0, 70)
    draws = np.random.default_rng(3)
    w, total = eager(D, rng.permutation(70)[:K], m, reference.turns(70, np.random.default_rng(8)))
    result = swap_medoids(D, w, m, kicks=8, random_state=3)
    w, total = eager(D, w, m, reference.turns(70, draws))
    for share in np.resize(descent.KICKED, 8):
        n = min(max(1, round(share * K)), 70 - K)
        kicked, free = w.copy(), np.setdiff1d(np.arange(70), w)
        gone, new = draws.choice(K, n, replace=False), draws.choice(free, n, replace=False)
        kicked[gone] = new
        other, swaps = eager(D, kicked, m, reference.turns(70, draws))
        if loss_of(D, other, m) < loss_of(D, w, m):
            w, total = other, total + swaps
    np.testing.assert_array_equal(result.medoids, w)
    assert result.n_swaps == total


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_nothing(rng, dtype, symmetric, monkeypatch):
    monkeypatch.setattr(descent, "PATIENCE", 8)
    monkeypatch.setattr(descent, "WORTH_THREADS", 0)
    D = blob_distances(rng, 500, 12).astype(dtype)
    if not symmetric:
        D *= rng.uniform(0.9, 1.1, D.shape).astype(dtype)
    m = rng.uniform(0.5, 2.0, 500)
    start = rng.permutation(500)[:15]
    one, two, four = (swap_medoids(D, start, m, n_jobs=n) for n in (1, 2, 4))
    assert one.n_swaps == two.n_swaps == four.n_swaps > 15
    np.testing.assert_array_equal(one.medoids, two.medoids)
    np.testing.assert_array_equal(one.medoids, four.medoids)
    assert one.loss == two.loss == four.loss == loss_of(D, one.medoids, m)


def test_blocks_change_nothing(rng, monkeypatch):
    D = blob_distances(rng, 120, 6) * rng.uniform(0.9, 1.1, (120, 120))
    start = rng.permutation(120)[:9]
    whole = swap_medoids(D, start)
    monkeypatch.setattr(candidates, "rows_fit", lambda source: False)
    monkeypatch.setattr(candidates, "LARGEST_BLOCK", 7)
    monkeypatch.setattr(descent, "WORTH_THREADS", 0)
    for n_jobs in (1, 3):
        monkeypatch.setattr(descent, "PATIENCE", 3)
        np.testing.assert_array_equal(swap_medoids(D, start, n_jobs=n_jobs).medoids, whole.medoids)


def test_symmetric_source_is_read_by_rows_and_not_copied(rng):
    D = blob_distances(rng, 60).astype(np.float32)
    source = DenseSource(D, True)
    found = candidates.prepared(source, [0, 1], None, None)[0]
    assert found.whole is D
    order = rng.permutation(60)
    block = found.block(order[3:9])
    assert block.C is D
    np.testing.assert_array_equal(block.C[block.at], D[order[3:9]])


@pytest.mark.parametrize("form", ["condensed", "integers", "computed"])
def test_any_source(rng, form):
    X = rng.integers(0, 9, (40, 2)).astype(float)
    D = np.abs(X[:, None] - X).sum(axis=2)
    given_as = {
        "condensed": lambda: as_dissimilarity(D[np.triu_indices(40, 1)]),
        "integers": lambda: D.astype(np.int32),
        "computed": lambda: as_dissimilarity(X, "cityblock"),
    }[form]()
    start = [3, 5, 8, 13]
    np.testing.assert_array_equal(swap_medoids(given_as, start).medoids, swap_medoids(D, start).medoids)


def test_max_swaps_stops_on_the_way(rng):
    D = blob_distances(rng, 200, 8)
    start = rng.permutation(200)[:8]
    all_of_them = swap_medoids(D, start)
    losses = [swap_medoids(D, start, max_swaps=k).loss for k in range(all_of_them.n_swaps + 1)]
    assert losses[0] == loss_of(D, start, np.ones(200))
    assert (np.diff(losses) < 0).all()
    assert losses[-1] == all_of_them.loss
    none = swap_medoids(D, start, max_swaps=0)
    assert (none.n_swaps, none.converged) == (0, False)
    np.testing.assert_array_equal(none.medoids, start)


def test_weight_two_counts_like_two_points(rng):
    D = np.round(blob_distances(rng, 30) * 32)
    m = rng.integers(1, 3, 30)
    twice = np.repeat(np.arange(30), m)
    start = np.array([0, 4, 9])
    weighted = swap_medoids(D, start, m)
    assert_local_optimum(D[np.ix_(twice, twice)], np.searchsorted(twice, weighted.medoids), np.ones(len(twice)))


def test_medoids_on_one_point_part(rng):
    D = blob_distances(rng, 40, 3)
    result = swap_medoids(D, [5, 5, 5])
    assert len(set(result.medoids)) == 3
    assert_local_optimum(D, result.medoids, np.ones(40))


@pytest.mark.parametrize(
    ("medoids", "m", "message"),
    [
        ([0, 9], None, "exemplars hold the index 9"),
        ([], None, "one or more indices"),
        ([0.5], None, "one or more indices"),
        ([0], [1, 0, 1], r"m\[1\] is 0"),
        ([0], [1, 1], r"shape == \(2,\), expected \(3,\)"),
    ],
)
def test_mistakes(medoids, m, message):
    with pytest.raises(ValueError, match=message):
        swap_medoids(np.zeros((3, 3)), medoids, m)


def test_array_with_a_hole_is_refused():
    D = np.zeros((3, 3))
    D[1, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        swap_medoids(D, [0])


def test_memory_map_is_only_read(rng, tmp_path):
    D = blob_distances(rng, 50).astype(np.float32)
    np.save(tmp_path / "D.npy", D)
    start = [1, 20, 30]
    stored = as_dissimilarity(tmp_path / "D.npy")
    np.testing.assert_array_equal(swap_medoids(stored, start).medoids, swap_medoids(D, start).medoids)
    lattice = make_lattice((1, 3))
    np.testing.assert_array_equal(refine_som(stored, start, lattice).medoids, refine_som(D, start, lattice).medoids)


def test_kicks_end_in_optima_that_are_never_worse():
    rng = np.random.default_rng(0)
    D = rng.random((90, 90)) * (1 - np.eye(90))
    start = np.arange(6)
    losses = [swap_medoids(D, start, kicks=kicks).loss for kicks in (0, 1, 4, 16)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]
    best = swap_medoids(D, start, kicks=16, n_jobs=2)
    assert best.loss == losses[-1] == pytest.approx(D[:, best.medoids].min(axis=1).sum())
    assert len(set(best.medoids.tolist())) == 6
    assert best.converged
    for j, c in product(range(6), range(90)):
        other = best.medoids.copy()
        other[j] = c
        assert D[:, other].min(axis=1).sum() >= best.loss * (1 - 1e-9)
    np.testing.assert_array_equal(swap_medoids(D, start, kicks=4, max_swaps=0).medoids, start)
    np.testing.assert_array_equal(np.sort(swap_medoids(D[:6, :6], start, kicks=4).medoids), start)
    with pytest.raises(ValueError, match="kicks"):
        swap_medoids(D, start, kicks=-1)


@pytest.mark.parametrize("kind", ["ties", "duplicates", "asymmetric"])
@pytest.mark.parametrize("K", [1, 2, 9, 29, 30])
def test_many_starts_in_one_go_end_where_each_does_by_itself(kind, K):
    rng = np.random.default_rng(4)
    D, m = np.round(matrix(kind, 30, rng) * 3), rng.integers(1, 3, 30).astype(float)
    starts = [rng.permutation(30)[:K] for _ in range(6)]
    kept = [start.copy() for start in starts]
    together = swap_starts(as_dissimilarity(D), starts, m, own_generators(np.random.default_rng(2), 6), n_jobs=2)
    for start, own, found in zip(kept, own_generators(np.random.default_rng(2), 6), together, strict=True):
        alone = swap_medoids(D, start, m, plateau=True, random_state=own)
        np.testing.assert_array_equal(found.medoids, alone.medoids)
        assert (found.n_swaps, found.loss, found.converged) == (alone.n_swaps, alone.loss, True)
    np.testing.assert_array_equal(starts, kept)


def test_some_start_goes_on_beyond_ties():
    rng = np.random.default_rng(4)
    D, m = as_dissimilarity(np.round(matrix("ties", 30, rng) * 3)), np.ones(30)
    starts = [rng.permutation(30)[:9] for _ in range(6)]
    found = swap_starts(D, starts, m, own_generators(rng, 6), n_jobs=1)
    assert any(each.n_swaps > eager(D.D, start, m)[1] for each, start in zip(found, starts, strict=True))


@pytest.mark.parametrize("weights", [None, "some are 0"])
def test_a_fit_from_many_starts_is_the_same_whether_or_not_it_is_watched(rng, weights):
    D = np.round(matrix("ties", 60, rng) * 4)
    m = None if weights is None else rng.integers(0, 3, 60)
    seen = []
    fits = [
        MedianKMeans(6, metric="precomputed", refine="swap", n_init=7, random_state=3, on_epoch=watcher).fit(
            D, sample_weight=m
        )
        for watcher in (None, seen.append)
    ]
    assert len(seen) == 7
    for name in ("medoid_indices_", "labels_", "hits_", "history_"):
        np.testing.assert_array_equal(*(getattr(fitted, name) for fitted in fits))
    assert len({(fitted.inertia_, fitted.n_swaps_, fitted.converged_) for fitted in fits}) == 1


def test_generators_of_their_own_are_those_of_four_numbers_each():
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    expected = [np.random.default_rng(other.integers(2**63, size=4)).random() for _ in range(20)]
    assert [each.random() for each in own_generators(one, 20)] == expected
    assert one.random() == other.random()


@pytest.mark.filterwarnings("ignore:The diagonal")
@pytest.mark.parametrize("K", [1, 2, 5])
def test_no_swap_is_made_for_what_rounding_adds(K, rng):
    """All candidates have the same terms in other orders, so that their sums differ in the last bits alone."""
    terms = rng.choice([0.1, 0.2, 0.3], 120)
    D = np.array([rng.permutation(terms) for _ in range(120)]).T + 0.0
    losses = []
    for most in range(60):
        swapped = swap_medoids(D, np.arange(K), max_swaps=most)
        losses.append(np.cumsum(D[:, swapped.medoids].min(axis=1))[-1])  # in the order in which losses are compared
        if swapped.n_swaps < most:
            break
    else:
        raise AssertionError("no end")
    made = losses[: swapped.n_swaps + 1]
    assert made == sorted(set(made), reverse=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_two_nearest_are_the_lowest_on_ties(dtype, rng):
    C = rng.integers(0, 3, (6, 2000)).astype(dtype)
    near, far = np.full(2000, np.inf, dtype), np.full(2000, np.inf, dtype)
    first, second = np.full(2000, -1, np.int32), np.full(2000, -1, np.int32)
    two_nearest(C, first, second, near, far)
    order = np.argsort(C, axis=0, kind="stable")
    np.testing.assert_array_equal([first, second], order[:2])
    np.testing.assert_array_equal([near, far], np.sort(C, axis=0)[:2])
