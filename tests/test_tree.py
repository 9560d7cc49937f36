"""The package keeps to its tree: imports go down the order of folders, none goes in a circle, no kind is asked for."""

from pathlib import Path

import pytest
from support.tree import FOLDERS, KINDS, TOP, Tree, upward

import medianmap

PACKAGE = Path(medianmap.__file__).parent
MOST_MODULES = 170


@pytest.fixture(scope="module")
def tree():
    return Tree(PACKAGE)


def test_imports_go_down_the_order_of_folders(tree):
    assert [str(one) for one in upward(tree)] == []
    assert [str(one) for one in tree.imports() if one.importer == "reference"] == []


def test_no_import_lies_on_a_cycle(tree):
    assert [str(one) for one in tree.cyclic()] == []


def test_the_top_level_holds_what_the_design_names():
    found = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert found == TOP


def test_there_are_no_more_modules_than_a_person_can_hold(tree):
    assert len(tree.paths) <= MOST_MODULES


def test_nobody_asks_of_which_kind_a_map_a_space_or_an_assignment_is(tree):
    kinds = tree.kinds(KINDS)
    assert {"MedianMap", "MedianSpace", "RelationalSpace", "Rank", "PatchClusterer", "PrototypeClassifier"} <= set(
        kinds
    )
    assert tree.checks_of(kinds) == []


# --- that the checks find what they look for ---


def package(folder: Path, files: dict[str, str]) -> Tree:
    """A small package in the folders of ours."""
    for name in ("__init__.py", *(f"{each}/__init__.py" for each in FOLDERS)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    for name, text in files.items():
        (folder / name).write_text(text)
    return Tree(folder)


LAZY = "def f():\n    "


@pytest.mark.parametrize(
    "line",
    [
        "from ..app import main",
        "from ..app.main import run",
        "import medianmap.app.main",
        "from medianmap.app.main import run",
        LAZY + "from ..app.main import run",
        LAZY + "if f:\n        import medianmap.app.main as m",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..app.main import run",
        "TABLE = {'run': ('medianmap.app.main:run', 'Runs.')}",
        "TABLE = {'run': '.app.main'}",
    ],
)
def test_an_import_upwards_is_found_however_it_is_written(tmp_path, line):
    tree = package(tmp_path, {"app/main.py": "run = 1", "core/engine.py": line})
    assert [str(one) for one in upward(tree)] == ["core.engine -> app.main"]
    down = package(
        tmp_path, {"app/main.py": line.replace("app", "core").replace("main", "engine"), "core/engine.py": ""}
    )
    assert upward(down) == []
    assert len(down.imports()) == 1


def test_the_root_may_name_everything_and_nothing_imports_from_it(tmp_path):
    tree = package(tmp_path, {"__init__.py": "HOME = {'run': '.app.main'}", "app/main.py": "from .. import run"})
    assert [str(one) for one in upward(tree)] == ["app.main -> "]


def test_a_cycle_is_found_in_one_folder_and_through_functions_but_not_through_types(tmp_path):
    files = {"core/a.py": "from .b import x", "core/b.py": LAZY + "from .c import x", "core/c.py": "from . import a",
             "core/d.py": "from .a import x"}  # fmt: skip
    on_cycle = [str(one) for one in package(tmp_path, files).cyclic()]
    assert on_cycle == ["core.a -> core.b", "core.b -> core.c", "core.c -> core.a"]
    files["core/c.py"] = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import a"
    assert package(tmp_path, files).cyclic() == []


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(x, MedianSpace)",
        "y = 1 if isinstance(x, (int, spaces.MedianSpace)) else 2",
        "isinstance(x, int | MedianSpace)",
        "issubclass(x, MedianSpace)",
        "type(x) is MedianSpace",
        "BOTH = (int, MedianSpace)\nisinstance(x, BOTH)",
        "match x:\n    case MedianSpace():\n        pass",
    ],
)
def test_a_check_of_the_kind_is_found_however_it_is_written(tmp_path, line):
    own = "class MedianSpace: ...\nisinstance(x, MedianSpace)"
    tree = package(tmp_path, {"core/spaces.py": own, "core/engine.py": line})
    assert tree.checks_of(tree.kinds(KINDS)) == ["core.engine: MedianSpace"]
    (tmp_path / "core/engine.py").write_text("assert isinstance(x, MedianSpace)\nisinstance(x, int)")
    assert Tree(tmp_path).checks_of(tree.kinds(KINDS)) == []
