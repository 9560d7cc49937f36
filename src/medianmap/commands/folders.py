"""The folder that a command writes its files into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..files import refuse_dash


@contextmanager
def folder_for(out: Path) -> Iterator[None]:
    """Make the folder before long work rather than after it; what was made in vain is removed again."""
    refuse_dash(out)
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
