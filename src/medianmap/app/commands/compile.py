"""`medianmap compile`: what the first fit after installation would have to compile, compiled now."""

from __future__ import annotations

import click

from ...utils.kernels import compiling_told
from ..output import close, speaking, watched


@click.command()
@speaking
def compile() -> None:
    """Compile the inner loops now, so that the first fit need not.

    Takes about a minute, once after installation: runs small fits of all maps and keeps what they compile on disk, as
    every fit does. Useful where nobody should wait later, as in the recipe of a container image.

    Example: medianmap compile
    """
    compiled: list[str] = []
    with watched(), compiling_told(lambda name, k: compiled.append(name)):
        from ..warm import warm

        warm()
    if compiled:
        close(f"Compiled {len(compiled)} loops; fits of the usual kinds find them on disk.")
    else:
        close("Nothing had to be compiled: all loops of the usual fits are at hand.")
