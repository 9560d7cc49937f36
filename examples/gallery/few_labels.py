"""
Many points, few labels
=======================

Only thirty of 1797 digits have a label. A map of all points spreads these labels over neighbouring neurons and
classifies better than nearest neighbours with the same thirty labels. It also suggests what to label next.

Data: handwritten digits that come with scikit-learn (from the UCI repository).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from medianmap import MedianNeuralGas, PrototypeClassifier, label_report

X, truth = load_digits(return_X_y=True)
gains = []
for seed in range(3):
    rng = np.random.default_rng(seed)
    known = np.concatenate([rng.choice(np.flatnonzero(truth == c), 3, replace=False) for c in range(10)])
    y = np.full(len(truth), -1)
    y[known] = truth[known]
    others = y == -1

    gas = MedianNeuralGas(60, metric="euclidean", random_state=seed)
    clf = PrototypeClassifier(gas, unlabeled=-1).fit(X, y)
    alone = KNeighborsClassifier(1).fit(X[known], truth[known])
    gains.append([model.score(X[others], truth[others]) for model in (clf, alone)])
    print(f"seed {seed}: map {gains[-1][0]:.3f}, nearest labelled digit {gains[-1][1]:.3f}")

# %%
figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
for k, values in enumerate(np.transpose(gains)):
    ax.bar(k, values.mean(), color=f"C{k}", width=0.6)
    ax.plot([k] * len(values), values, "k.")
ax.set(ylabel="accuracy", ylim=(0, 1))
ax.set_xticks([0, 1], ["map of all points", "labelled points alone"])

# %%
# The digits whose labels would help most:
print(label_report(clf, X, y, n_points=5).next)
