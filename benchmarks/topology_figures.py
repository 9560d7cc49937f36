"""The figures of a fitted map, measured by this code whichever code fitted it; each fit kept as one line of a file."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import data
import numpy as np
from numpy.typing import NDArray
from same_speed import ask, ended, started
from topology_fits import Fit, Fitted, fasterpam, matrix_path, minisom, vectors_path

from medianmap import as_dissimilarity
from medianmap.core.neighborhood import Lattice
from medianmap.core.quality import neighborhood_preservation, topographic_error

PAIRS = 40_000
VECTORS = ("breast_cancer", "iris", "digits")


@dataclass(frozen=True)
class Figures:
    """What is said of a map.

    loss : sum_i min_j D[i, e_j] over its exemplars; of prototypes that are vectors, the sum of distances to them.
    torn : topographic error, the share of points whose two nearest prototypes are not neighbours on the lattice.
    rho : rank correlation of dissimilarity and lattice distance over all pairs of points or 40000 random ones.
    trust : trustworthiness with the ten nearest.
    border : share of the points on border neurons, which touch fewer than others do, over their share of the neurons.
    seconds : of the fit.
    """

    loss: float
    torn: float
    rho: float
    trust: float
    border: float
    seconds: float


def figures(D: NDArray[Any], fitted: Fitted, shape: tuple[int, int], seconds: float) -> Figures:
    """Of a map of the points of D (N, N), on a lattice of this shape."""
    lattice = Lattice(shape, "hexagonal", False, fitted.positions, fitted.distances)
    G = D[:, fitted.exemplars] if len(fitted.exemplars) else fitted.G
    return Figures(
        loss(G),
        topographic_error(fitted.G, lattice),
        rank_correlation(D, fitted.labels, fitted.distances),
        neighborhood_preservation(as_dissimilarity(D), fitted.labels, fitted.distances, 10)[0],
        border_share(np.bincount(fitted.labels, minlength=G.shape[1]), lattice),
        seconds,
    )


def loss(G: NDArray[Any]) -> float:
    """sum_i min_j G[i, j] of dissimilarities G (N, K), in double precision."""
    return float(G.min(axis=1).sum(dtype=np.float64))


def rank_correlation(D: NDArray[Any], labels: NDArray[np.intp], map_distances: NDArray[np.float64]) -> float:
    """Spearman's correlation of D[i, l] and map_distances[labels[i], labels[l]] over pairs of points i != l.

    All pairs, or PAIRS drawn at random where there are more. nan if either is the same for all pairs.
    """
    from scipy.stats import rankdata

    N = len(D)
    if N * (N - 1) <= PAIRS:
        i, l = np.nonzero(~np.eye(N, dtype=bool))
    else:
        rng = np.random.default_rng(0)
        i = np.sort(rng.integers(N, size=PAIRS))
        l = (i + rng.integers(1, N, size=PAIRS)) % N
    ranks = [rankdata(each) for each in (D[i, l], map_distances[labels[i], labels[l]])]
    return float(np.corrcoef(ranks)[0, 1]) if all(np.ptp(each) > 0 for each in ranks) else float("nan")


def border_share(hits: NDArray[Any], lattice: Lattice) -> float:
    """(share of the hits (K,) on border neurons) / (their share of the neurons); they touch fewer than others do."""
    degree = lattice.neighbors.sum(axis=1)
    border = degree < degree.max()
    return float(hits[border].sum() / hits.sum() / border.mean()) if border.any() else float("nan")


def digest(tree: Path) -> str:
    """The same text for the same code: of the names and the contents of its modules."""
    found = hashlib.sha256()
    for path in sorted((tree / "src").rglob("*.py")):
        found.update(str(path.relative_to(tree)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


class Runs:
    """Records in a file, one JSON line each: a key and what was found. What an earlier run found is not done again."""

    def __init__(self, path: Path) -> None:
        self.path, self.found = path, dict[str, dict[str, float]]()
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                record = json.loads(line)
            except ValueError:
                continue  # cut off while it was written
            self.found[record.pop("key")] = record

    def once(self, key: str, make: Callable[[], dict[str, float]]) -> dict[str, float]:
        if key not in self.found:
            self.found[key] = make()
            with self.path.open("a") as file:
                file.write("\n" * self._cut_off() + json.dumps({"key": key, **self.found[key]}) + "\n")
        return self.found[key]

    def _cut_off(self) -> bool:
        with self.path.open("rb") as file:
            return file.seek(0, os.SEEK_END) > 0 and (file.seek(-1, os.SEEK_END), file.read())[1] != b"\n"


class Bench:
    """Fits and their figures, by the code of several trees: `codes` are their folders by a name, "now" among them.

    folder : holds matrices, vectors and the records, and is taken up again by the next run.
    """

    def __init__(self, folder: Path, shared: Path | None, codes: dict[str, Path]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.shared, self.codes = folder, shared, codes
        self.runs = Runs(folder / "topology.jsonl")
        self.digests = {code: digest(tree) for code, tree in codes.items()}
        self.workers: dict[str, subprocess.Popen[str]] = {}
        self.matrix = lru_cache(1)(self._matrix)

    def has(self, name: str) -> bool:
        """Whether the data are there; they are written into the folder, for all processes."""
        if not matrix_path(self.folder, name).exists():
            D = data.matrix(name, self.shared)
            if D is None:
                return False
            data.kept(matrix_path(self.folder, name), lambda: D)
        if name in VECTORS:
            data.kept(vectors_path(self.folder, name), lambda: data.vectors(name))
        return True

    def _matrix(self, name: str) -> NDArray[Any]:
        return np.load(matrix_path(self.folder, name))

    def yardstick(self, name: str, K: int, seeds: int) -> float:
        """Mean loss of FasterPAM's K medoids, from random starts."""
        return float(np.mean([self._fasterpam(name, K, seed) for seed in range(seeds)]))

    def _fasterpam(self, name: str, K: int, seed: int) -> float:

        def run() -> dict[str, float]:
            medoids, seconds = fasterpam(self.matrix(name), K, seed)
            return {"loss": loss(self.matrix(name)[:, medoids]), "seconds": seconds}

        return self.runs.once(self.key("FasterPAM", Fit(name, (1, K), "FasterPAM", seed)), run)["loss"]

    def figures(self, code: str, fit: Fit) -> Figures:
        """Of a fit by the code of this name, or from the records."""
        return Figures(**self.runs.once(self.key(code, fit), lambda: asdict(self._measured(code, fit))))

    def key(self, code: str, fit: Fit) -> str:
        if fit.kind == "FasterPAM":
            return f"{version('kmedoids')} {fit.key}"
        if fit.kind == "MiniSom":  # its seconds are compared with ours: new code takes turns with it anew
            return f"{version('minisom')} {self.digests['now']} {fit.key}"
        return f"{self.digests[code]} {fit.key}"

    def _measured(self, code: str, fit: Fit) -> Figures:
        if fit.kind == "MiniSom":
            fitted, seconds = minisom(fit, np.load(vectors_path(self.folder, fit.data)))
        else:
            fitted, seconds = self._asked(code, fit)
        return figures(self.matrix(fit.data), fitted, fit.grid, seconds)

    def _asked(self, code: str, fit: Fit) -> tuple[Fitted, float]:
        if code not in self.workers:
            script = str(Path(__file__).with_name("topology_fits.py"))
            self.workers[code] = started(self.codes[code] / "src", script, str(self.folder))
        path = self.folder / f"fit-{os.getpid()}.npz"
        try:
            seconds = ask(self.workers[code], json.dumps(asdict(fit) | {"out": str(path)}))
            with np.load(path) as arrays:
                return Fitted(**arrays), seconds
        finally:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        for worker in self.workers.values():
            ended(worker)
