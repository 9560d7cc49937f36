"""A group of commands whose modules are imported when a command is used, and what an interrupt says for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from .options import note, say

INTERRUPTED = 130  # 128 + SIGINT, as a shell has it
STOPPED = "stopped; no file was left half written, and the same command starts anew."


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
        """Run the command; Ctrl-C is one sentence and exit code 130, a warning a sentence without code around it.

        A command that leaves something to go on with raises KeyboardInterrupt with the sentence that says so.
        """
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *where: note(str(message))
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as stop:
                say(str(stop) or STOPPED)
                # CPython remembers an interrupt that left an exec, as imports have them, and would die by the signal
                # instead of exiting; the next exec clears that.
                exec("")
                ctx.exit(INTERRUPTED)
