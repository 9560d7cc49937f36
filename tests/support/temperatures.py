"""The schedule of deterministic annealing, as it is said to be."""

from medianmap.estimators.fit import COLDEST, COOLING


def temperatures(T):
    """40 temperatures to a hundredth, then 0."""
    assert (COOLING, COLDEST) == (40, 1e-2)
    return [*(T * 0.01 ** (t / 39) for t in range(40)), 0.0]
