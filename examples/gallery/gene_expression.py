"""
Cells by their gene expression, from AnnData
============================================

Single-cell tools store their results in an ``AnnData`` object: coordinates in ``obsm``, matrices in ``obsp``.
``from_anndata`` reads either, with the names of the cells.

Data: simulated here, counts of 300 genes in 500 cells along two branches of a differentiation.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from medianmap import MedianSOM
from medianmap.explore import component_planes
from medianmap.readers import from_anndata

rng = np.random.default_rng(5)
time, branch = rng.random(500), rng.integers(2, size=500)
direction = rng.normal(size=(3, 300))
late = np.maximum(time - 0.4, 0)
program = np.outer(time, direction[0]) + np.outer(late * (branch == 0), direction[1]) * 2
program += np.outer(late * (branch == 1), direction[2]) * 2
mean = np.exp(0.5 + program)
counts = rng.poisson(mean * rng.gamma(4, 0.25, size=mean.shape))

cells = anndata.AnnData(counts.astype(np.float32))
cells.obs_names = [f"cell{k}" for k in range(500)]
cells.obs["state"] = np.where(time < 0.4, "progenitor", np.where(branch == 0, "branch A", "branch B"))
per_cell = counts / counts.sum(axis=1, keepdims=True)
cells.obsm["X_pca"] = PCA(15, random_state=0).fit_transform(np.log1p(1e4 * per_cell))

# %%
# The map is coloured by the simulated state: the progenitors lead into two branches.
records = from_anndata(cells, key="X_pca", label="state")
som = MedianSOM(grid=(7, 9), metric="euclidean", random_state=0).fit(records.objects)
som.plot("labels", records.objects, records.labels)

# %%
# Component planes show the first principal components over the map.
planes, names = component_planes(som)
figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for k, ax in enumerate(axes):
    som.plot("component", component=k, ax=ax)
    ax.set_title(f"component {k + 1}")

# %%
# An exemplar is a cell, with its name:
print([records.ids[i] for i in som.medoid_indices_[:5]])
