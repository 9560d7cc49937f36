"""Every example that a user may copy runs: README, docs, docstrings, examples/."""

import doctest
import importlib
import os
import re
import runpy
import shutil
from pathlib import Path

import pytest
from support import forked
from support.extras import optional

import medianmap
from medianmap.metrics import base, registered

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture
def folder(tmp_path):
    """A new folder with the one file that examples take for granted."""
    shutil.copy(ROOT / "src/medianmap/datasets/globins.fasta", tmp_path)
    return tmp_path


def need(page: Path) -> None:
    """Skip what shows a device where there is no torch."""
    if page.stem == "gpu":
        optional("torch")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.name)
def test_python_examples_run_in_order(page, folder, monkeypatch):
    need(page)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(base, "_REGISTRY", registered())  # a page may register a metric, for itself alone
    exec(compile("\n".join(blocks(page, "python")), page.name, "exec"), {"__name__": "example"})


def test_the_readme_has_python_and_command_line_examples():
    assert len(blocks(ROOT / "README.md", "python")) >= 2
    assert blocks(ROOT / "README.md", "console")


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "console")], ids=lambda p: p.name)
def test_command_line_examples_run(page, folder):
    need(page)
    for block in blocks(page, "console"):
        for line in block.splitlines():
            if line.startswith("$ medianmap "):
                done = forked.medianmap(*line.removeprefix("$ medianmap ").split(), cwd=folder)
                assert done.returncode == 0, f"{line}: {done.stderr}"


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(script, capsys):
    need(script)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


def with_examples() -> list[str]:
    """The modules of the package that have an example in a docstring, by name."""
    source = ROOT / "src"
    files = [path for path in sorted(source.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    return [".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__") for path in files]


@pytest.mark.parametrize("name", with_examples())
def test_docstring_examples(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    module = importlib.import_module(name)
    written = (Path(module.__file__).read_text(encoding="utf-8")).count(">>> ")
    assert doctest.testmod(module) == doctest.TestResults(0, written)


def test_the_maps_have_docstring_examples():
    for name in ("MedianKMeans", "MedianSOM", "RelationalKMeans", "PrototypeClassifier", "PatchClusterer"):
        assert ">>> " in getattr(medianmap, name).__doc__, name


def test_every_link_between_pages_leads_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert os.path.exists(page.parent / target), f"{page.name} links to {target}"


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_to_a_heading_leads_somewhere():
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
            there = page.parent / target if target else page
            assert anchor in anchors(there), f"{page.name} links to {target}#{anchor}"


def test_the_size_of_the_reference_is_told_truly():
    lines = len((ROOT / "src/medianmap/reference.py").read_text().splitlines())
    assert f"{lines}-line reference" in (ROOT / "README.md").read_text()


def test_every_registered_metric_is_in_the_api_page():
    page = (ROOT / "docs/api.md").read_text()
    assert [name for name in registered() if f"`{name}`" not in page] == []


def test_every_public_name_is_in_the_api_page():
    page = (ROOT / "docs/api.md").read_text()
    for module in ("medianmap", "medianmap.explore", "medianmap.report.plots", "medianmap.refine"):
        public = importlib.import_module(module).__all__
        assert [name for name in public if name != "__version__" and not re.search(rf"`{name}\b", page)] == [], module


def test_every_module_of_the_api_page_has_the_names_that_it_lists():
    rows = re.findall(r"^\| (`medianmap\..*?) \| (.*) \|$", (ROOT / "docs/api.md").read_text(), re.MULTILINE)
    assert len(rows) > 10
    for modules, names in rows:
        found = [importlib.import_module(name) for name in re.findall(r"`([\w.]+)`", modules)]
        listed = re.findall(r"`(\w+)(?:\([^`]*)?`", re.sub(r"\[.*?\]\(.*?\)", "", names))
        assert [name for name in listed if not any(hasattr(module, name) for module in found)] == [], modules


def test_every_parameter_of_the_maps_is_in_the_api_page():
    page = (ROOT / "docs/api.md").read_text()
    for name in ("KMeans", "NeuralGas", "SOM"):
        for family in ("Median", "Relational", "Batch"):
            parameters = getattr(medianmap, family + name)().get_params()
            assert [each for each in parameters if not re.search(rf"\b{each}\b", page)] == []
