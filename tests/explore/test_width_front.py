"""The end widths of a SOM: figures against separate fits, the front by brute force, warm runs, and the picture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.extras import optional
from support.maps import blob_distances, blobs

from medianmap import BatchSOM, MedianKMeans, MedianSOM, reference, width_front
from medianmap.core.engine import Epoch
from medianmap.core.quality import topographic_error
from medianmap.estimators.base import BaseMap
from medianmap.estimators.fit import as_generator
from medianmap.explore.width_front import pareto

GRID = (3, 4)


def som(family=MedianSOM, **params):
    params = {"n_epochs": 20, "random_state": 0} | params
    return family(GRID, **params) if family is BatchSOM else family(GRID, metric="precomputed", **params)


def data_for(family, rng):
    return blobs(rng) if family is BatchSOM else blob_distances(rng)


small = st.integers(0, 3).map(float)


@given(st.lists(st.tuples(small, small), min_size=1, max_size=12))
def test_the_front_by_brute_force(points):
    expected = [not any(p[0] <= q[0] and p[1] <= q[1] and (p[0] < q[0] or p[1] < q[1]) for p in points) for q in points]
    assert pareto(*np.array(points).T).tolist() == expected
    assert any(expected)


@pytest.mark.parametrize("family", [MedianSOM, BatchSOM])
def test_without_warm_starts_it_equals_separate_fits(family, rng):
    X = data_for(family, rng)
    m = rng.integers(0, 3, 60).astype(float)
    found = width_front(som(family), X, [0.1, 1, 1.0], sample_weight=m, n_restarts=2, warm=False, random_state=4)
    np.testing.assert_array_equal(found.widths, [1, 0.1])
    assert found.topographic_error.shape == (2, 2)
    seeds = as_generator(4).integers(2**31 - 1, size=2)
    for p, width in enumerate(found.widths):
        runs = [som(family, sigma_end=width, random_state=int(seed)).fit(X, sample_weight=m) for seed in seeds]
        costs = []
        for r, run in enumerate(runs):
            G = run.transform(X)
            assert found.quantization_error[p, r] == pytest.approx(run.quantization_error_)
            assert found.topographic_error[p, r] == pytest.approx(topographic_error(G, run.lattice_, m))
            assert found.epochs[p, r] == run.n_iter_
            H = np.exp(-(run.lattice_.distances**2) / (2 * width**2))  # by the formula
            smoothed = G @ (H / H.sum(axis=1, keepdims=True)).T
            costs.append(float((m * smoothed.min(axis=1)).sum()))
            assert found.som_cost[p, r] == pytest.approx(costs[-1])
        best = runs[int(np.argmin(costs))]
        kept = best.cluster_centers_ if family is BatchSOM else best.medoid_indices_
        np.testing.assert_array_equal(found.prototypes[p], kept)
    mean = [found.topographic_error.mean(axis=1), found.quantization_error.mean(axis=1)]
    np.testing.assert_array_equal(found.on_front, pareto(*mean))


@pytest.mark.parametrize("family", [MedianSOM, BatchSOM])
def test_a_warm_run_is_one_annealing_that_stops_at_every_width(family, rng):
    X = data_for(family, rng)
    epochs: list[Epoch] = []
    map_ = som(family, sigma_start=2.0, n_epochs=30, on_epoch=epochs.append)
    found = width_front(map_, X, [0.02, 1, 0.2], n_restarts=1)
    parts = np.split(np.arange(len(epochs)), np.cumsum(found.epochs[:, 0])[:-1])
    assert len(parts) == 3
    sigma = np.array([epoch.sigma for epoch in epochs])
    assert (np.diff(sigma) <= 1e-12).all()
    assert sigma[0] == 2
    for part, width, n in zip(parts, [1, 0.2, 0.02], [5, 10, 15], strict=True):
        assert sigma[part[-1]] == width
        assert epochs[part[-1]].moved == 0 or len(part) > 100
        falls = np.count_nonzero(sigma[part] > width)
        assert abs(falls - n) <= 1  # its share of 30 epochs by log(2), log(5), log(10)
    # The error of the prototypes an epoch starts from: the next width starts from where the last one ended.
    for before, part in zip(found.quantization_error[:, 0], parts[1:], strict=False):
        assert epochs[part[0]].quantization_error == pytest.approx(before)


def test_warm_runs_take_up_the_map_before(rng, monkeypatch):
    starts = []
    fit = BaseMap._train

    def spy(self, *args, **kwargs):
        starts.append(self.init)
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(BaseMap, "_train", spy)
    found = width_front(som(), blob_distances(rng), [1, 0.3, 0.1], n_restarts=1)
    assert starts[0] == "embedding"
    for before, start in zip(found.prototypes, starts[1:], strict=False):
        np.testing.assert_array_equal(start, before)


def test_neighbourhoods_are_compared(rng):
    D = blob_distances(rng)
    shaped = som()
    shapes = ["gaussian", "exponential"]
    found = width_front(shaped, D, [1, 0.1], neighborhoods=[*shapes, "exponential"], n_restarts=2)
    assert (found.som_cost[:2] != found.som_cost[2:]).any()
    assert found.neighborhood.tolist() == [shapes[0]] * 2 + [shapes[1]] * 2
    assert found.widths.tolist() == [1, 0.1, 1, 0.1]
    own = width_front(shaped, D, [1, 0.1], n_restarts=2)
    np.testing.assert_array_equal(own.som_cost, found.som_cost[:2])
    assert width_front(som(neighborhood=shapes[1]), D, [1], n_restarts=1).neighborhood.tolist() == [shapes[1]]
    with pytest.raises(ValueError, match="neighborhoods is 'gaussian'; pass a list of names"):
        width_front(shaped, D, [1], neighborhoods="gaussian")


def test_records_and_repetition(rng):
    D = blob_distances(rng)
    found, again = (width_front(som(), D, [1, 0.3, 0.01], n_restarts=3) for _ in range(2))
    rows = found.as_records()
    np.testing.assert_array_equal(rows, again.as_records())
    assert rows.dtype.names == (
        "width", "neighborhood", "topographic_error", "standard_error_topographic", "quantization_error",
        "standard_error_quantization", "som_cost", "epochs", "on_front",
    )  # fmt: skip
    np.testing.assert_allclose(rows["topographic_error"], found.topographic_error.mean(axis=1))
    np.testing.assert_allclose(rows["standard_error_quantization"] ** 2 * 3, found.quantization_error.var(1, ddof=1))
    assert set(rows["neighborhood"]) == {"gaussian"}


def test_wide_ends_and_single_widths(rng):
    D = blob_distances(rng)
    wide = width_front(som(), D, [50.0, 10.0], n_restarts=1)  # above the default start
    assert wide.widths.tolist() == [50, 10]
    start = reference.schedule(10.0, 10.0, 1)[0]
    same = width_front(som(sigma_start=float(start)), D, [10.0], n_restarts=1)  # nothing to cool
    assert same.on_front.tolist() == [True]


def test_every_fit_is_told(rng):
    told = []
    width_front(som(), blob_distances(rng), [1, 0.1], n_restarts=3, on_progress=lambda *at: told.append(at))
    assert told == [("fits", k, 6) for k in range(1, 7)]


def test_errors(rng):
    D = blob_distances(rng)
    with pytest.raises(ValueError, match=r"MedianKMeans .*grid"):
        width_front(MedianKMeans(metric="precomputed"), D, [1])
    with pytest.raises(TypeError, match="estimator is a str"):
        width_front("som", D, [1])
    with pytest.raises(ValueError, match="init of MedianSOM fixes the start"):
        width_front(som(init=list(range(12))), D, [1])
    with pytest.raises(ValueError, match=r"widths is 0\.5; .*list"):
        width_front(som(), D, 0.5)
    with pytest.raises(ValueError, match="sigma_end is 0; it must be a number > 0"):
        width_front(som(), D, [1, 0])
    with pytest.raises(ValueError, match="widths is empty"):
        width_front(som(), D, [])
    with pytest.raises(ValueError, match=r"sigma_start = 0\.5 is below sigma_end = 1"):
        width_front(som(sigma_start=0.5), D, [1, 0.1])
    with pytest.raises(ValueError, match="the number of neurons = 12 exceeds n_samples = 5"):
        width_front(som(), D[:5, :5], [1])


# --- the picture -----------------------------------------------------------------------------------------------------


def test_the_display_draws_the_front(rng, tmp_path):
    optional("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    from medianmap.report.plots import WidthFrontDisplay

    display = WidthFrontDisplay.from_estimator(som(), blob_distances(rng), [2, 0.5, 0.3, 0.01], n_restarts=2)
    rows = display.front.as_records()
    lines = {line.get_label(): np.column_stack(line.get_data()) for line in display.ax_.get_lines()}
    points = np.column_stack([rows["quantization_error"], rows["topographic_error"]])
    on = rows["on_front"]
    np.testing.assert_array_equal(lines["gaussian"], points[on])
    np.testing.assert_array_equal(lines["gaussian, not on the front"], points[~on])
    joined = lines["front"]
    assert (np.diff(joined[:, 0]) >= 0).all()
    assert (np.diff(joined[:, 1]) <= 0).all()
    assert sorted(map(tuple, joined)) == sorted(map(tuple, points[on]))
    written = [float(width) for text in display.ax_.texts for width in text.get_text().split(", ")]
    assert sorted(written) == sorted(rows["width"])
    display.figure_.savefig(tmp_path / "front.png")
    assert display.figure_.get_size_inches()[0] == 6
    assert (tmp_path / "front.png").stat().st_size > 10_000

    shaped = width_front(som(), blob_distances(rng), [1, 0.1], n_restarts=1)
    _, ax = plt.subplots()
    assert WidthFrontDisplay(shaped).plot(ax=ax).ax_ is ax
    assert ax.get_legend() is None
    plt.close("all")
