"""The configuration of a fit: what is written reads back, whatever is in it."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medianmap.app.settings import FitSettings, config_text, merged, read_config

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers(1, 10**6)
POSITIVE = st.floats(1e-300, 1e300)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
SETTINGS = st.builds(
    FitSettings,
    input=TEXT.map("/".__add__),  # relative ones are rewritten from folder to folder
    map=st.sampled_from(["som", "gas", "kmeans"]),
    grid=st.none() | st.tuples(NUMBERS, NUMBERS) | st.tuples(NUMBERS, NUMBERS, NUMBERS),
    lattice=st.none() | TEXT,
    k=st.none() | NUMBERS,
    metric=st.none() | TEXT,
    params=st.dictionaries(TEXT, VALUES, max_size=3),
    read=st.dictionaries(TEXT, VALUES, max_size=3),
    labels=st.none() | TEXT,
    beta=st.none() | POSITIVE | st.just("auto"),
    patch=st.none() | NUMBERS,
    sigma_start=st.none() | POSITIVE,
    neighborhood=st.none() | TEXT,
    annealing=TEXT,
    refine=TEXT,
    seed=NUMBERS,
    threads=st.none() | st.integers(-1, 64),
    device=st.none() | TEXT,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """One file for all examples: a folder each is slow to make where other work is going on."""
    return tmp_path_factory.mktemp("config") / "config.toml"


@given(settings=SETTINGS)
def test_what_is_written_reads_back(settings, file):
    text = config_text(settings, {"objects": 3, "sha256": "ab"}, file.parent)
    file.write_text(text, encoding="utf-8", newline="")
    found, recorded = read_config(file)
    assert FitSettings(**found) == settings
    assert recorded == {"objects": 3, "sha256": "ab"}
    assert "medianmap" in tomllib.loads(text)["versions"]


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({}, {"map": "som", "grid": (2, 3), "sigma_start": 1.0, "epochs": 9, "metric": "edit", "params": {"indel": 2}}),
        ({"grid": (4, 4)}, {"map": "som", "grid": (4, 4), "epochs": 9, "metric": "edit", "params": {"indel": 2}}),
        ({"map": "kmeans", "k": 4}, {"map": "kmeans", "k": 4, "metric": "edit", "params": {"indel": 2}}),
        ({"metric": "hamming"}, {"map": "som", "grid": (2, 3), "sigma_start": 1.0, "epochs": 9, "metric": "hamming"}),
        (
            {"params": {"x": 1}},
            {"map": "som", "grid": (2, 3), "sigma_start": 1.0, "epochs": 9, "metric": "edit",
             "params": {"indel": 2, "x": 1}},
        ),
    ],
)  # fmt: skip
def test_what_hangs_on_a_setting_goes_with_it(given_, expected):
    config = {"map": "som", "grid": (2, 3), "sigma_start": 1.0, "epochs": 9, "metric": "edit", "params": {"indel": 2}}
    assert merged(config, given_) == expected


def test_what_only_a_som_has_is_dropped_with_it():
    config = {"map": "som", "order": 0.2, "exemplars": "ids.txt", "init": "embedding", "metric": "edit"}
    assert merged(config, {"map": "gas"}) == {"map": "gas", "metric": "edit"}
    assert merged(config, {"grid": (2, 2)}) == {**config, "grid": (2, 2)}


def test_a_file_of_a_lattice_and_a_grid_replace_each_other():
    of_file, of_grid = {"lattice": "ring.tsv", "seed": 1}, {"lattice": "rectangular", "grid": (2, 3), "seed": 1}
    assert merged(of_file, {"grid": (2, 2)}) == {"grid": (2, 2), "seed": 1}
    assert merged(of_grid, {"lattice": "ring.tsv"}) == of_file
    assert merged(of_grid, {"grid": (2, 2)}) == {**of_grid, "grid": (2, 2)}
    assert merged(of_grid, {"lattice": "hexagonal"}) == {**of_grid, "lattice": "hexagonal"}
    assert merged(of_file, {"map": "gas"}) == {"map": "gas", "seed": 1}
