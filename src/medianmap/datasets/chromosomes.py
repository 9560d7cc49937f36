"""Chromosomes as strings: a reader for the user's copy of the Copenhagen data, and a simulator of strings like them.

A profile of grey levels 0 .. 6 along a chromosome is written as its differences: '=' is 0, 'A' .. 'E' are +1 .. +5,
'a' .. 'f' are -1 .. -6. Every profile begins and ends outside the chromosome, at level 0.
"""

from __future__ import annotations

import csv
import gzip
import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_count, check_nonnegative, refuse_duplicate_ids
from .shipped import Sequences, random_generator

ALPHABET = "fedcba=ABCDE"  # differences -6 .. 5
COLUMNS = ("id", "metaphase", "class", "part", "length", "centromere", "string")


@dataclass(frozen=True)
class Chromosomes(Sequences):
    """Strings with their classes as families.

    parts (N,) : 'a' or 'b', the halves that published results use.
    centromeres (N,) : the position where its arms meet.
    metaphases (N,) : the cell of each chromosome.
    """

    parts: NDArray[np.str_]
    metaphases: NDArray[np.intp]
    centromeres: NDArray[np.intp]


def load_chromosomes(path: str | os.PathLike[str]) -> Chromosomes:
    """Read your copy of the Copenhagen chromosomes: a CSV file (or .csv.gz) with the columns id, metaphase, class,
    part, length, centromere and string.

    path : the file.
    """
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"There is no file {file}; give the path of your copy of the chromosomes.")
    try:
        rows = _read(file)
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, csv.Error) as error:
        raise ValueError(f"{file} is not a readable CSV file ({error}).") from None
    if not rows:
        raise ValueError(f"{file} has a header but no chromosomes.")
    ids = [row["id"] for row in rows]
    refuse_duplicate_ids(ids, str(file), "chromosome")
    return Chromosomes(
        [row["string"] for row in rows], ids, [row["class"] for row in rows], np.array([row["part"] for row in rows]),
        np.array([int(row["metaphase"]) for row in rows], np.intp),
        np.array([int(row["centromere"]) for row in rows], np.intp),
    )  # fmt: skip


def _read(file: Path) -> list[dict[str, str]]:
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", newline="", encoding="utf-8") as text:
        reader = csv.DictReader(text)
        found = list(reader.fieldnames or [])
        missing = [name for name in COLUMNS if name not in found]
        if missing:
            raise ValueError(
                f"{file} has no column {missing[0]!r}; its columns are {', '.join(found) or '(none)'}. "
                f"The chromosomes have {', '.join(COLUMNS)}."
            )
        return [_checked(row, f"{file}, line {reader.line_num}") for row in reader]


def _checked(row: dict[str, Any], where: str) -> dict[str, str]:
    """The row, if every cell is what its column says."""
    if None in row or None in row.values():
        raise ValueError(f"{where} does not have {len(COLUMNS)} cells.")
    for name in ("metaphase", "length", "centromere"):
        if not row[name].isdecimal():
            raise ValueError(f"{where}: {name} is {row[name]!r}; it must be a whole number.")
    string = row["string"]
    if len(string) != int(row["length"]):
        raise ValueError(f"{where}: the string has {len(string)} letters, but its length is given as {row['length']}.")
    odd = next((k for k, letter in enumerate(string) if letter not in ALPHABET), None)
    if odd is not None:
        raise ValueError(f"{where}: letter {odd + 1} of the string is {string[odd]!r}; allowed: '=', A to E, a to f.")
    return row


# Lengths of the longest and the shortest class, and how far cells stretch them, as in the Copenhagen data.
LONGEST, SHORTEST, STRETCH = 84.0, 23.0, 0.07
BAND = 3.3  # mean width of a band
# Chances of the levels 1 .. 5 of light bands, and of the steps 1 .. 5 up to dark ones.
VALLEYS, STEPS = (0.62, 0.25, 0.09, 0.03, 0.01), (0.75, 0.12, 0.06, 0.04, 0.03)
# Standard deviations of a band's width and level, and the chance of a bump in it.
WIDTH_NOISE, LEVEL_NOISE, BUMPS = 0.4, 0.7, 0.05
CHUNK = 20_000


def simulate_chromosomes(n: int, n_classes: int = 22, *, noise: float = 1.0, random_state: Any = 0) -> Sequences:
    """n strings of n_classes classes, in order of class: bands of a class template, stretched and changed.

    A template is a row of bands (width, grey level), dark and light in turn; classes differ in length, from 84 letters
    to 23. A string stretches its template by a factor of its own, changes the width and the level of every band, lets
    some bands vanish and adds bumps: local insertions and deletions.

    noise : scales every change but the stretch. At 1.0 the strings are about as hard to tell apart as the Copenhagen
        chromosomes: docs/data.md has the figures.
    random_state : a seed or a numpy Generator. The templates depend on it too.
    n : number of strings.
    n_classes : number of classes, of the same size or one more.
    """
    n, n_classes = check_count(n, "n"), check_count(n_classes, "n_classes")
    noise = check_nonnegative(noise, "noise")
    rng = random_generator(random_state)
    sizes = [n // n_classes + (c < n % n_classes) for c in range(n_classes)]
    lengths = [LONGEST * (SHORTEST / LONGEST) ** (c / max(1, n_classes - 1)) for c in range(n_classes)]
    templates = [_template(length, rng) for length in lengths]
    sequences: list[str] = []
    for size, (widths, levels) in zip(sizes, templates, strict=True):
        for start in range(0, size, CHUNK):
            sequences += _strings(min(CHUNK, size - start), widths, levels, noise, rng)
    classes = np.repeat(np.arange(1, n_classes + 1), sizes)
    return Sequences(sequences, [f"chr{i:07d}" for i in range(n)], [str(c) for c in classes])


def _template(length: float, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Widths (S,) with sum length - 1 and levels (S,) in 1 .. 6 of the bands of a class; the ends are at level 1."""
    S = max(3, round(length / BAND)) | 1
    widths = 1 + rng.gamma(2.0, 1.0, S)
    levels = rng.choice(np.arange(1.0, 6.0), S, p=VALLEYS)
    steps = rng.choice(np.arange(1.0, 6.0), S // 2, p=STEPS)
    levels[1::2] = np.minimum(6, np.maximum(levels[:-1:2], levels[2::2]) + steps)
    levels[[0, -1]] = 1.0
    return widths * ((length - 1) / widths.sum()), levels


def _strings(
    n: int, widths: NDArray[np.float64], levels: NDArray[np.float64], noise: float, rng: np.random.Generator
) -> list[str]:
    """n strings of one template: each band is left part, bump (mostly of width 0), right part."""
    S = len(widths)
    stretch = 1 + STRETCH * np.clip(rng.standard_normal((n, 1)), -2, 2)
    width = widths * stretch + noise * WIDTH_NOISE * rng.standard_normal((n, S))
    level = levels + noise * LEVEL_NOISE * rng.standard_normal((n, S))
    bump = np.where(rng.random((n, S)) < noise * BUMPS, rng.integers(1, 4, (n, S)), 0)
    up = rng.choice([-1, 1], (n, S))
    # Rounding the running sum and not the widths keeps the length.
    ends = np.maximum.accumulate(np.rint(np.cumsum(np.maximum(width, 0), axis=1)), axis=1).astype(np.intp)
    whole = np.diff(ends, axis=1, prepend=0)
    left = whole // 2
    grey = np.clip(np.rint(level), 1, 6).astype(np.int8)
    runs = np.stack([left, bump, whole - left], axis=2).reshape(n, 3 * S)
    greys = np.stack([grey, np.clip(grey + up, 1, 6), grey], axis=2).reshape(n, 3 * S)
    # The alphabet has no +6, so a profile cannot begin at 6: it begins with a letter at level 1.
    greys[:, :3] = 1
    runs[:, 0] = np.maximum(runs[:, 0], 1)
    # A last run of one letter at level 0, so that the differences of all strings end to end are those of each.
    runs = np.column_stack([runs, np.ones(n, np.intp)])
    greys = np.column_stack([greys, np.zeros(n, np.int8)])
    profile = np.repeat(greys.ravel(), runs.ravel())
    codes = np.diff(profile, prepend=np.int8(0)) + 6
    letters = np.frombuffer(ALPHABET.encode(), np.uint8)[codes].tobytes().decode()
    stops = np.cumsum(runs.sum(axis=1)).tolist()
    return [letters[start:stop] for start, stop in pairwise([0, *stops])]
