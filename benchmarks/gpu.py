"""What one card does: reading the matrix, a pass of swaps, whole fits; seconds, losses and memory, as Markdown tables.

    python benchmarks/gpu.py                                    # cuda: N = 20000, K = 200 and N = 131072, K = 1024
    python benchmarks/gpu.py --size 131072:1024:32x32           # one size: points, neurons of K-means and gas, grid
    python benchmarks/gpu.py --cpu 20000                        # beside the CPU's fits, up to so many points
    python benchmarks/gpu.py --file 100000                      # so many vectors, from a file to a report
    python benchmarks/gpu.py --device torch:cpu --size 500:10:3x4 --rounds 1      # small, on tensors in main memory

Points: a mixture of 200 clusters in 16 dimensions, seed 0; D is their Euclidean distances in float32, computed
on the device. Seconds are the least of `--rounds`, the first run of each left out, between two synchronisations of the
device. Losses are sum_i min_j D[i, w_j] of the exemplars, summed in float64 from the same matrix. Memory is the most
that was allocated beyond D. Needs the extra gpu; with --cpu, kmedoids as well.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _paths  # noqa: F401
import numpy as np
from numpy.typing import NDArray

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, as_dissimilarity
from medianmap.refine.tensor_swaps import DeviceMedoids
from medianmap.sources import ALL
from medianmap.sources.tensors import TensorSource
from medianmap.utils.device import found, in_words, released, torch_module

CLUSTERS, DIMENSIONS, SPREAD = 200, 16, 4.0
SIZES = ("20000:200:32x32", "131072:1024:32x32")
# What the maps are called in the table, their class, whether they have a grid, and their parameters.
FITS: dict[str, tuple[Any, bool, dict[str, Any]]] = {
    "K-medoids (swaps from random starts)": (MedianKMeans, False, {"refine": "swap"}),
    "neural gas, default": (MedianNeuralGas, False, {}),
    "neural gas, refine=swap": (MedianNeuralGas, False, {"refine": "swap"}),
    "SOM, default": (MedianSOM, True, {}),
    "SOM, refine=swap": (MedianSOM, True, {"refine": "swap"}),
}


@dataclass(frozen=True)
class Size:
    """N points, K neurons of K-means and neural gas, and the grid of a SOM."""

    n: int
    K: int
    grid: tuple[int, int]

    @classmethod
    def of(cls, text: str) -> Size:
        """'20000:200:32x32'."""
        n, K, grid = text.split(":")
        rows, columns = grid.split("x")
        return cls(int(n), int(K), (int(rows), int(columns)))


def mixture(n: int) -> NDArray[np.float64]:
    """n points of CLUSTERS normal distributions in DIMENSIONS."""
    rng = np.random.default_rng(0)
    centers = SPREAD * rng.normal(size=(CLUSTERS, DIMENSIONS))
    return centers[rng.integers(0, CLUSTERS, n)] + rng.normal(size=(n, DIMENSIONS))


@dataclass
class Clock:
    """Seconds of work on a device, and the most bytes that it allocated beyond what was there."""

    device: Any
    rounds: int

    def waited(self) -> None:
        if self.device.type == "cuda":
            torch_module().cuda.synchronize(self.device)

    def __call__(self, work: Callable[[], Any], warm: bool = True) -> tuple[float, Any]:
        """(least seconds, what the last run returned); one run before, which is not counted, compiles and allocates."""
        seconds, result = [], work() if warm else None
        for _ in range(self.rounds):
            self.waited()
            began = time.perf_counter()
            result = work()
            self.waited()
            seconds.append(time.perf_counter() - began)
        return min(seconds), result

    def memory(self, work: Callable[[], Any]) -> str:
        """The most bytes allocated while it ran, in words, beyond those before; "-" where torch does not count them."""
        if self.device.type != "cuda":
            work()
            return "-"
        cuda = torch_module().cuda
        cuda.reset_peak_memory_stats(self.device)
        before = cuda.memory_allocated(self.device)
        work()
        return in_words(cuda.max_memory_allocated(self.device) - before)


def loss(source: TensorSource, w: NDArray[np.intp]) -> float:
    """sum_i min_j D[i, w_j] in float64."""
    return float(source.columns(w).amin(0).double().sum())


def parts(source: TensorSource, K: int, clock: Clock) -> Iterator[tuple[str, float, str]]:
    """Reading D, one pass of swaps, and their ratio."""
    tensor, w = source.tensor, np.random.default_rng(1).choice(source.n, K, replace=False)
    read, _ = clock(lambda: tensor.sum(dim=1))
    yield "read of D (row sums)", read, clock.memory(lambda: tensor.sum(dim=1))
    state = DeviceMedoids.of(source, w, np.ones(source.n))
    once, _ = clock(lambda: state.changes(tensor.dtype).min(1))
    yield (
        f"pass of swaps, all {source.n} x {K} ({once / read:.2f} reads)",
        once,
        clock.memory(lambda: state.changes(tensor.dtype).min(1)),
    )


def fits(source: Any, size: Size, seed: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Each of FITS on a matrix, on a device or not."""
    for name, (kind, on_grid, params) in FITS.items():
        own = {"grid": size.grid} if on_grid else {"n_clusters": size.K}

        def fit(kind: Any = kind, own: Any = own, params: Any = params) -> Any:
            return kind(**own, **params, metric="precomputed", random_state=seed).fit(source)

        yield name, fit


def on_device(size: Size, device: str, clock: Clock, seed: int) -> tuple[TensorSource, dict[str, float]]:
    """Print the table of one size; the matrix and the losses by fit."""
    X = mixture(size.n)
    with released(device):
        once = Clock(clock.device, rounds=1)  # the card may hold one such matrix, not two
        made, source = once(lambda: as_dissimilarity(X, "euclidean", device=device).kept(), warm=False)
    assert isinstance(source, TensorSource)
    print(f"\n**N = {size.n}, K = {size.K}, SOM {size.grid[0]} x {size.grid[1]}**, D {in_words(size.n**2 * 4)}\n")
    print("| | seconds | memory beyond D | loss | epochs, swaps |")
    print("| --- | --- | --- | --- | --- |")
    print(f"| D from vectors | {made:.3f} | | | |", flush=True)
    for name, seconds, memory in parts(source, size.K, clock):
        print(f"| {name} | {seconds:.5f} | {memory} | | |", flush=True)
    losses = {}
    for name, fit in fits(source, size, seed):
        memory = clock.memory(fit)
        seconds, model = clock(fit, warm=False)
        losses[name] = loss(source, model.medoid_indices_)
        how = f"{model.n_iter_}, {getattr(model, 'n_swaps_', '-')}"
        print(f"| {name} | {seconds:.3f} | {memory} | {losses[name]:.1f} | {how} |", flush=True)
    return source, losses


def beside_the_cpu(source: TensorSource, size: Size, losses: dict[str, float], seed: int) -> None:
    """Print the same fits by the CPU, and FasterPAM's, on the same matrix: seconds, and the card's loss over theirs."""
    D = source.block(ALL, ALL)
    print(f"\nThe CPU on the same matrix, N = {size.n}\n\n| | seconds | loss | the device's loss over it |")
    print("| --- | --- | --- | --- |")
    for name, fit in fits(as_dissimilarity(D), size, seed):
        began = time.perf_counter()
        model = fit()
        _print_beside(name, time.perf_counter() - began, loss(source, model.medoid_indices_), losses[name])
    import kmedoids

    began = time.perf_counter()
    w = kmedoids.fasterpam(D, size.K, max_iter=100, random_state=seed).medoids
    seconds = time.perf_counter() - began
    _print_beside("FasterPAM (kmedoids)", seconds, loss(source, w.astype(np.intp)), losses[next(iter(FITS))])


def _print_beside(name: str, seconds: float, own: float, theirs: float) -> None:
    print(f"| {name} | {seconds:.3f} | {own:.1f} | {theirs / own:.5f} |", flush=True)


def from_file(n: int, device: str) -> None:
    """Print how long `medianmap fit` takes from a file of n vectors to its folder with the report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        np.save(path / "vectors.npy", mixture(n))
        command = [sys.executable, "-m", "medianmap", "fit", str(path / "vectors.npy"), "--read", "kind=vectors",
                   "--device", device, "-o", str(path / "map")]  # fmt: skip
        began = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - began
        size = (path / "map" / "report.html").stat().st_size
    said = " ".join(done.stdout.splitlines()[:2])
    print(f"\nFrom a file of {n} vectors to a report of {in_words(size)}: {seconds:.1f} s. {said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--size", action="append", metavar="N:K:ROWSxCOLUMNS", help=f"by default {', '.join(SIZES)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cpu", type=int, default=0, metavar="N", help="the CPU's fits beside sizes of up to N points")
    parser.add_argument("--file", type=int, metavar="N", help="also N vectors from a file to a report")
    given = parser.parse_args()
    torch, device = torch_module(), found(given.device)
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{platform.machine()}, no card"
    print(f"{card}; torch {torch.__version__}, Python {platform.python_version()}, NumPy {np.__version__}")
    clock = Clock(device, given.rounds)
    for text in given.size or SIZES:
        size = Size.of(text)
        source, losses = on_device(size, given.device, clock, given.seed)
        if size.n <= given.cpu:
            beside_the_cpu(source, size, losses, given.seed)
        del source  # before the next is made
    if given.file:
        from_file(given.file, given.device)


if __name__ == "__main__":
    main()
