"""
A million objects
=================

A million strings have half a trillion pairs: too many for a matrix, and for k-medoids. ``PatchClusterer`` reads the
strings once, patch by patch, in constant memory, and chooses exemplars from all patches.

``N`` is 20000 here so that this page builds within a minute; set ``MEDIANMAP_TUTORIAL_N=1000000`` to run it with a
million. Nothing else changes. Data: simulated by ``simulate_chromosomes``.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from medianmap import MedianNeuralGas, PatchClusterer, load, report, save, simulate_chromosomes
from medianmap.core.quality import purity
from medianmap.predict.assign_all import assign_all

N = int(os.environ.get("MEDIANMAP_TUTORIAL_N", "20_000"))
strings = simulate_chromosomes(N, random_state=0)
folder = Path(tempfile.mkdtemp())

# %%
# What will it cost?
# ------------------
#
# ``estimate`` tries a few patches and predicts the cost of the whole pass, here and for a million strings.
gas = MedianNeuralGas(44, metric="edit-chromosome", random_state=0)
patches = PatchClusterer(gas, patch_size=500, compute_labels=False, checkpoint=str(folder / "pass.ckpt"))
for n in (N, 10**6):
    print(f"{n}: {patches.estimate(strings.sequences, n_points=n)}")

# %%
# One pass
# --------
#
# With a checkpoint, a pass that was killed resumes after the last complete patch. You can pass a generator instead of a
# list.
start = time.perf_counter()
patches.fit(strings.sequences)
print(f"{patches.n_samples_seen_} strings in {time.perf_counter() - start:.0f} s on the machine that made this page")
print(f"{patches.n_evaluations_:.3g} dissimilarities, {patches.n_evaluations_ / N**2:.2%} of all")

# %%
# Every exemplar represents a number of strings, and none was lost:
print(patches.multiplicities_[:8].round(), "sum", patches.multiplicities_.sum())

# %%
# How good is it?
# ---------------
#
# Judge the map on a sample small enough to compare all pairs: its loss relative to that of a full fit on the sample
# itself, which has the advantage of being optimised for it.
sample = strings.sequences[:: max(1, N // 2000)]
full = MedianNeuralGas(44, metric="edit-chromosome", random_state=0).fit(sample)
print(f"loss of one pass {-patches.score(sample):.0f}, of a full fit to the sample {-full.score(sample):.0f}")

# %%
# Where is everything?
# --------------------
#
# ``assign_all`` writes the exemplar of each string to a table, block by block. If it is killed, it resumes and produces
# the same bytes.
patches.set_params(checkpoint=None)  # a model file holds no path of this machine
save(patches, folder / "strings.mmap")
totals = assign_all(load(folder / "strings.mmap"), strings.sequences, folder / "assigned.tsv", ids=strings.ids)
print(totals.n_objects, "rows;", (folder / "assigned.tsv").read_text()[:90].splitlines()[:2])

# %%
# The simulated classes at each exemplar, on the sample:
y = np.asarray(strings.y)[:: max(1, N // 2000)]
print(f"purity {purity(patches.predict(sample), y):.3f}, of the full fit to the sample {purity(full.labels_, y):.3f}")

# %%
# A page of a sample
# ------------------
page = report(patches, sample, title="Strings in one pass", members=20)
page
