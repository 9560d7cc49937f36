"""The steps of an epoch on tensors against the same on arrays: nearest, ranks, winners, snapping, labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.extras import optional

from medianmap.core import tensors
from medianmap.core.assignment import Gibbs, OnLattice, Rank, Winner, nearest, smoothed_at, smoothed_winners
from medianmap.core.label_term import LabelTerm
from medianmap.core.labels import training_labels
from medianmap.core.neighborhood import checked_lattice
from medianmap.core.quality import inertia
from medianmap.core.spaces import snapped

torch = optional("torch")
LATTICE = checked_lattice((2, 3), "hexagonal", False)


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch):
    monkeypatch.setattr(tensors, "ENTRIES", 40)


@st.composite
def dissimilarities(draw, signed=False):
    """G (N, 6), often with ties; below zero too if signed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(6, 30))
    G = rng.integers(0, 3, (n, 6)).astype(float) if draw(st.booleans()) else rng.random((n, 6))
    return (G - 0.5 * signed).astype(draw(st.sampled_from([np.float64, np.float32])))


def there(G):
    return torch.from_numpy(np.ascontiguousarray(G))


@given(dissimilarities(), st.sampled_from([0.05, 0.5, 1e6]))
def test_winners_and_ranks_are_the_same_to_the_last_bit(G, sigma):
    m = np.arange(1.0, len(G) + 1)
    for ours, theirs in zip(nearest(G), nearest(there(G)), strict=True):
        np.testing.assert_array_equal(theirs, ours)
    assert inertia(there(G), m) == inertia(G, m)
    # So wide a neighbourhood makes all sums equal but for rounding: the canonical sum decides.
    H = LATTICE.weights(sigma, "gaussian", None)
    winner, cost = smoothed_winners(np.ascontiguousarray(G.T), H)
    on_device, sums = smoothed_winners(there(G).T, H)
    np.testing.assert_array_equal(on_device, winner)
    np.testing.assert_allclose(sums, cost, rtol=1e-13)
    np.testing.assert_allclose(smoothed_at(there(G).T, H, winner), smoothed_at(G.T, H, winner), rtol=1e-13)
    rank, sums = tensors.ranks_of(there(G), m)
    order = np.argsort(G, axis=1, kind="stable")
    np.testing.assert_array_equal(np.take_along_axis(rank.numpy().T, order, axis=1), np.tile(np.arange(6), (len(G), 1)))
    np.testing.assert_allclose(sums, m @ np.sort(G, axis=1), rtol=1e-12)


@given(dissimilarities(signed=True), st.booleans())
def test_snapping_takes_the_same_points(G, distinct):
    np.testing.assert_array_equal(snapped(there(G), distinct), snapped(G, distinct))


@given(dissimilarities(), st.sampled_from([0.3, 2.0]))
def test_every_assignment_gives_the_same_weights_and_cost(G, sigma):
    m, kinds = np.arange(1.0, len(G) + 1), (Winner(), Gibbs(), Rank(), Rank("gaussian", 2), OnLattice(LATTICE))
    for kind in (*kinds, OnLattice(LATTICE, nearest=True, truncate=1)):
        (ours, cost), (theirs, same) = (kind.fresh()(x, sigma, m) for x in (G, there(G)))
        np.testing.assert_allclose(same, cost, rtol=1e-12)
        np.testing.assert_allclose(theirs.rows(slice(None)), ours.rows(slice(None)), rtol=1e-12)
        np.testing.assert_array_equal(theirs.alive, ours.alive)


@given(dissimilarities(signed=True), st.sampled_from([0.3, 2.0]), st.booleans())
def test_labels_are_added_and_averaged_alike(G, sigma, all_known):
    rng = np.random.default_rng(0)
    y = ["abc"[c] if all_known or rng.random() < 0.5 else None for c in rng.integers(0, 3, len(G))]
    y[:3] = "abc"
    m = np.arange(1.0, len(G) + 1)
    term = LabelTerm(training_labels(y, m, stacklevel=1), 0.3, 1.7)
    Y = rng.dirichlet(np.ones(3), 6)
    seen = term.added_to(G, Y)
    np.testing.assert_allclose(term.added_to(there(G), Y), seen, rtol=1e-14)
    for kind in (Rank(), Rank(truncate=0), Gibbs(), Winner()):
        ours, theirs = (kind.fresh()(x, sigma, m)[0] for x in (G, there(G)))
        np.testing.assert_allclose(term.means(theirs, Y), term.means(ours, Y), rtol=1e-12)
