"""Colours of lines and of filled areas: Okabe and Ito's palette, distinct for any kind of colour vision."""

from __future__ import annotations

_BLUE, _VERMILION, _GREEN, _PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_ORANGE, _SKY, _GREY, _YELLOW = "#E69F00", "#56B4E9", "#999999", "#F0E442"

LINES = (_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE, _SKY, _GREY, _YELLOW)  # dark first: thin strokes on white
FILLS = (_SKY, _ORANGE, _GREEN, _PURPLE, _YELLOW, _VERMILION, _GREY, _BLUE)  # light first: black text on top
