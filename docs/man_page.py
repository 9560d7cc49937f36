"""Write the manual page of the command line from the commands themselves: `python docs/man_page.py medianmap.1`."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import click

from medianmap import __version__
from medianmap.app.main import cli


def man_page() -> str:
    """The page in the language of man(7)."""
    top = click.Context(cli, info_name="medianmap")
    lines = [
        f'.TH MEDIANMAP 1 "" "medianmap {__version__}"',
        ".SH NAME", "medianmap \\- " + (cli.help or "").rstrip("."),
        ".SH SYNOPSIS", ".B medianmap", ".I COMMAND", "[\\fIOPTIONS\\fR] [\\fIARGS\\fR]",
        ".SH EXIT STATUS", "0 done; 1 the machine failed; 2 a mistake in the command or its files; 130 Ctrl-C.",
        ".SH COMMANDS",
    ]  # fmt: skip
    for name in cli.list_commands(top):
        command = cli.get_command(top, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=top)
        lines += [f".SS medianmap {name} {' '.join(command.collect_usage_pieces(context))}"]
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
            if paragraph.startswith("\b"):
                lines += [".PP", ".nf", *map(roff, paragraph.removeprefix("\b").strip("\n").splitlines()), ".fi"]
            else:
                lines += [".PP", roff(" ".join(paragraph.split()))]
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record is not None:
                lines += [".TP", f"\\fB{roff(record[0])}\\fR", roff(" ".join(record[1].split()))]
    return "\n".join(lines) + "\n"


def roff(text: str) -> str:
    """One line of plain text."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(man_page(), encoding="utf-8")
