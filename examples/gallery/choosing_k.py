"""
How many prototypes?
====================

``k_path`` fits a map for each K, starting from the previous one, and reports the quantization error, the medoid
silhouette, and the stability of the clusters between halves of the data. It makes suggestions; the choice is yours.

Data: 240 proteins of four families, two of which diverged late, simulated by ``simulate_protein_families``.
"""

from medianmap import MedianKMeans, as_dissimilarity, k_path, simulate_protein_families
from medianmap.report.plots import KPathDisplay

families = simulate_protein_families(240, n_families=4, length=80, between=2, within=0.3, random_state=1)
D = as_dissimilarity(families.sequences, "edit").kept()  # once, for all fits
means = MedianKMeans(metric="precomputed", init="k-medoids++", n_init=5, random_state=0)
path = k_path(means, D, [2, 3, 4, 5, 6, 7, 8, 9, 10])

KPathDisplay(path).plot()
print(f"suggested: {path.best('silhouette')} by silhouette, {path.best('stability')} by stability")
