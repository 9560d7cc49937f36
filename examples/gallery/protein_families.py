"""
Protein families by their alignments
====================================

630 globins, compared by global alignment with BLOSUM62. The map does not see the families; they only colour it
afterwards. Each neuron is represented by one of the proteins.

Data: sequences of UniProtKB/Swiss-Prot, CC BY 4.0, which come with the package (``load_globins``).
"""

from medianmap import MedianSOM, load_globins
from medianmap.core.quality import purity

globins = load_globins()
som = MedianSOM(grid=(8, 10), metric="alignment", random_state=0).fit(globins.sequences)
print(
    f"{len(globins.sequences)} proteins, {som.n_evaluations_} alignments, purity {purity(som.labels_, globins.y):.3f}"
)

# %%
# Each cell is a neuron, its pie the families of its proteins. Alpha and beta chains, myoglobins and leghemoglobins each
# have a region.
som.plot("labels", globins.sequences, globins.families)

# %%
# The U-matrix shows the borders: the dissimilarity of the exemplars of adjacent neurons.
som.plot("u-matrix")

# %%
# The exemplar of the largest neuron, and its neighbours on the lattice:
fullest = som.hits_.argmax()
for j in [fullest, *som.lattice_.neighbors[fullest].nonzero()[0]]:
    exemplar = som.medoid_indices_[j]
    print(f"{globins.ids[exemplar]:14s} {globins.families[exemplar]:16s} {som.hits_[j]:4.0f} proteins")
