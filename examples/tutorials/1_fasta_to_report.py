"""
From a FASTA file to a map and a report
=======================================

A file of proteins, and the question what is in it. At the end there is a page to click, a model that places new
sequences, and a table of which sequence is where.

The same on the command line is one line: ``medianmap fit globins.fasta --labels header --grid 8x10 -o globins-map``.
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
# ``read`` takes FASTA, tables, matrices and more. The second word of each header is the family of the protein; we
# keep it to colour the map, which will not be told. Here the file is the one that comes with the package; put the
# path of yours.
records = read(files("medianmap.datasets") / "globins.fasta", label=1)
print(len(records.ids), "sequences;", records.ids[0], records.labels[0], records.objects[0][:40])

# %%
# Compare all pairs
# -----------------
#
# Proteins are compared by global alignments, normalised to 1 - s(a, b) / sqrt(s(a, a) s(b, b)). The matrix goes into a
# file: if the computation is killed, the same call goes on where it was.
matrix = all_pairs(records.objects, "alignment", folder / "D.npy", ids=records.ids)
print(matrix.shape, matrix.block(slice(0, 2), slice(0, 3)).round(3).tolist())

# %%
# Make a map
# ----------
#
# The source below holds the proteins and their matrix: the fit reads the matrix, keeps the exemplars as sequences, and
# can compare new proteins by itself later.
both = as_dissimilarity(records.objects, "alignment", ids=records.ids, matrix=folder / "D.npy")
som = MedianSOM(grid=(8, 10), metric="alignment", refine="swap", random_state=0).fit(both)
print(f"quantization error {som.quantization_error_:.2f}; fixed point reached: {som.converged_}")
som.plot("labels", both, records.labels)

# %%
# Who stands for whom? An exemplar is a protein of the file:
for j in som.hits_.argsort()[::-1][:4]:
    print(f"neuron {j:2d}: {som.hits_[j]:3.0f} proteins like {som.prototype_ids_[j]}")

# %%
# The page
# --------
#
# Click a neuron for its exemplar and its members; find an id; colour by families, hits or borders. The page says in
# words whether it may be read as a map. It is one file that needs no network; what you see below is that file.
page = report(som, both, y=records.labels, title="Globins by alignment")
page.save(folder / "report.html")
page

# %%
# What is odd, what is between
# ----------------------------
points = two_best(som, both)
for one in outliers(points)[:3]:
    name, family = records.ids[one["point"]], records.labels[one["point"]]
    print(f"unlike the others: {name} ({family}), score {one['score']:.1f}")
print(len(border_points(points)), "proteins lie between two groups of the map")

# %%
# New sequences
# -------------
#
# The model file holds the exemplars, so that a new protein costs 80 alignments and no old data. Here a protein with its
# first ten letters lost:
save(som, folder / "globins.mmap")
again = load(folder / "globins.mmap")
fragment = records.objects[5][10:]
print("neuron of the fragment:", again.predict([fragment])[0], "- of the whole:", som.labels_[5])
