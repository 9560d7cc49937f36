"""Pictures as bytes: what the name of a file asks for, the same at any time."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import click

ENDINGS = (".svg", ".svg.gz", ".png", ".pdf")
DPI = 150


def picture_format(out: Path, option: str) -> str:
    """'svg', 'png' or 'pdf'; an error at once for another ending, or where there is nothing to draw with."""
    from ..extras import require

    name = out.name.lower()
    if not name.endswith(ENDINGS):
        said = f"{out} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}: that says what is drawn."
        raise click.BadParameter(said, param_hint=option)
    require("matplotlib", "plot", "A picture")
    return Path(name.removesuffix(".gz")).suffix.removeprefix(".")


def drawn(make: Callable[[], Any], format_: str, dpi: int = DPI) -> bytes:
    """The picture of the display that `make` returns."""
    from ..extras import require

    # Bytes that repeat: no date, and ids of an SVG that do not come by chance. Letters stay letters.
    how = {"backend": "agg", "svg.hashsalt": "medianmap", "svg.fonttype": "none"}
    date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format_, {})
    with require("matplotlib", "plot", "A picture").rc_context(how):
        figure, content = make().figure_, BytesIO()
        figure.savefig(content, format=format_, dpi=dpi, metadata=date)
        require("matplotlib.pyplot", "plot", "A picture").close(figure)
    return content.getvalue()
