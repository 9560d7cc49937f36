"""
Heartbeats under time warping
=============================

Two heartbeats can be alike although one is slower. Dynamic time warping compares series of different lengths by the
best alignment of their times. The exemplars are beats that really occurred.

Data: simulated here: normal beats, beats with a wide second wave, and beats without the first wave, of different
lengths.
"""

import matplotlib.pyplot as plt
import numpy as np

from medianmap import MedianNeuralGas, as_dissimilarity, uncertainty

rng = np.random.default_rng(2)


def beat(kind):
    """One beat as a sum of waves: where, how wide, how high."""
    n = int(rng.normal(80, 8))
    t = np.linspace(0, 1, n)
    waves = {"P": (0.2, 0.025, 0.15), "Q": (0.37, 0.01, -0.15), "R": (0.4, 0.012, 1.0), "S": (0.43, 0.01, -0.25)}
    waves["T"] = (0.65, 0.04, 0.3)
    if kind == "wide":
        waves |= {"R": (0.42, 0.035, 0.9), "T": (0.68, 0.06, -0.25)}
    if kind == "no P wave":
        del waves["P"]
    y = rng.normal(0, 0.02, n)
    for place, width, height in waves.values():
        y += height * rng.normal(1, 0.1) * np.exp(-0.5 * ((t - place - rng.normal(0, 0.02)) / width) ** 2)
    return y


kinds = ["normal"] * 120 + ["wide"] * 50 + ["no P wave"] * 50
beats = [beat(kind) for kind in kinds]
D = as_dissimilarity(beats, "dtw", metric_params={"window": 10}).kept()
gas = MedianNeuralGas(6, metric="precomputed", random_state=0).fit(D)

# %%
# The six exemplars, each with the beats it represents:
figure, axes = plt.subplots(2, 3, figsize=(10, 5), sharex=True, sharey=True, layout="constrained")
for j, ax in enumerate(axes.flat):
    members = np.flatnonzero(gas.labels_ == j)
    for i in members:
        ax.plot(beats[i], color="0.8", linewidth=0.6)
    ax.plot(beats[gas.medoid_indices_[j]], color="C0")
    found = [kinds[i] for i in members]
    commonest = max(set(found), key=found.count)
    ax.set_title(f"{len(members)} beats, {found.count(commonest)} {commonest}", fontsize="medium")

# %%
# How certain is the exemplar of each beat? Look again at the least certain ones.
sure = uncertainty(gas, D, n_resamples=10)
least = sure.points[np.argsort(sure.points["confidence"])[:5]]
for one in least:
    print(f"beat {one['point']:3d} ({kinds[one['point']]}): confidence {one['confidence']:.2f}")
