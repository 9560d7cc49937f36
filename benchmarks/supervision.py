"""What labels are worth: the figures of docs/supervision.md.

    python benchmarks/supervision.py iris breast-cancer few-labels
    python benchmarks/supervision.py proteins --proteins FOLDER [--figure beta.svg]
    python benchmarks/supervision.py defaults [--data FOLDER] [--splits 30] [--seed 100]
    python benchmarks/supervision.py chromosomes --data FOLDER [--splits 5]

FOLDER of the proteins holds D.csv and labels.csv of the globin proteins, FOLDER of --data that one as `proteins` and
chromosomes.csv; they are not part of this project. `defaults` is the study behind the defaults
(label_study.py).
"""

import argparse
import time
from pathlib import Path

import _paths  # noqa: F401
import label_study
import numpy as np
from data import string_distances
from sklearn.model_selection import ShuffleSplit

from medianmap import BatchNeuralGas, MedianKMeans, MedianNeuralGas, PrototypeClassifier
from medianmap.datasets import load_breast_cancer, load_chromosomes, load_iris
from medianmap.explore.beta_path import BETAS, beta_path
from medianmap.explore.refits import standard_error
from reproduction import breast_cancer as protocol
from reproduction.judging import neighbours


def as_mean(values) -> str:
    """Mean and standard error."""
    values = np.asarray(values)
    return f"{values.mean():.4f} ± {standard_error(values):.4f}"


def iris() -> None:
    data = load_iris()
    print("## iris: supervised batch NG, K=6, beta=0.5, accuracy on all points, 20 seeds")
    for labeling in ("learned", "majority"):
        scores = [
            PrototypeClassifier(BatchNeuralGas(6, random_state=seed), 0.5, labeling, None)
            .fit(data.X, data.y)
            .score(data.X, data.y)
            for seed in range(20)
        ]
        print(f"{labeling:10s} mean {np.mean(scores):.4f}, from {min(scores):.4f} to {max(scores):.4f}")


def breast_cancer(runs: int) -> None:
    """The chapter's protocol: z-scores, K=40, 200 epochs, random halves, accuracy on the other half.

    `python -m reproduction breast-cancer` adds our default annealing and other methods.
    """
    names = {
        "batch NG": protocol.BATCH,
        "batch K-means": protocol.BATCH_MEANS,
        "median NG": protocol.MEDIAN,
        "median K-means": protocol.MEDIAN_MEANS,
    }
    print(f"## breast cancer: K=40, 200 epochs, {runs} random halves, test accuracy ± standard error")
    print("| map | supervised (beta 0.1), learned | supervised, posterior labels | unsupervised, posterior labels |")
    print("| --- | --- | --- | --- |")
    for name, setting in names.items():
        scores = {"learned": [], "majority": [], "unsupervised": []}
        for seed, (train, test) in enumerate(protocol.halves(runs, 0)):
            map_ = protocol.maps(seed)[setting]
            guided, alone = (protocol.one(map_, beta, train, test) for beta in (0.1, 1.0))
            scores["learned"].append(guided["learned"])
            scores["majority"].append(guided["posterior"])
            scores["unsupervised"].append(alone["posterior"])
        print(f"| {name} | " + " | ".join(as_mean(values) for values in scores.values()) + " |", flush=True)


def few_labels(draws: int) -> None:
    """10% of the labels; accuracy on the other 90%, paired differences to the unsupervised map."""
    data = load_breast_cancer()
    N = len(data.y)
    print(f"## breast cancer, labels of 57 of 569 points, {draws} draws, accuracy on the 512 others; median NG")
    print("| K | unsupervised, posterior labels | semi-supervised (beta 0.1) | labelled points counting 5 times |")
    print("| --- | --- | --- | --- |")
    for K in (20, 40):
        scores = np.empty((3, draws))
        for draw in range(draws):
            known = np.random.default_rng(1000 + draw).permutation(N) < round(0.1 * N)
            y, rest = np.where(known, data.y, -1), ~known
            map_ = MedianNeuralGas(K, metric="sqeuclidean", annealing="median", random_state=draw)
            for k, (beta, labeling, weight) in enumerate(
                [(1.0, "majority", 1.0), (0.1, "learned", 1.0), (0.1, "learned", 5.0)]
            ):
                clf = PrototypeClassifier(map_, beta, labeling, None, unlabeled=-1)
                clf.fit(data.X, y, sample_weight=np.where(known, weight, 1.0))
                scores[k, draw] = clf.score(data.X[rest], data.y[rest])
        gains = [f"{as_mean(row)} (gain {as_mean(row - scores[0])})" for row in scores[1:]]
        print(f"| {K} | {as_mean(scores[0])} | {gains[0]} | {gains[1]} |", flush=True)


def proteins(folder: Path, splits: int, figure: Path | None) -> None:
    """K=30, 300 epochs, random halves, accuracy against beta; every fit annealed afresh."""
    D = np.loadtxt(folder / "D.csv", delimiter=",")
    y = np.loadtxt(folder / "labels.csv", dtype=str)
    halves = ShuffleSplit(splits, test_size=0.5, random_state=0)
    maps = {
        "median NG": MedianNeuralGas(30, n_epochs=300, metric="precomputed", annealing="median", random_state=0),
        "median K-means": MedianKMeans(30, metric="precomputed", annealing="median", random_state=0),
    }
    for scale in (None, "mean"):
        paths = {}
        print(f"## proteins: K=30, {splits} random halves, label_scale={scale!r}: accuracy ± standard error")
        for name, map_ in maps.items():
            start = time.perf_counter()
            path = beta_path(PrototypeClassifier(map_, label_scale=scale), D, y, BETAS, cv=halves, warm_start=False)
            seconds = time.perf_counter() - start
            warm_start = time.perf_counter()
            warm = beta_path(PrototypeClassifier(map_, label_scale=scale), D, y, BETAS, cv=halves)
            ratio = seconds / (time.perf_counter() - warm_start)
            print(f"### {name}: unsupervised, posterior labels {as_mean(path.unsupervised)}")
            print(f"warm starts take 1/{ratio:.1f} of the time")
            print("| beta | learned | posterior | learned, warm start | quantization error | agreement |")
            print("| --- | --- | --- | --- | --- | --- |")
            for b, beta in enumerate(path.betas):
                print(
                    f"| {beta:g} | {as_mean(path.accuracy['learned'][b])} | {as_mean(path.accuracy['majority'][b])} "
                    f"| {as_mean(warm.accuracy['learned'][b])} "
                    f"| {path.quantization_error[b]:.1f} | {path.agreement[b]:.3f} |"
                )
            for labeling in ("learned", "majority"):
                best = path.accuracy[labeling][list(path.betas).index(path.best_beta(labeling))]
                print(f"best beta, {labeling}: {path.best_beta(labeling):g}, gain {as_mean(best - path.unsupervised)}")
            paths[name] = path
        if figure is not None and scale == "mean":
            import matplotlib as mpl

            mpl.use("agg")
            from medianmap.report.plots import BetaPathDisplay

            mpl.rcParams["svg.hashsalt"] = "medianmap"
            BetaPathDisplay(paths).plot().figure_.savefig(figure, metadata={"Date": None})


def chromosomes(folder: Path, n_halves: int) -> None:
    """All 4400 strings, K=100, random halves: the default maps, and 12-NN of all training points."""
    data = load_chromosomes(folder / "chromosomes.csv")
    D, y = string_distances(data.sequences).astype(np.float64), data.y
    halves = list(ShuffleSplit(n_halves, test_size=0.5, random_state=0).split(D))
    print(f"## chromosomes: 4400 strings in 22 classes, K=100, random halves: {n_halves}, test accuracy ± its error")
    print("| map | default with labels | unlabelled, majority |\n| --- | --- | --- |")
    for name in label_study.MAPS:
        rows = []
        for seed, (train, test) in enumerate(halves):
            map_ = label_study.map_of(name, 100, seed)
            ways = PrototypeClassifier(map_), PrototypeClassifier(map_, 1.0, labeling="majority")
            within, across = D[np.ix_(train, train)], D[np.ix_(test, train)]
            rows.append([clf.fit(within, y[train]).score(across, y[test]) for clf in ways])
        print(f"| {name} | " + " | ".join(as_mean(values) for values in np.transpose(rows)) + " |", flush=True)
    nearest = [np.mean(neighbours(D[np.ix_(test, train)], y[train], 12) == y[test]) for train, test in halves]
    print(f"12-NN of the 2200 training strings: {as_mean(nearest)}")


NAMES = ("iris", "breast-cancer", "few-labels", "proteins", "defaults", "chromosomes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=list(NAMES))
    parser.add_argument("--runs", type=int, default=50, help="random halves of breast cancer")
    parser.add_argument("--draws", type=int, default=20, help="draws of 10%% of the labels")
    parser.add_argument(
        "--splits", type=int, help="random halves of the proteins (50), splits of `defaults` (30), halves (5)"
    )
    parser.add_argument("--data", type=Path, help="folder with chromosomes.csv and proteins/")
    parser.add_argument("--seed", type=int, default=100, help="of the splits of `defaults`")
    parser.add_argument("--only", action="append", help="a set of `defaults`; may be repeated")
    parser.add_argument("--proteins", type=Path, help="folder with D.csv and labels.csv")
    parser.add_argument("--figure", type=Path, help="where to draw accuracy against beta")
    args = parser.parse_args()
    for what in args.what:
        if what == "iris":
            iris()
        elif what == "breast-cancer":
            breast_cancer(args.runs)
        elif what == "few-labels":
            few_labels(args.draws)
        elif what == "defaults":
            label_study.study(args.data, args.splits or 30, args.seed, args.only)
        elif what == "chromosomes":
            if args.data is None:
                parser.error("chromosomes needs --data FOLDER")
            chromosomes(args.data, args.splits or 5)
        elif args.proteins is None:
            parser.error("proteins needs --proteins FOLDER")
        else:
            proteins(args.proteins, args.splits or 50, args.figure)
        print()


if __name__ == "__main__":
    main()
