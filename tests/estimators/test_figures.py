"""The chapter's figures that this library reproduces; the long ones are in benchmarks/."""

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from medianmap import BatchNeuralGas, MedianKMeans, MedianNeuralGas, PrototypeClassifier
from medianmap.core.quality import purity
from medianmap.datasets import load_iris
from medianmap.explore.beta_path import beta_path


def test_iris_batch_neural_gas():
    iris = load_iris()
    for seed in range(5):
        gas = BatchNeuralGas(6, random_state=seed).fit(iris.X)
        assert 40.5 <= gas.quantization_error_ <= 41.3
        assert abs(purity(gas.labels_, iris.y) - 0.84) <= 0.01


def test_iris_median_neural_gas_of_30_starts():
    iris = load_iris()
    gas = MedianNeuralGas(6, metric="sqeuclidean", n_init=30, random_state=0).fit(iris.X)
    assert gas.quantization_error_ <= 44.9
    np.testing.assert_array_equal(gas.cluster_centers_, iris.X[gas.medoid_indices_])


def test_a_protein_matrix_is_mapped_by_family(shared_data):
    D = np.loadtxt(shared_data / "proteins" / "D.csv", delimiter=",")
    y = np.loadtxt(shared_data / "proteins" / "labels.csv", dtype=str)
    assert purity(MedianNeuralGas(10, metric="precomputed", random_state=0).fit(D).labels_, y) > 0.8
    assert purity(MedianKMeans(10, metric="precomputed", n_init=5, random_state=0).fit(D).labels_, y) > 0.9


@pytest.mark.parametrize("labeling", ["learned", "majority"])
def test_iris_supervised_batch_neural_gas(labeling):
    iris = load_iris()
    for seed in range(5):
        clf = PrototypeClassifier(BatchNeuralGas(6, random_state=seed), 0.5, labeling=labeling, label_scale=None)
        assert clf.fit(iris.X, iris.y).score(iris.X, iris.y) >= 0.95


def test_labels_help_on_the_proteins(shared_data):
    D = np.loadtxt(shared_data / "proteins" / "D.csv", delimiter=",")
    y = np.loadtxt(shared_data / "proteins" / "labels.csv", dtype=str)
    # From K/2, as the chapter's figure is taken here; from our narrower start the unlabelled map is nearly as good.
    chapters = MedianNeuralGas(30, metric="precomputed", annealing="median", sigma_start=15, random_state=0)
    gas = PrototypeClassifier(chapters, label_scale=None, beta=0.1)
    halves = ShuffleSplit(6, test_size=0.5, random_state=1)
    path = beta_path(gas, D, y, [0.1], cv=halves, warm_start=False)
    assert path.accuracy["learned"][1].mean() - path.unsupervised.mean() >= 0.05
