"""Standard output as the target of a command that writes a file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def is_stdout(out: Path) -> bool:
    """Whether '-' was asked for."""
    return str(out) == "-"


@contextmanager
def printed(name: str) -> Iterator[Path]:
    """A file to write that is printed when the block ends well: half a result never reaches the next command."""
    with TemporaryDirectory(prefix="medianmap-") as folder:
        try:
            yield Path(folder, name)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                "stopped, and nothing was printed; with -o FILE the same command could go on where it was."
            ) from None
        with Path(folder, name).open("rb") as lines:
            shutil.copyfileobj(lines, sys.stdout.buffer)
            sys.stdout.buffer.flush()
