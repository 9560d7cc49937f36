"""
An asymmetric dissimilarity
===========================

The share of basket a that is missing from basket b differs from the share of b that is missing from a. A median map
reads a matrix as "from point to prototype" and needs neither symmetry nor the triangle inequality: its exemplars are
the baskets that cover the others.

Data: simulated here: 150 baskets of goods; some are parts of larger ones.
"""

import matplotlib.pyplot as plt
import numpy as np

from medianmap import MedianKMeans, as_dissimilarity

rng = np.random.default_rng(7)
goods = np.array([f"item{k:02d}" for k in range(60)])
large = [set(rng.choice(goods, 18, replace=False)) for _ in range(6)]
baskets, origin = [], []
for k in range(150):
    whole = sorted(large[k % 6])
    some = set(whole) if k < 6 else set(rng.choice(whole, rng.integers(4, 12), replace=False))
    baskets.append(some | set(rng.choice(goods, 1)))
    origin.append(k % 6)


def uncovered(a, b):
    """Goods of basket a that basket b lacks."""
    return len(a - b)


source = as_dissimilarity(baskets, uncovered)
print("symmetric:", source.symmetric)
covers = MedianKMeans(6, metric="precomputed", refine="swap", n_init=5, random_state=0).fit(source)
print("sizes of the exemplars:", [len(baskets[i]) for i in covers.medoid_indices_])
print("they are the six whole baskets:", sorted(covers.medoid_indices_) == list(range(6)))

# %%
# Read in the other direction, the exemplars are small baskets that lie within many others:
within = MedianKMeans(6, metric="precomputed", refine="swap", n_init=5, random_state=0).fit(
    np.asarray(source.block(slice(None), slice(None))).T.copy()
)
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
sizes = [len(each) for each in baskets]
ax.hist(sizes, bins=range(4, 22), color="0.85", label="all baskets")
for name, model, color in (("cover the others", covers, "C0"), ("lie within the others", within, "C1")):
    at = [sizes[i] for i in model.medoid_indices_]
    ax.plot(at, rng.uniform(2, 8, 6), "o", color=color, label=f"exemplars that {name}")
ax.set(xlabel="goods in a basket", ylabel="baskets")
ax.legend(frameon=False)
