"""`all_pairs`: the whole matrix of objects under a metric, in memory or in a file that a killed run can continue."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..utils.checks import check_n_jobs
from ..utils.files import check_target, write_text
from ..utils.resumable import Journal, difference, digest, journal, journal_path, part_path, refuse_other, refusing
from ..utils.threads import OnProgress, limited, step
from . import ComputedSource, DenseSource, as_dissimilarity
from .computed import panel_height
from .stored import Sidecar, open_store, read_sidecar, sidecar_path

# (first row of a panel, column): all panels above, and the columns before this one of the panel itself, are computed.
Place: TypeAlias = tuple[int, int]

START: Place = (0, 0)
WIDEST = 4096  # columns of a block, so that its float64 values take 16 MB at most
# A block should take about this long, so that progress is visible and a kill loses little.
BLOCK_SECONDS = 0.25
# Flushing a file more often would cost more than it saves.
CHECKPOINT_SECONDS = 1.0


def all_pairs(
    X: Any, metric: str | Callable[[Any, Any], float], path: str | PathLike[str] | None = None, *,
    metric_params: Mapping[str, Any] | None = None, ids: Sequence[str] | None = None, dtype: DTypeLike = np.float64,
    n_jobs: int | None = None, on_progress: OnProgress | None = None, resume: bool = True,
) -> DenseSource:  # fmt: skip
    """D[i, l] = metric(X[i], X[l]) for all pairs; only i <= l is computed where the metric is symmetric.

    Parameters
    ----------
    X, metric, metric_params, ids, n_jobs : as in `as_dissimilarity`.
    path : a .npy file to write, with a sidecar `<path>.json`; None keeps the matrix in memory. With a path the matrix
        is never held in memory: it is written block by block into a memory map.
    dtype : float64, or float32 for half the space (values are rounded once, after they are computed).
    on_progress : called as on_progress("dissimilarities", done, total) after every block.
    resume : continue where an interrupted or killed run stopped; the file is the same to the last bit as without the
        interruption. A file that is finished already is opened and nothing is computed. Other objects, metric,
        parameters or dtype under the same path are an error. False starts again and replaces what is there.
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype is {dtype}; choose float32 or float64.")
    if metric == "precomputed":
        raise ValueError("metric='precomputed' computes nothing; name a metric, or use write_store to store a matrix.")
    check_n_jobs(n_jobs)
    source: Any = as_dissimilarity(X, metric, metric_params=metric_params, ids=ids, n_jobs=n_jobs)
    report = _Report(source, on_progress)
    with limited(n_jobs):
        if path is None:
            D = np.empty(source.shape, dtype)
            for place in computed_blocks(source, D):
                report(place)
            return DenseSource(D, source.symmetric, source.ids)
        target = Path(path).resolve()
        sidecar = _sidecar(source, metric, dtype)
        if not (resume and _is_finished(target, sidecar)):
            _compute_file(source, target, sidecar, report, resume)
    return open_store(target)


def computed_blocks(source: ComputedSource, D: NDArray[Any], place: Place = START) -> Iterator[Place]:
    """Fill D (N, N) from `place` on, and yield after each block the place up to which D is computed.

    Blocks go row panel by row panel, in each from left to right, from the diagonal on where the metric is symmetric.
    Their width follows from the time they take; no entry depends on it.
    """
    n = source.shape[0]
    height = panel_height(n)
    (row, column), width = place, 1
    while row < n:
        rows, cols = slice(row, min(row + height, n)), slice(column, min(column + width, n))
        began = time.perf_counter()
        source.fill(D, rows, cols)
        pace = BLOCK_SECONDS / max(time.perf_counter() - began, 1e-9)
        width = int(np.clip(width * min(pace, 8.0), 1, WIDEST))
        if cols.stop < n:
            column = cols.stop
        else:
            row = rows.stop
            column = row if source.symmetric else 0
        yield row, column


class _Report:
    """Tells on_progress how many dissimilarities are done, and of how many."""

    def __init__(self, source: ComputedSource, on_progress: OnProgress | None) -> None:
        self.n = source.shape[0]
        self.symmetric = source.symmetric
        self.on_progress = on_progress or step

    def __call__(self, place: Place) -> None:
        self.on_progress("dissimilarities", self.done(place), self.done((self.n, 0)))

    def done(self, place: Place) -> int:
        """How many dissimilarities come before a place; of a symmetric matrix only those with i <= l count."""
        row, column = place
        panel = np.arange(row, min(row + panel_height(self.n), self.n))
        if not self.symmetric:
            return row * self.n + len(panel) * column
        return row * self.n - row * (row - 1) // 2 + int(np.maximum(column - panel, 0).sum())

    def share(self, place: Place) -> str:
        return f"{self.done(place) / self.done((self.n, 0)):.0%}"


class GrowingMatrix:
    """The matrix `D` (N, N) in D.npy.part, writable, and `place`, up to where it is computed.

    The journal has one line `row column` per checkpoint. D is None where an earlier run was killed between its last
    steps, with the matrix in its place already but not its sidecar.
    """

    def __init__(self, path: Path, sidecar: Sidecar, lines: Journal) -> None:
        self.path, self.part, self.journal = path, part_path(path), lines
        self.sidecar = sidecar
        self.about = {"height": panel_height(sidecar.n), **asdict(sidecar)}
        self.place = START
        self.D: NDArray[np.floating] | None = None

    def resume(self) -> bool:
        """Continue what an earlier run left; False if it left nothing, ValueError if it computed something else."""
        if not self.journal.resumes(self.about, differs):
            return False
        if self.journal.lines:
            row, column = self.journal.lines[-1].split()
            self.place = int(row), int(column)
        if self.part.exists():
            self.D = np.load(self.part, mmap_mode="r+", allow_pickle=False)
            return True
        return self.place[0] >= self.sidecar.n and self.path.exists()

    def begin(self) -> None:
        """An empty matrix whose room on disk is really there, then the journal's first line."""
        self.place = START
        dtype = np.dtype(self.sidecar.dtype)
        try:
            with self._refusing():
                self.D = np.lib.format.open_memmap(self.part, "w+", dtype, (self.sidecar.n, self.sidecar.n))
                _allocate(self.part)
                self.journal.begin(self.about)
        except OSError:
            self.discard()
            raise

    def vouch(self, place: Place) -> None:
        """Make all blocks before `place` safe."""
        if place == self.place or self.D is None:
            return
        with self._refusing():
            self.D.flush()  # type: ignore[attr-defined]
            self.journal.vouch(f"{place[0]} {place[1]}")
        self.place = place

    def finish(self) -> None:
        """Give the matrix its name and its sidecar; the journal goes."""
        if self.D is not None:
            self.D = None
            with self.part.open("r+b") as file:
                os.fsync(file.fileno())
            sidecar_path(self.path).unlink(missing_ok=True)  # an old sidecar must not describe the new matrix
            os.replace(self.part, self.path)
        write_text(sidecar_path(self.path), self.sidecar.as_json())
        self.journal.remove()

    def discard(self) -> None:
        """Remove what was begun."""
        self.D = None
        self.part.unlink(missing_ok=True)
        self.journal.remove()

    def _refusing(self) -> AbstractContextManager[None]:
        size = self.sidecar.n**2 * np.dtype(self.sidecar.dtype).itemsize
        return refusing(self.path, f" ({size / 1e9:.3g} GB)")


def differs(had: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Where two sidecars are of different dissimilarities, in words; empty if they are of the same."""
    words = {"objects": "other objects", "metric": "another metric", "parameters": "other parameters",
             "n": "another number of objects", "dtype": "another dtype", "symmetric": "another symmetry",
             "ids": "other ids", "medianmap": "another version of medianmap", "height": "other blocks"}  # fmt: skip
    # What digests say of metric and parameters decides, not how they are spelled for a reader.
    wanted = {**wanted, **wanted["fingerprint"]}
    words = {name: said for name, said in words.items() if name in wanted}
    return difference({**had, **had["fingerprint"]}, wanted, words)


def _allocate(path: Path) -> None:
    """Claim the whole file on disk: writing through a memory map into a hole of a full disk kills the process."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def _compute_file(source: ComputedSource, path: Path, sidecar: Sidecar, report: _Report, resume: bool) -> None:
    """Compute what is not yet computed of the matrix at `path`, and finish it."""
    check_target(path)
    if path.exists() and not sidecar_path(path).exists() and not journal_path(path).exists():
        raise FileExistsError(f"{path} exists already and was not written by all_pairs; choose another path.")
    with journal(journal_path(path), path) as lines:
        matrix = GrowingMatrix(path, sidecar, lines)
        if not (resume and matrix.resume()):
            matrix.begin()
        report(matrix.place)
        try:
            _fill(source, matrix, report)
        except KeyboardInterrupt:
            share = report.share(matrix.place)
            raise KeyboardInterrupt(
                f"{share} of {path} is computed and kept; run the same again to continue."
            ) from None
        except ValueError:
            matrix.discard()  # what was refused must be changed, and then these are other dissimilarities
            raise
        matrix.finish()


def _fill(source: ComputedSource, matrix: GrowingMatrix, report: _Report) -> None:
    """Compute the rest of the matrix, with a checkpoint now and then and one at the end, even after an error."""
    if matrix.D is None:
        return
    place, checked = matrix.place, time.perf_counter()
    try:
        for reached in computed_blocks(source, matrix.D, matrix.place):
            place = reached
            if time.perf_counter() - checked >= CHECKPOINT_SECONDS:
                matrix.vouch(place)
                checked = time.perf_counter()
            report(place)
    finally:
        matrix.vouch(place)


def _is_finished(path: Path, sidecar: Sidecar) -> bool:
    """Whether `path` already stores these dissimilarities; ValueError if it stores others."""
    if journal_path(path).exists() or not (path.exists() and sidecar_path(path).exists()):
        return False
    refuse_other(path, differs(asdict(read_sidecar(path)), asdict(sidecar)))
    return True


def _sidecar(source: ComputedSource, metric: Any, dtype: np.dtype[Any]) -> Sidecar:
    params = dict(source.metric.params)
    ids = None if source.ids is None else [str(i) for i in source.ids]
    known = {"objects": _known(source.objects), "metric": _known(metric), "parameters": _known(params)}
    return Sidecar(source.shape[0], dtype.name, source.symmetric, ids, source.metric.name, _plain(params), known)


def _known(value: Any) -> str:
    """The digest of a value; empty if it has none: such a value never equals another."""
    try:
        return digest(value)
    except ValueError:
        return ""


def _plain(value: Any) -> Any:
    """A parameter as JSON can hold it, to be read by people: functions by their name."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return getattr(value, "__name__", repr(value))
