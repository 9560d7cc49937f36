"""Spectra: the matching against all matchings, cosine and entropy by hand and by their definitions."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medianmap import as_dissimilarity
from medianmap.metrics import bind
from medianmap.sources.base import ALL

PEAKS = st.lists(st.tuples(st.integers(100, 112), st.integers(1, 9)), min_size=1, max_size=5).map(
    lambda peaks: np.array(sorted(peaks), float) / [4, 1]
)


def best_sum(x, y, tolerance, gain):
    """Over every injection of the shorter spectrum's peaks into the longer one's; pairs too far apart gain nothing."""
    (mz_x, wx), (mz_y, wy) = (x, y) if len(x[0]) <= len(y[0]) else (y, x)
    return max(
        sum(gain(wx[i], wy[l]) for i, l in enumerate(order) if abs(mz_x[i] - mz_y[l]) <= tolerance)
        for order in permutations(range(len(mz_y)), len(mz_x))
    )


@given(x=PEAKS, y=PEAKS, tolerance=st.sampled_from([0, 0.25, 0.5, 1]))
@settings(max_examples=100)
def test_the_best_of_all_matchings_is_found(x, y, tolerance):
    unit = [(s[:, 0], s[:, 1] / np.linalg.norm(s[:, 1])) for s in (x, y)]
    cosine = bind("spectrum-cosine", {"tolerance": tolerance})
    np.testing.assert_allclose(
        cosine.between([x], [y])[0, 0], 1 - best_sum(*unit, tolerance, lambda p, q: p * q), atol=1e-12
    )
    assert cosine.between([x], [y])[0, 0] == cosine.between([y], [x])[0, 0]
    shares = [(s[:, 0], s[:, 1] / s[:, 1].sum()) for s in (x, y)]
    entropy = bind("spectrum-entropy", {"tolerance": tolerance, "weighted": False})

    def gain(p, q):
        return ((p + q) * np.log2(p + q) - p * np.log2(p) - q * np.log2(q)) / 2

    np.testing.assert_allclose(entropy.between([x], [y])[0, 0], 1 - best_sum(*shares, tolerance, gain), atol=1e-12)


def shannon(p):
    p = np.asarray(p)[np.asarray(p) > 0]
    return -(p * np.log(p)).sum()


def test_entropy_is_that_of_the_mixture():
    """Peaks at 100, 200, 300 against 100, 200, 400: the merged spectrum, weights left out and in."""
    x = np.array([[100.0, 6], [200, 3], [300, 1]])
    y = np.array([[100.005, 2], [200.0, 2], [400, 6]])
    p, q = np.array([0.6, 0.3, 0.1, 0]), np.array([0.2, 0.2, 0, 0.6])
    expected = (2 * shannon((p + q) / 2) - shannon(p) - shannon(q)) / np.log(4)
    np.testing.assert_allclose(bind("spectrum-entropy", {"weighted": False}).between([x], [y])[0, 0], expected)
    p, q = (r ** (0.25 + 0.25 * shannon(r)) * (r > 0) for r in (p, q))
    p, q = p / p.sum(), q / q.sum()
    expected = (2 * shannon((p + q) / 2) - shannon(p) - shannon(q)) / np.log(4)
    np.testing.assert_allclose(bind("spectrum-entropy").between([x], [y])[0, 0], expected)


def test_cosine_by_hand():
    """(3, 4) and (4, 3) at the same m/z: 24 / 25; apart by more than the tolerance nothing is shared."""
    x, y = np.array([[100.0, 3], [200, 4]]), np.array([[100.009, 4], [200.02, 3]])
    np.testing.assert_allclose(bind("spectrum-cosine", {"tolerance": 0.03}).between([x], [y]), [[1 / 25]])
    np.testing.assert_allclose(bind("spectrum-cosine").between([x], [y]), [[1 - 12 / 25]])
    assert bind("spectrum-cosine", {"tolerance": 0.001}).between([x], [y]).tolist() == [[1]]
    u, v = np.array([300.0, 800]), np.array([400.036, 600.06])
    np.testing.assert_allclose(
        bind("spectrum-cosine", {"tolerance": 0.03, "mz_power": 1.0}).between([x], [y]),
        [[1 - u @ v / np.linalg.norm(u) / np.linalg.norm(v)]],
    )


def test_the_order_of_peaks_and_peaks_of_no_height_do_not_matter():
    x, y = [[100, 3], [200, 4], [150, 0]], [[200, 4], [100, 3]]
    assert as_dissimilarity([x, y], "spectrum-entropy").block(ALL, ALL).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("objects", "params", "message"),
    [
        ([[[100, 1]], [[100, 1], [200, -3]]], {}, r"X\[1\] has the intensity -3 at peak 1"),
        ([[[0, 1]]], {}, r"X\[0\] has the m/z 0 at peak 0"),
        ([[[100, float("nan")]]], {}, r"X\[0\] has the intensity nan at peak 0"),
        ([[[100, 0]]], {}, r"X\[0\] has no peak"),
        ([[[100, 1]], [100, 1]], {}, r"X\[1\] is not a peak list"),
        (["peaks"], {}, r"X\[0\] is not a peak list"),
        ([[[100, 1]]], {"tolerance": -1}, "tolerance is -1"),
    ],
)
def test_mistakes_are_named(objects, params, message):
    with pytest.raises(ValueError, match=message):
        as_dissimilarity(objects, "spectrum-cosine", metric_params=params)
