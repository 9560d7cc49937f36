"""Data to try things on; nothing here is downloaded."""

from __future__ import annotations

from .chromosomes import Chromosomes, load_chromosomes, simulate_chromosomes
from .proteins import ProteinFamilies, newick, simulate_protein_families
from .shipped import Sequences, Vectors, load_breast_cancer, load_globins, load_iris

__all__ = [
    "Chromosomes", "ProteinFamilies", "Sequences", "Vectors", "load_breast_cancer", "load_chromosomes", "load_globins",
    "load_iris", "newick", "simulate_chromosomes", "simulate_protein_families",
]  # fmt: skip
