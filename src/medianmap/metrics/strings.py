"""Strings letter by letter (Hamming), and through a compressor (normalised compression distance)."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..validation import check_choice, check_flag
from .letters import code_points
from .registry import Metric, Parameter, register

# Raw streams where there are any: headers and checksums would be counted as if they were content.
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "zlib": partial(zlib.compress, level=9, wbits=-15),
    "bz2": bz2.compress,
    "lzma": partial(lzma.compress, format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6}]),
}


def hamming_strings_block(a: Sequence[str], b: Sequence[str], *, normalize: bool = True) -> NDArray[np.float64]:
    """(len(a), len(b)): the share (or number) of positions where two strings of one length differ."""
    length = len(b[0]) if b else 0
    odd = next((s for s in (*a, *b) if len(s) != length), None)
    if odd is not None:
        raise ValueError(f"A string of {len(odd)} letters cannot be compared with one of {length} letter by letter.")
    A, B = (code_points(side).codes.reshape(len(side), length) for side in (a, b))
    out = np.array([(B != row).sum(axis=1) for row in A], np.float64).reshape(len(a), len(b))
    return out / length if normalize and length else out


def ncd_block(a: Sequence[str], b: Sequence[str], *, compressor: str = "zlib") -> NDArray[np.float64]:
    """(len(a), len(b)): (C(ab) - min(C(a), C(b))) / max(C(a), C(b)), C(x) the length of x compressed.

    The two strings are put together in alphabetical order, so the distance is symmetric; a string has distance 0
    from itself, whatever the compressor makes of it twice.
    """
    compress = COMPRESSORS[compressor]
    bytes_a, bytes_b = ([s.encode("utf-8", "surrogatepass") for s in side] for side in (a, b))
    size_a, size_b = ([len(compress(s)) for s in side] for side in (bytes_a, bytes_b))
    out = np.zeros((len(a), len(b)))
    for i, s in enumerate(bytes_a):
        for l, t in enumerate(bytes_b):
            if s != t:
                less, more = sorted((size_a[i], size_b[l]))
                out[i, l] = max(0.0, (len(compress(min(s, t) + max(s, t))) - less) / more)
    return out


def _prepare_hamming(objects: list[str], *, normalize: Any = True) -> list[str]:
    check_flag(normalize, "normalize")
    odd = next((i for i, s in enumerate(objects) if len(s) != len(objects[0])), None)
    if odd is not None:
        raise ValueError(
            f"X[{odd}] has {len(objects[odd])} letters but X[0] has {len(objects[0])}; 'hamming-strings' compares "
            "strings of one length. For others choose metric='edit'."
        )
    return objects


def _prepare_ncd(objects: list[str], *, compressor: Any = "zlib") -> list[str]:
    check_choice(compressor, "compressor", tuple(COMPRESSORS))
    return objects


register(
    Metric(
        "hamming-strings",
        hamming_strings_block,
        True,
        "strings",
        "share of positions where two strings of one length differ",
        threaded=True,
        parameters=(Parameter("normalize", True, "False: their number"),),
        prepare=_prepare_hamming,
    )
)
register(
    Metric(
        "ncd",
        ncd_block,
        True,
        "strings",
        "normalised compression distance",
        threaded=True,
        parameters=(Parameter("compressor", "zlib", "'zlib', 'bz2' or 'lzma'"),),
        prepare=_prepare_ncd,
    )
)
