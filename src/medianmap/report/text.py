"""A map as text for the terminal: one cell per neuron, in its place on the lattice, coloured by its majority class."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..utils.palette import FILLS
from .order import EXPLAINED
from .summary import lattice_text

CELL = 9
IN_LINE = 8


def map_text(summary: dict[str, Any]) -> Text:
    """Rows of cells: class letter and hits above, purity below; hexagonal rows are shifted by half a cell. Layers come
    one after the other; neurons whose distances the user gave in their order, so many in a line."""
    letters, colors = legend_of(summary)
    *layers, rows, cols = summary["grid"] or (-(-len(summary["neurons"]) // IN_LINE), IN_LINE)
    text = Text()
    for line in range(math.prod(layers) * rows):
        layer, r = divmod(line, rows)
        if layers and not r:
            text.append(f"layer {layer + 1}\n\n", "bold")
        shift = " " * (CELL // 2 if summary["lattice"] == "hexagonal" and r % 2 else 0)
        cells = summary["neurons"][line * cols : (line + 1) * cols]
        for part in (0, 1):
            text.append(shift)
            for neuron in cells:
                name, purity = neuron.get("majority"), neuron.get("purity")
                hits = f"{letters.get(name, '')} {neuron['hits']:g}".strip() if neuron["hits"] else "."
                content = (hits, "" if purity is None else f"{purity:.0%}")[part]
                text.append(content.center(CELL - 1), f"black on {colors[name]}" if name in colors else "dim")
                text.append(" ")
            text.append("\n")
        text.append("\n")
    return text


def legend_of(summary: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Class name -> the shortest prefix that no other class has, and -> its colour."""
    names = sorted({n["majority"] for n in summary["neurons"] if n.get("majority") is not None})
    longest = max((len(n) for n in names), default=1)
    size = next((k for k in range(1, longest) if len({n[:k] for n in names}) == len(names)), longest)
    return {n: n[:size] for n in names}, {n: FILLS[k % len(FILLS)] for k, n in enumerate(names)}


def render(summary: dict[str, Any]) -> RenderableType:
    """The whole summary as something rich can print."""
    letters, colors = legend_of(summary)
    ended = "reached a fixed point" if summary["converged"] else "stopped before a fixed point"
    head = Text(
        f"{summary['map']} of {summary['n_points']} points on {summary['n_neurons']} neurons "
        f"({lattice_text(summary)}); "
        f"{summary['epochs']} epochs, {ended}; {summary['empty']} neurons without points.\n"
    )
    legend = Text("Each cell: majority class and number of points, purity below.  ")
    for name, letter in letters.items():
        legend.append(f" {letter} ", f"black on {colors[name]}")
        legend.append(f" {name}  ")
    legend.append("\n")
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in summary["quality"].items():
        if value is not None:
            table.add_row(Text(name.replace("_", " "), "bold"), f"{value:.4g}", Text(EXPLAINED[name], "dim"))
    verdict = [Text(summary["verdict"] + "\n")] if summary["verdict"] else []
    return Group(head, map_text(summary), legend, *_class_table(summary), *verdict, table)


def _class_table(summary: dict[str, Any]) -> list[RenderableType]:
    """One line per class: its size, the number of neurons where it is the majority, and its share there."""
    if not summary["classes"]:
        return []
    table = Table(box=None, pad_edge=False)
    for title in ("class", "points", "neurons of its own", "share there"):
        table.add_column(title, justify="left" if title == "class" else "right")
    for row in summary["classes"]:
        table.add_row(Text(row["class"], "bold"), f"{row['points']:g}", str(row["neurons"]), f"{row['at_home']:.1%}")
    return [table, Text()]
