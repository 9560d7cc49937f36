"""Group words by edit distance and show each group around its exemplar."""

from medianmap import MedianNeuralGas

NUCLEOSIDES = ["adenine", "adenosine", "guanine", "guanosine", "cytosine", "cytidine", "thymine", "thymidine"]
AMINO_ACIDS = ["lysine", "arginine", "histidine", "alanine", "valine", "leucine", "isoleucine", "serine", "threonine"]
GLOBINS = ["hemoglobin", "myoglobin", "leghemoglobin", "cytoglobin", "neuroglobin", "haptoglobin"]
words = NUCLEOSIDES + AMINO_ACIDS + GLOBINS

gas = MedianNeuralGas(n_clusters=5, metric="edit", random_state=0).fit(words)
for j, exemplar in enumerate(gas.cluster_centers_):
    members = [word for word, label in zip(words, gas.labels_, strict=True) if label == j]
    print(f"{exemplar}: {', '.join(members)}")
