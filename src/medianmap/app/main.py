"""The command line: the table of commands, each imported when it is used, and how a command ends.

Data go to stdout, everything else to stderr. Exit codes: 0 done, 1 the machine failed, 2 a mistake of the user, 130
Ctrl-C, 143 SIGTERM.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from .._version import __version__

# The commands of each module of commands/, with the first line of their help, so that listing them imports none.
MODULES = {
    "fit": {
        "demo": "Map the 630 globin sequences that come with medianmap.",
        "fit": "Fit a map to a file and write it to a folder.",
        "arrange": "Lay chosen exemplars out on a grid.",
    },
    "predict": {"predict": "Place the points of a file on a map: neuron, exemplar, class."},
    "pictures": {
        "report": "Write an HTML report about a model.",
        "plot": "Plot a model: hits, U-matrix, labels, topology, training and more.",
        "compare": "Compare two maps of the same points on one HTML page.",
    },
    "path": {"path": "Compare maps of several numbers of neurons."},
    "dissimilarities": {
        "check": "Check dissimilarities for problems.",
        "distances": "Compute the dissimilarities between all pairs of points.",
    },
    "representatives": {"representatives": "Find the medoid of each cluster."},
    "about": {
        "compile": "Compile the inner loops now, so that the first fit does not have to.",
        "info": "Show what a model file contains.",
        "metrics": "List the metrics and their parameters.",
    },
}
COMMANDS = {
    name: (f"medianmap.app.commands.{module}:{name}", about)
    for module, commands in MODULES.items()
    for name, about in commands.items()
}

# What a user can put right.
MISTAKES = (ValueError, ModuleNotFoundError, FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError,
            PermissionError)  # fmt: skip


class LazyGroup(click.Group):
    """Commands by the table `lazy`: name -> (module:attribute, one line of help), listed in its order.

    The help of the group needs no module of a command, and a command needs no module but its own.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy)
        # Stand-ins, which are replaced on first use; click looks among their names for one that was misspelt.
        self.commands = {name: click.Command(name, short_help=about) for name, (_, about) in self.lazy.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command itself."""
        if cmd_name in self.lazy:
            module, _, attribute = self.lazy[cmd_name][0].partition(":")
            self.commands[cmd_name] = getattr(import_module(module), attribute)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self.lazy.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C and SIGTERM end it with one sentence and their exit codes; a warning is one too.

        A command that can be continued raises KeyboardInterrupt with the sentence that says so.
        """
        from ..utils.signals import stoppable
        from .output import note, said_of, say  # `--version` does not wait for these

        with warnings.catch_warnings(), stoppable() as exit_code:
            warnings.showwarning = lambda message, *where: note(str(message))
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as stop:
                say(said_of(stop, ctx))
                # CPython remembers an interrupt that left an exec, as imports have them, and would die by the signal
                # instead of exiting; the next exec clears that.
                exec("")
                ctx.exit(exit_code())


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="medianmap")
def cli() -> None:
    """Topographic maps of data known only by pairwise dissimilarities."""


def main(args: list[str] | None = None, group: click.Group = cli, name: str = "medianmap") -> Any:
    """Run the command; a user's mistake is one sentence on stderr and exit code 2, a failure exit code 1."""
    _open_streams()
    try:
        group.main(args, prog_name=name)
    except MISTAKES as error:
        _end(error, 2)
    except MemoryError as error:
        _end(str(error) or "out of memory; close other programs, or ask for less at a time.", 1)
    except OSError as error:
        _end(f"{error.filename or 'the output'}: {error.strerror}." if error.strerror else error, 1)


def _open_streams() -> None:
    """Put the null device where standard streams are closed: the next file would get their number, and what is said."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _end(sentence: object, code: int) -> None:
    """Say why the command ends, and end it."""
    from .output import say

    say(sentence)
    sys.exit(code)
