"""`medianmap report`: the page of a model, made anew."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..options import close, speaking, threads_option
from ..output import is_stdout
from ..progress import watched
from ..reading import labels_option, own_data, read_option, read_options, settings_beside


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", metavar="[INPUT]", required=False)
@click.option("-o", "--out", default="report.html", show_default=True, type=click.Path(path_type=Path), metavar="FILE",
              help="The page to write; - prints it.")  # fmt: skip
@labels_option
@read_option
@click.option("--title", help="Heading of the page.")
@threads_option
@speaking
def report(
    model: Path, file: str | None, out: Path, labels: str | None, reading: tuple[str, ...], title: str | None,
    threads: int | None,
) -> None:  # fmt: skip
    """Make one self-contained HTML page of MODEL and the data in INPUT: those it was fitted on, or others.

    A config.toml beside MODEL, as medianmap fit leaves it, says what INPUT, --labels and --read are where they are not
    given here.

    Example: medianmap report map/model.mmap --labels families.tsv -o families.html
    """
    from ...estimators.model_file import load
    from ...utils.files import check_target, write_text

    if not is_stdout(out):
        check_target(out)
    fitted = load(model)
    settings = settings_beside(model)
    if file is None and "input" not in settings:
        raise click.UsageError(f"Missing argument INPUT: there is no {model.parent / 'config.toml'} that names a file.")
    if file is None:
        file, labels = own_data(model, settings), labels or settings.get("labels")
    options = read_options(file, reading, settings)
    with watched() as watch:
        from ..page import page_of_file

        page = page_of_file(fitted, file, options, labels, settings, watch, threads, title)
    if is_stdout(out):
        sys.stdout.buffer.write(page.encode())
    else:
        write_text(out, page)
        close(f"Wrote {out}")
