"""Where neural gas starts: K/2, but with data points all the way at most 2."""

import numpy as np
import pytest
from support.maps import blobs

from medianmap import BatchNeuralGas, MedianNeuralGas, PatchClusterer, RelationalNeuralGas

X = blobs(np.random.default_rng(0), n=40)


def first(map_, X=X):
    return map_.set_params(n_epochs=3, random_state=0).fit(X).history_["sigma"][0]


@pytest.mark.parametrize(("K", "expected"), [(1, 0.5), (2, 1.0), (3, 1.5), (4, 2.0), (5, 2.0), (20, 2.0)])
def test_data_points_start_at_two_or_half_the_prototypes(K, expected):
    assert first(MedianNeuralGas(K, annealing="median")) == expected


@pytest.mark.parametrize("annealing", ["auto", "relational"])
def test_combinations_and_means_start_at_half_the_prototypes(annealing):
    assert first(MedianNeuralGas(20, annealing=annealing)) == 10
    assert first(RelationalNeuralGas(20)) == first(BatchNeuralGas(20)) == 10


def test_a_number_is_taken_as_it_is_and_the_end_is_never_above_the_start():
    assert first(MedianNeuralGas(20, annealing="median", sigma_start=10)) == 10
    assert first(MedianNeuralGas(20, annealing="median", sigma_end=4)) == 4


def test_patches_start_alike():
    passes = PatchClusterer(MedianNeuralGas(10, annealing="median", n_epochs=3, random_state=0), patch_size=40).fit(X)
    assert passes.n_patches_ == 1
    sigmas = passes.estimator._plan(10).sigmas
    assert sigmas[0] == 2
