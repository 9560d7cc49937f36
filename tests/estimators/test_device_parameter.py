"""`device=` of the maps, on torch's CPU tensors: scikit-learn's contract, models, labels, patches, new points."""

import logging

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from support.extras import optional

import medianmap
from medianmap import PatchClusterer, PrototypeClassifier, as_dissimilarity, load, save
from medianmap.explore import judged, two_best
from medianmap.explore.health import check_dissimilarity
from medianmap.report.summary import summarize
from medianmap.sources import base
from medianmap.utils import device as devices

torch = optional("torch")
MAPS = {
    "MedianKMeans": {"n_clusters": 4},
    "MedianNeuralGas": {"n_clusters": 4},
    "MedianSOM": {"grid": (2, 3)},
    "RelationalKMeans": {"n_clusters": 4},
    "RelationalNeuralGas": {"n_clusters": 4},
    "RelationalSOM": {"grid": (2, 3)},
}


@pytest.fixture
def X(rng):
    return np.repeat(4.0 * rng.normal(size=(5, 3)), 12, axis=0) + rng.normal(size=(60, 3))


def made(name, **how):
    return getattr(medianmap, name)(**{**MAPS[name], "random_state": 0, "device": "torch:cpu", **how})


@pytest.mark.parametrize("name", MAPS)
def test_scikit_learns_contract_holds(name):
    own = made(name)
    assert own.get_params()["device"] == "torch:cpu"
    assert clone(own).device == "torch:cpu"
    assert clone(own).set_params(device=None).device is None
    assert getattr(medianmap, name)().device is None
    assert "device : str or None, default=None" in type(own).__doc__


@pytest.mark.parametrize("name", ["BatchKMeans", "BatchNeuralGas", "BatchSOM"])
def test_maps_of_means_have_no_device(name):
    assert "device" not in getattr(medianmap, name)().get_params()


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_a_fit_there_is_a_fit_of_the_same_data(name, metric, X, tmp_path):
    data = X if metric == "euclidean" else cdist(X, X)
    fitted = made(name, metric=metric).fit(data)
    np.testing.assert_array_equal(fitted.predict(data), fitted.labels_)
    assert fitted.hits_.sum() == len(X)
    again = clone(fitted).fit(data)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    here = clone(fitted).set_params(device=None).fit(data)
    assert fitted.quantization_error_ <= 1.05 * here.quantization_error_
    for value in vars(fitted).values():
        assert not isinstance(value, torch.Tensor)
    save(fitted, tmp_path / "model.mmap")
    loaded = load(tmp_path / "model.mmap")
    assert loaded.device == "torch:cpu"
    np.testing.assert_array_equal(loaded.predict(data), fitted.labels_)


def test_a_model_from_a_card_loads_and_predicts_without_torch(X, tmp_path, monkeypatch):
    fitted = made("MedianNeuralGas", metric="euclidean").fit(X)
    fitted.device = "cuda"
    save(fitted, tmp_path / "model.mmap")
    monkeypatch.setattr(devices, "torch_module", lambda: pytest.fail("torch was asked for"))
    np.testing.assert_array_equal(load(tmp_path / "model.mmap").predict(X), fitted.labels_)


@pytest.mark.parametrize("how", [{}, {"dtype": "float32"}, {"dtype": "float16"}, {"stream": True}])
def test_a_source_that_is_there_is_mapped_there(X, how):
    D = cdist(X, X)
    source = as_dissimilarity(D, device="torch:cpu", **how)
    fitted = made("MedianNeuralGas", metric="precomputed", device=None).fit(source)
    whole = made("MedianNeuralGas", metric="precomputed").fit(D)
    assert fitted.quantization_error_ == pytest.approx(whole.quantization_error_, rel=1e-3)
    # The error is that of the user's numbers, not of those that are stored.
    assert fitted.inertia_ == pytest.approx(D[:, fitted.medoid_indices_].min(axis=1).sum(), rel=1e-12)
    np.testing.assert_array_equal(fitted.predict(D), fitted.labels_)


def test_a_tensor_is_mapped(X):
    D = cdist(X, X)
    fitted = made("MedianNeuralGas", metric="precomputed").fit(torch.from_numpy(D))
    np.testing.assert_array_equal(fitted.labels_, made("MedianNeuralGas", metric="precomputed").fit(D).labels_)
    np.testing.assert_array_equal(fitted.predict(torch.from_numpy(D)), fitted.labels_)
    np.testing.assert_array_equal(fitted.assign(torch.from_numpy(D[:, fitted.medoid_indices_])), fitted.labels_)


def test_weights_labels_and_ids(X):
    D, y = cdist(X, X), np.repeat(["a", "b", "c", "d", "e"], 12)
    m = np.where(np.arange(60) % 7, 1.0 + np.arange(60) % 3, 0.0)
    ids = [f"p{i}" for i in range(60)]
    clf = PrototypeClassifier(made("MedianNeuralGas", n_clusters=5, metric="precomputed"))
    clf.fit(as_dissimilarity(D, ids=ids), y, sample_weight=m)
    assert clf.estimator_.hits_.sum() == m.sum()
    assert (m[clf.estimator_.medoid_indices_] > 0).all()
    assert clf.estimator_.prototype_ids_ == [ids[i] for i in clf.estimator_.medoid_indices_]
    assert clf.score(D, y) > 0.9
    here = PrototypeClassifier(made("MedianNeuralGas", n_clusters=5, metric="precomputed", device=None)).fit(
        as_dissimilarity(D, ids=ids), y, sample_weight=m
    )
    assert set(clf.estimator_.medoid_indices_) == set(here.estimator_.medoid_indices_)


def test_objects_of_any_metric(rng):
    words = ["".join(rng.choice(list("ab"), 5)) + "x" * (i % 3) * 4 for i in range(30)]
    fitted = made("MedianKMeans", n_clusters=3, metric="edit", n_init=3).fit(words)
    assert sorted(map(len, fitted.cluster_centers_)) == [5, 9, 13]
    np.testing.assert_array_equal(fitted.predict(words), fitted.labels_)
    assert fitted.n_evaluations_ > 0


def test_patches_of_a_map_with_a_device(X):
    passes = PatchClusterer(made("MedianNeuralGas", metric="euclidean"), patch_size=30).fit(X)
    assert len(passes.labels_) == 60


def test_dissimilarities_beyond_the_range_of_costs_are_refused():
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))) * 3e307
    with pytest.raises(ValueError, match="costs overflow"):
        made("MedianNeuralGas", n_clusters=2, metric="precomputed").fit(D)


def test_auto_stays_here_with_few_points_and_says_so(X, caplog):
    caplog.set_level(logging.INFO, "medianmap")
    fitted = made("MedianNeuralGas", metric="euclidean", device="auto").fit(X)
    assert "device='auto': the CPU is used, since 60 points are fewer than 10000" in caplog.text
    here = made("MedianNeuralGas", metric="euclidean", device=None).fit(X)
    np.testing.assert_array_equal(fitted.medoid_indices_, here.medoid_indices_)


def test_a_device_reads_a_matrix_that_nobody_looked_at_for_symmetry(X, monkeypatch):
    D = cdist(X, X)
    monkeypatch.setattr("medianmap.sources.is_symmetric", lambda D: pytest.fail("read on the CPU"))
    for given in (D, D * np.arange(1, 61)):
        fitted = made("MedianKMeans", metric="precomputed", init=[0, 20, 40, 59]).fit(given)
        np.testing.assert_array_equal(fitted.labels_, given[:, fitted.medoid_indices_].argmin(axis=1))
    assert base.is_source(as_dissimilarity(D, device="torch:cpu"))


@pytest.mark.parametrize("how", [{}, {"stream": True}])
def test_what_a_map_says_of_a_matrix_does_not_depend_on_where_it_lies(X, how):
    D = cdist(X, X)
    D[7] = D[:, 7] = np.where(np.arange(60) == 7, 0.0, 300.0 + np.arange(60))  # an outlier
    source = as_dissimilarity(D, device="torch:cpu", **how)
    fitted = made("MedianSOM", metric="precomputed").fit(source)
    facts = [summarize(fitted, D, pairs=pairs, structure=True) for pairs in (source, as_dissimilarity(D))]
    # The last bits of places and scores are those of sums in another order; swaps may end in another optimum.
    planes = [each.pop("plane")["correlation"] for each in facts]
    assert planes[0] == pytest.approx(planes[1])
    prices = [each["quality"].pop("price_of_order") for each in facts]
    assert prices[0] == pytest.approx(prices[1], rel=0.05)
    scored = [(each.pop("members"), [point["point"] for point in each.pop("outliers")]) for each in facts]
    assert scored[0][1] == scored[1][1]
    assert facts[0] == facts[1]
    there, here = (judged(two_best(fitted, D), pairs) for pairs in (source, as_dissimilarity(D)))
    assert there["outlier"].tolist() == here["outlier"].tolist() == [i == 7 for i in range(60)]
    np.testing.assert_allclose(there["outlier_score"], here["outlier_score"])
    assert check_dissimilarity(source).as_dict() == check_dissimilarity(D).as_dict()
