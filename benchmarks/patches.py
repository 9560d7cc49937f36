"""Patch clustering in figures: docs/scale.md.

python benchmarks/patches.py samples --data DIR  patches against full fits and samples
python benchmarks/patches.py linear              vectors, N = 1e4, 1e5, 1e6
python benchmarks/patches.py strings             100000 chromosome-like strings
python benchmarks/patches.py breast-cancer       full map against five patches, repeated 10-fold
python benchmarks/patches.py kill                20 runs killed at random moments
python benchmarks/patches.py workers             1, 2 and 4 workers of a Dask cluster, and one that dies
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from math import isqrt
from pathlib import Path
from typing import Any

import _paths  # noqa: F401
import data
import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_digits

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, PatchClusterer, as_dissimilarity
from medianmap.datasets import (
    load_breast_cancer,
    load_chromosomes,
    load_globins,
    simulate_chromosomes,
    simulate_protein_families,
)
from medianmap.explore.refits import standard_error
from medianmap.patches.plan import cost_of_tree, patch_sizes, tree_sizes
from medianmap.sources import ALL
from reproduction import patches as protocol

CHUNK = 1000


def vectors(N: int) -> Iterator[np.ndarray]:
    """A stream of N vectors in 100 clouds of 10 dimensions, never held whole."""
    centers = np.random.default_rng(1).normal(scale=3, size=(100, 10))
    for k in range(0, N, CHUNK):
        rng = np.random.default_rng([2, k])
        yield from centers[rng.integers(100, size=CHUNK)] + rng.normal(size=(CHUNK, 10))


def one_size(N: int) -> None:
    """In a process of its own, so that its peak of memory is its own."""
    gas = MedianNeuralGas(50, metric="sqeuclidean", annealing="median", random_state=0)
    PatchClusterer(gas, 1000).fit(vectors(3000))  # compiles
    start = time.perf_counter()
    fitted = PatchClusterer(gas, 1000).fit(vectors(N))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([seconds, fitted.n_evaluations_, peak, float(fitted.multiplicities_.sum())]))


def linear() -> None:
    print("## Linear time: stream of vectors, median neural gas, K=50, p=1000, squared Euclidean")
    print("| N | seconds | microseconds per point | dissimilarities per point | peak memory, MiB |")
    print("| --- | --- | --- | --- | --- |")
    for N in (10**4, 10**5, 10**6):
        done = subprocess.run([sys.executable, __file__, "one-size", "--n", str(N)], check=True, capture_output=True)
        seconds, evaluations, peak, total = json.loads(done.stdout)
        assert total == N
        print(f"| {N} | {seconds:.1f} | {seconds / N * 1e6:.1f} | {evaluations / N:.1f} | {peak:.0f} |", flush=True)


def strings(N: int = 100_000) -> None:
    """Patches over all strings against full fits on 5000 of them, judged on the same strings that neither saw."""
    strings = simulate_chromosomes(N + 2000).sequences
    order = np.random.default_rng(0).permutation(len(strings))
    held_out = [strings[i] for i in order[:2000]]
    rest = [strings[i] for i in order[2000:]]
    K, metric = 100, "edit-chromosome"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    gas = MedianNeuralGas(K, metric=metric, annealing="median", random_state=0)
    print(f"## {N} chromosome-like strings, edit distance, median neural gas, K={K}, p=1000")
    errors = {}
    for merge in ("auto", "sequential"):
        start, cpu = time.perf_counter(), time.process_time()
        patches = PatchClusterer(gas, 1000, merge=merge, compute_labels=False).fit(iter(rest))
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        errors[merge] = -patches.score(held_out)
        print(f"{merge}: {seconds:.1f} s, {cpu:.1f} s of the processor, {patches.n_evaluations_} dissimilarities, "
              f"memory {before:.0f} MiB with the strings alone, {peak:.0f} MiB at the peak, "
              f"quantization error of 2000 held-out strings {errors[merge]:.1f}", flush=True)  # fmt: skip
    full = []
    for seed in range(3):
        start = time.perf_counter()
        fitted = MedianNeuralGas(K, metric=metric, annealing="median", random_state=seed).fit(rest[:5000])
        full.append(-fitted.score(held_out))
        print(f"full fit on 5000, seed {seed}: {full[-1]:.1f} ({time.perf_counter() - start:.1f} s)", flush=True)
    print({f"{merge} / best full fit": round(error / min(full), 4) for merge, error in errors.items()})


# Name -> dissimilarities, classes, K, points of a patch.
SETS: dict[str, tuple[Callable[[Path | None], tuple[np.ndarray, Any]], int, int]] = {
    "digits": (lambda _: (squareform(pdist(load_digits().data)), load_digits().target), 50, 300),
    "chromosomes": (lambda folder: chromosomes(folder), 50, 300),
    "breast cancer": (lambda _: compared(load_breast_cancer().X, load_breast_cancer().y, "cosine"), 20, 120),
    "families": (lambda _: families(), 50, 300),
    "globins": (lambda _: compared(load_globins().sequences, load_globins().families, "alignment"), 20, 120),
}
ORDERS = ("random", "sorted", "drifting")
MAPS = {"gas": MedianNeuralGas, "kmeans": MedianKMeans, "som": MedianSOM}


def compared(objects: Any, classes: Any, metric: str) -> tuple[np.ndarray, Any]:
    return np.asarray(as_dissimilarity(objects, metric).block(ALL, ALL)), classes


def chromosomes(folder: Path | None) -> tuple[np.ndarray, Any]:
    if folder is None:
        raise FileNotFoundError("--data DIR: the folder of chromosomes.csv")
    return data.chromosomes(folder / "chromosomes.csv"), load_chromosomes(folder / "chromosomes.csv").families


def families() -> tuple[np.ndarray, Any]:
    simulated = simulate_protein_families(2000, n_families=30, random_state=0)
    return compared(simulated.sequences, simulated.families, "alignment")


def ordered(classes: Any, order: str, seed: int) -> np.ndarray:
    """(N,) random; class after class, in random order; or drifting: a class is spread over about half of the points."""
    rng = np.random.default_rng([seed, 7])
    _, numbers = np.unique(classes, return_inverse=True)
    N = len(numbers)
    key = rng.permutation(numbers.max() + 1)[numbers] + rng.random(N)
    if order == "drifting":
        key = key.argsort().argsort() / N + rng.normal(scale=0.15, size=N)
    return rng.permutation(N) if order == "random" else key.argsort()


def samples(names: list[str], folder: Path | None, seeds: int, kind: str) -> None:
    """Loss (dissimilarities to the nearest exemplar, all points) over that of the best full fit; mean of all seeds."""
    print(
        f"## Patches and samples: loss over the best of {seeds} full fits, {MAPS[kind].__name__}, mean of {seeds} seeds"
    )
    print("In brackets the share of the exemplars that are points of the first patch.\n")
    print("| set | order | full fit | sample of equal memory | of equal evaluations | all points in its last run | "
          'merge="sequential" | default |')  # fmt: skip
    print("| --- " * 8 + "|")
    for name in names:
        make, K, p = SETS[name]
        D, classes = make(folder)
        size = (5, K // 5) if kind == "som" else K

        def trained(D: np.ndarray, seed: int, size: Any = size, **params: Any) -> np.ndarray:
            return MAPS[kind](size, metric="precomputed", random_state=seed, **params).fit(D).medoid_indices_

        def loss(exemplars: np.ndarray, D: np.ndarray = D) -> float:
            return float(D[:, exemplars].min(axis=1).sum())

        def of_sample(n: int, seed: int, D: np.ndarray = D, trained: Callable[..., np.ndarray] = trained) -> np.ndarray:
            part = np.sort(np.random.default_rng([seed, 2]).choice(len(D), min(n, len(D)), replace=False))
            return part[trained(np.ascontiguousarray(D[np.ix_(part, part)]), seed)]

        full = [loss(trained(D, seed)) for seed in range(seeds)]
        by_memory = [of_sample(max(p, 12 * K), seed) for seed in range(seeds)]
        last = [trained(D, s, init=w, annealing="median", sigma_start=0.01, n_epochs=1) if kind != "kmeans"
                else trained(D, s, init=w, annealing="median") for s, w in enumerate(by_memory)]  # fmt: skip
        for order in ORDERS:
            found: dict[str, list[tuple[float, float, float]]] = {"sequential": [], "auto": []}
            for seed in range(seeds):
                at = ordered(classes, order, seed)
                clusterer = PatchClusterer(
                    MAPS[kind](size, metric="precomputed", random_state=seed), p, compute_labels=False
                )
                own = np.ascontiguousarray(D[np.ix_(at, at)])
                for merge, each in found.items():
                    fitted = clusterer.set_params(merge=merge).fit(own)
                    n = patch_sizes(len(D), fitted.n_patches_)
                    # A matrix is read whole; of a symmetric metric half of a patch is evaluated.
                    evaluations = fitted.n_evaluations_ - (n * n // 2).sum()
                    w = fitted.medoid_indices_
                    each.append((loss(at[w]) / min(full), np.mean(w < n[0]), evaluations))
            passes = {merge: np.mean(each, axis=0) for merge, each in found.items()}
            same = isqrt(int(2 * passes["auto"][2]))
            rows = [full, map(loss, by_memory), (loss(of_sample(same, seed)) for seed in range(seeds)), map(loss, last)]
            means = [np.mean([*each]) / min(full) for each in rows]
            cells = [f"{means[0]:.4f}", f"{means[1]:.4f} (n = {max(p, 12 * K)})", f"{means[2]:.4f} (n = {same})",
                     f"{means[3]:.4f}", *(f"{each[0]:.4f} ({each[1]:.2f})" for each in passes.values())]  # fmt: skip
            print(f"| {name} | {order} | " + " | ".join(cells) + " |", flush=True)


def breast_cancer(repeats: int) -> None:
    """The chapter's protocol; `python -m reproduction patches` adds our default annealing and labels."""
    scores = {way: [] for way in protocol.WAYS}
    for seed, (train, test) in enumerate(protocol.folds(repeats, 0)):
        for way in protocol.WAYS:
            scores[way].append(protocol.one(way, protocol.CHAPTERS, train, test, seed)["accuracy"])
    print(f"## Breast cancer, cosine, median neural gas, K=40, 100 epochs, 10-fold {repeats} times, posterior labels")
    for name, values in scores.items():
        by_repeat = np.array(values).reshape(repeats, 10).mean(axis=1)
        print(f"{name}: accuracy {by_repeat.mean():.4f} ± {standard_error(by_repeat):.4f}")


RUN = """
import sys
import numpy as np
from medianmap import MedianNeuralGas, PatchClusterer
from medianmap.datasets import simulate_chromosomes

strings = simulate_chromosomes(6000).sequences
gas = MedianNeuralGas(20, metric="edit-chromosome", annealing="median", n_epochs=30, random_state=0)
fitted = PatchClusterer(gas, 100, checkpoint=sys.argv[1], compute_labels=False).fit(iter(strings))
np.save(sys.argv[2], np.vstack([fitted.medoid_indices_, fitted.multiplicities_]))
"""


def kill(times: int = 20) -> None:
    """Each run is killed at a random moment after it began to write, resumed, and compared bit for bit."""
    rng = np.random.default_rng(0)
    same, killed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        expected = Path(folder) / "expected.npy"
        subprocess.run([sys.executable, "-c", RUN, f"{folder}/whole", str(expected)], check=True)
        for k in range(times):
            checkpoint, result = Path(folder) / f"c{k}", Path(folder) / f"r{k}.npy"
            command = [sys.executable, "-c", RUN, str(checkpoint), str(result)]
            process = subprocess.Popen(command)
            while process.poll() is None and not checkpoint.exists():
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.6))
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            subprocess.run(command, check=True)
            same += result.read_bytes() == expected.read_bytes()
    print(
        f"## Killed by SIGKILL {killed} of {times} times in the middle of 60 patches; bit-identical: {same} of {times}"
    )


def model() -> None:
    """The estimate before the start against what the pass took, at three sizes; then what 10^8 proteins would take."""
    gas = MedianNeuralGas(100, metric="edit-chromosome", annealing="median", random_state=0)
    print("## Cost model: chromosome-like strings, edit distance, median neural gas, K=100, p=1000")
    print("| N | N (p/2 + K) | dissimilarities estimated | evaluated | seconds estimated | taken |")
    print("| --- | --- | --- | --- | --- | --- |")
    strings = simulate_chromosomes(100_000).sequences
    for N in (10_000, 30_000, 100_000):
        clusterer = PatchClusterer(gas, 1000, compute_labels=False)
        estimate = clusterer.estimate(strings[:3000], n_points=N)
        start = time.perf_counter()
        fitted = clusterer.fit(strings[:N])
        seconds = time.perf_counter() - start
        print(f"| {N} | {N * 600} | {estimate.n_evaluations} | {fitted.n_evaluations_} | {estimate.seconds:.1f} "
              f"| {seconds:.1f} |", flush=True)  # fmt: skip

    K, p, N, machines, cores = 100, 1000, 10**8, 100, 16
    sequences = simulate_protein_families(2000, n_families=50).sequences
    alignments = MedianNeuralGas(K, metric="alignment", annealing="median", random_state=0, n_jobs=1)
    task = PatchClusterer(alignments, p, compute_labels=False, n_jobs=1)
    task.fit(sequences[:p])  # compiles
    start = time.perf_counter()
    task.fit(sequences[p:])
    seconds = time.perf_counter() - start
    alignments_of_all = cost_of_tree(
        np.full(N // p, p), tree_sizes(p, K, medoids=True), lambda n, k: n * n // 2 + n * k
    )
    letters = np.mean([len(s) for s in sequences])
    print(
        f"\n## 10^8 proteins of {letters:.0f} letters as a tree, K={K}, p={p}, on {machines} machines of {cores} cores"
    )
    print(f"a patch, one thread: {seconds:.2f} s, {task.n_evaluations_} alignments")
    hours = alignments_of_all * seconds / task.n_evaluations_ / 3600
    print(f"alignments: {alignments_of_all:.3g}; core hours: {hours:.0f}; hours: {hours / machines / cores:.2f}")


def slow_difference(a: float, b: float) -> float:
    time.sleep(2e-4)
    return abs(a - b)


def workers() -> None:
    import distributed

    x = np.random.default_rng(3).normal(size=1200).tolist()
    clusterer = PatchClusterer(
        MedianKMeans(5, metric=slow_difference, annealing="median", random_state=2),
        60,
        merge="tree",
        compute_labels=False,
    )
    expected = clusterer.fit(x).medoid_indices_.tolist()
    print("## Workers of a Dask cluster, 20 patches of 60 under a metric that takes 0.2 ms")
    for n, dies in ((1, False), (2, False), (4, False), (2, True)):
        cluster = distributed.LocalCluster(
            n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        )
        with cluster, distributed.Client(cluster) as client:

            def kill_one(record, client=client, dies=dies) -> None:
                if dies and record.n_patches == 5:
                    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

            clusterer.set_params(client=client, on_patch=kill_one)
            start = time.perf_counter()
            same = clusterer.fit(x).medoid_indices_.tolist() == expected
            what = f"{n} workers, one killed" if dies else f"{n} workers"
            print(f"{what}: {time.perf_counter() - start:.1f} s, same prototypes: {same}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "what", choices=["samples", "linear", "one-size", "strings", "breast-cancer", "kill", "model", "workers"]
    )
    parser.add_argument("--n", type=int, default=10**5)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--data", type=Path, help="samples: the folder of chromosomes.csv")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--map", choices=list(MAPS), default="gas")
    args = parser.parse_args()
    if args.what == "one-size":
        one_size(args.n)
    elif args.what == "samples":
        samples(args.sets, args.data, args.seeds, args.map)
    elif args.what == "strings":
        strings(args.n)
    elif args.what == "breast-cancer":
        breast_cancer(args.repeats)
    else:
        {"linear": linear, "kill": kill, "model": model, "workers": workers}[args.what]()


if __name__ == "__main__":
    main()
