"""The documentation site: every public name has a page that says what its parameters are; examples and links hold.

`make docs` builds the site, strictly, and runs the whole gallery; here is what can be checked without Sphinx.
"""

import importlib
import inspect
import re
import runpy
import sys
from pathlib import Path

import pytest
from support.extras import optional

import medianmap

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples/gallery").glob("*.py"))
TUTORIALS = sorted((ROOT / "examples/tutorials").glob("*.py"))
QUICK = ("words", "asymmetric", "postgresql_table")
OTHERS = sorted((DOCS / "coming-from").glob("*.md"))
PAGES = [*sorted((DOCS / "sections").glob("*.md")), *OTHERS, *sorted((DOCS / "decisions").glob("*.md"))]

sys.path.append(str(DOCS))
check_site, docstrings, public_names, site_pages = map(
    importlib.import_module, ("check_site", "docstrings", "public_names", "site_pages")
)


def public():
    """Every public name and its public methods."""
    for full, it in public_names.public_objects().items():
        yield full, it
        if inspect.isclass(it):
            yield from ((f"{full}.{name}", getattr(it, name)) for name in public_names.public_methods(it))


def test_every_public_name_has_a_page():
    paged = [id(it) for it in public_names.public_objects().values()]
    for module in public_names.WHOLE:
        names = [name for name in importlib.import_module(module).__all__ if name != "__version__"]
        assert [name for name in names if id(getattr(importlib.import_module(module), name)) not in paged] == []


def test_a_name_that_no_section_has_comes_under_more(monkeypatch):
    table = {title: modules for title, modules in public_names.PUBLIC.items() if title != "Data"}
    monkeypatch.setattr(public_names, "PUBLIC", table)
    assert "load_globins" in public_names.sections()["More"]["medianmap"]
    assert "newick" in public_names.sections()["More"]["medianmap.datasets"]


def test_every_public_parameter_is_documented():
    total, missing = docstrings.undocumented(public())
    assert missing == []
    assert total > 800


def test_the_estimators_have_an_example_and_tell_of_their_relatives():
    estimators = [it for it in public_names.public_objects().values() if hasattr(it, "get_params")]
    assert len(estimators) == 11
    for it in estimators:
        assert ">>> " in it.__doc__, it
        assert "See Also\n" in it.__doc__, it


def test_a_parameter_without_a_word_is_found():
    def area(width, height, *, unit="m"):
        """The area.

        width, height : of the field,
            in units.
        """

    assert docstrings.undocumented([("area", area)]) == (3, ["area(unit)"])


def test_plain_docstrings_become_lists_and_are_no_markup():
    def area(width, unit_):
        """|A| = width * width, see x_.

        width : float
            Of the field.
        unit_ : of the width; it
            goes on.
        """

    text = "\n".join(docstrings.as_numpydoc(area, inspect.getdoc(area).splitlines()))
    assert "\\|A\\| = width \\* width, see x\\_." in text
    assert "Parameters\n----------\nwidth : float\n    Of the field.\nunit_\n    of the width; it\n    goes on." in text


def test_the_page_of_commands_has_every_command_and_option():
    import click

    from medianmap.app.main import cli

    page = site_pages.commands_page()
    context = click.Context(cli, info_name="medianmap")
    for name in cli.list_commands(context):
        assert f"\n## medianmap {name}\n" in page
        for parameter in cli.get_command(context, name).params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[-1] in page, (name, parameter)


def test_pages_of_names_are_written_and_old_ones_removed(tmp_path):
    (tmp_path / "api").mkdir()
    (tmp_path / "api/medianmap.gone.rst").touch()
    site_pages.write_pages(tmp_path)
    written = {path.stem for path in (tmp_path / "api").glob("*.rst")}
    assert written == set(public_names.public_objects())
    assert ".. automethod:: partial_fit" in (tmp_path / "api/medianmap.PatchClusterer.rst").read_text()


def test_every_page_of_docs_is_on_the_site():
    assert set(site_pages.other_pages()) <= {page.stem for page in DOCS.glob("*.md")}
    assert not {"guide", "api", "mathematics", "start"} & set(site_pages.other_pages())


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_link_of_the_pages_below_docs_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text(encoding="utf-8")):
        if "built/" not in target:  # made with the site, whose own links `make docs` checks
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("script", [*GALLERY, *TUTORIALS], ids=lambda p: p.stem)
def test_examples_compile_and_say_where_their_data_are_from(script):
    text = script.read_text(encoding="utf-8")
    compile(text, script.name, "exec")
    opening = inspect.getdoc(type("Script", (), {"__doc__": re.match(r'"""(.*?)"""', text, re.DOTALL)[1]}))
    title, line = opening.splitlines()[:2]
    assert set(line) == {"="}
    assert len(line) >= len(title)
    assert re.search(r"[Dd]ata: |simulated|comes with the package|come with the package", text)


def test_the_gallery_is_large_enough():
    assert len(GALLERY) >= 15
    assert {f"{name}.py" for name in QUICK} <= {script.name for script in GALLERY}


@pytest.mark.parametrize("name", QUICK)
def test_quick_examples_run(name, monkeypatch):
    optional("matplotlib").use("agg")
    optional("adbc_driver_postgresql")
    monkeypatch.delenv("MEDIANMAP_POSTGRES", raising=False)
    runpy.run_path(str(ROOT / f"examples/gallery/{name}.py"), run_name="__main__")
    optional("matplotlib.pyplot").close("all")


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda p: p.stem)
def test_tutorials_run(script, monkeypatch, capsys):
    optional("matplotlib").use("agg")
    monkeypatch.setenv("MEDIANMAP_TUTORIAL_N", "3000")
    ran = runpy.run_path(str(script), run_name="__main__")
    optional("matplotlib.pyplot").close("all")
    assert "<html" in ran["page"].html[:200]
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", OTHERS, ids=lambda p: p.stem)
def test_the_pages_on_other_libraries_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for module in ("kmedoids", "minisom"):
        if any(f"import {module}" in block or f"from {module}" in block for block in blocks):
            optional(module)
    exec(compile("\n".join(blocks), page.name, "exec"), {"__name__": "example"})


def test_the_version_is_told_alike_everywhere():
    version = medianmap.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'\n  version: "{version}"\n' in (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")


def test_the_citation_uses_types_of_its_format():
    """Version 1.2.0 of the format knows no chapters of books."""
    types = re.findall(r"^ *(?:- )?type: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert types == ["software", "generic"]


def test_the_changelog_begins_with_this_version_and_its_day():
    versions = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    latest = versions[1]
    assert re.match(rf"{re.escape(medianmap.__version__)} \(\d{{4}}-\d\d-\d\d\)\n", latest)
    assert set(re.findall(r"^### (.*)$", latest, re.MULTILINE)) <= {"Added", "Changed", "Fixed"}
    assert "### Added" in latest


def test_the_recipe_asks_for_what_the_package_asks_for():
    import tomllib

    with open(ROOT / "pyproject.toml", "rb") as file:
        needed = tomllib.load(file)["project"]["dependencies"]
    recipe = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    assert [each for each in needed if f"- {each.replace('>=', ' >=')}\n" not in recipe] == []


def test_a_site_that_fetches_or_links_astray_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="x"></h1><a href="b.html#y">b</a><a href="https://example.org">away</a>')
    (tmp_path / "b.html").write_text('<p id="y"></p><a href="a.html#x">a</a>')
    assert check_site.problems(tmp_path) == (2, [])
    (tmp_path / "b.html").write_text('<a href="c.html"></a><script src="https://example.org/x.js"></script>')
    _, found = check_site.problems(tmp_path)
    assert [line.split(" ")[:2] for line in found] == [["a.html", "links"], ["b.html", "fetches"], ["b.html", "links"]]


@pytest.mark.parametrize(("typed", "found"), [("fi", "fit"), ("fit --gri", "--grid"), ("pre", "predict")])
def test_the_shell_completes_commands_and_options(typed, found, monkeypatch, capsys):
    from medianmap.app.main import main

    words = f"medianmap {typed}"
    for name, value in {"_MEDIANMAP_COMPLETE": "bash_complete", "COMP_WORDS": words}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        main([])
    assert f"plain,{found}\n" in capsys.readouterr().out


def test_the_manual_page_has_every_command():
    import click

    from medianmap.app.main import cli

    page = importlib.import_module("man_page").man_page()
    for name in cli.list_commands(click.Context(cli)):
        assert f"\n.SS medianmap {name} " in page
    assert "\\-\\-grid" in page
