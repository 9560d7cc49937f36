"""The folder that a command writes its files into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from ..files import refuse_dash

force_option = click.option("--force", is_flag=True, help="Replace the files of an earlier run in the folder.")


@contextmanager
def folder_for(out: Path, names: Iterable[str], force: bool) -> Iterator[None]:
    """Make the folder before long work rather than after it; what was made in vain is removed again.

    names : of the files that will be written; one that is there already is an error, unless `force` is given.
    """
    refuse_dash(out)
    there = [name for name in names if (out / name).exists()]
    if there and not force:
        raise FileExistsError(
            f"{out} holds {there[0]} already; choose another folder for -o, or pass --force to replace the files of "
            "an earlier run."
        )
    made = [each for each in (out, *out.parents) if not each.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
        # Whether files can be made in it is known when one was.
        (probe := out / ".medianmap.part").touch()
        probe.unlink()
    except OSError as error:
        _remove(made)
        raise type(error)(f"{out} cannot be written: {error.strerror}; choose another folder for -o.") from None
    try:
        yield
    except BaseException:
        _remove(made)
        raise


def _remove(folders: list[Path]) -> None:
    """Those that are empty, the innermost first."""
    with suppress(OSError):
        for each in folders:
            each.rmdir()
