"""The globins as a map: families in pies, ridges between them, and a graph; pictures go to a new folder."""

import tempfile
from pathlib import Path

import matplotlib
import numpy as np

from medianmap import MedianNeuralGas, MedianSOM, all_pairs
from medianmap import explore as structure
from medianmap.datasets import load_globins
from medianmap.report.plots import MapDisplay, TopologyDisplay, UMatrixDisplay

matplotlib.use("agg")
globins = load_globins()
families = np.array(globins.families)
D = all_pairs(globins.sequences, "alignment", ids=globins.ids)
som = MedianSOM((8, 10), metric="precomputed", random_state=0).fit(D)
gas = MedianNeuralGas(30, metric="precomputed", random_state=0).fit(D)

displays = {
    "families.png": MapDisplay.from_estimator(som, D, families, color="labels"),
    "ridges.png": UMatrixDisplay.from_estimator(som, D),
    "graph.png": TopologyDisplay.from_estimator(gas, D, families),
}
folder = Path(tempfile.mkdtemp(prefix="globins-"))
for name, display in displays.items():
    display.figure_.savefig(folder / name, dpi=150)
    matplotlib.pyplot.close(display.figure_)
print("pictures in", folder)

points = structure.two_best(som, D)
for row in structure.outliers(points)[:5]:
    i = row["point"]
    print(
        f"{globins.ids[i]} ({families[i]}) is {row['score']:.1f} robust deviations farther from its exemplar than usual"
    )
found = structure.superclusters(structure.prototype_dissimilarities(som, D))
for group in range(found.n_groups):
    members, counts = np.unique(families[found.groups[som.labels_] == group], return_counts=True)
    print(f"supercluster {group + 1}:", ", ".join(f"{n} {name}" for name, n in zip(members, counts, strict=True)))
