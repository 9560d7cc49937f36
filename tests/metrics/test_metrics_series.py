"""Elastic measures of series against another library, the definitions written as recursions, and hand-worked pairs."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.extras import optional

from medianmap import as_dissimilarity
from medianmap.metrics import bind
from medianmap.sources.base import ALL

SERIES = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=7)


def recursive_msm(x, y, c):
    def price(value, before, other):
        return (
            c if min(before, other) <= value <= max(before, other) else c + min(abs(value - before), abs(value - other))
        )

    @cache
    def m(i, l):
        if i == l == 0:
            return abs(x[0] - y[0])
        ways = []
        if i and l:
            ways.append(m(i - 1, l - 1) + abs(x[i] - y[l]))
        if i:
            ways.append(m(i - 1, l) + price(x[i], x[i - 1], y[l]))
        if l:
            ways.append(m(i, l - 1) + price(y[l], y[l - 1], x[i]))
        return min(ways)

    return m(len(x) - 1, len(y) - 1)


def recursive_erp(x, y, g):
    @cache
    def e(i, l):
        if i == 0 and l == 0:
            return 0.0
        ways = []
        if i and l:
            ways.append(e(i - 1, l - 1) + abs(x[i - 1] - y[l - 1]))
        if i:
            ways.append(e(i - 1, l) + abs(x[i - 1] - g))
        if l:
            ways.append(e(i, l - 1) + abs(y[l - 1] - g))
        return min(ways)

    return e(len(x), len(y))


@given(x=SERIES, y=SERIES, c=st.sampled_from([0, 0.5, 1]), g=st.sampled_from([0, 1.5]))
@settings(max_examples=100)
def test_split_merge_and_real_penalty_equal_their_recursions(x, y, c, g):
    a, b = [np.array(x)], [np.array(y)]
    assert bind("msm", {"cost": c}).between(a, b)[0, 0] == recursive_msm(x, y, c)
    assert bind("erp", {"gap": g}).between(a, b)[0, 0] == recursive_erp(x, y, g)


@given(x=SERIES, y=SERIES, window=st.sampled_from([None, 1, 2, 4]), penalty=st.sampled_from([0, 0.5]))
@settings(max_examples=100)
def test_warping_equals_another_library(x, y, window, penalty):
    dtw = optional("dtaidistance.dtw")
    expected = dtw.distance(x, y, window=window, penalty=penalty)
    ours = bind("dtw", {"window": window, "penalty": penalty}).between([np.array(x)], [np.array(y)])[0, 0]
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_pairs_by_hand():
    """0 1 is warped to 0 1 1 for nothing; to 0 3 it costs 2; one step of warping at a price of 2 costs sqrt(4)."""
    a, b = [np.array([0.0, 1.0])], [np.array([0.0, 1.0, 1.0]), np.array([0.0, 3.0])]
    assert bind("dtw").between(a, b).tolist() == [[0, 2]]
    assert bind("dtw", {"penalty": 2.0}).between(a, b[:1]).tolist() == [[2]]
    assert bind("msm", {"cost": 0.5}).between(a, b).tolist() == [[0.5, 2]]
    assert bind("erp").between(a, b).tolist() == [[1, 2]]


def test_series_come_as_lists_arrays_or_rows_of_a_table(rng):
    X = rng.normal(size=(6, 9))
    D = as_dissimilarity(X, "dtw").block(ALL, ALL)
    np.testing.assert_array_equal(as_dissimilarity(X.tolist(), "dtw").block(ALL, ALL), D)
    np.testing.assert_array_equal(as_dissimilarity(list(X), "dtw").block(ALL, ALL), D)


@pytest.mark.parametrize(
    ("objects", "params", "message"),
    [
        ([[1, 2], [1, float("nan"), 3]], {}, r"X\[1\]\[1\] is NaN"),
        ([[1, 2], [float("inf")]], {}, r"X\[1\]\[0\] is inf"),
        ([[1, 2], []], {}, r"X\[1\] has shape \(0,\)"),
        ([[[1, 2], [3, 4]]], {}, r"X\[0\] has shape \(2, 2\)"),
        (["abc", "d"], {}, r"X\[0\] is not a series"),
        ([[1, 2]], {"window": 0}, "window is 0"),
        ([[1, 2]], {"penalty": -1}, "penalty is -1"),
    ],
)
def test_mistakes_are_named(objects, params, message):
    with pytest.raises(ValueError, match=message):
        as_dissimilarity(objects, "dtw", metric_params=params)


def test_parameters_of_the_others_are_checked():
    with pytest.raises(ValueError, match="cost is -1"):
        as_dissimilarity([[1, 2]], "msm", metric_params={"cost": -1})
    with pytest.raises(ValueError, match="gap is"):
        as_dissimilarity([[1, 2]], "erp", metric_params={"gap": "x"})
    assert as_dissimilarity([[1.0], [2.0]], "erp", metric_params={"gap": -1}).block(ALL, ALL).tolist() == [
        [0, 1],
        [1, 0],
    ]
