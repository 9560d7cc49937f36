"""Do confidences come true? What `medianmap.uncertainty` tells against further resamples: figures of docs/fit.md.

    python benchmarks/uncertainty.py [--folder SHARED] [--figure docs/uncertainty.svg]

SHARED holds chromosomes.csv, which is not part of this project; without it there are four sets. 20 resamples tell, 40
others decide, of all points and of a third of them that was left out of the fit.
"""

import argparse
from pathlib import Path

import _paths  # noqa: F401
import numpy as np
from data import matrix
from scipy.optimize import minimize

from medianmap import MedianNeuralGas, MedianSOM, uncertainty
from medianmap.estimators.fit import as_generator
from medianmap.explore.stability import counterparts

MAPS = {
    "neural gas, K=10": MedianNeuralGas(10, metric="precomputed", random_state=0),
    "neural gas, K=40": MedianNeuralGas(40, metric="precomputed", random_state=0),
    "SOM, 5x6": MedianSOM((5, 6), metric="precomputed", random_state=0),
}
TOLD, FURTHER, MOST = 20, 40, 600


def sets(folder: Path | None):
    """(name, D) of at most 600 points each, drawn at random."""
    for name in ("iris", "globins", "digits", "breast_cancer", "chromosomes"):
        D = matrix(name, folder)
        if D is not None:
            some = np.random.default_rng(0).permutation(len(D))[:MOST]
            yield name.replace("_", " "), np.asarray(D[np.ix_(some, some)], float)


def errors_in_tenths(p, observed) -> float:
    """Mean over points of |mean p - mean observed| of the tenth of [0, 1] that p is in."""
    tenth = np.minimum((10 * p).astype(int), 9)
    return sum(abs((p - observed)[tenth == k].sum()) for k in range(10)) / len(p)


def softmax(G, told) -> np.ndarray:
    """exp(-G / T) / sum exp(-G / T) of the nearest prototype, mixed with 1 / K, as the same resamples like best."""
    N, K = G.shape
    least = G.min(axis=1, keepdims=True)
    counts = np.stack([(told.runs == j).sum(axis=0) for j in range(K)], axis=1)

    def shares(x):
        e = np.exp(-(G - least) * np.exp(-x[0]))
        floor = 1 / (1 + np.exp(-x[1]))
        return (1 - floor) * e / e.sum(axis=1, keepdims=True) + floor / K

    best = minimize(lambda x: -(counts * np.log(shares(x))).sum(), [np.log(np.median(G)), -2.0], method="Nelder-Mead")
    return shares(best.x)[np.arange(N), told.points["prototype"]]


def of_points(map_, D):
    """Told of the points of the fit, three ways, and what came true."""
    map_.fit(D)
    told = uncertainty(map_, D, n_resamples=TOLD, random_state=0)
    observed = uncertainty(map_, D, n_resamples=FURTHER, random_state=1).points["stability"]
    by_softmax = softmax(D[:, map_.medoid_indices_], told)
    return told.points["stability"], told.points["confidence"], by_softmax, observed


def of_others(map_, D):
    """The same of a third of the points, which the fit does not see."""
    order = np.random.default_rng(1).permutation(len(D))
    rest, seen = np.split(order, [len(D) // 3])
    X, Q, n, draws = D[np.ix_(seen, seen)], D[np.ix_(rest, seen)], len(seen), as_generator(1)
    told = uncertainty(map_.fit(X), X, n_resamples=TOLD, random_state=0).confidence_of(map_.transform(Q))
    own, ours, K, kept = map_.predict(Q), map_.labels_, len(map_.hits_), np.zeros(len(rest))
    for run in range(FURTHER):
        m = np.bincount(draws.integers(n, size=n), minlength=n).astype(float)
        other = map_.__class__(**{**map_.get_params(), "random_state": run}).fit(X, sample_weight=m)
        kept += counterparts(other.labels_, ours, np.ones(n), K)[other.predict(Q)] == own
    return told, kept / FURTHER


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args()
    print(f"mean |told - observed| in tenths; {TOLD} resamples tell, {FURTHER} others decide")
    print("| set | map | kept | stability | confidence | softmax | new objects |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    of_set, told, observed = {}, [], []
    for name, D in sets(asked.folder):
        for about, map_ in MAPS.items():
            stability, confidence, by_softmax, true = of_points(map_, D)
            new, new_true = of_others(map_, D)
            errors = [errors_in_tenths(p, true) for p in (stability, confidence, by_softmax)]
            cells = [f"{each:.3f}" for each in (*errors, errors_in_tenths(new, new_true))]
            print(f"| {name} | {about} | {true.mean():.2f} | " + " | ".join(cells) + " |", flush=True)
            of_set.setdefault(name, []).append((confidence, true))
            told.append((stability, confidence, by_softmax, new))
            observed.append((true, true, true, new_true))
    print("\nall sets and maps, by tenths of what is told: points, told, observed")
    print("| tenth | confidence | | | new objects | | |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rows = [tenths(*(np.concatenate([each[k] for each in some]) for some in (told, observed))) for k in (1, 3)]
    for k, (points, new) in enumerate(zip(*rows, strict=True)):
        print(f"| {k / 10:.1f} to {(k + 1) / 10:.1f} | {points} | {new} |")
    if asked.figure is not None:
        draw(of_set, asked.figure)


def tenths(p, observed) -> list[str]:
    """Per tenth: points, mean told, mean observed."""
    tenth = np.minimum((10 * p).astype(int), 9)
    inside = [tenth == k for k in range(10)]
    return [f"{s.sum()} | {p[s].mean():.2f} | {observed[s].mean():.2f}" if s.any() else "0 | | " for s in inside]


def draw(of_set, path: Path) -> None:
    """Observed against told, a line per set."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "medianmap"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5.2, 4.4), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    for name, pairs in of_set.items():
        p, true = (np.concatenate(each) for each in zip(*pairs, strict=True))
        tenth = np.minimum((10 * p).astype(int), 9)
        full = [k for k in range(10) if (tenth == k).sum() >= 20]
        axes.plot([p[tenth == k].mean() for k in full], [true[tenth == k].mean() for k in full], marker="o", label=name)
    axes.set(
        xlabel="confidence told", ylabel="share of further resamples that keep the prototype", xlim=(0, 1), ylim=(0, 1)
    )
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
