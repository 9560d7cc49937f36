"""The command line: the table of commands, and how they end. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import sys
from typing import Any

import click

from .._version import __version__
from .lazy import LazyGroup
from .options import say

# Each with its module, and the first line of its help so that listing them imports none.
COMMANDS = {
    "demo": ("medianmap.app.commands.demo:demo", "Map 630 globins by how their sequences align."),
    "fit": ("medianmap.app.commands.fit:fit", "Map a file, and write the map into a folder."),
    "predict": ("medianmap.app.commands.predict:predict", "Place new objects on a map, and tell their classes."),
    "report": ("medianmap.app.commands.report:report", "Make the HTML page of a map anew."),
    "plot": ("medianmap.app.commands.plot:plot", "Draw a model: hits, U-matrix, labels, topology, training and more."),
    "path": ("medianmap.app.commands.path:path", "Say what speaks for which number of prototypes."),
    "check": ("medianmap.app.commands.check:check", "Say whether dissimilarities can be used."),
    "distances": ("medianmap.app.commands.distances:distances", "Compute the dissimilarities of all pairs of objects."),
    "patches": ("medianmap.app.commands.patches:patches", "Map a file of any length in one pass, patch by patch."),
    "assign": ("medianmap.app.commands.assign:assign", "Find the nearest prototypes of every object in a file."),
    "representatives": ("medianmap.app.commands.representatives:representatives", "Pick the true medoids of clusters."),
    "info": ("medianmap.app.commands.info:info", "Say what is in a model file."),
    "metrics": ("medianmap.app.commands.metrics:metrics", "List the metrics and their parameters."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="medianmap")
def cli() -> None:
    """Topographic maps of data known only by pairwise dissimilarities."""


def main(args: list[str] | None = None, group: click.Group = cli, name: str = "medianmap") -> Any:
    """Run the command; a user's mistake is one sentence on stderr and exit code 2, a failure exit code 1."""
    try:
        group.main(args, prog_name=name)
    except (
        ValueError,
        ModuleNotFoundError,
        FileNotFoundError,
        FileExistsError,
        NotADirectoryError,
        IsADirectoryError,
        PermissionError,
    ) as error:
        say(error)
        sys.exit(2)
    except MemoryError as error:
        say(str(error) or "out of memory; close other programs, or ask for less at a time.")
        sys.exit(1)
    except OSError as error:
        say(f"{error.filename or 'the output'}: {error.strerror}." if error.strerror else error)
        sys.exit(1)
