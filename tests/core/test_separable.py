"""The factors of a Gaussian on a lattice: their product is that of H, a rigorous bound, and it changes no winner."""

import numpy as np
import pytest

from medianmap import reference
from medianmap.core.assignment import OnLattice, smoothed_winners
from medianmap.core.neighborhood import make_lattice
from medianmap.core.separable import Factors

LATTICES = [
    ((4, 6), "hexagonal", True), ((5, 6), "hexagonal", False), ((5, 3), "rectangular", True),
    ((3, 4), "rectangular", False), ((1, 5), "hexagonal", False), ((6, 1), "hexagonal", False),
    ((1, 1), "hexagonal", False),
]  # fmt: skip


def weights_of(lattice, sigma):
    Z = lattice.row_sums(sigma, "gaussian")
    share = Z.min() / Z
    return lattice.weights(sigma, "gaussian") * share[:, None], share


@pytest.mark.parametrize(("shape", "kind", "periodic"), LATTICES)
@pytest.mark.parametrize("sigma", [0.05, 0.6, 1.7, 6.0])
def test_the_product_is_that_of_the_weights_and_its_bound_holds(shape, kind, periodic, sigma, rng):
    lattice = make_lattice(shape, kind, periodic)
    H, share = weights_of(lattice, sigma)
    factors = Factors(lattice, sigma, share)
    for scale in (1.0, 1e-30, 1e30):
        M = (scale * rng.random((len(H), 600)) ** 4).astype(np.float32)
        found, exact = factors.product(M, 2), H @ M.astype(np.float64)
        assert (found.L * (1 - found.relative) - found.absolute[:, None] <= exact * (1 + 1e-13)).all()
        assert (found.L >= exact * (1 - found.relative) - 1e-11 * M.sum(axis=0) - found.absolute[:, None]).all()


@pytest.mark.parametrize(("shape", "kind", "periodic"), LATTICES)
def test_winners_are_the_same_without_factors(shape, kind, periodic, rng, monkeypatch):
    lattice = make_lattice(shape, kind, periodic)
    monkeypatch.setattr("medianmap.core.separable.SMALL_COST", 0.0)  # always taken
    ties = rng.integers(0, 3, (len(lattice.distances), 300)).astype(np.float32)
    for sigma in (0.4, 1.0, 3.0):
        H, share = weights_of(lattice, sigma)
        for GT in (ties, rng.random(ties.shape), rng.random(ties.shape).astype(np.float32)):
            expected = smoothed_winners(GT, H, 1)
            for n_jobs in (1, 2):
                found = smoothed_winners(GT, H, n_jobs, Factors(lattice, sigma, share))
                np.testing.assert_array_equal(found[0], expected[0])
                np.testing.assert_array_equal(found[1], expected[1])


def test_a_large_map_takes_them_while_neighborhoods_are_wide(rng, monkeypatch):
    taken, product = [], Factors.product

    def watched(self, M, n_jobs):
        taken.append(True)
        return product(self, M, n_jobs)

    monkeypatch.setattr(Factors, "product", watched)
    G, m, lattice = np.asfortranarray(rng.random((40, 400))), np.ones(40), make_lattice((20, 20))
    for sigma, neighborhood, times in ((5.0, "gaussian", 1), (5.0, "exponential", 1), (0.6, "gaussian", 1)):
        OnLattice(lattice, neighborhood)(G, sigma, m)
        assert len(taken) == times


@pytest.mark.parametrize("truncate", [8.0, None])
@pytest.mark.parametrize("shape", [(12, 12), (3, 7, 7)])
def test_weights_without_factors_have_the_winners_of_the_definition(shape, truncate, rng):
    """Neither a truncated Gaussian nor one of layers is a product along columns and rows."""
    lattice = make_lattice(shape)
    G, m = np.asfortranarray(rng.random((60, len(lattice.distances)))), np.ones(60)
    most = np.inf if truncate is None else truncate
    A, cost = reference.som(lattice.distances, "gaussian", truncate=most)(G, 6.0, m)
    weights, ours = OnLattice(lattice, "gaussian", truncate=truncate)(G, 6.0, m)
    np.testing.assert_array_equal(weights.A, A)
    assert ours == pytest.approx(cost, rel=1e-12)
