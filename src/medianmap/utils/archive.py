"""Zip files of our own: one JSON page and `.npy` arrays, with a checksum, and bounded before anything is unpacked.

The comment at the end of the file is the SHA-256 of all bytes before it: a file in which any byte changed is refused.
That is no protection against somebody who writes the checksum anew. So what a file says of itself is not believed
either: names, numbers and sizes of its members are checked against each other and against the size of the file before
a member is unpacked, an array's header before room is made for it, and what the page holds by the caller.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from .files import atomic

MARK = b"medianmap-sha256:"
# What a file may unpack to: so many bytes in any case, beyond that so many times its own size.
FREE, RATIO = 2**25, 20
# The same for the JSON page alone, which takes several times its size when it is read, and how many values it may hold
# beside one for every few bytes of the file.
FREE_PAGE, RATIO_PAGE, VALUES, BYTES_PER_VALUE = 2**22, 5, 10**6, 8
MOST_MEMBERS = 10_000
# The record at the end of a zip file, without its comment, and the one before it where a file is very large.
END, LOCATOR = 22, 20


@dataclass(frozen=True)
class Kind:
    """A kind of file: the name of its JSON page, its format's name, the newest schema, and what users know it as."""

    page: str
    name: str
    schema: int
    called: str

    def write(self, path: str | os.PathLike[str], content: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Write atomically: a failure leaves any earlier file as it was."""
        header = {"format": self.name, "schema": self.schema, "medianmap": __version__, **content}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            _put(archive, self.page, json.dumps(header, indent=1, allow_nan=True).encode(), FREE_PAGE, RATIO_PAGE)
            for entry, array in arrays.items():
                buffer = io.BytesIO()
                np.save(buffer, array, allow_pickle=False)
                _put(archive, entry, buffer.getvalue())
            archive.comment = MARK + b"0" * 64
        whole = packed.getbuffer()
        with atomic(path) as file:
            file.write(whole[:-64])
            file.write(hashlib.sha256(whole[:-64]).hexdigest().encode())

    def open(self, path: str | os.PathLike[str]) -> tuple[dict[str, Any], Members]:
        """The JSON page and the open arrays behind it; ValueError if foreign, damaged, too large, of a newer schema."""
        if not Path(path).is_file():
            raise FileNotFoundError(f"There is no file {path}; give the path of a {self.called}.")
        has_sum = self._check_sum(path)
        try:
            archive = zipfile.ZipFile(path)
        except Exception:  # zipfile says BadZipFile, or what it stumbled over
            raise ValueError(f"{path} is not a {self.called}, or was cut short: it cannot be opened as one.") from None
        try:
            if self.page not in archive.namelist():
                raise ValueError(f"{path} is a zip file, but not a {self.called}.")
            try:
                members = Members(archive, self.page, os.path.getsize(path))
                header = members.read_page()
            except Exception as error:
                raise self.damaged(path, error) from None
            if not isinstance(header, dict) or header.get("format") != self.name:
                raise ValueError(f"{path} is a zip file, but not a {self.called}.")
            schema = header.get("schema")
            if isinstance(schema, bool) or not isinstance(schema, int) or schema < 1:
                raise self.damaged(path, f"schema {schema!r}")
            if schema > self.schema:
                raise ValueError(
                    f"{path} was written by medianmap {header.get('medianmap')} with schema {schema}; "
                    f"this version {__version__} reads up to schema {self.schema}. Upgrade medianmap to open it."
                )
            if schema > 1 and not has_sum:  # files of schema 1 had none
                raise self.damaged(path, "its checksum is missing")
            return header, members
        except BaseException:
            archive.close()
            raise

    def _check_sum(self, path: str | os.PathLike[str]) -> bool:
        """Whether the file has a checksum; ValueError if it is not that of the file, or for too many members."""
        with open(path, "rb") as file:
            size = os.path.getsize(path)
            file.seek(max(0, size - LOCATOR - END - 2**16))
            tail = file.read()
            end = tail.rfind(b"PK\5\6")  # where zipfile looks for it
            listed = int.from_bytes(tail[end + 12 : end + 16], "little") if end >= 0 else 0
            if listed > MOST_MEMBERS * 100 or (tail[max(end - LOCATOR, 0) :].startswith(b"PK\6\7") and size < 2**31):
                raise self.damaged(path, f"its list of members has {listed} bytes")
            if not tail[-64 - len(MARK) :].startswith(MARK):
                return False
            file.seek(0)
            found, left = hashlib.sha256(), size - 64
            while left:
                part = file.read(min(left, 2**20))
                found.update(part)
                left -= len(part)
            if file.read() != found.hexdigest().encode():
                raise self.damaged(path, "its checksum is another")
        return True

    def damaged(self, path: str | os.PathLike[str], why: object) -> ValueError:
        """The error for a file whose content is not what it should be."""
        return ValueError(f"{path} is a damaged {self.called} ({why}); restore it from a copy.")


def _put(archive: zipfile.ZipFile, name: str, content: bytes, free: int = FREE, ratio: int = RATIO) -> None:
    """An entry without the time of day: the same model is the same bytes."""
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o600 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    # Deflated, a long run of the same label would unpack to more than a reader allows: it is stored as it is. With half
    # of the ratio there is room for what several members together take beyond what is free.
    if len(content) > free / 8 and 2 * len(content) > ratio * len(zlib.compress(content, 1)):
        entry.compress_type = zipfile.ZIP_STORED
    archive.writestr(entry, content)


class Members:
    """The members of an open file, each of which is read once."""

    def __init__(self, archive: zipfile.ZipFile, page: str, size: int) -> None:
        self.archive, self.page, self.size = archive, page, size
        infos = archive.infolist()
        if len(infos) > MOST_MEMBERS:
            raise ValueError(f"it has {len(infos)} members")
        self.infos = {info.filename: info for info in infos}
        if len(self.infos) < len(infos):
            raise ValueError("two members have the same name")
        for info in infos:
            if info.filename != page and not re.fullmatch(r"a\d{1,6}\.npy", info.filename):
                raise ValueError(f"the member {info.filename[:40]!r} is unknown")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 0x1:
                raise ValueError(f"the member {info.filename} is packed in an unknown way")
        self._bound(sum(info.file_size for info in infos), FREE, RATIO)
        self._bound(self.infos[page].file_size, FREE_PAGE, RATIO_PAGE)
        self.unread = {*self.infos} - {page}

    def _bound(self, declared: int, free: int, ratio: int) -> None:
        if declared > max(free, ratio * self.size):
            raise ValueError(f"it says that it unpacks to {declared} bytes, and the file has {self.size}")

    def read_page(self) -> Any:
        """The JSON page."""
        text = self.archive.read(self.page)
        values = text.count(b",") + text.count(b"[") + text.count(b"{")
        if values > VALUES + self.size // BYTES_PER_VALUE:
            raise ValueError(f"its page holds {values} values, and the file has {self.size} bytes")
        return json.loads(text, object_pairs_hook=_once)

    def array(self, name: Any) -> NDArray[Any]:
        """The array of that name; its header is checked before there is room for it."""
        if not isinstance(name, str) or name not in self.unread:
            raise ValueError(f"the array {str(name)[:40]!r} is not there, or is used twice")
        self.unread.discard(name)
        with self.archive.open(name) as file:
            shape, fortran, dtype = _npy_header(file)
            n = int(np.prod(shape, dtype=object))
            if dtype.hasobject or file.tell() + n * dtype.itemsize != self.infos[name].file_size:
                raise ValueError(f"the array {name} has another size than its header says")
            array = np.empty(n, dtype)
            room: Any = array.view(np.uint8).reshape(-1).data if n and dtype.itemsize else b""
            at = 0
            while at < len(room):
                part = file.read(min(2**20, len(room) - at))
                if not part:
                    raise ValueError(f"the array {name} is cut short")
                room[at : at + len(part)] = part
                at += len(part)
            if file.read(1):  # which also lets zipfile compare the sum of the member
                raise ValueError(f"the array {name} is longer than its header says")
        return array.reshape(shape, order="F" if fortran else "C")

    def all_read(self) -> None:
        """ValueError if some array was not asked for."""
        if self.unread:
            raise ValueError(f"nothing in it uses the array {sorted(self.unread)[0]}")

    def close(self) -> None:
        """Close the file."""
        self.archive.close()

    def __enter__(self) -> Members:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError if a key is there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name in its page is there twice")
    return found


def _npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and type."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read:
        raise ValueError(f"an array is of the version {version}")
    return read[version](file)
