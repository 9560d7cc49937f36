"""630 globins from UniProtKB/Swiss-Prot, shipped with the package; GLOBINS.md beside this file has the attribution."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from .records import Sequences, Vectors


def load_globins() -> Sequences:
    """630 globin sequences under their Swiss-Prot entry names, with families by name.

    HA 235 and HB 197 (alpha and beta chains of haemoglobin), MY 71 (myoglobin), GG/GP 81 (globins of invertebrates and
    plants), others 46. UniProtKB/Swiss-Prot, CC BY 4.0.
    """
    text = (files(__package__) / "globins.fasta").read_text(encoding="ascii")
    records = [record.split("\n", 1) for record in text.split(">")[1:]]
    heads = [head.split() for head, _ in records]
    return Sequences(
        ["".join(body.split()) for _, body in records], [head[0] for head in heads], [head[1] for head in heads]
    )


# --- Vectors that come with scikit-learn, as z-scores


def load_breast_cancer() -> Vectors:
    """Wisconsin breast cancer (diagnostic), 569 x 30, as z-scores; it comes with scikit-learn."""
    from sklearn.datasets import load_breast_cancer as loader

    return _z_scores(loader())


def load_iris() -> Vectors:
    """Iris, 150 x 4, as z-scores; it comes with scikit-learn."""
    from sklearn.datasets import load_iris as loader

    return _z_scores(loader())


def _z_scores(bunch: Any) -> Vectors:
    """(x - mean) / standard deviation, the latter of the sample (divided by N - 1)."""
    X = np.asarray(bunch.data, np.float64)
    return Vectors(
        (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), bunch.target.astype(np.intp), [str(n) for n in bunch.target_names]
    )
