"""Strings letter by letter (Hamming), by a compressor (NCD) or by their k-mers; and sets, by what they share."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_choice, check_count, check_flag
from .base import Metric, Parameter, register
from .letters import code_points, starts_of

# Raw streams where possible: headers and checksums would be counted as content.
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "zlib": partial(zlib.compress, level=9, wbits=-15),
    "bz2": bz2.compress,
    "lzma": partial(lzma.compress, format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6}]),
}
MODES = ("jaccard", "cosine", "containment")


def hamming_strings_block(a: Sequence[str], b: Sequence[str], *, normalize: bool = True) -> NDArray[np.float64]:
    """(len(a), len(b)): the share (or number) of positions where two strings of one length differ."""
    length = len(b[0]) if b else 0
    odd = next((s for s in (*a, *b) if len(s) != length), None)
    if odd is not None:
        raise ValueError(f"Strings of {length} and {len(odd)} letters differ in length; choose metric='edit'.")
    A, B = (code_points(side).codes.reshape(len(side), length) for side in (a, b))
    out = np.array([(B != row).sum(axis=1) for row in A], np.float64).reshape(len(a), len(b))
    return out / length if normalize and length else out


def ncd_block(a: Sequence[str], b: Sequence[str], *, compressor: str = "zlib") -> NDArray[np.float64]:
    """(len(a), len(b)): (C(ab) - min(C(a), C(b))) / max(C(a), C(b)), C(x) the length of x compressed.

    The two strings are joined in alphabetical order, so the distance is symmetric; a string has distance 0 from itself,
    whatever the compressor makes of two copies.
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


def _jaccard(shared: NDArray[np.int64], m: NDArray[np.int64], n: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 - |A & B| / |A | B| for sizes m and n of the sets; two empty sets are the same."""
    union = m[:, None] + n[None, :] - shared
    return np.divide(union - shared, union, out=np.zeros(union.shape), where=union > 0)


def jaccard_sets_block(a: Sequence[Set[Any]], b: Sequence[Set[Any]]) -> NDArray[np.float64]:
    """(len(a), len(b)) Jaccard distances of sets."""
    A, B = _counted([dict.fromkeys(s, 1) for s in a], [dict.fromkeys(s, 1) for s in b])
    return _jaccard((A @ B.T).toarray(), A.sum(axis=1), B.sum(axis=1))


def kmer_block(a: Sequence[str], b: Sequence[str], *, k: int = 3, mode: str = "jaccard") -> NDArray[np.float64]:
    """(len(a), len(b)) from the k-mers (substrings of length k) of strings:

    jaccard      1 - |A & B| / |A | B| of sets of k-mers
    containment  1 - |A & B| / |A|: the share of a's k-mers that b lacks
    cosine       1 - <A, B> / (|A| |B|) of how often each k-mer occurs
    """
    A, B = _counted([_kmers(s, k) for s in a], [_kmers(s, k) for s in b])
    if mode == "cosine":
        lengths = [np.asarray((M * M).sum(axis=1), np.float64) for M in (A, B)]
        return np.maximum(0.0, 1.0 - (A @ B.T).toarray() / np.sqrt(lengths[0][:, None] * lengths[1][None, :]))
    for M in (A, B):
        M.data[:] = 1
    shared, m = (A @ B.T).toarray(), A.sum(axis=1)
    return _jaccard(shared, m, B.sum(axis=1)) if mode == "jaccard" else (m[:, None] - shared) / m[:, None]


def _kmers(string: str, k: int) -> Counter[str]:
    return Counter(string[i : i + k] for i in range(len(string) - k + 1))


def _counted(a: Sequence[Mapping[Any, int]], b: Sequence[Mapping[Any, int]]) -> tuple[Any, Any]:
    """How often each member (column) occurs in each bag (row) of a and of b: sparse counts over one numbering."""
    from scipy.sparse import csr_array

    number = {thing: k for k, thing in enumerate(dict.fromkeys(chain.from_iterable((*a, *b))))}

    def matrix(bags: Sequence[Mapping[Any, int]]) -> Any:
        columns = np.fromiter((number[thing] for bag in bags for thing in bag), np.int64)
        counts = np.fromiter((count for bag in bags for count in bag.values()), np.int64)
        return csr_array((counts, columns, starts_of(bags)), shape=(len(bags), len(number)))

    return matrix(a), matrix(b)


def _prepare_sets(objects: list[Any]) -> list[frozenset[Any]]:
    for i, thing in enumerate(objects):
        if not isinstance(thing, Set | list | tuple):
            raise ValueError(f"X[{i}] is a {type(thing).__name__}; for 'jaccard-sets' pass sets.")
        bad = next((x for x in thing if not isinstance(x, Hashable)), None)
        if bad is not None:
            raise ValueError(f"X[{i}] holds a {type(bad).__name__}; pass sets of hashable members.")
    return [frozenset(thing) for thing in objects]


def _prepare_kmer(objects: list[str], *, k: Any = 3, mode: Any = "jaccard") -> list[str]:
    check_count(k, "k")
    check_choice(mode, "mode", MODES)
    short = next((i for i, s in enumerate(objects) if len(s) < k), None)
    if short is not None:
        raise ValueError(f"X[{short}] has {len(objects[short])} letters, fewer than k = {k}; drop it or lower k.")
    return objects


register(Metric("hamming-strings", hamming_strings_block, True, "strings",
                "share of positions where two strings of one length differ", threaded=True,
                parameters=(Parameter("normalize", True, "False: their number"),),
                prepare=_prepare_hamming))  # fmt: skip
register(Metric("ncd", ncd_block, True, "strings", "normalised compression distance", threaded=True,
                parameters=(Parameter("compressor", "zlib", "'zlib', 'bz2' or 'lzma'"),),
                prepare=_prepare_ncd))  # fmt: skip
register(Metric("jaccard-sets", jaccard_sets_block, True, "sets", "1 - shared / all members of two sets",
                prepare=_prepare_sets))  # fmt: skip
_KMER = (
    Parameter("k", 3, "length of the substrings"),
    Parameter("mode", "jaccard", "'jaccard', 'cosine' (of counts), 'containment' (share of a's that b lacks)"),
)
register(Metric("kmer", kmer_block, lambda params: params.get("mode", "jaccard") != "containment", "strings",
                "substrings of length k that two strings share", parameters=_KMER, prepare=_prepare_kmer))  # fmt: skip
