"""
From a distance matrix to clusters you can trust
================================================

You have a distance matrix and nothing else. Is it sound? How many clusters are there? Which assignments can you trust?
Each question has a function that answers it with numbers and in words.

The matrix in this tutorial is simulated: edit distances of 240 proteins from four families
(``simulate_protein_families``), written to a file as another program would write them.
"""

import tempfile
from pathlib import Path

import numpy as np

from medianmap import (
    MedianKMeans,
    MedianNeuralGas,
    as_dissimilarity,
    check_dissimilarity,
    k_path,
    read,
    report,
    simulate_protein_families,
    uncertainty,
)
from medianmap.core.quality import purity
from medianmap.explore import restart_stability
from medianmap.readers import write_lsmat
from medianmap.report.plots import KPathDisplay

families = simulate_protein_families(240, n_families=4, length=80, between=2, within=0.3, random_state=1)
file = Path(tempfile.mkdtemp()) / "distances.tsv"
write_lsmat(file, as_dissimilarity(families.sequences, "edit", ids=families.ids))

# %%
# Is the matrix sound?
# --------------------
#
# Read the matrix with its names, and check it before you fit anything.
matrix = read(file)
health = check_dissimilarity(matrix.D)
print(health)

# %%
# The most common mistake is to pass similarities instead of dissimilarities. This is what you would see:
mistaken = check_dissimilarity(matrix.D.max() - matrix.D)
print([finding.sentence for finding in mistaken.findings if finding.level in ("error", "warning")])

# %%
# How many clusters?
# ------------------
#
# Fit a map for each of several K. The silhouette measures how well clusters are separated, the stability whether two
# halves of the data agree. Both are suggestions; peaks further to the right indicate finer structure.
D = matrix.source()
means = MedianKMeans(metric="precomputed", init="k-medoids++", n_init=5, random_state=0)
path = k_path(means, D, [2, 3, 4, 5, 6, 7, 8, 9, 10])
KPathDisplay(path).plot()
print(f"suggested: {path.best('silhouette')} by silhouette, {path.best('stability')} by stability")

# %%
# Clusters, and whether another start would find them
# ---------------------------------------------------
#
# Neural gas depends little on its start. Do not take that on trust: fit it from ten starts and see how well they agree.
gas = MedianNeuralGas(4, metric="precomputed", random_state=0).fit(D)
print("sizes", gas.hits_.astype(int), "exemplars", gas.prototype_ids_)
print(f"agreement of ten starts (adjusted Rand index): {restart_stability(gas, D).agreement:.3f}")

# %%
# How sure is each point?
# -----------------------
#
# Maps fitted to resamples of the data show how often a point stays with its exemplar. The confidence is calibrated: it
# predicts the share of further resamples. Report points below 0.9 as unsure, or leave them out.
sure = uncertainty(gas, D, n_resamples=20)
confidence = sure.points["confidence"]
print(f"{(confidence >= 0.9).mean():.0%} of the points are sure")
for one in sure.points[np.argsort(confidence)[:3]]:
    print(f"{matrix.ids[one['point']]}: {one['confidence']:.2f} for cluster {one['prototype']}, else {one['second']}")

# %%
# In a simulation we know the truth: are confident points right more often?
y = np.asarray(families.y)
print(f"purity of all points {purity(gas.labels_, y):.3f}, of the sure ones "
      f"{purity(gas.labels_[confidence >= 0.9], y[confidence >= 0.9]):.3f}")  # fmt: skip

# %%
# A page for others
# -----------------
#
# The page shows the graph of the clusters, their exemplars and members, the health of the matrix, and the confidence of
# each point.
page = report(gas, D, ids=matrix.ids, health=health, sure=sure, title="Clusters of a distance matrix")
page
