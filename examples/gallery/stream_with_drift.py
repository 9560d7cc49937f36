"""
A stream in patches, with drift
===============================

Data arrive in patches while their source changes. ``partial_fit`` processes one patch after another in constant memory.
The exemplars come from all patches, each with the number of points it represents.

Data: simulated here: 12000 points in 24 patches, three sources, one of which wanders and one that appears late.
"""

import matplotlib.pyplot as plt
import numpy as np

from medianmap import MedianNeuralGas, PatchClusterer

rng = np.random.default_rng(0)


def patch(t):
    """500 points at time t in [0, 1]."""
    centres = np.array([[0.0, 0.0], [6 * t, 4 + 3 * np.sin(3 * t)], [7.0, -1.0]])
    source = rng.choice(3, 500, p=[0.4, 0.6, 0.0] if t < 0.6 else [0.3, 0.4, 0.3])
    return centres[source] + rng.normal(0, 0.5, (500, 2))


gas = MedianNeuralGas(12, metric="euclidean", random_state=0)
stream = PatchClusterer(gas, patch_size=500)
seen, snapshots = [], {}
for k in range(24):
    points = patch(k / 23)
    stream.partial_fit(points)
    seen.append(points)
    if k in (3, 11, 23):
        snapshots[k] = stream.cluster_centers_.copy(), stream.multiplicities_.copy()

figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), sharex=True, sharey=True, layout="constrained")
for ax, (k, (centers, weights)) in zip(axes, snapshots.items(), strict=True):
    ax.plot(*np.concatenate(seen[: k + 1]).T, ",", color="0.7")
    ax.scatter(*centers.T, s=weights / weights.sum() * 900, color="C0", alpha=0.7)
    ax.set_title(f"after {k + 1} patches, {stream.multiplicities_.sum() * (k + 1) / 24:.0f} points")

# %%
# No point was forgotten, and only a fraction of the pairs was compared:
n = stream.n_samples_seen_
print(f"{n} points, weights sum to {stream.multiplicities_.sum():.0f}, {stream.n_evaluations_ / n**2:.4f} of all pairs")
