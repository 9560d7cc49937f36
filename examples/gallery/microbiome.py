"""
A microbiome with scikit-bio
============================

Samples are compared by their counts of taxa with UniFrac, which needs a tree. scikit-bio computes the matrix, and a map
accepts its ``DistanceMatrix`` directly and keeps the sample names.

Data: simulated here, with a random tree of 40 taxa and 120 samples of three habitats.
"""

import numpy as np
from skbio import TreeNode
from skbio.diversity import beta_diversity

from medianmap import MedianSOM, check_dissimilarity
from medianmap.core.quality import purity

rng = np.random.default_rng(1)
taxa = [f"T{k}" for k in range(40)]


def random_tree(names):
    """Newick of a tree over the names, in their order, so that neighbours are relatives."""
    if len(names) == 1:
        return f"{names[0]}:{rng.gamma(2, 0.05):.4f}"
    cut = int(rng.integers(1, len(names)))
    return f"({random_tree(names[:cut])},{random_tree(names[cut:])}):{rng.gamma(2, 0.05):.4f}"


tree = TreeNode.read([random_tree(taxa) + ";"])
habitats = np.repeat(["gut", "soil", "sea"], 40)
favoured = {"gut": slice(0, 18), "soil": slice(12, 30), "sea": slice(24, 40)}
counts = np.zeros((120, 40), int)
for i, habitat in enumerate(habitats):
    rates = rng.gamma(0.3, size=40) * 0.01
    rates[favoured[habitat]] += rng.gamma(0.5, size=len(range(40)[favoured[habitat]]))
    counts[i] = rng.multinomial(rng.integers(200, 2000), rates / rates.sum())

D = beta_diversity("weighted_unifrac", counts, [f"S{i:03d}" for i in range(120)], tree=tree, taxa=taxa)

# %%
# Is the matrix sound? Then the map:
print(check_dissimilarity(D))
som = MedianSOM(grid=(5, 6), metric="precomputed", random_state=0).fit(D)
print(f"purity {purity(som.labels_, np.unique(habitats, return_inverse=True)[1]):.3f}", som.prototype_ids_[:4])
som.plot("labels", D, habitats)

# %%
# The map knows the samples only by this matrix. The borders between habitats are visible without the labels.
som.plot("u-matrix", D)
