"""Group words by edit distance and show each group around its exemplar."""

from medianmap import MedianNeuralGas

WORDS = [
    *("adenine", "adenosine", "guanine", "guanosine", "cytosine", "cytidine", "thymine", "thymidine", "uracil"),
    *("uridine", "lysine", "arginine", "histidine", "alanine", "valine", "leucine", "isoleucine", "glycine"),
    *("proline", "serine", "threonine", "hemoglobin", "myoglobin", "leghemoglobin", "cytoglobin", "neuroglobin"),
]
    "adenine",
    "adenosine",
    "guanine",
    "guanosine",
    "cytosine",
    "cytidine",
    "thymine",
    "thymidine",
    "uracil",
    "uridine",
    "lysine",
    "arginine",
    "histidine",
    "alanine",
    "valine",
    "leucine",
    "isoleucine",
    "glycine",
    "proline",
    "serine",
    "threonine",
    "hemoglobin",
    "myoglobin",
    "leghemoglobin",
    "cytoglobin",
    "neuroglobin",
    "haptoglobin",
]

gas = MedianNeuralGas(n_clusters=6, metric="edit", random_state=0).fit(WORDS)
for j, exemplar in enumerate(gas.cluster_centers_):
    members = [w for w, label in zip(WORDS, gas.labels_, strict=True) if label == j]
    print(f"{exemplar}: {', '.join(members)}")
