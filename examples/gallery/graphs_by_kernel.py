"""
Graphs through a kernel
=======================

A graph kernel says how similar two graphs are. ``as_dissimilarity(S, similarity="kernel")`` turns any matrix of such
similarities into squared distances, S[a, a] + S[b, b] - 2 S[a, b]. Here a Weisfeiler-Lehman kernel in fifteen lines:
it counts the neighbourhoods that two graphs share.

Data: simulated here: rings, stars, grids and random trees, of different sizes, with a few edges moved.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from medianmap import MedianSOM, as_dissimilarity

rng = np.random.default_rng(4)


def graph(kind, n):
    """Adjacency lists of one graph of about n nodes, one edge in twenty moved elsewhere."""
    if kind == "ring":
        edges = [(i, (i + 1) % n) for i in range(n)]
    elif kind == "star":
        edges = [(0, i) for i in range(1, n)]
    elif kind == "grid":
        side = round(n**0.5)
        n = side * side
        edges = [(i, i + 1) for i in range(n) if (i + 1) % side] + [(i, i + side) for i in range(n - side)]
    else:
        edges = [(int(rng.integers(i)), i) for i in range(1, n)]
    edges = [(int(rng.integers(n)), b) if rng.random() < 0.05 else (a, b) for a, b in edges]
    near = [set() for _ in range(n)]
    for a, b in edges:
        if a != b:
            near[a].add(b)
            near[b].add(a)
    return near


def neighbourhoods(near, rounds=3):
    """How often each neighbourhood, refined in so many rounds, occurs in a graph."""
    label = [str(len(each)) for each in near]
    seen = Counter(label)
    for _ in range(rounds):
        label = [f"{label[i]}({','.join(sorted(label[b] for b in near[i]))})" for i in range(len(near))]
        seen.update(label)
    length = np.sqrt(sum(count**2 for count in seen.values()))
    return {name: count / length for name, count in seen.items()}


kinds = [kind for kind in ("ring", "star", "grid", "tree") for _ in range(40)]
features = [neighbourhoods(graph(kind, int(rng.integers(12, 30)))) for kind in kinds]
S = np.array([[sum(value * b.get(name, 0.0) for name, value in a.items()) for b in features] for a in features])

# %%
# The kernel as a source of dissimilarities, and a map of it:
D = as_dissimilarity(S, similarity="kernel")
som = MedianSOM(grid=(5, 6), metric="precomputed", random_state=0).fit(D)
som.plot("labels", D, kinds)

# %%
# The same matrix, sorted by neuron: graphs of a neuron are alike.
order = np.argsort(som.labels_, kind="stable")
figure, ax = plt.subplots(figsize=(4.5, 4), layout="constrained")
picture = ax.imshow(S[np.ix_(order, order)])
ax.set(xticks=[], yticks=[], xlabel="graphs by neuron")
figure.colorbar(picture, label="kernel")
