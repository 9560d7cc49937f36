"""`medianmap report`: the HTML page of a saved model; `plot`: one picture of it; `compare`: a page of two models."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import click

from ...report.plots import PICTURES, chosen_picture, plot_model
from ..estimates import refuse_long_queries, refuse_long_work
from ..inputs import Given, data_of
from ..output import close, is_stdout, note, refuse_own_input, speaking, watched
from ..settings import CONFIG, model_argument, model_in, option, settings_beside, yes_option

ENDINGS = (".svg", ".svg.gz", ".png", ".pdf")
DPI = 150


@click.command()
@model_argument
@click.argument("file", metavar="[INPUT]", required=False)
@click.option("-o", "--out", default="report.html", show_default=True, type=click.Path(path_type=Path), metavar="FILE",
              help="The page to write; - prints it.")  # fmt: skip
@option("labels")
@option("read")
@click.option("--title", help="Heading of the page.")
@option("threads")
@yes_option
@speaking
def report(
    model: Path, file: str | None, out: Path, labels: str | None, read: Mapping[str, Any], title: str | None,
    threads: int | None,
) -> None:  # fmt: skip
    """Make one self-contained HTML page of MODEL and the data in INPUT: those it was fitted on, or others.

    INPUT, --labels and --read are taken from the config.toml that medianmap fit left beside MODEL, unless you give
    them here.

    \b
    Example:
      medianmap report map/model.mmap --labels families.tsv -o families.html
    """
    from ...estimators.model_file import load
    from ...utils.files import check_target

    if not is_stdout(out):
        check_target(out)
    fitted = load(model)
    with watched():
        given = data_of(model, file, read, labels)
        if given is None:
            raise click.UsageError(f"Missing argument INPUT: there is no {model.parent / CONFIG} that names a file.")
        settings = settings_beside(model)
        refuse_own_input(out, model, given.name, labels or settings.get("labels"))
        for each in given.notes:
            note(each)
        page = _page(fitted, given, settings, threads, title)
    _write(out, page.encode())


def _page(fitted: Any, given: Given, settings: Mapping[str, Any], threads: int | None, title: str | None) -> str:
    """The page of a model about the points `given`."""
    from ...explore.health import check_dissimilarity
    from ...predict.assign_all import two_best
    from ...predict.queries import map_of
    from ...report.order import pairs_of
    from ...report.summary import MOST_COMPUTED, summarize
    from ...utils.threads import limited, n_threads
    from ..run import page

    map_: Any = map_of(fitted)
    if map_._reads_matrix() != (given.source is not None):
        wanted = "dissimilarities" if given.source is None else "objects that a metric compares"
        raise ValueError(f"{given.name} holds {given.kind}, but the model was fitted on {wanted}; pass such a file.")
    _refuse_long(fitted, given, threads)
    how, health = {}, None
    if given.source is None and hasattr(map_, "metric"):
        how = {"metric": map_.metric, "metric_params": map_.metric_params_}
        pairs = min(len(given), MOST_COMPUTED) ** 2 / 2
        refuse_long_work(given.name, given.objects, map_.metric, map_.metric_params_, n_threads(threads), pairs)
    points = two_best(fitted, given.data, n_jobs=threads)
    if given.source is not None or how:  # maps of means use no dissimilarities
        with limited(1):
            health = check_dissimilarity(given.data, **how, max_points=MOST_COMPUTED)
    facts = summarize(fitted, given.data, ids=given.ids, y=given.labels, points=points,
                      pairs=pairs_of(map_, given.data), structure=True, metadata=given.metadata)  # fmt: skip
    return page(facts, given, health, settings, title)


@click.command()
@click.argument("a", type=click.Path(path_type=Path), callback=model_in)
@click.argument("b", type=click.Path(path_type=Path), callback=model_in)
@click.option("-o", "--out", default="compare.html", show_default=True, type=click.Path(path_type=Path), metavar="FILE",
              help="The page to write; - prints it.")  # fmt: skip
@option("labels")
@click.option("--title", help="Heading of the page.")
@option("threads")
@yes_option
@speaking
def compare(a: Path, b: Path, out: Path, labels: str | None, title: str | None, threads: int | None) -> None:
    """Compare two maps of the same points: one HTML page with A and B side by side, selections linked.

    A and B are folders written by medianmap fit; their config.toml says where the data are. Points are matched by id.
    Those that only one map has are left out and counted.

    Example: medianmap compare by-alignment by-kmers -o compared.html
    """
    from ...estimators.model_file import load
    from ...utils.files import check_target

    if not is_stdout(out):
        check_target(out)
    models = [load(path) for path in (a, b)]
    with watched():
        from ...predict.assign_all import two_best
        from ...report.compare import Side, comparison
        from ...report.members import class_names

        sides, givens = [], []
        for path, model, name in zip((a, b), models, _names_of(a, b), strict=True):
            given = data_of(path, None, {}, labels)
            if given is None:
                said = f"there is no {path.parent / CONFIG} that names a file"
                raise click.UsageError(f"{path}: {said}; compare folders that medianmap fit wrote.")
            refuse_own_input(out, path, given.name, labels)
            _refuse_long(model, given, threads)
            givens.append(given)
            sides.append(Side(model, given.data, two_best(model, given.data, n_jobs=threads), name))
        rows = _same_points(*givens)
        one, other = (side.on(own) for side, own in zip(sides, rows, strict=True))
        first = givens[0]
        classes = [None if first.labels is None else first.labels[i] for i in rows[0]]
        page = comparison(one, other, [first.ids[i] for i in rows[0]], class_names(classes, len(classes)), title)
    _write(out, page.html.encode(), f": adjusted Rand index {page.summary['adjusted_rand']:.3f}, "
           f"{len(page.summary['moved'])} of {page.summary['n_points']} points moved")  # fmt: skip


def _names_of(a: Path, b: Path) -> tuple[str, str]:
    """What the maps are called: their folders, or their files where these are more telling."""
    folders = a.parent.resolve().name, b.parent.resolve().name
    if folders[0] != folders[1]:
        return folders
    return (str(a), str(b)) if a != b else ("A", "B")


def _same_points(a: Given, b: Given) -> tuple[list[int], list[int]]:
    """The places in both of the points that both have, in the order of a."""
    place = {name: i for i, name in enumerate(b.ids)}
    rows = [i for i, name in enumerate(a.ids) if name in place]
    if not rows:
        raise ValueError(f"{a.name} and {b.name} have no id in common; compare maps of the same points.")
    left_out = len(a) + len(b) - 2 * len(rows)
    if left_out:
        note(f"{left_out} points of one map alone are left out ({len(rows)} are compared).")
    return rows, [place[a.ids[i]] for i in rows]


@click.command()
@model_argument
@click.argument("file", metavar="[INPUT]", required=False)
@click.option("--what", type=click.Choice(list(PICTURES)), default=None,
              help="The picture; by default hits of a SOM, topology of other maps.")  # fmt: skip
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path),
              help="The .svg, .svg.gz, .png or .pdf file to write; - for SVG on standard output.")  # fmt: skip
@option("labels")
@click.option("--component", default=None, metavar="NAME|N", help="The coordinate to draw, by name or number from 0.")
@click.option("--groups", type=click.IntRange(1), default=None, metavar="N",
              help="Number of superclusters; by default the one with the best silhouette.")  # fmt: skip
@click.option("--dpi", type=click.IntRange(10, 1200), default=DPI, show_default=True, help="Dots per inch of a .png.")
@option("read")
@option("threads")
@yes_option
@speaking
def plot(
    model: Path, file: str | None, what: str | None, out: Path, labels: str | None, component: str | None,
    groups: int | None, dpi: int, read: Mapping[str, Any], threads: int | None,
) -> None:  # fmt: skip
    """Draw a MODEL: its hits, U-matrix, training and more; of its data in INPUT also quality, labels and topology.

    A SOM has all pictures, other maps have topology and training; component is for vectors, training for maps that
    were fitted at once. A model of a matrix needs that matrix as INPUT for all but hits and training. Without INPUT, a
    config.toml beside MODEL, as medianmap fit leaves it, says where the data and labels are.

    \b
    Example:
      medianmap plot model.mmap globins.fasta --what labels --labels header -o labels.svg
    """
    from ...estimators.model_file import load
    from ...utils.files import check_target

    format_ = picture_format(Path("picture.svg") if is_stdout(out) else out, "--out")
    refuse_own_input(out, model, file, labels)
    if not is_stdout(out):
        check_target(out)
    fitted = load(model)
    try:
        picture = chosen_picture(fitted, what)
    except ValueError as error:
        raise ValueError(f"{model}: {error}") from None
    _refuse_idle(picture, {"--labels": labels, "--component": component, "--groups": groups})
    with watched():
        X, y = _data(fitted, model, file, picture, read, labels, threads)
        how: dict[str, Any] = {} if groups is None else {"n_groups": groups}
        if component is not None:
            how["component"] = int(component) if component.isdecimal() else component
        if PICTURES[picture].of_data:
            from ...predict.assign_all import two_best

            how["points"] = two_best(fitted, X, n_jobs=threads)
        content = drawn(lambda: plot_model(fitted, picture, X, y, **how), format_, dpi)
    _write(out, content, f": {picture} of {type(fitted).__name__}")


def _refuse_idle(picture: str, given: dict[str, Any]) -> None:
    """An option that the picture does not use was meant for another picture."""
    uses = {"--labels": ("labels", "topology"), "--component": ("component",), "--groups": ("superclusters",)}
    for name, value in given.items():
        if value is not None and picture not in uses[name]:
            raise click.UsageError(f"{name} goes with --what {' or '.join(uses[name])}, not with {picture}.")


def _data(
    fitted: Any, model: Path, file: str | None, picture: str, read: Mapping[str, Any], labels: str | None,
    threads: int | None,
) -> tuple[Any, Any]:  # fmt: skip
    """The data and labels that the picture needs, None where it needs none."""
    from ...predict.queries import map_of

    map_ = map_of(fitted)
    needs = PICTURES[picture]
    if not needs.of_data and not (needs.of_prototypes and map_._needs_matrix):
        if file is not None:
            note(f"{file} is not read: {picture} is drawn from the model alone.")
        return None, None
    given = data_of(model, file, read, labels)
    if given is None:
        needed = "the matrix that it was fitted on" if map_._reads_matrix() else "the data"
        raise ValueError(f"--what {picture} of {model} needs {needed} as INPUT, after the name of the model.")
    if given.note:
        note(f"{given.name}: {given.note}")
    if picture == "labels" and given.labels is None:
        raise ValueError(f"{given.name} has no labels; say where they are with --labels FILE or --labels COLUMN.")
    if needs.of_data:
        _refuse_long(fitted, given, threads)
    return given.data, given.labels


def _refuse_long(fitted: Any, given: Given, threads: int | None) -> None:
    """ValueError where to place the points on the map will take hours, unless --yes was said."""
    from ...utils.threads import n_threads

    if given.source is None:
        refuse_long_queries(given.name, given.objects, fitted, n_threads(threads))


def _write(out: Path, content: bytes, what: str = "") -> None:
    from ...utils.files import write_bytes

    if is_stdout(out):
        sys.stdout.buffer.write(content)
    else:
        write_bytes(out, content)
        close(f"Wrote {out}{what}")


# --- Pictures as bytes: the name of a file says what is drawn; the same model gives the same bytes


def picture_format(out: Path, option: str) -> str:
    """'svg', 'png' or 'pdf'; an error at once for another ending, or where there is nothing to draw with."""
    from ...utils.loading import require

    name = out.name.lower()
    if not name.endswith(ENDINGS):
        said = f"{out} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}: that says what is drawn."
        raise click.BadParameter(said, param_hint=option)
    require("matplotlib", "plot", "A picture")
    return Path(name.removesuffix(".gz")).suffix.removeprefix(".")


def drawn(make: Callable[[], Any], format_: str, dpi: int = DPI) -> bytes:
    """The picture of the display that `make` returns."""
    from ...utils.loading import require

    # Bytes that repeat: no date, and ids of an SVG that are not random. Letters stay text.
    how = {"backend": "agg", "svg.hashsalt": "medianmap", "svg.fonttype": "none"}
    date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format_, {})
    with require("matplotlib", "plot", "A picture").rc_context(how):
        figure, content = make().figure_, BytesIO()
        figure.savefig(content, format=format_, dpi=dpi, metadata=date)
        require("matplotlib.pyplot", "plot", "A picture").close(figure)
    return content.getvalue()
