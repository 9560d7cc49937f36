"""
Outliers and points between clusters
====================================

An outlier is a point that is much farther from its neighbours than points in that region usually are. A border point is
about as close to another group of the map as to its own.

Data: 1797 handwritten digits that come with scikit-learn (from the UCI repository), and 12 of them with their
pixels shuffled, which resemble nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from medianmap import MedianNeuralGas
from medianmap.explore import border_points, outliers, two_best

rng = np.random.default_rng(0)
digits = load_digits()
odd = rng.choice(len(digits.data), 12, replace=False)
X = np.concatenate([digits.data, rng.permuted(digits.data[odd], axis=1)])
gas = MedianNeuralGas(40, metric="euclidean", random_state=0).fit(X)

points = two_best(gas, X)
far = outliers(points)
print(f"{(far['point'][:12] >= len(digits.data)).sum()} of the 12 shuffled ones are among the 12 most unusual points")


def pictures(rows, title):
    """Digits side by side, above the exemplar of each."""
    figure, axes = plt.subplots(2, len(rows), figsize=(len(rows), 2.4), layout="constrained")
    figure.suptitle(title)
    for k, row in enumerate(rows):
        for ax, image in zip(axes[:, k], (X[row["point"]], gas.cluster_centers_[row["prototype"]]), strict=True):
            ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
            ax.axis("off")


pictures(far[:10], "The most unusual; below: the nearest exemplar")

# %%
# Border points are almost as close to an exemplar of another group of the map.
border = border_points(points, at_least=0.98)
pictures(border[:10], "Between two groups; below: the nearest exemplar")
