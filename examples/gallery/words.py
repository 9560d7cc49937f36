"""
Words by their spelling
=======================

The smallest example: strings, the edit distance, and a small map. Every neuron shows its exemplar.

Data: the words are written below.
"""

import matplotlib.pyplot as plt

from medianmap import MedianSOM

words = """night nights knight knights light lights slight flight flights fright bright brighter brightest
water waters watering watered winter winters wintry wander wanders wandering wandered wonder wonders
stone stones stony store stores story stories star stars start starts started starting state states
map maps mapped mapping mop mops nap naps cap caps cape capes tape tapes tap taps""".split()

som = MedianSOM(grid=(4, 5), metric="edit", metric_params={"normalize": "max"}, random_state=0).fit(words)
figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
som.plot("u-matrix", ax=ax)
for (x, y), word in zip(som.lattice_.positions, som.cluster_centers_, strict=True):
    ax.text(x, y, word, ha="center", va="center", fontsize="small", bbox={"color": "white", "alpha": 0.8, "pad": 1})

# %%
# New words are assigned to the nearest exemplar, with 20 comparisons each.
for word in ("knightly", "wonderful", "mapper", "stares"):
    print(f"{word:10s} -> {som.cluster_centers_[som.predict([word])[0]]}")
