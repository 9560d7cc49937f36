"""
A table with numbers, categories and gaps
=========================================

Gower's dissimilarity compares two rows column by column: numbers by their difference relative to the range, categories
by equality. Columns missing from either row are skipped.

Data: simulated here, 240 visitors of a clinic, of three groups, one cell in twenty empty.
"""

import numpy as np
import pandas as pd

from medianmap import MedianNeuralGas
from medianmap.explore import class_shares, outliers, two_best

rng = np.random.default_rng(0)
group = np.repeat([0, 1, 2], 80)
table = pd.DataFrame({
    "age": rng.normal([30, 55, 70], [8, 10, 8], (80, 3)).T.ravel().round(),
    "pulse": rng.normal([65, 75, 90], 8, (80, 3)).T.ravel().round(),
    "smoker": np.where(rng.random(240) < np.array([0.1, 0.5, 0.2])[group], "yes", "no"),
    "sport": rng.choice(["none", "some", "much"], 240),
    "ward": np.array(["A", "B", "C"])[np.where(rng.random(240) < 0.8, group, rng.integers(3, size=240))],
})  # fmt: skip
known = rng.random(table.shape) > 0.05
known[:, 3] = True  # two rows need a column that both have
rows = table.astype(object).where(known, None)
print(rows.head())

# %%
# Pass the rows as they are, with None for missing values:
objects = [tuple(row) for row in rows.to_numpy()]
gas = MedianNeuralGas(6, metric="gower", random_state=0).fit(objects)
for j, exemplar in enumerate(gas.cluster_centers_):
    print(f"{gas.hits_[j]:3.0f} rows like {exemplar}")

# %%
# The simulated groups on the map:
shares, _ = class_shares(gas.labels_, group, 6)
print(pd.DataFrame(shares.round(2), columns=["group 0", "group 1", "group 2"]))
gas.plot("topology", objects, group)

# %%
# Rows that resemble none of the exemplars:
print(outliers(two_best(gas, objects))[:3])
