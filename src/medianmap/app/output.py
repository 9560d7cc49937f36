"""Standard output as the target of a command that writes a file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click


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


# --- Pictures as bytes: what the name of a file asks for, the same at any time

ENDINGS = (".svg", ".svg.gz", ".png", ".pdf")
DPI = 150


def picture_format(out: Path, option: str) -> str:
    """'svg', 'png' or 'pdf'; an error at once for another ending, or where there is nothing to draw with."""
    from ..utils.extras import require

    name = out.name.lower()
    if not name.endswith(ENDINGS):
        said = f"{out} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}: that says what is drawn."
        raise click.BadParameter(said, param_hint=option)
    require("matplotlib", "plot", "A picture")
    return Path(name.removesuffix(".gz")).suffix.removeprefix(".")


def drawn(make: Callable[[], Any], format_: str, dpi: int = DPI) -> bytes:
    """The picture of the display that `make` returns."""
    from ..utils.extras import require

    # Bytes that repeat: no date, and ids of an SVG that do not come by chance. Letters stay letters.
    how = {"backend": "agg", "svg.hashsalt": "medianmap", "svg.fonttype": "none"}
    date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format_, {})
    with require("matplotlib", "plot", "A picture").rc_context(how):
        figure, content = make().figure_, BytesIO()
        figure.savefig(content, format=format_, dpi=dpi, metadata=date)
        require("matplotlib.pyplot", "plot", "A picture").close(figure)
    return content.getvalue()
