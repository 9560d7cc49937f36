"""The chapter's iris figures: K=6 on z-scores under the squared Euclidean distance.

    python benchmarks/iris.py

Two conventions of a z-score are in use: the standard deviation of the sample (N - 1, R's scale) and of the population
(N, scikit-learn's StandardScaler). They differ by the factor 149/150 in every error; both are shown.
`python -m reproduction iris` runs the first of them.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris

from medianmap import BatchNeuralGas, MedianNeuralGas
from medianmap.core.quality import purity

# The chapter's quantization error and accuracy.
BATCH, MEDIAN = "40.96 / 0.84", "44.85 / 0.92"


def main() -> None:
    iris = load_iris()
    print("| z-scores | map | quantization error | accuracy by majority | chapter |")
    print("| --- | --- | --- | --- | --- |")
    for name, ddof in (("sample, N - 1", 1), ("population, N", 0)):
        X = (iris.data - iris.data.mean(axis=0)) / iris.data.std(axis=0, ddof=ddof)
        batch = [BatchNeuralGas(6, random_state=seed).fit(X) for seed in range(20)]
        errors = [gas.quantization_error_ for gas in batch]
        shares = [purity(gas.labels_, iris.target) for gas in batch]
        share = f"{min(shares):.3f} to {max(shares):.3f}, mean {np.mean(shares):.3f}"
        row(name, "batch NG, 20 seeds", f"{min(errors):.2f} to {max(errors):.2f}", share, BATCH)
        best = median(random_state=0, n_init=30).fit(X)
        share = f"{purity(best.labels_, iris.target):.3f}"
        row(name, "median NG, n_init=30", f"{best.quantization_error_:.2f}", share, MEDIAN)
        single = [median(random_state=seed).fit(X) for seed in range(30)]
        errors = [gas.quantization_error_ for gas in single]
        shares = [purity(gas.labels_, iris.target) for gas in single]
        share = f"{min(shares):.3f} to {max(shares):.3f}"
        row(name, "median NG, 30 single starts", f"{min(errors):.2f} to {max(errors):.2f}", share, MEDIAN)


def median(**params: int) -> MedianNeuralGas:
    """Median NG as the chapter anneals it."""
    return MedianNeuralGas(6, metric="sqeuclidean", annealing="median", sigma_start=3, **params)


def row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
