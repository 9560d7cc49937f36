"""The pages of the site that are made, not written: one for each public name, and one for the commands."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import click
from public_names import public_methods, sections

ROOT = Path(__file__).resolve().parents[1]


def write_pages(folder: Path) -> None:
    """Write all of them below the folder; files that are the same already are left alone, so are builds quick."""
    pages = {folder / "commands.md": commands_page(), folder / "api/index.md": api_index()}
    for module, names in ((module, names) for modules in sections().values() for module, names in modules.items()):
        for name in names:
            pages[folder / f"api/{module}.{name}.rst"] = api_page(module, name)
    for path in set((folder / "api").glob("*")) - set(pages):
        path.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


# --- the gallery

# The examples that say at a glance what this is for come first; the others follow by name.
FIRST_EXAMPLES = ("protein_families", "mass_spectra", "microbiome", "gene_expression", "words", "heartbeats")


class GalleryOrder:
    """Sphinx-Gallery's sort key for the scripts of a folder."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, str]:
        name = Path(filename).stem
        return (FIRST_EXAMPLES.index(name) if name in FIRST_EXAMPLES else len(FIRST_EXAMPLES)), filename


# --- the pages of the public names


def api_index() -> str:
    """The list of all public names, by section."""
    lines = ["# API", "", "One page for each public name, with every parameter, attribute and method. In one table, "
             "without the details: [the API at a glance](../../api.md).", ""]  # fmt: skip
    lines += ["```{toctree}", ":hidden:", "", "../../api", "```", ""]
    for section, modules in sections().items():
        lines += [f"## {section}", "", "| name | what it is |", "| --- | --- |"]
        full = [(module, name) for module, names in modules.items() for name in names]
        for module, name in full:
            lines.append(f"| [`{name}`](./{module}.{name}.rst) | {first_line(module, name)} |")
        lines += ["", "```{toctree}", ":hidden:", ":titlesonly:", ""]
        lines += [f"{module}.{name}" for module, name in full] + ["```", ""]
    return "\n".join(lines)


def first_line(module: str, name: str) -> str:
    """The sentence that a name's docstring opens with."""
    text = inspect.getdoc(found(module, name)) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|").replace("*", "\\*")


def found(module: str, name: str) -> Any:
    """The object behind a public name."""
    from importlib import import_module

    return getattr(import_module(module), name)


def api_page(module: str, name: str) -> str:
    """A page with a name's docstring; of a class with its methods."""
    it, full = found(module, name), f"{module}.{name}"
    lines = [name, "=" * len(name), "", f".. currentmodule:: {module}", ""]
    if not inspect.isclass(it):
        lines += [f".. autofunction:: {name}", ""]
    else:
        lines += [f".. autoclass:: {name}", ""]
        methods, properties = public_methods(it), own_properties(it)
        if methods or properties:
            lines += ["   .. rubric:: Methods and properties", ""]
        for each in properties:
            lines += [f"   .. autoproperty:: {each}", ""]
        for each in methods:
            lines += [f"   .. automethod:: {each}", ""]
        if hasattr(it, "get_params"):
            lines += ["   The methods that every scikit-learn estimator has (``get_params``, ``set_params``; of maps "
                      "also ``fit_predict`` and ``fit_transform``) are there, too.", ""]  # fmt: skip
    lines += [f".. minigallery:: {full}", "   :add-heading: Examples in the gallery", "   :heading-level: -", ""]
    return "\n".join(lines)


def own_properties(cls: type) -> list[str]:
    """The public properties of a class."""
    return [
        name
        for name in dir(cls)
        if not name.startswith("_") and isinstance(inspect.getattr_static(cls, name), property)
        and (inspect.getattr_static(cls, name).fget.__module__ or "").startswith("medianmap")
    ]  # fmt: skip


# --- the page of the commands


def commands_page() -> str:
    """Every command with its usage, what it does and its options, from the commands themselves."""
    from medianmap.app.main import cli

    top = click.Context(cli, info_name="medianmap")
    lines = ["# All commands and options", "",
             "What `medianmap --help` and the help of every command say, as one page. Streams, exit codes and what all "
             "commands share are in [the command line](../command-line.md).", ""]  # fmt: skip
    for name in cli.list_commands(top):
        command = cli.get_command(top, name)
        assert command is not None
        lines += command_section(command, click.Context(command, info_name=name, parent=top))
    return "\n".join(lines)


def command_section(command: click.Command, context: click.Context) -> list[str]:
    """One command: usage, text, examples, options."""
    formatter = context.make_formatter()
    formatter.width = 100
    command.format_usage(context, formatter)
    lines = [f"## medianmap {command.name}", "", "```text", formatter.getvalue().strip(), "```", ""]
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            heading, _, rest = paragraph.removeprefix("\b").strip("\n").partition("\n")
            lines += [heading, "", "```text", inspect.cleandoc(rest), "```", ""]
        elif paragraph.startswith("Example: "):
            lines += [f"Example: `{' '.join(paragraph.split()).removeprefix('Example: ')}`", ""]
        else:
            lines += [escaped(" ".join(paragraph.split())), ""]
    lines += ["| option | meaning |", "| --- | --- |"]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            lines.append(f"| `{record[0].replace('|', chr(92) + '|')}` | {escaped(' '.join(record[1].split()))} |")
    return [*lines, ""]


def escaped(text: str) -> str:
    """Plain text in Markdown."""
    return re.sub(r"([\\|*_<>\[\]])", r"\\\1", text)


# --- links of written pages


def on_the_site(app: Any, docname: str, content: list[str]) -> None:
    """Let links that are meant for a reader of the repository lead to the place on the site."""
    text = content[0]
    text = re.sub(r"\]\((?:\.\./)*(?:docs/)?decisions/\)", "](/sections/develop.md)", text)
    text = re.sub(r"\[([^\]]+)\]\(\.\./(?:src|benchmarks|reproduction|tests|examples)/[^)]*\)", r"\1", text)
    content[0] = text.replace("OTHER PAGES", "\n".join(f"../{name}" for name in other_pages()))


def other_pages() -> list[str]:
    """The written pages that no section names: the user guide takes them."""
    docs = ROOT / "docs"
    texts = [page.read_text(encoding="utf-8") for page in [docs / "index.md", *(docs / "sections").glob("*.md")]]
    named = {name for text in texts for name in re.findall(r"(?:\.\./|<)([\w-]+)(?:>|$)", text, re.MULTILINE)}
    return sorted({page.stem for page in docs.glob("*.md")} - named - {"index", "api"})
