"""All pairs of many vectors on a graphics card; of few, and on tensors in main memory, where there is no card.

pip install 'medianmap[gpu]'
"""

import numpy as np
import torch

from medianmap import MedianKMeans, MedianNeuralGas, as_dissimilarity

device, n = ("cuda", 100_000) if torch.cuda.is_available() else ("torch:cpu", 600)
rng = np.random.default_rng(0)
X = (4 * rng.normal(size=(20, 16)))[rng.integers(0, 20, n)] + rng.normal(size=(n, 16))

# One map: the vectors are compared on the device, and the map is fitted there.
gas = MedianNeuralGas(20, device=device, random_state=0).fit(X)
print(f"{n} vectors on {device}: {gas.n_iter_} epochs, quantization error {gas.quantization_error_:.1f}")
print("the card is not asked for new points:", gas.predict(X[:3]), gas.labels_[:3])

# Many maps of one matrix: it stays on the device between them.
matrix = as_dissimilarity(X, "euclidean", device=device)
for K in (10, 20, 40):
    kmeans = MedianKMeans(K, metric="precomputed", refine="swap", random_state=0).fit(matrix)
    print(f"K = {K}: loss {kmeans.inertia_:.1f} after {kmeans.n_swaps_} swaps")

# A tensor that lies on the device is mapped where it lies, without a copy.
some = torch.tensor(X[:500], device=device.removeprefix("torch:"))
D = torch.cdist(some, some, p=1)
exemplars = MedianNeuralGas(5, metric="precomputed", device=device, random_state=0).fit(D).medoid_indices_
print("exemplars among the first 500:", exemplars)
