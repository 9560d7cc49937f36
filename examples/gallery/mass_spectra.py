"""
Mass spectra as lists of peaks
==============================

Spectra have peaks at different positions, so they are not vectors. ``spectrum-cosine`` matches peaks within a
tolerance. It needs no binning, and a shift of a few thousandths does not matter.

Data: simulated here. Twelve compounds of three classes; compounds of a class share fragments; every measurement shifts
its peaks, changes their intensities, loses some and adds noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from medianmap import MedianSOM, as_dissimilarity

rng = np.random.default_rng(3)
shared = [rng.uniform(60, 350, 6) for _ in range(3)]
spectra, compound = [], []
for c in range(12):
    places = np.concatenate([shared[c % 3], rng.uniform(60, 500, 8)])
    heights = rng.gamma(1.0, size=len(places))
    for _ in range(20):
        seen = rng.random(len(places)) < 0.85
        mz = np.concatenate([places[seen] + rng.normal(0, 0.003, seen.sum()), rng.uniform(50, 500, 3)])
        intensity = np.concatenate([heights[seen] * rng.lognormal(0, 0.3, seen.sum()), rng.gamma(0.3, 0.2, 3)])
        order = np.argsort(mz)
        spectra.append(np.column_stack([mz, intensity])[order])
        compound.append(f"class {c % 3}, compound {c // 3}")

source = as_dissimilarity(spectra, "spectrum-cosine", metric_params={"tolerance": 0.01})
som = MedianSOM(grid=(5, 6), metric="spectrum-cosine", metric_params={"tolerance": 0.01}, random_state=0).fit(source)
som.plot("labels", spectra, [name.split(",")[0] for name in compound])

# %%
# Each exemplar is a measured spectrum. Two adjacent neurons share the fragments of their class:
j = som.hits_.argmax()
l = som.lattice_.neighbors[j].nonzero()[0][0]
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for sign, k in ((1, j), (-1, l)):
    mz, intensity = som.cluster_centers_[k].T
    ax.vlines(mz, 0, sign * intensity, color="C0" if sign > 0 else "C1", label=f"exemplar {k}")
ax.axhline(0, color="0.5", linewidth=0.8)
ax.set(xlabel="m/z", ylabel="intensity")
ax.legend(frameon=False)
