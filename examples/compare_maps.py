"""All nine maps on the same vectors, and the median ones refined: error, purity and time."""

import time

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from medianmap import (
    BatchKMeans,
    BatchNeuralGas,
    BatchSOM,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
)
from medianmap.core.quality import purity

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
square = {"metric": "sqeuclidean"}
maps = [
    MedianKMeans(12, n_init=10, **square), MedianNeuralGas(12, **square), MedianSOM((3, 4), **square),
    MedianKMeans(12, n_init=10, refine="swap", **square), MedianNeuralGas(12, refine="swap", **square),
    MedianSOM((3, 4), refine="swap", **square),
    RelationalKMeans(12, n_init=10, **square), RelationalNeuralGas(12, **square), RelationalSOM((3, 4), **square),
    BatchKMeans(12, n_init=10), BatchNeuralGas(12), BatchSOM((3, 4)),
]  # fmt: skip
for estimator in maps:
    began = time.perf_counter()
    estimator.set_params(random_state=0).fit(X)
    refined = "refined" if getattr(estimator, "refine", None) else ""
    print(
        f"{type(estimator).__name__:19s} {refined:7s} quantization error {estimator.quantization_error_:7.1f}  "
        f"purity {purity(estimator.labels_, wine.target):.3f}  {time.perf_counter() - began:.2f} s"
    )
