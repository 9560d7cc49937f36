"""The command line: the table of commands, and how they end. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import sys
from typing import Any

import click

from ._version import __version__
from .commands.lazy import LazyGroup
from .commands.options import say

# Each with its module, and the first line of its help so that listing them imports none.
COMMANDS = {
    "demo": ("medianmap.commands.demo:demo", "Map 630 globins by how their sequences align."),
    "fit": ("medianmap.commands.fit:fit", "Map a file, and write the map into a folder."),
    "predict": ("medianmap.commands.predict:predict", "Place new objects on a map, and tell their classes."),
    "report": ("medianmap.commands.report:report", "Make the HTML page of a map anew."),
    "plot": ("medianmap.commands.plot:plot", "Draw a model: hits, U-matrix, labels, topology, training and more."),
    "path": ("medianmap.commands.path:path", "Say what speaks for which number of prototypes."),
    "check": ("medianmap.commands.check:check", "Say whether dissimilarities can be used."),
    "distances": ("medianmap.commands.distances:distances", "Compute the dissimilarities of all pairs of objects."),
    "patches": ("medianmap.commands.patches:patches", "Map a file of any length in one pass, patch by patch."),
    "assign": ("medianmap.commands.assign:assign", "Find the nearest prototypes of every object in a file."),
    "representatives": ("medianmap.commands.representatives:representatives", "Pick the true medoids of clusters."),
    "reproduce": ("medianmap.commands.reproduce:reproduce", "Run the chapter's experiments beside what it reports."),
    "info": ("medianmap.commands.info:info", "Say what is in a model file."),
    "metrics": ("medianmap.commands.metrics:metrics", "List the metrics and their parameters."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="medianmap")
def cli() -> None:
    """Topographic maps of data known only by pairwise dissimilarities."""


def main(args: list[str] | None = None) -> Any:
    """Run the command; a user's mistake is one sentence on stderr and exit code 2, a failure exit code 1."""
    try:
        cli.main(args, prog_name="medianmap")
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
