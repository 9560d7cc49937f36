"""The search on tensors finds the prototypes of the plain loop, whatever the weights; its sums are those of NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.extras import optional
from support.strategies import KINDS, cases
from support.tensors import one_thread  # noqa: F401

from medianmap import as_dissimilarity
from medianmap.core.neighborhood import h
from medianmap.core.tensors import ranks_of
from medianmap.search import make_search
from medianmap.search.field_sums import FieldSums
from medianmap.search.frame import FieldWeights, RankWeights, SoftWeights
from medianmap.search.tensor_finder import TensorFieldSums, TensorSearch, rank_weights, soft_weights, weights_of_points
from medianmap.sources.base import DenseSource, columns

torch = optional("torch")
# Numbers of extreme size are brought to about 1 before any search sees them.
ORDINARY = tuple(kind for kind in KINDS if kind != "subnormal")


def weights_of(kind, case, sigma):
    """The same weights for NumPy and for tensors."""
    G = np.asarray(case.D[:, case.start], np.float64)
    if kind == "fields":
        apart = np.abs(np.subtract.outer(np.arange(case.K), np.arange(case.K)))
        both = FieldWeights(np.exp(-apart / sigma), G.argmin(axis=1), case.m)
        return both, both
    if kind == "shares":
        P = np.exp(-G.T / sigma)
        return SoftWeights(P, case.m), soft_weights(torch.from_numpy(P.T.copy()).T, case.m)
    rank = np.argsort(np.argsort(G, axis=1, kind="stable"), axis=1).T.astype(np.int16)
    given = h(np.arange(case.K), sigma, "exponential"), case.m, None
    on_device = ranks_of(torch.from_numpy(G.copy()), case.m)[0]
    np.testing.assert_array_equal(on_device, rank)
    return RankWeights(rank, *given), rank_weights(on_device, *given)


@given(
    cases(kinds=ORDINARY), st.sampled_from(["fields", "ranks", "shares"]), st.sampled_from([0.01, 0.6, 5.0]),
    st.sampled_from([np.float64, np.float32]), st.booleans(),
)  # fmt: skip
def test_the_same_prototypes_as_the_plain_loop(case, kind, sigma, dtype, distinct):
    D = case.D.astype(dtype)
    ours, theirs = weights_of(kind, case, sigma)
    plain = make_search("standard", DenseSource(D, np.array_equal(D, D.T)))(ours, case.start)
    search = TensorSearch(as_dissimilarity(D, device="torch:cpu"))
    for _ in range(2):  # the second time with the sums of the first
        finder = search(theirs, case.start)
        np.testing.assert_array_equal(theirs.alive, ours.alive)
        np.testing.assert_array_equal(
            finder.place(theirs.alive, case.start, distinct), plain.place(ours.alive, case.start, distinct)
        )


@given(cases(kinds=ORDINARY), st.sampled_from(["fields", "ranks", "shares"]), st.sampled_from([0.01, 2.0]))
def test_weights_on_the_device_are_those_of_numpy(case, kind, sigma):
    ours, theirs = weights_of(kind, case, sigma)
    like = torch.zeros(1, dtype=torch.float64)
    made = np.concatenate([A.numpy() for _, A in weights_of_points(theirs, case.K, like, torch.float64)])
    np.testing.assert_allclose(made.T, ours.A, rtol=1e-15)
    np.testing.assert_array_equal(theirs.rows(slice(None)), ours.A)
    for j in range(case.K):
        np.testing.assert_array_equal(theirs.row(j), ours.row(j))
    if kind == "ranks":
        np.testing.assert_array_equal(theirs.winner, ours.winner)


@pytest.mark.parametrize("how", [{}, {"stream": True}])
@pytest.mark.parametrize("across", [False, True])
def test_block_sums_follow_the_fields(rng, how, across):
    D = rng.random((40, 40))
    np.fill_diagonal(D, 0.0)
    source = as_dissimilarity(D, device="torch:cpu", **how)
    R = D.T if across else D
    ours, theirs = FieldSums(40, R, lambda points: R[points], None), TensorFieldSums(source, across)
    m, field = rng.integers(1, 4, 40).astype(float), rng.integers(0, 5, 40)
    for moved in (40, 3, 0, 30):
        field = field.copy()
        field[:moved] = rng.integers(0, 5, moved)
        assert ours.follow(field, m, 5) == theirs.follow(field, m, 5)
        np.testing.assert_allclose(theirs.S, ours.S, rtol=1e-12)
        np.testing.assert_allclose(theirs.S, [(R * m[:, None])[field == k].sum(axis=0) for k in range(5)], rtol=1e-12)
    assert columns(source, np.array([3])).shape == (1, 40)


def test_the_error_of_every_field_is_in_the_bound(rng):
    D, start = rng.random((40, 40)), np.arange(4)
    np.fill_diagonal(D, 0.0)
    search = TensorSearch(as_dissimilarity(D, device="torch:cpu"))
    for column in (start, start + 7):  # the second time the sums of some fields change
        on_device = ranks_of(torch.from_numpy(D[:, column].copy()), np.ones(40))[0]
        finder = search(rank_weights(on_device, h(np.arange(4), 0.01, "exponential"), np.ones(40), None), start)
    assert finder.tiny >= search.sums.error.max() > search.sums.error.min()
