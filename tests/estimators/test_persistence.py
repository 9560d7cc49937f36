"""The model file: everything comes back, nothing foreign gets in, no pickle on any path."""

import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from numba import njit
from support.damaged import with_page
from support.maps import BATCH, MEDIAN, METHODS, blob_distances, blobs, estimator

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, PrototypeClassifier, load, save
from medianmap.estimators.base import BaseMap


def assert_same(a, b):
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    else:
        assert a == b


def round_trip(fitted, path):
    save(fitted, path)
    loaded = load(path)
    assert isinstance(loaded, BaseMap)
    assert vars(loaded).keys() == vars(fitted).keys()
    for name, value in vars(fitted).items():
        assert_same(value, vars(loaded)[name])
    return loaded


@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
@pytest.mark.parametrize("method", METHODS)
def test_every_map_comes_back_whole(method, family, tmp_path, rng):
    X = blobs(rng)
    fitted = estimator(method, 6, family, random_state=0).fit(X)
    loaded = round_trip(fitted, tmp_path / "model.mmap")
    queries = blobs(rng)
    np.testing.assert_array_equal(loaded.transform(queries), fitted.transform(queries))


def test_exemplar_strings_travel_with_the_model(tmp_path):
    words = ["heron", "herons", "quark", "quarks", "λ-calculus", ""]
    params = {"metric": "edit", "metric_params": {"indel": 2.0}, "random_state": 0}
    loaded = round_trip(MedianKMeans(3, **params).fit(words), tmp_path / "m")
    assert loaded.metric_params == {"indel": 2.0}
    assert set(loaded.cluster_centers_) <= set(words)
    assert loaded.predict(["quark!"]).shape == (1,)


def test_precomputed_frames_keep_ids_and_column_names(tmp_path, rng):
    D = blob_distances(rng, n=10)
    frame = pd.DataFrame(D, index=list("abcdefghij"), columns=list("abcdefghij"))
    fitted = MedianNeuralGas(3, metric="precomputed", n_epochs=5, random_state=0).fit(frame)
    loaded = round_trip(fitted, tmp_path / "m")
    assert loaded.prototype_ids_ == [list("abcdefghij")[i] for i in fitted.medoid_indices_]
    np.testing.assert_array_equal(loaded.predict(frame), fitted.labels_)


def test_parameters_that_are_arrays_come_back(tmp_path, rng):
    X = blobs(rng)
    fitted = MedianSOM((2, 2), metric="mahalanobis", n_epochs=5, init=np.arange(4)).fit(X)
    loaded = round_trip(fitted, tmp_path / "m")
    np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))


def python_metric(a, b):
    return abs(len(a) - len(b))


@njit
def numba_metric(a, b):
    return abs(a[0] - b[0])


@pytest.mark.parametrize(
    ("metric", "data"), [(python_metric, ["a", "bb", "cc"]), (numba_metric, np.arange(6.0).reshape(3, 2))]
)
def test_a_metric_that_is_a_function_is_refused_and_nothing_is_written(metric, data, tmp_path):
    fitted = MedianKMeans(2, metric=metric, random_state=0).fit(data)
    with pytest.raises(ValueError, match="metric is a Python function"):
        save(fitted, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_functions_inside_parameters_and_odd_objects_are_refused(tmp_path, rng):
    fitted = MedianKMeans(2, random_state=0).fit(blobs(rng))
    fitted.metric_params = {"f": python_metric}
    with pytest.raises(ValueError, match=r"metric_params\['f'\] is a Python function"):
        save(fitted, tmp_path / "m")
    fitted.metric_params = {"f": {1, 2}}
    with pytest.raises(ValueError, match="holds a set"):
        save(fitted, tmp_path / "m")


def test_what_steers_training_alone_is_dropped_with_a_warning(tmp_path, rng):
    fitted = MedianKMeans(2, random_state=np.random.RandomState(0)).fit(blobs(rng))
    with pytest.warns(UserWarning, match="random_state cannot be stored"):
        save(fitted, tmp_path / "m")
    assert load(tmp_path / "m").random_state is None


def test_a_classifier_says_once_what_it_drops(tmp_path, rng):
    map_ = MedianKMeans(2, random_state=np.random.RandomState(0), on_epoch=lambda epoch: None)
    fitted = PrototypeClassifier(map_).fit(blobs(rng), np.arange(60) % 2)
    with pytest.warns(UserWarning, match="cannot be stored") as caught:
        save(fitted, tmp_path / "m")
    assert [str(warning.message).split()[0] for warning in caught] == ["on_epoch", "random_state"]
    assert {warning.filename for warning in caught} == {__file__}


@pytest.fixture
def saved(tmp_path, rng):
    path = tmp_path / "model.mmap"
    save(MedianKMeans(2, random_state=0).fit(blobs(rng)), path)
    return path


def rewrite_header(path, change):
    path.write_bytes(with_page(path.read_bytes(), lambda page: change(page) and None))


def test_a_newer_schema_asks_for_an_upgrade(saved):
    rewrite_header(saved, lambda header: header.update(schema=99))
    with pytest.raises(ValueError, match=r"schema 99.*Upgrade"):
        load(saved)


def test_foreign_files_are_named_as_such(tmp_path, saved):
    with pytest.raises(FileNotFoundError, match="no file"):
        load(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="not a medianmap model"):
        load(tmp_path / "text")
    np.savez(tmp_path / "arrays.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="not a medianmap model"):
        load(tmp_path / "arrays.npz")
    rewrite_header(saved, lambda header: header.update(format="other"))
    with pytest.raises(ValueError, match="not a medianmap model"):
        load(saved)


def test_a_model_without_what_it_needs_is_damaged(saved):
    rewrite_header(saved, lambda header: header["fitted"].pop("hits_"))
    with pytest.raises(ValueError, match=r"damaged.*lacks hits_"):
        load(saved)


DAMAGE = {
    "not fitted": (lambda header: header.update(fitted={}), "not fitted"),
    "no classes": (lambda header: header["fitted"].pop("classes_"), "lacks classes_"),
    "no labels": (lambda header: header["fitted"].pop("prototype_labels_"), "lacks prototype_labels_"),
    "no map": (lambda header: header["fitted"].pop("estimator_"), "lacks estimator_"),
    "another thing as its map": (lambda header: header["fitted"].update(estimator_=3), "estimator_ is no fitted map"),
    "a map that is not fitted": (
        lambda header: header["fitted"]["estimator_"]["model"].update(fitted={}),
        "estimator_ is no fitted map",
    ),
    "a class too few": (
        lambda header: header["fitted"].update(classes_={"objects": ["a"]}),
        r"prototype_labels_ has the shape \(2, 2\), where K C = 2 1",
    ),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_classifier_is_noticed(case, tmp_path, rng):
    change, sentence = DAMAGE[case]
    save(PrototypeClassifier(MedianKMeans(2, random_state=0)).fit(blobs(rng), np.arange(60) % 2), tmp_path / "m")
    assert load(tmp_path / "m").classes_.tolist() == [0, 1]
    rewrite_header(tmp_path / "m", change)
    with pytest.raises(ValueError, match=f"damaged.*{sentence}"):
        load(tmp_path / "m")


def test_any_form_of_init_can_be_saved(tmp_path, rng):
    fitted = MedianKMeans(3, init=range(3)).fit(blobs(rng))
    save(fitted, tmp_path / "m")
    assert load(tmp_path / "m").init.tolist() == [0, 1, 2]


def test_unknown_classes_and_values_are_damage(saved):
    rewrite_header(saved, lambda header: header.update({"class": "os.system"}))
    with pytest.raises(ValueError, match="damaged"):
        load(saved)


def test_every_cut_and_most_flipped_bytes_are_noticed_as_one_sentence(saved):
    whole = saved.read_bytes()
    for size in range(0, len(whole), 97):
        saved.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"not a medianmap model|damaged"):
            load(saved)
    for place in range(40, len(whole), 61):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        saved.write_bytes(bytes(broken))
        assert re.search("loaded|damaged|not a medianmap model|Upgrade", outcome_of_loading(saved))


def outcome_of_loading(path) -> str:
    """'loaded' (some bytes of a zip mean nothing) or the sentence of the ValueError."""
    try:
        load(path)
    except ValueError as error:
        return str(error)
    return "loaded"


def test_pickles_are_never_opened(saved):
    import io
    import pickle

    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was opened",))

    buffer = io.BytesIO()
    array = np.empty(1, object)
    array[0] = Trap()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    assert pickle.dumps(Trap())
    with zipfile.ZipFile(saved) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["a0.npy"] = buffer.getvalue()
    with zipfile.ZipFile(saved, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match="damaged"):
        load(saved)


def test_a_failed_save_keeps_the_earlier_file(saved, rng):
    before = saved.read_bytes()
    refused = MedianKMeans(2, metric=python_metric, random_state=0).fit(["a", "bb", "ccc"])
    with pytest.raises(ValueError, match="Python function"):
        save(refused, saved)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_saving_to_impossible_places(tmp_path, rng):
    fitted = MedianKMeans(2, random_state=0).fit(blobs(rng))
    with pytest.raises(FileNotFoundError, match="no folder"):
        save(fitted, tmp_path / "no" / "model.mmap")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        save(fitted, tmp_path)
    with pytest.raises(TypeError, match="not a dict"):
        save({}, tmp_path / "m")
