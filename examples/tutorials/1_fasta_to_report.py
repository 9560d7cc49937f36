"""
From a FASTA file to a map and a report
=======================================

You have a file of proteins and want to know what is in it. This tutorial ends with an interactive page, a model that
places new sequences on the map, and a list of unusual sequences.

On the command line, the same takes one line: ``medianmap fit globins.fasta --labels header --grid 8x10 -o
globins-map``.
"""

import tempfile
from importlib.resources import files
from pathlib import Path

from medianmap import MedianSOM, all_pairs, as_dissimilarity, load, read, report, save
from medianmap.explore import border_points, outliers, two_best

folder = Path(tempfile.mkdtemp())

# %%
# Read the file
# -------------
#
# ``read`` accepts FASTA, tables, matrices and more. The second word of each header is the family of the protein. We
# keep it to colour the map later; it is not used for training. The file here comes with the package; replace it by the
# path of your own.
records = read(files("medianmap.datasets") / "globins.fasta", label=1)
print(len(records.ids), "sequences;", records.ids[0], records.labels[0], records.objects[0][:40])

# %%
# Compare all pairs
# -----------------
#
# Proteins are compared by global alignment scores, normalised to 1 - s(a, b) / sqrt(s(a, a) s(b, b)). The matrix is
# written to a file: if the computation is interrupted, the same call resumes it.
matrix = all_pairs(records.objects, "alignment", folder / "D.npy", ids=records.ids)
print(matrix.shape, matrix.block(slice(0, 2), slice(0, 3)).round(3).tolist())

# %%
# Make a map
# ----------
#
# The source below combines the proteins with their matrix. The fit reads the matrix, stores the exemplars as sequences,
# and can later compare new proteins by itself.
both = as_dissimilarity(records.objects, "alignment", ids=records.ids, matrix=folder / "D.npy")
som = MedianSOM(grid=(8, 10), metric="alignment", refine="swap", random_state=0).fit(both)
print(f"quantization error {som.quantization_error_:.2f}; fixed point reached: {som.converged_}")
som.plot("labels", both, records.labels)

# %%
# Each exemplar is a protein of the file:
for j in som.hits_.argsort()[::-1][:4]:
    print(f"neuron {j:2d}: {som.hits_[j]:3.0f} proteins like {som.prototype_ids_[j]}")

# %%
# The page
# --------
#
# Click a neuron to see its exemplar and its members, search for an id, or colour the map by families, hits or borders.
# The page says in words whether you can read it as a map. It is a single file that works offline; the frame below shows
# it.
page = report(som, both, y=records.labels, title="Globins by alignment")
page.save(folder / "report.html")
page

# %%
# Unusual and undecided sequences
# -------------------------------
points = two_best(som, both)
for one in outliers(points)[:3]:
    name, family = records.ids[one["point"]], records.labels[one["point"]]
    print(f"unlike the others: {name} ({family}), score {one['score']:.1f}")
print(len(border_points(points)), "proteins lie between two groups of the map")

# %%
# New sequences
# -------------
#
# The model file contains the exemplars, so placing a new protein takes 80 alignments and none of the old data. Here is
# a protein that lost its first ten letters:
save(som, folder / "globins.mmap")
again = load(folder / "globins.mmap")
fragment = records.objects[5][10:]
print("neuron of the fragment:", again.predict([fragment])[0], "- of the whole:", som.labels_[5])
