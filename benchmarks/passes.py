"""The full fit, simple sampling and patches, side by side at growing N: `python benchmarks/passes.py`."""

import numpy as np
from compare_passes import compare_passes

from medianmap import MedianNeuralGas

SIZES = (2000, 8000, 16000)
K, PATCH, HELD_OUT = 50, 1000, 2000


def clouds(rng: np.random.Generator, centers: np.ndarray, n: int) -> np.ndarray:
    return centers[rng.integers(len(centers), size=n)] + rng.normal(size=(n, centers.shape[1]))


def main() -> None:
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=4, size=(60, 8))
    held_out = clouds(rng, centers, HELD_OUT)
    print("| N | method | quantization error | evaluations | seconds |\n| --- | --- | --- | --- | --- |")
    for N in SIZES:
        rows = compare_passes(
            MedianNeuralGas(K, annealing="median"), clouds(rng, centers, N), patch_size=PATCH, held_out=held_out
        )
        for row in rows:
            print(f"| {N} | {row['method']} | {row['quantization_error']:.0f} | {row['evaluations'] / 1e6:.2f} M "
                  f"| {row['seconds']:.2f} |")  # fmt: skip


if __name__ == "__main__":
    main()
