"""Damaged and hostile models: whatever was changed, one sentence or the same answers; `make fuzz` changes all."""

import json
import re
import zipfile

import numpy as np
import pytest
from support.damaged import PAGE, archive_of, is_chosen, members_of, other_values, structural, with_page
from support.small_models import WORDS, small_models

from medianmap import MedianKMeans, MedianNeuralGas, load, save
from medianmap.estimators.base import BaseMap
from medianmap.estimators.model_schema import SCHEMAS
from medianmap.utils import archive
from medianmap.utils.archive import FREE, Kind, Members

KINDS = ["median of strings", "median of vectors", "median of a matrix", "relational of strings",
         "relational of a matrix", "batch", "classifier", "patches"]  # fmt: skip
SENTENCE = r"damaged medianmap model|not a medianmap model|Upgrade medianmap"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return small_models(tmp_path_factory.mktemp("models"))


def opened(whole, path):
    """The model in a file of these bytes, or None where it is refused in one sentence."""
    path.write_bytes(whole)
    try:
        return load(path)
    except ValueError as error:
        if re.search(SENTENCE, str(error)) is None:
            raise
        return None


def answers(model, name):
    """What the model says of a few queries."""
    words = [word.upper() for word in WORDS]
    if "matrix" in name:
        return model.transform(np.arange(30.0).reshape(3, 10)).tolist()
    X = np.arange(6.0).reshape(3, 2) if "vectors" in name or name == "batch" else words[:3]
    return (model.predict_proba(X) if hasattr(model, "predict_proba") else model.transform(X)).tolist()


@pytest.mark.parametrize("name", KINDS)
def test_no_byte_may_change(name, models, tmp_path):
    whole = models[name][0].read_bytes()
    assert opened(whole, tmp_path / "m") is not None
    for place in range(0, len(whole), 7):
        broken = bytearray(whole)
        broken[place] ^= 1 << (place % 8)
        assert opened(bytes(broken), tmp_path / "m") is None, place


@pytest.mark.parametrize("name", KINDS)
def test_another_value_is_refused_or_changes_no_answer(name, models, tmp_path):
    whole = models[name][0].read_bytes()
    right, refused = answers(load(models[name][0]), name), 0
    for k, (where, other, changed) in enumerate(other_values(whole)):
        if k % 11:
            continue
        model = opened(changed, tmp_path / "m")
        refused += model is None
        if model is not None and not is_chosen(where):
            assert answers(model, name) == right, (where, other)
    assert refused > 50


@pytest.mark.parametrize("name", KINDS)
def test_members_are_those_of_the_page(name, models, tmp_path):
    for attack, changed in structural(models[name][0].read_bytes()).items():
        assert opened(changed, tmp_path / "m") is None, attack


CONTRADICTIONS = {
    "another error": ("median of vectors", "quantization_error_", 7.0, "quantization_error_ does not agree"),
    "more epochs": ("median of vectors", "n_iter_", 40, "history_ does not agree"),
    "other columns": ("median of vectors", "n_features_in_", 3, "cluster_centers_ does not agree"),
    "fewer points": ("median of a matrix", "n_features_in_", 1, "points that there are not"),
    "another cost": ("median of strings", "metric_params_", {"dict": {"indel": 3.0}}, "metric_params_ does not agree"),
    "a number among words": (
        "median of strings", "cluster_centers_", {"list": ["A", 3]}, r"X\[1\] is a int",
    ),
    "fewer exemplars": ("median of strings", "cluster_centers_", {"list": ["A"]}, "cluster_centers_ has the shape"),
    "the same class twice": ("classifier", "classes_", {"objects": ["a", "a"]}, "classes_ holds a label twice"),
    "more than there is": ("median of strings", "unheard_of_", 3, "unknown unheard_of_"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_what_does_not_fit_together_is_named(case, models, tmp_path):
    name, attribute, value, sentence = CONTRADICTIONS[case]
    changed = with_page(models[name][0].read_bytes(), lambda page: page["fitted"].update({attribute: value}) and None)
    (tmp_path / "m").write_bytes(changed)
    with pytest.raises(ValueError, match=sentence):
        load(tmp_path / "m")


@pytest.mark.parametrize("name", ["client", "checkpoint", "on_patch"])
def test_a_model_names_no_server_and_no_file(name, models, tmp_path):
    """With which a next fit of a stranger's model would send data there, or write into it."""

    def change(page):
        page["params"][name] = "tcp://127.0.0.1:8786"

    (tmp_path / "m").write_bytes(with_page(models["patches"][0].read_bytes(), change))
    with pytest.raises(ValueError, match=f"it has a value of {name}, which no model keeps"):
        load(tmp_path / "m")


def test_a_lattice_of_other_size_is_refused_before_it_is_made(models, tmp_path, monkeypatch):
    def huge(page):
        page["fitted"]["lattice_"]["lattice"] = ["hexagonal", False, None, 10**6, 10**6]

    monkeypatch.setattr("medianmap.estimators.model_file.checked_lattice", lambda *_: pytest.fail("it was made"))
    (tmp_path / "m").write_bytes(with_page(models["median of vectors"][0].read_bytes(), huge))
    with pytest.raises(ValueError, match="lattice has the shape"):
        load(tmp_path / "m")


def bomb(whole, name, n):
    members = members_of(whole)
    return archive_of({**members, name: members[name] + b" " * n})


@pytest.mark.parametrize("name", [PAGE, "a0.npy"])
def test_nothing_is_unpacked_of_what_is_too_large(name, models, tmp_path, monkeypatch):
    (tmp_path / "m").write_bytes(bomb(models["median of vectors"][0].read_bytes(), name, 2 * FREE))
    for way in ("read", "open"):
        monkeypatch.setattr(zipfile.ZipFile, way, lambda *_, **__: pytest.fail("a member was opened"))
    with pytest.raises(ValueError, match=r"unpacks to 671\d+ bytes"):
        load(tmp_path / "m")


def test_an_array_gets_no_room_before_its_header_is_checked(models, tmp_path, monkeypatch):
    huge = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000,), }".ljust(
        117
    )
    members = members_of(models["median of vectors"][0].read_bytes())
    (tmp_path / "m").write_bytes(archive_of({**members, "a0.npy": huge + b"\n"}))
    empty = np.empty
    monkeypatch.setattr(
        "medianmap.utils.archive.np.empty", lambda n, *dtype: pytest.fail("room") if n == 10**10 else empty(n, *dtype)
    )
    with pytest.raises(ValueError, match="another size than its header says"):
        load(tmp_path / "m")


def test_a_page_of_too_many_values_is_not_parsed(models, tmp_path, monkeypatch):
    members = members_of(models["median of vectors"][0].read_bytes())
    monkeypatch.setattr(archive, "VALUES", 1000)
    page = json.loads(members[PAGE]) | {"more": [0] * 2000}
    (tmp_path / "m").write_bytes(archive_of({**members, PAGE: json.dumps(page).encode()}))
    monkeypatch.setattr(archive.json, "loads", lambda *_, **__: pytest.fail("it was parsed"))
    with pytest.raises(ValueError, match=r"page holds \d+ values"):
        load(tmp_path / "m")


def test_what_deflates_too_well_is_stored_so_that_it_can_be_read(tmp_path, monkeypatch):
    """All labels the same: as large a file as its content, which a reader would otherwise refuse."""
    monkeypatch.setattr(archive, "FREE", 1000)
    monkeypatch.setattr(archive, "FREE_PAGE", 1000)
    page, kind = {"text": "a" * 50_000}, Kind("page.json", "test", 2, "test file")
    kind.write(tmp_path / "m", page, {"a0.npy": np.zeros(10_000), "a1.npy": np.random.default_rng(0).random(100)})
    header, members = kind.open(tmp_path / "m")
    with members:
        assert header["text"] == page["text"]
        assert not members.array("a0.npy").any()


def test_arrays_of_any_order_and_shape_come_back(tmp_path):
    given = {
        "a0.npy": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "a1.npy": np.zeros((0, 4)),
        "a2.npy": np.array(3),
    }
    kind = Kind("page.json", "test", 2, "test file")
    kind.write(tmp_path / "m", {}, given)
    with kind.open(tmp_path / "m")[1] as members:
        assert isinstance(members, Members)
        for name, array in given.items():
            found = members.array(name)
            assert (found.shape, found.dtype) == (array.shape, array.dtype)
            np.testing.assert_array_equal(found, array)
        with pytest.raises(ValueError, match="used twice"):
            members.array("a0.npy")


def test_files_without_a_checksum_are_read_if_they_are_as_old_as_that(models, tmp_path):
    def old(page):
        page["schema"] = 1

    whole = models["median of vectors"][0].read_bytes()
    (tmp_path / "m").write_bytes(archive_of(members_of(with_page(whole, old)), signed=False))
    assert load(tmp_path / "m").grid == (1, 2)
    (tmp_path / "m").write_bytes(archive_of(members_of(whole), signed=False))
    with pytest.raises(ValueError, match="its checksum is missing"):
        load(tmp_path / "m")


def test_a_metric_that_is_unknown_here_is_said_when_it_is_needed(tmp_path):
    model = MedianKMeans(2, metric="edit", random_state=0).fit(WORDS)
    save(model, tmp_path / "m")

    def own(page):
        page["params"]["metric"] = "my-own"

    (tmp_path / "m").write_bytes(with_page((tmp_path / "m").read_bytes(), own))
    with pytest.raises(ValueError, match="no metric 'my-own'"):
        load(tmp_path / "m").predict(WORDS)


def test_every_class_of_model_has_a_schema():
    import medianmap

    maps = [cls for cls in vars(medianmap).values() if isinstance(cls, type) and issubclass(cls, BaseMap)]
    names = {cls.__name__ for cls in maps} or {
        name for name in medianmap.__all__ if name.endswith(("KMeans", "SOM", "Gas"))
    }
    assert names <= SCHEMAS.keys()
    assert {"PrototypeClassifier", "PatchClusterer"} <= SCHEMAS.keys()


def test_a_saved_model_is_the_same_bytes_after_loading(models, tmp_path):
    for path, _ in models.values():
        save(load(path), tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_a_fitted_map_holds_what_its_schema_knows(rng):
    """What `save` writes, `load` reads: an attribute without a line in the schema is noticed here."""
    fitted = MedianNeuralGas(2, random_state=0).fit(rng.normal(size=(9, 2)))
    assert {name for name in vars(fitted) if name.endswith("_")} <= SCHEMAS["MedianNeuralGas"].fitted.keys()
