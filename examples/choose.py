"""How many prototypes for 630 globins, and how wide should the neighbourhood of a SOM of 569 tumours end?"""

from medianmap import BatchSOM, MedianKMeans, as_dissimilarity, k_path, width_front
from medianmap.datasets import load_breast_cancer, load_globins

D = as_dissimilarity(load_globins().sequences, "alignment").kept()  # once, for all fits

means = MedianKMeans(metric="precomputed", init="k-medoids++", n_init=10, random_state=0)
path = k_path(means, D, [2, 3, 4, 5, 6, 8, 10, 15, 20, 30])
print(" K  error   silhouette  stability")
for K, error, silhouette, stability in path.as_records()[
    ["n_clusters", "quantization_error", "silhouette", "stability"]
]:
    print(f"{K:2d}  {error:6.2f}  {silhouette:.3f}       {stability:.3f}")
print(f"Suggested: {path.best('silhouette')} by silhouette, {path.best('stability')} by stability\n")

som = BatchSOM((8, 10), init="random", random_state=0)  # starts in the plane would all lead to one map
front = width_front(som, load_breast_cancer().X, [1, 0.7, 0.6, 0.5, 0.4, 0.3])
print("width  topographic error  quantization error")
for row in front.as_records():
    order = f"{row['topographic_error']:.3f} +- {row['standard_error_topographic']:.3f}"
    error = f"{row['quantization_error']:7.2f} +- {row['standard_error_quantization']:.2f}"
    print(f"{row['width']:<5g}  {order}    {error}  {'on the front' if row['on_front'] else ''}")
