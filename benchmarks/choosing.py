"""The figures of docs/choosing.md, and with `refined` those of docs/guide.md: python benchmarks/choosing.py [refined]

About two minutes on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from medianmap import BatchSOM, MedianKMeans, MedianNeuralGas, MedianSOM, as_dissimilarity, k_path, width_front
from medianmap.core.quality import indices
from medianmap.datasets import load_breast_cancer, load_globins

SIZES = [2, 3, 4, 5, 6, 8, 10, 15, 20, 30]
WIDTHS = [2, 1, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
ORDERS = [0, 0.05, 0.12, 0.2, 0.5]
CAREFUL = {"init": "k-medoids++", "n_init": 10}


def map_of(family: Any, **params: Any) -> Any:
    return family(metric="precomputed", **params)


def line(*entries: Any) -> str:
    return f"| {' | '.join(map(str, entries))} |"


def table(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> None:
    head = list(head)
    print("\n" + "\n".join([line(*head), line(*["---"] * len(head)), *(line(*row) for row in rows)]) + "\n", flush=True)


def bold(values: list[float], best: Iterable[bool], digits: int) -> list[str]:
    return [
        f"**{value:.{digits}f}**" if marked else f"{value:.{digits}f}"
        for value, marked in zip(values, best, strict=True)
    ]


def sizes(D: Any, families: Any) -> None:
    """K for the globins: measures, careless fits, agreement with the families; other seeds; warm starts."""
    careful, careless = (k_path(map_of(MedianKMeans, random_state=0, **params), D, SIZES) for params in (CAREFUL, {}))
    rows, loose = careful.as_records(), careless.as_records()
    agreed = [adjusted_rand_score(families, D.block(slice(None), w).argmin(axis=1)) for w in careful.prototypes]
    columns = [[f"{row['quantization_error']:.2f}" for row in rows]]
    for found in ([row["silhouette"] for row in rows], [row["stability"] for row in rows],
                  [row["stability"] for row in loose]):  # fmt: skip
        columns.append(bold(found, [value == max(found) for value in found], 3))
    table(["K", "quantization error", "silhouette", "stability", "stability of single random starts", "families"],
          zip(SIZES, *columns, (f"{each:.3f}" for each in agreed), strict=True))  # fmt: skip
    paths = [k_path(map_of(MedianKMeans, random_state=seed, **CAREFUL), D, SIZES) for seed in range(10)]
    for by in ("silhouette", "stability"):
        print(f"suggested by {by}, seeds 0 to 9:", [path.best(by) for path in paths])
    for family in (MedianKMeans, MedianNeuralGas):
        ratio = np.zeros(len(SIZES))
        for seed in range(10):
            means = map_of(family, random_state=seed, init="k-medoids++")
            warm, cold = (k_path(means, D, SIZES, n_restarts=1, warm=warm).quantization_error for warm in (True, False))
            ratio += warm / cold / 10
        print(f"{family.__name__}: error with warm starts over that without:", ratio.round(3))


def widths(X: Any, globins: Any) -> None:
    """The front of end widths of a batch SOM of the tumours, and what is left of it on a median SOM of the globins."""
    rows = width_front(BatchSOM((8, 10), random_state=0), X, WIDTHS, n_restarts=1).as_records()
    front = [row["on_front"] for row in rows]
    torn, error = ([row[name] for row in rows] for name in ("topographic_error", "quantization_error"))
    table(["end width", *(f"{width:g}" for width in WIDTHS)],
          [["topographic error", *bold(torn, front, 3)], ["quantization error", *bold(error, front, 0)]])  # fmt: skip
    rows = width_front(map_of(MedianSOM, grid=(6, 8), random_state=0), globins, WIDTHS, n_restarts=1).as_records()
    for name, digits in (("topographic_error", 3), ("quantization_error", 1)):
        found = [row[name] for row in rows]
        print(f"globins, MedianSOM 6x8, all widths: {name} {min(found):.{digits}f} to {max(found):.{digits}f}")


def orders(X: Any) -> None:
    """What order costs on a median SOM of the tumours."""
    D = as_dissimilarity(X, "sqeuclidean").kept()  # type: ignore[attr-defined]
    rows: list[list[str]] = [["topographic error"], ["quantization error"]]
    for order in ORDERS:
        som = map_of(MedianSOM, grid=(8, 10), refine="swap", order=order, random_state=0).fit(D.D)
        rows[0].append(f"{torn(D, som):.3f}")
        rows[1].append(f"{som.quantization_error_:.0f}")
    table(['`MedianSOM((8, 10), metric="sqeuclidean", refine="swap", order=...)`, the same data', *ORDERS], rows)


def refined(D: Any) -> None:
    """The chapter's annealing, the default and swaps on the globins: quantization and topographic errors."""
    rows = []
    for title, params in (('`annealing="median"`', {"annealing": "median"}), ("the default", {}),
                          ('`refine="swap"`', {"refine": "swap"})):  # fmt: skip
        gas = map_of(MedianNeuralGas, n_clusters=30, random_state=0, **params).fit(D.D)
        som = map_of(MedianSOM, grid=(8, 10), random_state=0, **params).fit(D.D)
        errors = (f"{each.quantization_error_:.1f}" for each in (gas, som))
        rows.append([title, *errors, f"{torn(D, som):.2f}"])
    table(["", "neural gas, K=30", "SOM 8x10", "topographic error"], rows)


def torn(D: Any, som: Any) -> float:
    G = D.block(slice(None), som.medoid_indices_)
    return float(indices(D, som.labels_, G, lattice=som.lattice_)["topographic_error"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["refined"])
    data = load_globins()
    aligned: Any = as_dissimilarity(data.sequences, "alignment").kept()  # type: ignore[attr-defined]
    if parser.parse_args().what == "refined":
        refined(aligned)
    else:
        tumours = load_breast_cancer().X
        sizes(aligned, data.families)
        widths(tumours, aligned)
        orders(tumours)
