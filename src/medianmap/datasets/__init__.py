"""Data to try things on; nothing here is downloaded."""

from .chromosomes import Chromosomes, load_chromosomes, simulate_chromosomes
from .globins import load_globins
from .proteins import ProteinFamilies, newick, simulate_protein_families
from .records import Sequences, Vectors
from .vectors import load_breast_cancer, load_iris

__all__ = [
    "Chromosomes",
    "ProteinFamilies",
    "Sequences",
    "Vectors",
    "load_breast_cancer",
    "load_chromosomes",
    "load_globins",
    "load_iris",
    "newick",
    "simulate_chromosomes",
    "simulate_protein_families",
]
