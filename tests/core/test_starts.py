"""Where prototypes start: every point counts by its weight."""

import numpy as np
import pytest

from medianmap.core.assignment import Winner
from medianmap.core.engine import Problem, labelled, spread
from medianmap.core.label_term import LabelTerm
from medianmap.core.labels import LabelVectors
from medianmap.core.spaces import MedianSpace
from medianmap.sources import DenseSource


def space_of(x):
    return MedianSpace(DenseSource(np.abs(np.subtract.outer(x, x)), symmetric=True), "standard")


@pytest.mark.parametrize("seed", range(8))
def test_the_first_point_and_the_next_are_drawn_by_weight(seed):
    m = np.array([1.0, 1.0, 1e15, 1.0, 1e15, 1.0])
    assert set(spread(space_of(np.arange(6.0)), 2, m, np.random.default_rng(seed))) == {2, 4}


def test_the_label_vectors_of_a_start_are_means_by_weight():
    labels = LabelVectors(np.array(["a", "b"]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.ones(3, bool))
    problem = Problem(space_of(np.array([0.0, 1.0, 10.0])), Winner(), np.array([1.0, 3.0, 2.0]), LabelTerm(labels, 0.5))
    np.testing.assert_array_equal(labelled(problem, np.array([0, 2]), 1.0).labels, [[0.25, 0.75], [1.0, 0.0]])
