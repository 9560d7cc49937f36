"""Do confidences come true? What `medianmap.uncertainty` tells against further resamples: figures of docs/fit.md.

    python benchmarks/uncertainty.py [--folder SHARED] [--figure docs/uncertainty.svg]

SHARED holds chromosomes.csv, which is not part of this project; without it there are four sets. 20 resamples tell, 40
others decide, of all points and of a third of them that was left out of the fit.
"""

import argparse
from functools import partial
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
WAYS = ("stability", "confidence", "confidence_of", "softmax", "fuzzy c-means")
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


def likeliest(shares_at, told) -> np.ndarray:
    """Shares of the nearest prototypes, with the parameter and the floor of 1 / K that the resamples like best."""
    N, K = len(told.points), len(told.prototype_stability)
    counts = np.stack([(told.runs == j).sum(axis=0) for j in range(K)], axis=1)

    def shares(x):
        floor = 1 / (1 + np.exp(min(-x[1], 30)))
        return (1 - floor) * shares_at(np.exp(x[0])) + floor / K

    def unlikely(x):
        return -(counts * np.log(shares(x))).sum()

    runs = [minimize(unlikely, [start, -2.0], method="Nelder-Mead") for start in (-3.0, -1.0, 1.0)]
    best = min(runs, key=lambda run: run.fun)
    return shares(best.x)[np.arange(N), told.points["prototype"]]


def softmax(G, T):
    """exp(-G / T) / sum exp(-G / T), T in units of the median."""
    e = np.exp((G.min(axis=1, keepdims=True) - G) / (T * np.median(G)))
    return e / e.sum(axis=1, keepdims=True)


def fuzzy(G, exponent):
    """Fuzzy c-means: d^-e / sum d^-e."""
    least = G.min(axis=1, keepdims=True)
    u = np.divide(least, G, out=np.ones_like(G), where=G > least) ** exponent
    return u / u.sum(axis=1, keepdims=True)


def of_points(map_, D):
    """Told of the points of the fit in the ways of WAYS and what came true; the same of memberships elsewhere."""
    map_.fit(D)
    told = uncertainty(map_, D, n_resamples=TOLD, random_state=0)
    further = uncertainty(map_, D, n_resamples=FURTHER, random_state=1)
    observed, U, K = further.points["stability"], told.memberships, len(map_.hits_)
    shares = np.stack([(further.runs == j).mean(axis=0) for j in range(K)], axis=1)
    U[np.arange(len(U)), told.points["prototype"]] = 0.0
    others = U[U > 0], shares[U > 0]
    G = D[:, map_.medoid_indices_]
    by_distance = [likeliest(partial(way, G), told) for way in (softmax, fuzzy)]
    return [told.points["stability"], told.points["confidence"], told.confidence_of(G), *by_distance], observed, others


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
    print(
        f"mean |told - observed| in tenths; {TOLD} resamples tell, {FURTHER} others decide; last: points not in the fit"
    )
    print(f"| set | map | kept | {' | '.join(WAYS)} | new objects |")
    print("| --- | --- | --- |" + " --- |" * (len(WAYS) + 1))
    of_set, told, true, elsewhere, new, errors = {}, [], [], [], [], []
    for name, D in sets(asked.folder):
        for about, map_ in MAPS.items():
            ways, observed, others = of_points(map_, D)
            elsewhere.append(others)
            new.append(of_others(map_, D))
            errors.append([errors_in_tenths(*pair) for pair in (*((p, observed) for p in ways), new[-1])])
            cells = " | ".join(f"{each:.3f}" for each in errors[-1])
            print(f"| {name} | {about} | {observed.mean():.2f} | {cells} |", flush=True)
            of_set.setdefault(name, []).append((ways[1], observed))
            told.append(ways)
            true.append(observed)
    print("| mean | | | " + " | ".join(f"{each:.3f}" for each in np.mean(errors, axis=0)) + " |")
    squares = [[np.mean((p - observed) ** 2) for p in ways] for ways, observed in zip(told, true, strict=True)]
    squares = [*np.mean(squares, axis=0), np.mean([np.mean((p - observed) ** 2) for p, observed in new])]
    print("| mean square | | | " + " | ".join(f"{each:.3f}" for each in squares) + " |")
    print("\nall sets and maps, by tenths of what is told: points, told, observed")
    print("| tenth | confidence | | | new objects | | | memberships of other prototypes | | |")
    print("| --- |" + " --- |" * 9)
    confidences = tenths(np.concatenate([ways[1] for ways in told]), np.concatenate(true))
    rest = [tenths(*(np.concatenate(each) for each in zip(*pairs, strict=True))) for pairs in (new, elsewhere)]
    for k, cells in enumerate(zip(confidences, *rest, strict=True)):
        print(f"| {k / 10:.1f} to {(k + 1) / 10:.1f} | {' | '.join(cells)} |")
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
