"""Colours of lines, of classes and of quantities, the same on the page, in plots and in the terminal.

Classes have Okabe and Ito's colours, distinct for any kind of colour vision; of more than seven classes the next seven
have the same colours with stripes, the seven after these with dots.
"""

from __future__ import annotations

_BLUE, _VERMILION, _GREEN, _PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_ORANGE, _SKY, _GREY, _YELLOW = "#E69F00", "#56B4E9", "#999999", "#F0E442"

LINES = (_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE, _SKY, _GREY, _YELLOW)  # dark first: thin strokes on white
FILLS = (_SKY, _ORANGE, _GREEN, _PURPLE, _YELLOW, _VERMILION, _BLUE)  # light first: black text on top

# (colour, pattern) of the classes, in their order. Grey is near purple and green where red is not seen, so what is left
# over has a pattern of its own.
STYLES = tuple((color, pattern) for pattern in ("plain", "stripes", "dots") for color in FILLS)
OTHERS, UNLABELLED = (_GREY, "grid"), ("#CFCFCF", "plain")

# Colours of quantities: even steps of lightness, further from the ground as they grow, so that most is darkest on a
# white one. Plots have the light ramp, too.
RAMPS = {
    "light": ["#eef5ec", "#c4e3cf", "#8bcabf", "#53a9b2", "#3a83a2", "#345c8b", "#33376b", "#251c45"],
    "dark": ["#25333b", "#264a5a", "#2a6478", "#378091", "#559da3", "#82bab1", "#b8d6c1", "#f0f3d8"],
}
