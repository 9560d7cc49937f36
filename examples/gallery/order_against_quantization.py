"""
Order on the map against quantization
=====================================

Order on the lattice has a price: prototypes that must resemble their neighbours cannot all be where the points are.
``order`` limits this price, and ``width_front`` shows the effect of the neighbourhood width.

Data: 569 tumours of the breast cancer data that come with scikit-learn (from the UCI repository), as z-scores.
"""

import matplotlib.pyplot as plt

from medianmap import BatchSOM, MedianSOM, as_dissimilarity, load_breast_cancer, width_front
from medianmap.core.quality import topographic_error
from medianmap.report.plots import WidthFrontDisplay

X = load_breast_cancer().X
D = as_dissimilarity(X, "euclidean").kept()
prices, errors = [0, 0.03, 0.12, 0.4, 1], []
for price in prices:
    som = MedianSOM((6, 8), metric="precomputed", refine="swap", order=price, random_state=0).fit(D)
    G = D.block(slice(None), som.medoid_indices_)
    errors.append((som.quantization_error_, topographic_error(G, som.lattice_)))

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot([t for _, t in errors], [q for q, _ in errors], "o-")
for price, (q, t) in zip(prices, errors, strict=True):
    ax.annotate(f"order={price}", (t, q), xytext=(6, 4), textcoords="offset points", fontsize="small")
ax.set(xlabel="topographic error", ylabel="quantization error")
ax.margins(0.15)

# %%
# The width at which the neighbourhood ends does the same to a batch SOM:
som = BatchSOM((6, 8), init="random", random_state=0)
WidthFrontDisplay(width_front(som, X, [1.0, 0.7, 0.6, 0.5, 0.4, 0.3], n_restarts=3)).plot()
