"""
Chromosomes as strings
======================

Under the microscope, a chromosome is a row of dark and light bands. Written as a string of grey-level differences, it
can be compared by an edit distance in which a substitution costs the difference between the levels. Neural gas finds
exemplars, and labels for a tenth of the strings turn it into a classifier.

Data: simulated by ``simulate_chromosomes`` to be about as hard as the Copenhagen chromosomes, which may not be shipped.
"""

import numpy as np

from medianmap import MedianNeuralGas, PrototypeClassifier, as_dissimilarity, simulate_chromosomes

strings = simulate_chromosomes(880, random_state=2)
print(strings.families[0], strings.sequences[0])
D = as_dissimilarity(strings.sequences, "edit-chromosome").kept()

# %%
# Neural gas with 66 exemplars, three for each of the 22 classes. It does not see the classes.
gas = MedianNeuralGas(66, metric="precomputed", random_state=0).fit(D)
gas.plot("topology", D, strings.families)

# %%
# A tenth of the labels, spread over the map:
known = np.arange(len(strings.y)) % 10 == 0
y = np.where(known, strings.y, -1)
clf = PrototypeClassifier(MedianNeuralGas(66, metric="precomputed", random_state=0), unlabeled=-1).fit(D, y)
right = clf.predict(D)[~known] == strings.y[~known]
print(f"{known.sum()} labels, {right.mean():.3f} of the other {len(right)} are right")
