"""Every mistake gets one clear sentence that says what was found and where, and changes nothing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from support.maps import blob_distances, blobs

from medianmap import BatchKMeans, BatchNeuralGas, MedianKMeans, MedianNeuralGas, MedianSOM, as_dissimilarity

D = blob_distances(np.random.default_rng(0), n=12)
X = blobs(np.random.default_rng(0), n=12)


def with_entry(i, l, value):
    changed = D.copy()
    changed[i, l] = value
    return changed


def precomputed(**params):
    return MedianKMeans(3, metric="precomputed", random_state=0, **params)


BAD_FITS = {
    "not square": (lambda: precomputed().fit(D[:, :5]), r"square matrix; this array has shape \(12, 5\)"),
    "3-D": (lambda: precomputed().fit(np.zeros((2, 2, 2))), r"shape \(2, 2, 2\)"),
    "NaN": (lambda: precomputed().fit(with_entry(3, 7, np.nan)), r"D\[3, 7\] is NaN"),
    "infinite": (lambda: precomputed().fit(with_entry(0, 5, np.inf)), r"D\[0, 5\] is inf"),
    "negative": (lambda: precomputed().fit(with_entry(3, 7, -0.2)), r"D\[3, 7\] is -0.2; dissimilarities must be >= 0"),
    "minus infinity": (lambda: precomputed().fit(with_entry(3, 7, -np.inf)), r"D\[3, 7\] is -inf"),
    "overflow": (lambda: precomputed().fit(D * 1e307), "overflow"),
    "empty matrix": (lambda: precomputed().fit(np.zeros((0, 0))), "0 sample"),
    "empty vectors": (lambda: MedianKMeans(2).fit(np.zeros((0, 3))), "0 sample"),
    "empty strings": (lambda: MedianKMeans(1, metric="edit").fit([]), "0 sample"),
    "1-D, no condensed length": (lambda: precomputed().fit(np.ones(7)), "1-D array of 7 entries"),
    "1-D vectors": (lambda: MedianKMeans(2).fit(np.ones(10)), "Reshape your data"),
    "1-D batch": (lambda: BatchKMeans(2).fit(np.ones(10)), "Reshape your data"),
    "text in a matrix": (lambda: precomputed().fit(np.full((3, 3), "x")), "real numbers"),
    "words in an object matrix": (lambda: precomputed().fit(np.full((3, 3), "x", object)), "not a number"),
    "asymmetric condensed": (lambda: as_dissimilarity(np.ones(6), symmetric=False), "one entry per pair"),
    "negative condensed": (lambda: precomputed().fit(-np.ones(6)), r"D\[0, 1\] is -1"),
    "K > N": (lambda: MedianKMeans(13, metric="precomputed").fit(D), "n_clusters = 13 exceeds n_samples = 12"),
    "K > N batch": (lambda: BatchNeuralGas(13).fit(X), "n_clusters = 13 exceeds n_samples = 12"),
    "SOM > N": (lambda: MedianSOM((4, 4)).fit(X), "neurons = 16 exceeds n_samples = 12"),
    "K < 1": (lambda: MedianKMeans(0).fit(X), "n_clusters is 0"),
    "K not whole": (lambda: MedianKMeans(2.5).fit(X), r"n_clusters is 2\.5"),
    "K > points that count": (
        lambda: MedianKMeans(3).fit(X, sample_weight=[1, 1] + [0] * 10),
        "n_clusters = 3 exceeds n_samples = 2",
    ),
    "weights too short": (
        lambda: MedianKMeans(3).fit(X, sample_weight=[1, 2]),
        r"sample_weight.shape == \(2,\), expected \(12,\)",
    ),
    "negative weight": (lambda: MedianKMeans(3).fit(X, sample_weight=[1] * 11 + [-1]), r"sample_weight\[11\] is -1"),
    "NaN weight": (lambda: MedianKMeans(3).fit(X, sample_weight=[np.nan] * 12), r"sample_weight\[0\] is nan"),
    "zero weights": (lambda: MedianKMeans(3).fit(X, sample_weight=np.zeros(12)), "All sample weights are zero"),
    "words as weights": (lambda: MedianKMeans(3).fit(X, sample_weight=["a"] * 12), "must be numbers"),
    "unknown metric": (
        lambda: MedianKMeans(2, metric="euclidian").fit(X),
        "no metric 'euclidian'.*Did you mean.*'euclidean'",
    ),
    "metric of no kind": (lambda: MedianKMeans(2, metric=3).fit(X), "metric is 3"),
    "metric gives NaN": (
        lambda: MedianKMeans(2, metric=lambda a, b: np.nan if (a, b) == ("b", "c") else 1.0).fit(list("abcd")),
        r"returned NaN for the pair \(1, 2\)",
    ),
    "metric gives text": (lambda: MedianKMeans(2, metric=lambda a, b: "far").fit(list("abcd")), "returned 'far'"),
    "metric gives negative": (
        lambda: MedianKMeans(2, metric=lambda a, b: -2.0).fit(list("abcd")),
        "returned -2 .* pair",
    ),
    "cosine of a zero vector": (
        lambda: MedianKMeans(2, metric="cosine").fit(np.eye(4)[:, :3]),
        r"pair \(0, 3\).*zeros",
    ),
    "strings with a vector metric": (
        lambda: MedianKMeans(2).fit(["ab", "cd", "ef"]),
        "holds strings.*'euclidean' compares vectors",
    ),
    "strings with a batch map": (lambda: BatchKMeans(2).fit(["ab", "cd", "ef"]), "holds strings"),
    "numbers with a string metric": (lambda: MedianKMeans(2, metric="edit").fit([1, 2, 3]), r"X\[0\] is a int"),
    "a table with a string metric": (lambda: MedianKMeans(2, metric="edit").fit(X), "compares strings"),
    "one string": (lambda: MedianKMeans(2, metric="edit").fit("abc"), "sequence of objects"),
    "negative edit costs": (
        lambda: MedianKMeans(1, metric="edit", metric_params={"indel": -1}).fit(["a"]),
        "must be >= 0",
    ),
    "constant column": (lambda: MedianKMeans(2, metric="seuclidean").fit(np.ones((5, 2))), "Column 0 is constant"),
    "few points for a covariance": (lambda: MedianKMeans(2, metric="mahalanobis").fit(X[:3]), "3 points are too few"),
    "vector NaN": (
        lambda: MedianKMeans(2).fit(np.where(np.arange(36).reshape(12, 3) == 7, np.nan, 1.0)),
        r"X\[2, 1\] is NaN",
    ),
    "unknown init": (lambda: MedianKMeans(2, init="k-means").fit(X), "init is 'k-means'; choose one of"),
    "too few init indices": (lambda: MedianKMeans(3, init=[0, 1]).fit(X), "2 indices, but there are 3 prototypes"),
    "init index outside": (lambda: MedianKMeans(2, init=[0, 99]).fit(X), "index 99.*0 to 11"),
    "init twice": (lambda: MedianKMeans(2, init=[4, 4]).fit(X), "twice"),
    "init without weight": (
        lambda: MedianKMeans(2, init=[0, 1]).fit(X, sample_weight=[0] + [1] * 11),
        "point 0, whose sample_weight is 0",
    ),
    "init vectors of a median map": (lambda: MedianKMeans(2, init=X[:2]).fit(X), "indices of data points"),
    "init vectors of the wrong length": (lambda: BatchKMeans(2, init=X[:2, :2]).fit(X), r"shape \(2, 2\)"),
    "unknown search": (lambda: MedianKMeans(2, search="quick").fit(X), "search is 'quick'.*'gemm'"),
    "unknown collisions": (lambda: MedianKMeans(2, collisions="x").fit(X), "collisions is 'x'"),
    "unknown refine": (lambda: MedianKMeans(2, refine="x").fit(X), "refine is 'x'"),
    "unknown lattice": (lambda: MedianSOM((2, 2), lattice="cube").fit(X), "lattice is 'cube'"),
    "grid of four": (lambda: MedianSOM((1, 2, 2, 2)).fit(X), r"\(rows, columns\), or \(layers, rows, columns\)"),
    "layers above N": (lambda: MedianSOM((2, 2, 4)).fit(X), "neurons = 16 exceeds n_samples = 12"),
    "lattice above N": (lambda: MedianSOM(lattice=1 - np.eye(13)).fit(X), "neurons = 13 exceeds n_samples = 12"),
    "lattice of no distances": (lambda: MedianSOM(lattice=5).fit(X), "lattice must be"),
    "grid of zero": (lambda: MedianSOM((2, 0)).fit(X), r"grid\[1\] is 0"),
    "odd hexagonal torus": (lambda: MedianSOM((3, 2), periodic=True).fit(X), "even number of rows"),
    "sigma not positive": (lambda: MedianNeuralGas(2, sigma_end=0).fit(X), "sigma_end is 0"),
    "sigma rises": (lambda: MedianNeuralGas(2, sigma_start=0.1, sigma_end=1).fit(X), "below sigma_end"),
    "no epochs": (lambda: MedianNeuralGas(2, n_epochs=0).fit(X), "n_epochs is 0"),
    "no starts": (lambda: MedianNeuralGas(2, n_init=0).fit(X), "n_init is 0"),
    "no threads": (lambda: MedianNeuralGas(2, n_jobs=0).fit(X), "n_jobs is 0"),
    "source with a metric": (lambda: MedianKMeans(2).fit(as_dissimilarity(D)), "set metric='precomputed'"),
    "empty list": (lambda: precomputed().fit([]), "0 sample"),
    "empty condensed": (lambda: precomputed().fit(np.empty(0)), "0 sample"),
    "nothing": (lambda: precomputed().fit(None), "X is a NoneType"),
    "ragged matrix": (lambda: precomputed().fit([[0, 1], [1]]), "different lengths"),
    "masked entries": (lambda: precomputed().fit(np.ma.masked_equal(D, D[0, 1])), "masked"),
    "parameters of a matrix": (lambda: precomputed(metric_params={"p": 3}).fit(D), "metric_params"),
    "weights overflow": (lambda: MedianKMeans(2).fit(X, sample_weight=np.full(12, 1e308)), "weights overflows"),
    "matrix times weights overflows": (
        lambda: MedianKMeans(2).fit(X, sample_weight=np.full(12, 1e306)),
        "costs overflow",
    ),
    "batch overflow": (lambda: BatchKMeans(2).fit(X * 1e200), "costs overflow"),
    "a frame of strings": (
        lambda: MedianKMeans(1, metric="edit").fit(pd.DataFrame({"seq": ["a", "b"]})),
        r"X is a DataFrame.*frame\['sequence'\]",
    ),
    "a dictionary": (lambda: MedianKMeans(1, metric="edit").fit({"a": "b"}), "X is a dict"),
    "object strings with a vector metric": (lambda: MedianKMeans(1).fit(np.array([["ab"]], object)), "holds strings"),
    "a series of strings with a vector metric": (lambda: MedianKMeans(1).fit(pd.Series(["ab", "c"])), "holds strings"),
    "parameters the metric lacks": (
        lambda: MedianKMeans(2, metric_params={"p": 3}).fit(X),
        r"does not work with .*\['p'\]",
    ),
    "VI of the wrong size": (
        lambda: MedianKMeans(2, metric="mahalanobis", metric_params={"VI": np.eye(2)}).fit(X),
        "3 x 3",
    ),
    "singular covariance": (lambda: MedianKMeans(2, metric="mahalanobis").fit(X[:, [0, 0]]), "singular"),
    "a huge grid": (lambda: MedianSOM((3000, 3000)).fit(X), "9000000 exceeds"),
    "periodic by word": (lambda: MedianSOM((2, 2), periodic="no").fit(X), "periodic is 'no'"),
    "verbose by word": (lambda: MedianKMeans(2, verbose="x").fit(X), "verbose is 'x'"),
    "on_epoch by number": (lambda: MedianKMeans(2, on_epoch=3).fit(X), "on_epoch is 3"),
    "ragged init": (lambda: BatchKMeans(2, init=[[1], [1, 2]]).fit(X), "different lengths"),
    "init of words": (lambda: BatchKMeans(2, init=[["a", "b", "c"]] * 2).fit(X), "indices of data points, or an array"),
    "an id twice": (
        lambda: precomputed().fit(pd.DataFrame(D, index=["a"] * 12, columns=["a"] * 12)),
        "rows 1 and 2 have the same id 'a'",
    ),
    "haversine in three dimensions": (lambda: MedianKMeans(2, metric="haversine").fit(X), "two columns, not 3"),
    "ids of a source": (lambda: as_dissimilarity(as_dissimilarity(D), ids=list("abcdefghijkl")), "already"),
    "ids of the wrong number": (lambda: as_dissimilarity(D, ids=["a"]), "1 ids for 12 points"),
    "frame in two orders": (
        lambda: precomputed().fit(pd.DataFrame(D, index=list("abcdefghijkl"), columns=list("bacdefghijkl"))),
        "Row 0 of the frame is named 'a'.*column 0.*'b'",
    ),
}


@pytest.mark.parametrize(("fit", "message"), BAD_FITS.values(), ids=BAD_FITS)
def test_a_bad_fit_says_what_is_wrong_in_one_line(fit, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        fit()
    text = str(caught.value)
    assert "\n" not in text or "Reshape your data" in text  # scikit-learn's own sentence has line breaks


@pytest.mark.parametrize("bad", [D[:, :5], with_entry(0, 1, np.nan), np.ones(7)], ids=["shape", "entry", "1-D"])
def test_a_failed_fit_changes_nothing(bad):
    fitted = precomputed().fit(D)
    before = dict(vars(fitted))
    with pytest.raises(ValueError):
        fitted.fit(bad)
    with pytest.raises(ValueError):
        fitted.fit(D, sample_weight=[1])
    assert vars(fitted).keys() == before.keys()
    assert all(vars(fitted)[name] is before[name] for name in before)


def test_a_fit_that_fails_on_its_column_names_changes_nothing():
    for fitted in (MedianKMeans(3, random_state=0).fit(X), BatchKMeans(3, random_state=0).fit(X)):
        before = dict(vars(fitted))
        with pytest.raises(TypeError):
            fitted.fit(pd.DataFrame(X, columns=[0, "a", 1]))
        assert vars(fitted).keys() == before.keys()
        assert all(vars(fitted)[name] is before[name] for name in before)


def test_queries_in_any_form_are_checked(tmp_path):
    fitted = precomputed().fit(D)
    with pytest.raises(ValueError, match="source of 20 points, but MedianKMeans was fitted on 12"):
        fitted.predict(as_dissimilarity(np.ones((20, 20))))
    bad = D.copy()
    bad[3, fitted.medoid_indices_[1]] = np.nan
    with pytest.raises(ValueError, match=r"D\[3, 1\] is NaN"):
        fitted.predict(as_dissimilarity(bad))
    np.save(tmp_path / "bad.npy", bad)
    with pytest.raises(ValueError, match=r"is NaN"):
        fitted.predict(tmp_path / "bad.npy")
    np.save(tmp_path / "queries.npy", D[:5])
    np.testing.assert_array_equal(fitted.predict(tmp_path / "queries.npy"), fitted.labels_[:5])
    with pytest.raises(ValueError, match="X has 5 features"):
        fitted.predict(D[:, :5].tolist())


def test_columns_in_another_order_are_noticed():
    ids = [str(100 + k) for k in range(12)]
    frame = pd.DataFrame(D, index=ids, columns=ids)
    fitted = precomputed().fit(frame)
    with pytest.raises(ValueError, match="put the columns in the order of the training points"):
        fitted.predict(frame[ids[::-1]])
    numbered = pd.DataFrame(D, index=range(100, 112), columns=range(100, 112))
    with pytest.raises(ValueError, match="put the columns in the order"):
        precomputed().fit(numbered).predict(numbered.iloc[:, ::-1])


def test_nothing_is_set_by_a_first_fit_that_fails():
    estimator = precomputed()
    before = dict(vars(estimator))
    with pytest.raises(ValueError):
        estimator.fit(with_entry(0, 1, -1))
    assert vars(estimator) == before


@pytest.mark.parametrize("method", ["predict", "transform", "score", "assign"])
def test_use_before_fit(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(precomputed(), method)(D)


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_queries_with_the_wrong_number_of_columns(method):
    with pytest.raises(
        ValueError, match=r"X has 5 features, but MedianKMeans is expecting 12 .* one for each training point"
    ):
        getattr(precomputed().fit(D), method)(D[:, :5])
    with pytest.raises(ValueError, match="X has 2 features, but MedianKMeans is expecting 3"):
        getattr(MedianKMeans(2).fit(X), method)(X[:, :2])
    with pytest.raises(ValueError, match="X has 2 features, but BatchKMeans is expecting 3"):
        getattr(BatchKMeans(2).fit(X), method)(X[:, :2])


def test_assign_with_the_wrong_number_of_columns():
    fitted = precomputed().fit(D)
    with pytest.raises(ValueError, match=r"expecting 3 .* one for each prototype"):
        fitted.assign(D)
    with pytest.raises(ValueError, match=r"D\[1, 2\] is NaN"):
        fitted.assign(with_entry(1, 2, np.nan)[:, :3])


def test_a_diagonal_that_is_not_zero_is_one_warning():
    with pytest.warns(UserWarning, match=r"not zero at 1 of 12 points \(first D\[4, 4\] = 1\)") as caught:
        precomputed(n_init=3).fit(with_entry(4, 4, 1.0))
    assert len(caught) == 1


def test_missing_and_foreign_matrix_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        as_dissimilarity(tmp_path / "nothing.npy")
    (tmp_path / "text.npy").write_text("hello")
    with pytest.raises(ValueError, match="not a readable"):
        as_dissimilarity(tmp_path / "text.npy")
    np.savez(tmp_path / "many.npz", D=D)
    with pytest.raises(ValueError, match="npz archive"):
        as_dissimilarity(tmp_path / "many.npz")
    np.save(tmp_path / "cut.npy", D)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:500])
    with pytest.raises(ValueError, match="not a readable"):
        as_dissimilarity(tmp_path / "cut.npy")
