"""What a run of the experiments is asked for, and the data it finds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medianmap.datasets import Chromosomes, load_chromosomes, load_globins
from medianmap.sources import as_dissimilarity

# What one run of one setting measured: numbers, or lists of numbers along a grid.
Record = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """Run number `run` of `setting`; `work()` returns its record. Two tasks of one name are the same work."""

    setting: str
    run: int
    work: Callable[[], Record]


def task(setting: str, run: int, work: Callable[..., Record], *args: Any) -> Task:
    """The task whose work is `work(*args)`."""
    return Task(setting, run, partial(work, *args))


@dataclass(frozen=True)
class Labelled:
    """D (N, N) dissimilarities and y (N,) classes as numbers."""

    D: NDArray[Any]
    y: NDArray[np.intp]


@dataclass(frozen=True)
class Plan:
    """runs : of every experiment; None for each part's own number. folder : of the user's data, None without.
    only_page : run nothing, and write the page of the runs that are there, however many."""

    folder: Path | None = None
    runs: int | None = None
    quick: bool = False
    seed: int = 0
    threads: int | None = None
    only_page: bool = False

    def runs_of(self, full: int, quick: int) -> int:
        """How many runs: as asked for, or the part's own number."""
        return self.runs or (quick if self.quick else full)

    def short(self, full: int, quick: int) -> int:
        """A size or a number of epochs, smaller in a quick run."""
        return quick if self.quick else full

    def file(self, name: str) -> Path:
        """A file of the user's folder."""
        if self.folder is None:
            raise ValueError(f"{name} is not part of this library; say where your copy lies with --data FOLDER.")
        if not self.folder.is_dir():
            raise FileNotFoundError(f"There is no folder {self.folder}; give the folder of your data with --data.")
        path = self.folder / name
        if not path.exists():
            raise FileNotFoundError(f"{self.folder} has no {name}; put your copy there, or leave that part out.")
        return path

    def has(self, names: Iterable[str]) -> bool:
        """Whether the user's folder has all these files."""
        return self.folder is not None and all((self.folder / name).exists() for name in names)

    def fingerprint(self, names: Iterable[str]) -> str:
        """A digest of the files' bytes: rows of other data are not mixed with these."""
        digest = hashlib.sha256()
        for name in names:
            digest.update(self.file(name).read_bytes())
        return digest.hexdigest()[:16]

    @cached_property
    def chromosomes(self) -> Chromosomes:
        return load_chromosomes(self.file("chromosomes.csv"))

    @cached_property
    def chromosome_matrix(self) -> NDArray[np.float32]:
        return string_distances(self.chromosomes.sequences, self.threads)

    @cached_property
    def proteins(self) -> Labelled:
        D = np.loadtxt(self.file("proteins/D.csv"), delimiter=",")
        names = np.loadtxt(self.file("proteins/labels.csv"), dtype=str)
        return Labelled(D, np.unique(names, return_inverse=True)[1])

    @cached_property
    def globins(self) -> Labelled:
        data = load_globins()
        source: Any = as_dissimilarity(data.sequences, "alignment", n_jobs=self.threads)
        return Labelled(source.kept().D, data.y)


def string_distances(strings: Sequence[str], n_jobs: int | None = None) -> NDArray[np.float32]:
    """All pairs of difference-coded strings, substitution |a - b|, insertion and deletion 4.5."""
    source: Any = as_dissimilarity(strings, "edit-chromosome", n_jobs=n_jobs)
    return source.kept().D.astype(np.float32)
