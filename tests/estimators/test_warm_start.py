"""warm_start: a fit goes on from the one before."""

import numpy as np
import pytest
from support.maps import blobs

from medianmap import (
    BatchKMeans,
    BatchNeuralGas,
    BatchSOM,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)

BATCH, MEDIAN = (BatchKMeans, BatchNeuralGas, BatchSOM), (MedianKMeans, MedianNeuralGas, MedianSOM)
RELATIONAL = (RelationalKMeans, RelationalNeuralGas, RelationalSOM)


def made(kind, **params):
    return kind((2, 4) if kind in (BatchSOM, MedianSOM, RelationalSOM) else 8, random_state=0, **params)


@pytest.fixture
def X(rng):
    return blobs(rng, n=200, centers=6)


@pytest.mark.parametrize("kind", [*BATCH, *MEDIAN, *RELATIONAL])
def test_it_goes_on_where_it_was_in_fewer_epochs(X, kind):
    fresh = made(kind).fit(X)
    warm = made(kind, warm_start=True).fit(X)
    assert np.array_equal(warm.labels_, fresh.labels_)  # there was nothing to go on from
    first = warm.n_iter_
    warm.fit(X)
    assert warm.n_iter_ < max(first, 12)
    assert warm.quantization_error_ <= 1.05 * fresh.quantization_error_
    nearest = np.abs(warm.transform(X) - fresh.transform(X)).mean()
    assert nearest < 0.25 * fresh.transform(X).mean()  # prototype by prototype, so that a lattice keeps its orientation


@pytest.mark.parametrize("kind", [MedianNeuralGas, RelationalNeuralGas, BatchNeuralGas])
def test_points_may_be_added(X, kind):
    warm = made(kind, warm_start=True).fit(X[:150])
    before = warm.transform(X)
    warm.fit(X)
    assert len(warm.labels_) == 200
    assert np.abs(warm.transform(X) - before).mean() < 0.25 * before.mean()


def test_the_last_prototypes_and_no_others_are_taken_up(X):
    warm = made(MedianKMeans, warm_start=True, annealing="median", metric="sqeuclidean").fit(X)
    ended = warm.medoid_indices_
    again = warm.fit(X)
    assert warm.n_iter_ == 1  # nothing moves any more
    assert np.array_equal(again.medoid_indices_, ended)


@pytest.mark.parametrize("kind", [MedianKMeans, RelationalKMeans])
def test_a_point_of_a_prototype_that_is_gone(X, kind):
    warm = made(kind, warm_start=True).fit(X)
    with pytest.raises(ValueError, match=r"point \d+ .*X has 20 points"):
        warm.fit(X[:20])
    m = np.ones(len(X))
    m[warm.medoid_indices_[0] if kind is MedianKMeans else warm.support_[0]] = 0
    with pytest.raises(ValueError, match="but its sample_weight is 0"):
        warm.fit(X, sample_weight=m)
    warm.set_params(warm_start=False).fit(X[:20])


def test_points_without_weight_are_passed_over(X):
    m = np.ones(len(X))
    m[:50] = 0
    warm = made(MedianNeuralGas, warm_start=True).fit(X, sample_weight=m)
    before = warm.medoid_indices_
    warm.fit(X, sample_weight=m)
    assert (warm.medoid_indices_ >= 50).all()
    assert len(np.intersect1d(warm.medoid_indices_, before)) >= 4


def test_other_shapes_are_refused(X):
    warm = made(BatchKMeans, warm_start=True).fit(X)
    with pytest.raises(ValueError, match=r"8 prototypes.*there are to be 5"):
        warm.set_params(n_clusters=5).fit(X)
    with pytest.raises(ValueError, match="X has 2 features, the fit before had 3"):
        made(BatchKMeans, warm_start=True).fit(X).fit(X[:, :2])
    with pytest.raises(ValueError, match="warm_start is 'yes'"):
        made(MedianKMeans, warm_start="yes").fit(X)


def test_a_point_that_is_two_prototypes():
    D = np.zeros((6, 6))
    warm = MedianKMeans(2, metric="precomputed", collisions="allow", init=[3, 3], warm_start=True).fit(D)
    assert len(np.unique(warm.medoid_indices_)) == 1
    with pytest.raises(ValueError, match="two of which are the same point"):
        warm.set_params(collisions="distinct", init="random").fit(D)
