"""Models that somebody changed: one byte, one value of the page, or the members; with the checksum made right again.

`other_values(page)` are all ways to put another value in the place of one in the page. What is accepted must answer as
before, unless the value is one that the author of a model may choose, see `CHOSEN`.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from medianmap.utils.archive import MARK

PAGE = "model.json"
OTHERS: tuple[Any, ...] = (
    None, True, -1, 0, 7, 2.5, 1e308, float("nan"), "", "x", "edit", [], [1, 2], {}, {"array": "a0.npy"},
    {"tuple": [1, 2]}, {"dict": {"x": 1}}, {"objects": [1, None]}, {"bytes": "!"},
)  # fmt: skip
# Another value here is another model, as valid: exemplars, names, labels. So are parameters of training.
CHOSEN = ("cluster_centers_", "support_objects_", "prototype_ids_", "support_ids_", "classes_", "feature_names_in_",
          "summary_", "metric")  # fmt: skip


def members_of(whole: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members: Any, how: int = zipfile.ZIP_DEFLATED, signed: bool = True) -> bytes:
    """A model file of these members, a dictionary or pairs, with the checksum that it has to have."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", how) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of names that are there twice
        for name, content in members.items() if isinstance(members, dict) else members:
            archive.writestr(name, content)
        archive.comment = MARK + b"0" * 64 if signed else b""
    whole = packed.getvalue()
    return whole[:-64] + hashlib.sha256(whole[:-64]).hexdigest().encode() if signed else whole


def with_page(whole: bytes, change: Callable[[Any], Any]) -> bytes:
    """The file with another page: what `change` returns, or the page that it changed."""
    members = members_of(whole)
    page = json.loads(members[PAGE])
    changed = change(page)
    members[PAGE] = json.dumps(page if changed is None else changed).encode()
    return archive_of(members)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every value of a page, itself among them."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def at(page: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        page = page[key]
    return page


def other_values(whole: bytes) -> Iterator[tuple[tuple[Any, ...], Any, bytes]]:
    """(path, the other value, the file) for each value of the page and each of OTHERS."""
    members = members_of(whole)
    page = json.loads(members[PAGE])
    for path in places(page):
        before = at(page, path)
        for other in OTHERS:
            if type(other) is type(before) and (other == before or other != other):
                continue
            if not path:
                changed = other
            else:
                changed = copy.deepcopy(page)
                at(changed, path[:-1])[path[-1]] = other
            yield path, other, archive_of({**members, PAGE: json.dumps(changed).encode()}, zipfile.ZIP_STORED)


def is_chosen(path: tuple[Any, ...]) -> bool:
    """Whether the author of a model may choose the value there."""
    return any(key in path for key in CHOSEN) or "params" in path


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def arrays_of(whole: bytes) -> dict[str, np.ndarray]:
    return {n: np.load(io.BytesIO(c)) for n, c in members_of(whole).items() if n != PAGE}


def structural(whole: bytes) -> dict[str, bytes]:
    """Attacks on the members, by name."""
    members, arrays = members_of(whole), arrays_of(whole)
    page, pairs = members[PAGE], list(members.items())
    last, names = [*arrays][-1], [*arrays]
    first = names[0]
    head = npy(arrays[first])[: -arrays[first].nbytes or None]

    def put(**changed: bytes) -> bytes:
        return archive_of({**members, **{name.replace("__", "."): content for name, content in changed.items()}})

    def declared(shape: str) -> bytes:
        text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}"
        text = text.ljust(117) + "\n"
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()

    renamed = {name: members[names[k - 1]] for k, name in enumerate(names)}
    return {
        "a member twice": archive_of([*pairs, pairs[-1]]),
        "the page twice": archive_of([*pairs, (PAGE, page)]),
        "an unknown member": archive_of([*pairs, ("more.npy", npy(np.ones(3)))]),
        "an array that nothing uses": archive_of([*pairs, ("a999.npy", npy(np.ones(3)))]),
        "a path out of the folder": archive_of([*pairs, ("../a1.npy", npy(np.ones(3)))]),
        "a member less": archive_of(pairs[:-1]),
        "no page": archive_of(pairs[1:]),
        "arrays exchanged in turn": archive_of({PAGE: page, **renamed}),
        "all arrays the first": archive_of({PAGE: page, **dict.fromkeys(names, members[first])}),
        "an array of objects": put(**{first: npy(np.array([{}, None], object))}),
        "an array of dates": put(**{first: npy(np.array(["2026-11-19"], "M8[D]"))}),
        "an array of text": put(**{first: npy(arrays[first].astype(str))}),
        "an array of complex numbers": put(**{first: npy(arrays[first].astype(complex))}),
        "an array as a scalar": put(**{first: npy(np.float64(3))}),
        "an array in one more dimension": put(**{last: npy(arrays[last][..., None])}),
        "an array longer": put(**{first: npy(np.concatenate([arrays[first]] * 2))}),
        "an array that is cut": put(**{first: npy(arrays[first])[:-3]}),
        "an array with more behind it": put(**{first: npy(arrays[first]) + b"more"}),
        "a header of a petabyte": put(**{first: declared("10**15,".replace("10**15", str(10**15)))}),
        "a header of a negative size": put(**{first: declared("-1,")}),
        "no numpy file": put(**{first: b"hello"}),
        "an array without a header": put(**{first: head[:7]}),
        "a page that is no JSON": archive_of({**members, PAGE: page[:-2]}),
        "a page nested without end": archive_of({**members, PAGE: b"[" * 200_000}),
        "a name twice": archive_of({**members, PAGE: page.replace(b'"fitted":', b'"params": {}, "fitted":')}),
        "packed by bzip2": archive_of(members, zipfile.ZIP_BZIP2),
        "without a checksum": archive_of(members, signed=False),
        "followed by more": whole + b"more",
        "preceded by more": b"more" + whole,
    }  # fmt: skip


def bombs(whole: bytes, size: int = 5 * 2**30) -> Iterator[tuple[str, bytes]]:
    """Files of a few MB at most that would unpack to `size` bytes, or to more objects than memory holds."""
    members = members_of(whole)
    zeros = b"\0" * 2**20

    def streamed(name: str, begin: bytes, part: bytes, n: int) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for other, content in members.items():
                if other != name:
                    archive.writestr(other, content)
            with archive.open(name, "w", force_zip64=True) as file:
                file.write(begin)
                for _ in range(n):
                    file.write(part)
            archive.comment = MARK + b"0" * 64
        made = packed.getvalue()
        return made[:-64] + hashlib.sha256(made[:-64]).hexdigest().encode()

    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({size // 8},), }}"
    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + (text.ljust(117) + "\n").encode()
    first = next(name for name in members if name != PAGE)
    yield "an array of zeros", streamed(first, header, zeros, size // 2**20)
    yield "a page of blanks", streamed(PAGE, b"{", b" " * 2**20, size // 2**20)
    yield "a page of lists", streamed(PAGE, b"[", b"[]," * 2**18, 2**4)
    yield "a hundred thousand members", archive_of([*members.items(), *((f"a{k}.npy", b"") for k in range(10**5))])
