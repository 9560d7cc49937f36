"""A matrix on a device, on torch's CPU tensors: what is copied, computed, streamed, refused, and read back."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, squareform
from support.extras import optional

from medianmap import as_dissimilarity
from medianmap.sources import SubsetSource, tensors
from medianmap.sources.base import ALL, mean_of_pairs
from medianmap.sources.computed import ComparedSource
from medianmap.sources.tensors import TensorSource, of_tensor, tensor_source
from medianmap.utils import device as devices
from medianmap.utils.threads import followed

torch = optional("torch")
CPU = torch.device("cpu")
HALF = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


@pytest.fixture(autouse=True)
def small_panels(monkeypatch):
    """Many panels and tiles of small matrices."""
    monkeypatch.setattr(tensors, "rows_per_panel", lambda n, itemsize=8: 7)
    monkeypatch.setattr(tensors, "TILE", 16)
    monkeypatch.setattr(devices, "PANEL_ENTRIES", 300)


@pytest.fixture
def X(rng):
    return rng.normal(size=(47, 3))


@pytest.fixture
def D(X):
    return cdist(X, X)


def there(X, **how) -> TensorSource:
    source = as_dissimilarity(X, device="torch:cpu", **how)
    assert isinstance(source, TensorSource)
    return source


def forms(D):
    """D in every form that holds it: square, float32, condensed, as a file's memory map is, and asymmetric."""
    yield D
    yield D.astype(np.float32)
    yield np.asfortranarray(D)
    yield squareform(D, checks=False)
    yield np.round(10 * D).astype(np.int16)
    yield D * np.arange(1, len(D) + 1)


def test_every_form_of_a_matrix_is_the_same_there(D):
    for given in forms(D):
        here, copied = as_dissimilarity(given), there(given)
        np.testing.assert_array_equal(copied.block(ALL, ALL), here.block(ALL, ALL))
        assert copied.symmetric == here.symmetric == copied.host.symmetric
        assert copied.exponent == 0
        assert not copied.rounded
        assert copied.largest == here.block(ALL, ALL).max()
        assert str(copied.storage) == ("torch.float64" if here.dtype == np.float64 else "torch.float32")


def test_a_memory_map_is_copied(D, tmp_path):
    np.save(tmp_path / "D.npy", D)
    for given in (tmp_path / "D.npy", str(tmp_path / "D.npy"), np.load(tmp_path / "D.npy", mmap_mode="r")):
        np.testing.assert_array_equal(there(given).block(ALL, ALL), D)


def test_blocks_rows_and_columns_are_those_of_the_matrix(D, rng):
    for given in (D, D * np.arange(1, len(D) + 1)):
        for how in ({}, {"stream": True}):
            source, at, to = there(given, **how), rng.permutation(47)[:9], rng.integers(0, 47, 5)
            for rows in (ALL, slice(3, 20), slice(40, 99), at):
                for cols in (ALL, slice(5, 6), to):
                    np.testing.assert_array_equal(source.block(rows, cols), given[rows][:, cols])
            np.testing.assert_array_equal(source.rows(at).numpy(), given[at])
            np.testing.assert_array_equal(source.columns(to).numpy(), given[:, to].T)
            assert source.columns(to).is_contiguous()
            together = torch.cat([panel for _, panel in source.panels()])
            np.testing.assert_array_equal(together.numpy(), given)
            assert [rows.start for rows, _ in source.panels(10)] == [0, 10, 20, 30, 40]
            kept = source.subset(at)
            np.testing.assert_array_equal(kept.block(ALL, ALL), given[np.ix_(at, at)])
            np.testing.assert_array_equal(kept.host.block(ALL, ALL), given[np.ix_(at, at)])
            assert mean_of_pairs(source, np.ones(47)) == mean_of_pairs(as_dissimilarity(given), np.ones(47))


def test_a_subset_of_what_is_there_is_made_there(D, rng):
    source, keep = there(D), rng.permutation(47)[:11]
    again = tensor_source(SubsetSource(source, keep), CPU)
    np.testing.assert_array_equal(again.block(ALL, ALL), D[np.ix_(keep, keep)])
    assert tensor_source(source, CPU) is source


def test_the_nearest_others(D):
    D = np.where(np.eye(len(D), dtype=bool), 3.0, D)  # a point is none of its own neighbours
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        sources = [there(D), there(D * 2.0**80), there(D, stream=True)]
    others = np.where(np.eye(len(D), dtype=bool), np.inf, D)
    for source, factor in zip(sources, (1.0, 2.0**80, 1.0), strict=True):
        values, who = source.nearest_others(6)
        np.testing.assert_array_equal(values, factor * np.sort(others, axis=1)[:, :6])
        np.testing.assert_array_equal(who, np.argsort(others, axis=1)[:, :6])


# --- a tensor of the user's


def test_a_tensor_is_not_copied(D):
    T = torch.from_numpy(D.copy())
    source = there(T)
    assert source.tensor.data_ptr() == T.data_ptr()
    assert source.symmetric
    assert source.host is None
    assert source.unscaled().block(ALL, ALL)[3, 4] == D[3, 4]
    assert not there(torch.from_numpy(D * np.arange(1, len(D) + 1))).symmetric
    assert there(T.requires_grad_()).tensor.data_ptr() == T.data_ptr()


def test_tensors_of_other_libraries_come_through_dlpack(D):
    class Foreign:
        """What CuPy's and others' arrays have."""

        def __init__(self, T):
            self.T = T

        def __dlpack__(self, **how):
            return self.T.__dlpack__(**how)

        def __dlpack_device__(self):
            return self.T.__dlpack_device__()

    T = torch.from_numpy(D.copy())
    source = of_tensor(Foreign(T))
    assert source.tensor.data_ptr() == T.data_ptr()
    np.testing.assert_array_equal(np.from_dlpack(source.tensor), D)
    assert not devices.on_card(Foreign(T))
    assert not devices.on_card(D)


def test_a_tensor_in_main_memory_is_an_array_without_a_device(D):
    here = as_dissimilarity(torch.from_numpy(D))
    np.testing.assert_array_equal(here.D, D)
    assert not isinstance(here, TensorSource)
    assert as_dissimilarity(torch.from_numpy(D), device="cpu").D.shape == D.shape


def with_entry(T, i, l, value):
    T = T.clone()
    T[i, l] = value
    return T


def test_whole_numbers_become_floats():
    T = torch.arange(3)[:, None] - torch.arange(3)
    assert there(T.abs()).storage == torch.float64
    assert there(T.abs().to(torch.int16)).storage == torch.float32


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda T: T[:5], r"must be a square matrix; this tensor has shape \(5, 47\)"),
        (lambda T: T[0], r"this tensor has shape \(47,\)"),
        (lambda T: T.to(torch.complex64), "Complex data not supported"),
        (lambda T: with_entry(T, 40, 2, -0.5), r"^D\[40, 2\] is -0.5"),
        (lambda T: with_entry(T, 9, 8, np.nan), r"^D\[9, 8\] is NaN"),
        (lambda T: with_entry(T, 9, 8, np.inf), r"^D\[9, 8\] is inf"),
    ],
)
def test_a_bad_tensor_is_refused_by_the_place(D, damage, said):
    with pytest.raises(ValueError, match=said):
        there(damage(torch.from_numpy(D)))


@pytest.mark.parametrize("value", [np.nan, -1.0, np.inf])
@pytest.mark.parametrize("stream", [False, True])
def test_a_bad_matrix_is_refused_by_the_place(D, value, stream):
    D[33, 21] = value
    with pytest.raises(ValueError, match=r"^D\[33, 21\] is"):
        there(D, stream=stream)
    D[21, 33] = value
    with pytest.raises(ValueError, match=r"^D\[21, 33\] is"):
        there(squareform(D, checks=False), stream=stream)


def test_a_diagonal_is_warned_of_once(D):
    D[5, 5] = 2.0
    for given, how in ((D, {}), (D, {"stream": True}), (torch.from_numpy(D), {})):
        with pytest.warns(UserWarning, match=r"not zero at 1 of 47 points \(first D\[5, 5\] = 2\)") as heard:
            there(given, **how)
        assert len(heard) == 1


# --- vectors


@pytest.mark.parametrize("name", ["euclidean", "sqeuclidean", "cosine", "correlation", "cityblock", "hamming", "l1"])
def test_vectors_are_compared_there(X, name, monkeypatch):
    monkeypatch.setattr("medianmap.metrics.tensors.PRODUCT_TILE", 20)
    monkeypatch.setattr("medianmap.metrics.tensors.COORDINATE_TILE", 20)
    X = np.round(X) if name == "hamming" else X
    D = as_dissimilarity(X, name).block(ALL, ALL)
    source = as_dissimilarity(X, name, device="torch:cpu")
    assert isinstance(source, ComparedSource)
    assert source.metric.name == name
    matrix = source.kept()
    assert matrix.storage == torch.float32
    assert not matrix.rounded
    assert matrix.symmetric
    found = matrix.block(ALL, ALL)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, D, rtol=2e-7, atol=1e-15)
    double = as_dissimilarity(X, name, device="torch:cpu", dtype="float64").kept()
    np.testing.assert_allclose(double.block(ALL, ALL), D, rtol=1e-12, atol=4e-15)
    # What is read of `host` has all digits, to the last bit.
    np.testing.assert_array_equal(matrix.unscaled().block(ALL, np.arange(3)), D[:, :3])


def test_vectors_without_direction_are_named(X):
    X[30] = 0.0
    with pytest.raises(ValueError, match=r"'cosine' returned NaN for the pair \(0, 30\); a vector of zeros"):
        as_dissimilarity(X, "cosine", device="torch:cpu")


def test_objects_that_no_device_compares_are_compared_here_and_copied(rng):
    words = ["".join(rng.choice(list("abc"), 6)) for _ in range(30)]
    source = as_dissimilarity(words, "edit", device="torch:cpu")
    here = as_dissimilarity(words, "edit").block(ALL, ALL)
    np.testing.assert_array_equal(source.block(ALL, ALL), here)
    assert source.objects == words
    weighted = as_dissimilarity(rng.normal(size=(20, 2)), "euclidean", metric_params={"w": [1, 4]}, device="torch:cpu")
    np.testing.assert_allclose(weighted.block(ALL, ALL), weighted.kept().host.block(ALL, ALL))


# --- half precision, extreme sizes


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("factor", [1.0, 1e-7, 3e4, 1e9, 1e-70, 1e100])
def test_half_precision_loses_what_it_must(D, dtype, factor):
    given = factor * D
    source = there(given, dtype=dtype)
    assert source.rounded
    assert str(source.storage) == f"torch.{dtype}"
    np.testing.assert_allclose(source.block(ALL, ALL), given, rtol=1.01 * HALF[dtype], atol=1e-7 * given.max())
    # In its own numbers it is what `tensor` holds, and streamed it is the same.
    of_tensor_ = there(given, dtype=dtype, stream=True)
    together = torch.cat([panel for _, panel in of_tensor_.panels()]).double().numpy()
    np.testing.assert_allclose(np.ldexp(together, of_tensor_.exponent), source.block(ALL, ALL), rtol=1e-12)
    np.testing.assert_array_equal(source.exact().block(ALL, ALL), given)
    np.testing.assert_array_equal(source.unscaled().block(ALL, ALL), given)


def test_rounding_makes_no_matrix_symmetric(D):
    D[3, 4] *= 1 + 1e-12
    source = there(D, dtype="float16")
    assert not source.symmetric
    column = source.exact().columns(np.array([4])).numpy()
    np.testing.assert_array_equal(np.ldexp(column, source.exponent), D[:, [4]].T)
    assert there(D.T + D, dtype="float16").symmetric


def test_a_large_entry_at_the_end_brings_all_down(D):
    D[-1, -2] = D[-2, -1] = 1e12
    source = there(D, dtype="float16")
    assert source.block(slice(-2, None), ALL).max() == pytest.approx(1e12, rel=1e-3)
    assert torch.isfinite(source.tensor).all()


@pytest.mark.parametrize("factor", [2.0**-300, 2.0**-60, 1.0, 2.0**60, 2.0**300])
def test_numbers_of_extreme_size_are_brought_to_about_one(D, factor):
    for given in (factor * D, torch.from_numpy(factor * D)):
        source = there(given)
        assert (source.exponent == 0) == (factor == 1.0)
        assert 0.5 <= source.largest < 8
        assert float(source.tensor.max()) == source.largest
        np.testing.assert_array_equal(source.block(ALL, ALL), factor * D)
        np.testing.assert_array_equal(np.ldexp(source.tensor.numpy(), source.exponent), factor * D)
        np.testing.assert_array_equal(source.unscaled().block(ALL, ALL), factor * D)


# --- memory, progress, mistakes


@pytest.mark.parametrize("kind", ["matrix", "vectors", "subset"])
def test_what_does_not_fit_is_refused_before_it_is_copied(D, X, kind, monkeypatch):
    source = there(D)
    monkeypatch.setattr(devices, "free_bytes", lambda device: 1000)
    make = {"matrix": lambda: there(D), "vectors": lambda: as_dissimilarity(X, "euclidean", device="torch:cpu"),
            "subset": lambda: source.subset(np.arange(40))}  # fmt: skip
    with pytest.raises(ValueError, match=r"dissimilarities take .* has 1\.0 kB free"):
        make[kind]()
    assert there(D, stream=True).tensor is None


def test_the_way_is_told(D, X):
    for work in (lambda: there(D), lambda: there(squareform(D)), lambda: there(D, stream=True),
                 lambda: as_dissimilarity(X, "cosine", device="torch:cpu")):  # fmt: skip
        steps = []
        with followed(lambda stage, done, total, steps=steps: steps.append((stage, done, total))):
            work()
        assert {stage for stage, *_ in steps} == {"dissimilarities"}
        assert [done for _, done, _ in steps] == sorted(done for _, done, _ in steps)
        assert steps[-1][1:] == (47 * 47, 47 * 47)


def test_mistakes(D):
    with pytest.raises(ValueError, match="dtype is 'int8'; choose one of 'float64'"):
        there(D, dtype="int8")
    for how in ({"dtype": "float16"}, {"stream": True}):
        with pytest.raises(ValueError, match="none is named; pass device='cuda'"):
            as_dissimilarity(D, **how)
    with pytest.raises(ValueError, match="there are 2 ids for 47 points"):
        there(torch.from_numpy(D), ids=["a", "b"])


def test_ids_are_kept(D):
    ids = [f"p{i}" for i in range(47)]
    assert there(D, ids=ids).ids == ids
    assert there(torch.from_numpy(D), ids=ids).ids == ids
    assert there(D, ids=ids).subset(np.array([3, 1])).ids == ["p3", "p1"]
