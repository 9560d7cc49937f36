"""
Neural gas as a graph
=====================

Neural gas has no lattice; it learns which exemplars are neighbours. Two exemplars are connected if they are the two
nearest of some points. The drawing places them by their dissimilarities.

Data: 1797 handwritten digits that come with scikit-learn (from the UCI repository).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from sklearn.datasets import load_digits

from medianmap import MedianNeuralGas
from medianmap.explore import layout, prototype_dissimilarities, topology_graph, two_best

X, y = load_digits(return_X_y=True)
gas = MedianNeuralGas(40, metric="euclidean", random_state=0).fit(X)
edges = topology_graph(two_best(gas, X))
place = layout(prototype_dissimilarities(gas)).positions

figure, ax = plt.subplots(figsize=(8, 7), layout="constrained")
for edge in edges[edges["count"] >= 4]:
    ends = place[[edge["a"], edge["b"]]]
    ax.plot(*ends.T, color="0.75", linewidth=np.sqrt(edge["count"]) / 2, zorder=1)
for (x, z), image in zip(place, gas.cluster_centers_, strict=True):
    ax.add_artist(AnnotationBbox(OffsetImage(image.reshape(8, 8), zoom=3, cmap="gray_r"), (x, z), pad=0.1))
ax.plot(*place.T, ",")
ax.axis("off")

# %%
# The display of the library draws the same with pies of classes.
gas.plot("topology", X, y)
