"""What commands put out: notes, errors, -v and -q, progress bars, results on standard output, the folder they write."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..utils.files import scratch_folder, umask
from ..utils.kernels import compiling_told
from ..utils.signals import uninterrupted
from ..utils.threads import followed

if TYPE_CHECKING:
    from rich.console import Console

    from ..utils.resumable import Journal

Command = TypeVar("Command", bound=Callable[..., Any])

# What the context of a command remembers.
_LOUDNESS = "medianmap.loudness"
_DELIVERED = "medianmap.delivered"

STOPPED = "stopped; no file was left half written, and the same command starts again."

# Arguments that the library's sentences name, as in "pass kind='matrix'", and the options that they are here.
READING = ("kind", "format", "id", "label", "string", "columns", "header", "encoding", "allow_empty", "key", "names",
           "score", "similarity", "missing", "symmetrize", "symmetric", "duplicates")  # fmt: skip
SIZES = {"max_length": "--max-length ", "max_unpacked": "--max-unpacked ", "max_objects": "--max-objects "}
OPTIONS = {**dict.fromkeys(READING, "--read {}="), **SIZES, "metric": "--metric ", "dtype": "--dtype ",
           **dict.fromkeys(("mode", "rule", "backend", "categorical", "spelling", "unknown"),
                           "--param {}=")}  # fmt: skip
# What Python calls the objects and the parameters of a metric, and how users of the command line know them.
PYTHON = {
    re.compile(r"\bX\[(\d+), (\d+)\]"): r"point \1, column \2",
    re.compile(r"\bX\[(\d+)\](?:\[\d+\])?"): r"point \1",
    re.compile(r"\bX holds strings"): "these are strings",
    re.compile(r"\bmetric_params\b"): "--param",
}
_NAMED = re.compile(rf"(?<![\w-])(?<!--read )(?<!--param )({'|'.join(OPTIONS)})=('[^']+'|\[.*?\]|\(.*?\)|[\w.-]*\w)")

# --- -v and -q, notes and errors


def speaking(command: Command) -> Command:
    """Options -v and -q: let the logger "medianmap" speak on stderr, or silence notes, progress and closing lines."""
    quiet = click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_set_quiet,
                         help="Print no notes and no progress, only errors.")  # fmt: skip
    verbose = click.option("-v", "--verbose", count=True, expose_value=False, callback=_set_verbose,
                           help="Report on stderr what is being done; -vv reports more.")  # fmt: skip
    return verbose(quiet(command))


def _set_quiet(context: click.Context, _: click.Parameter, quiet: bool) -> None:
    if quiet:
        _set_loudness(context, -1)


def _set_verbose(context: click.Context, _: click.Parameter, count: int) -> None:
    if not count or context.resilient_parsing:
        return
    _set_loudness(context, count)
    logger, handler = logging.getLogger("medianmap"), _Spoken()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if count == 1 else logging.DEBUG)

    @context.call_on_close
    def restore() -> None:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _set_loudness(context: click.Context, loudness: int) -> None:
    if context.meta.setdefault(_LOUDNESS, loudness) != loudness:
        context.close()  # click leaves it open where options cannot be parsed, and the log would go on speaking
        raise click.UsageError("-q and -v exclude each other; give one of them.", context)


class _Spoken(logging.Handler):
    """Log lines on whatever stderr is at that time: while a bar is drawn, rich puts them above it."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


def loudness() -> int:
    """-1 with -q, the number of -v otherwise."""
    context = click.get_current_context(silent=True)
    return 0 if context is None else int(context.meta.get(_LOUDNESS, 0))


def shows_progress() -> bool:
    """Bars are for people: on a terminal, and not with -q."""
    return sys.stderr.isatty() and loudness() >= 0


def say(text: object) -> None:
    """A sentence on stderr; what the library advises is put in the words of the command line."""
    # On whatever stderr is now: click would write past the bar that rich is drawing, onto its line.
    print(f"medianmap: {in_options(text)}", file=sys.stderr, flush=True)


def in_options(text: object) -> str:
    """What the library advises in the words of the command line."""
    said = _NAMED.sub(_as_option, str(text))
    for name, meant in PYTHON.items():
        said = name.sub(meant, said)
    return said


def _as_option(found: re.Match[str]) -> str:
    """kind='matrix' -> --read kind=matrix; columns=(0, 1, 2) -> --read columns=[0,1,2]."""
    value = found[2].strip("'").translate({ord("("): "[", ord(")"): "]", ord(" "): None}).replace("True", "true")
    return OPTIONS[found[1]].format(found[1]) + value


def note(text: str) -> None:
    """A sentence on stderr that a user should know of, silent with -q."""
    if loudness() >= 0:
        say(text)


def close(text: str, *, data_on_stdout: bool = False) -> None:
    """The closing line: what was done and written, silent with -q; on stderr where stdout has the data."""
    if loudness() >= 0:
        click.echo(text, err=data_on_stdout)


def console() -> Console:
    """Colours on a terminal (or where FORCE_COLOR asks), plain text in a pipe."""
    from rich.console import Console

    # Off a terminal rich assumes 80 columns and would wrap the map.
    return Console(width=None if sys.stdout.isatty() else 120, highlight=False)


# --- Standard output as the target of a command that writes a file


def is_stdout(out: Path) -> bool:
    """Whether '-' was asked for."""
    return str(out) == "-"


@contextmanager
def printed(name: str) -> Iterator[Path]:
    """A file to write that is printed when the block ends well: half a result never reaches the next command."""
    with scratch_folder() as folder:
        try:
            yield folder / name
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                "stopped, and nothing was printed; with -o FILE the same command could go on where it was."
            ) from None
        with (folder / name).open("rb") as lines:
            shutil.copyfileobj(lines, sys.stdout.buffer)
            sys.stdout.buffer.flush()


def refuse_own_input(out: Path, *given: str | Path | None) -> None:
    """ValueError where a file that is read would be replaced by what is written.

    given : paths, also as FILE:COLUMN of --labels.
    """
    if not out.exists():
        return
    from ..readers.labels import split_rule

    for each in filter(None, given):
        file = split_rule(str(each))[0]
        if os.path.exists(file) and os.path.samefile(out, file):
            raise ValueError(f"{out} is a file that this command reads, and would be lost; write to another.")


# --- Progress bars

# What is counted in a stage whose name does not say it.
UNITS = {
    "reading": "kB", "patches": "points", "assignment": "points", "sample": "points", "health": "entries",
    "swaps": "candidates", "layout": "steps", "compiling": "loops",
}  # fmt: skip


@contextmanager
def stage_bars(shown: bool) -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar for every stage of a longer work, and the function (stage, done, total) that moves it."""
    if not shown:  # rich's own switch still ends with an empty line in its older versions
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        stages: dict[str, Any] = {}  # the bar of a stage, and since when it has done how much

        def report(stage: str, done: int, total: int | None) -> None:
            now = time.perf_counter()
            if stage not in stages:
                task = bars.add_task("", total=total)
                stages[stage] = SimpleNamespace(task=task, start=done, began=now, done=done, shown=False)
            at = stages[stage]
            if not at.shown:
                for each in stages.values():
                    each.shown = each is at
                    bars.update(each.task, visible=each.shown)
            if done < at.done:  # the stage has come again
                at.start, at.began = done, now
            at.done = done
            rate = (done - at.start) / (now - at.began) if now > at.began else 0.0
            told = pace(rate, done, total, UNITS.get(stage, stage))
            bars.update(at.task, completed=done, total=total, description=f"{stage}: {told}" if told else stage)

        yield report


def pace(rate: float, done: int, total: int | None, unit: str = "points") -> str:
    """'1200 points/s, 2 min 5 s left'."""
    if rate <= 0:
        return ""
    said = f"{rate:.0f} {unit}/s" if rate >= 10 else f"{rate:.2g} {unit}/s"
    if total is None:
        return said
    minutes, seconds = divmod(round(max(0, total - done) / rate), 60)
    return f"{said}, {f'{minutes} min ' if minutes else ''}{seconds} s left"


# --- Long work with stages


class Watch:
    """Receives stages, notes and warnings; this one ignores them."""

    def tell(self, sentence: str) -> None:
        """One sentence for the user: what was chosen for them, or what looks wrong.

        sentence : the sentence.
        """

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """`done` of `total` steps of a stage are over; total is None where it is not known.

        stage : what is being done.
        done : steps that are over.
        total : all steps.
        """


class _Shown(Watch):
    def __init__(self, move: Callable[[str, int, int | None], None]) -> None:
        self.move = move

    def tell(self, sentence: str) -> None:
        note(sentence)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        self.move(stage, done, total)


COMPILING = "compiling inner loops, once after installation; this run takes up to half a minute longer."


@contextmanager
def watched() -> Iterator[Watch]:
    """Bars for all steps inside, and what speaks to the user, as -v and -q ask; the same warning is shown once."""
    heard = loudness() >= 0

    def compiling(name: str, k: int) -> None:
        """Say why the first run after installation takes longer; in a thread there is no context that knows of -q."""
        if k == 1 and heard:
            say(COMPILING)
        move("compiling", k, None)

    with stage_bars(shows_progress()) as move, followed(move), compiling_told(compiling), warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        # The command line reads plain columns, whatever they were called in training.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield _Shown(move)


# --- The folder that a command writes, all of it or nothing; beside it the state from which a stopped run continues

FILES = (
    "model.mmap", "assignments.tsv", "assignments.tsv.gz", "exemplars.fasta", "exemplars.fasta.gz", "exemplars.tsv",
    "exemplars.tsv.gz", "summary.json", "report.html", "config.toml",
)  # fmt: skip
COMPLETE = "config.toml"  # a folder that has it was delivered
JOURNAL = "journal"
DELIVERY = "delivery"


def said_of(stop: KeyboardInterrupt, context: click.Context) -> str:
    """The sentence for a command that was stopped: its own, or that all was done already."""
    out = context.meta.get(_DELIVERED)
    if out is not None:
        return f"stopped, but all was done already: the files in {out} are complete."
    return str(stop) or STOPPED


def check_out(out: Path, force: bool) -> None:
    """A new or empty folder, or with `force` any folder; else one sentence."""
    if str(out) == "-":
        raise ValueError("-o - means standard output, which cannot hold a folder of files; give the name of a folder.")
    _finish_delivery(out)
    if out.is_symlink() and not out.exists():
        raise FileNotFoundError(f"{out} is a link to a folder that is not there; create that, or give -o another name.")
    if out.is_dir():
        if any(out.iterdir()) and not force:
            holds = "holds the complete files of an earlier run" if (out / COMPLETE).exists() else "is not empty"
            raise FileExistsError(
                f"The folder {out} exists already and {holds}; choose another for -o, or pass --force to replace "
                "the files of an earlier run in it."
            )
    elif out.exists():
        raise NotADirectoryError(f"{out} is a file; give -o the name of a folder.")


def workshop_path(out: Path) -> Path:
    """DIR -> DIR.partial."""
    named = out if out.name not in ("", "..") else out.resolve()  # "." has no name of its own
    return named.with_name(named.name + ".partial")


class Workshop:
    """`DIR.partial` beside the folder: the new files while they are written, and what a next run can continue."""

    def __init__(self, out: Path, names: Sequence[str]) -> None:
        self.out, self.names = out, names
        self.path = workshop_path(out)
        self.files = self.path
        self.journal: Journal | None = None
        self.delivered = False

    def state(self, name: str, about: str) -> Path:
        """Where to keep the state of the work that `about` identifies; the state of any other work is removed."""
        assert self.journal is not None
        if self.journal.began != {"about": about}:
            for each in self._kept():
                each.unlink()
            self.journal.begin({"about": about})
        return self.path / name

    @property
    def keeps(self) -> str:
        """What a next run can continue, in words; empty if there is nothing."""
        kept = self._kept() if self.path.exists() else []
        return f"the {kept[0].name.split('.')[0]} so far" if kept else ""

    def _kept(self) -> list[Path]:
        return [each for each in self.path.iterdir() if each.is_file() and each.name != JOURNAL]

    def deliver(self) -> None:
        """Put the new files in their place; nothing can come between where other files are there already.

        The journal says first what goes where, so that a delivery that was killed is finished by the next run.
        """
        assert self.journal is not None
        with uninterrupted():
            new = sorted(file.name for file in self.files.iterdir())
            old = [name for name in self.names if name not in new]
            self.journal.begin({"about": DELIVERY, "from": self.files.name, "new": new, "old": old})
            self.delivered = True  # from here on there is no way back
            _deliver(self.path, self.out, self.journal.began)
            context = click.get_current_context(silent=True)
            if context is not None:
                context.meta[_DELIVERED] = self.out


def _deliver(path: Path, out: Path, told: Mapping[str, Any]) -> None:
    """What is left to do of a delivery; done again, it does nothing more. The journal goes last."""
    files = path / told["from"]
    if files.exists() and not out.exists():
        os.replace(files, out)
    elif files.exists():
        for name in told["new"]:
            if (files / name).exists():
                os.replace(files / name, out / name)
        for name in told["old"]:
            (out / name).unlink(missing_ok=True)
    for each in path.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        elif each.name != JOURNAL:
            each.unlink()
    (path / JOURNAL).unlink()
    path.rmdir()


def _finish_delivery(out: Path) -> None:
    """Finish the delivery of a run that was killed in the midst of it."""
    from ..utils.resumable import journal

    path = workshop_path(out)
    if not path.is_dir():
        return
    if not any(path.iterdir()):
        path.rmdir()
    elif (path / JOURNAL).exists():
        with suppress(ValueError, OSError), journal(path / JOURNAL, out) as lines:  # else a run is at work there
            if lines.began.get("about") == DELIVERY:
                _deliver(path, out, lines.began)


@contextmanager
def workshop(
    out: Path, force: bool, names: Sequence[str] = FILES, given: Sequence[str | Path | None] = ()
) -> Iterator[Workshop]:
    """The workshop of a folder that may be written; at the end only what a next run can continue is left.

    names : all files that a run may write; those of an earlier run that this one does not write are removed.
    given : files that it reads, which must not be among them.
    """
    from ..utils.resumable import journal

    check_out(out, force)
    for name in names:
        refuse_own_input(out / name, *given)
    shop = Workshop(out, names)
    made = [each for each in (shop.path, *shop.path.parents) if not each.exists()][-1:]  # the uppermost that is new
    with ExitStack() as held:
        try:
            shop.path.mkdir(parents=True, exist_ok=True)
            shop.journal = held.enter_context(journal(shop.path / JOURNAL, out))
            for left in shop.path.glob("files-*"):  # by a run that was killed
                shutil.rmtree(left)
            shop.files = Path(mkdtemp(prefix="files-", dir=shop.path))
            shop.files.chmod(0o777 & ~umask())
        except OSError as error:
            for folder in made:
                shutil.rmtree(folder, ignore_errors=True)
            if error.strerror is None:  # a sentence already
                raise
            raise type(error)(f"{out} cannot be written: {error.strerror}; choose another folder for -o.") from None
        try:
            yield shop
        except BaseException as error:
            if not shop.delivered:
                with uninterrupted():
                    shutil.rmtree(shop.files, ignore_errors=True)
                    # A user's mistake must be put right first, and then other dissimilarities are wanted.
                    if isinstance(error, ValueError) or not shop.keeps:
                        shutil.rmtree(made[0] if made else shop.path, ignore_errors=True)
            raise
