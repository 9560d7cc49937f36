"""
Arranging another program's clusters
====================================

You already have clusters, from MMseqs2, k-medoids, or a tree cut at some height. Their medoids become the neurons of a
map, unchanged, and similar medoids become neighbours.

Data: 630 globins (UniProtKB/Swiss-Prot, CC BY 4.0), which come with the package; clusters by scikit-learn's
agglomerative clustering.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import AgglomerativeClustering

from medianmap import MedianSOM, arrange, as_dissimilarity, load_globins

globins = load_globins()
D = as_dissimilarity(globins.sequences, "kmer").kept()
full = np.asarray(D.block(slice(None), slice(None)), np.float64)

tree = AgglomerativeClustering(30, metric="precomputed", linkage="average").fit(full)
members = [np.flatnonzero(tree.labels_ == c) for c in range(30)]
medoids = [int(each[full[np.ix_(each, each)].sum(axis=0).argmin()]) for each in members]

# %%
# Thirty medoids on 5 x 6 neurons:
laid = arrange(D, medoids, (5, 6))
before, _ = laid.before
print(f"topographic error {before:.3f} in the order given, {laid.topographic_error:.3f} arranged")
assert sorted(laid.medoid_indices) == sorted(medoids)

# %%
# A map with exactly these exemplars can be drawn and reported, and it can place new sequences:
som = MedianSOM((5, 6), metric="kmer", init=laid.medoid_indices, annealing="none", random_state=0)
som.fit(globins.sequences)
som.plot("labels", globins.sequences, globins.families)

# %%
figure, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
order = np.argsort(laid.labels, kind="stable")
ax.imshow(full[np.ix_(order, order)], cmap="cividis")
ax.set(xticks=[], yticks=[], title="Dissimilarities, sorted by neuron")
