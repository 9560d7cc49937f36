"""medianmap: topographic maps of data known only by pairwise dissimilarities, with real exemplars as prototypes."""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .utils.loading import provide

if TYPE_CHECKING:
    from .datasets import (
        load_breast_cancer,
        load_chromosomes,
        load_globins,
        load_iris,
        simulate_chromosomes,
        simulate_protein_families,
    )
    from .estimators.batch import BatchKMeans, BatchNeuralGas, BatchSOM
    from .estimators.classifier import PrototypeClassifier
    from .estimators.median import MedianKMeans, MedianNeuralGas, MedianSOM
    from .estimators.model_file import load, save
    from .estimators.relational import RelationalKMeans, RelationalNeuralGas, RelationalSOM
    from .explore.beta_path import beta_path
    from .explore.health import check_dissimilarity
    from .explore.k_path import k_path
    from .explore.label_report import label_report
    from .explore.stability import uncertainty
    from .explore.width_front import width_front
    from .patches.clusterer import PatchClusterer
    from .readers import read
    from .refine.arrangement import arrange
    from .report import report
    from .report.compare import compare
    from .sources import as_dissimilarity
    from .sources.all_pairs import all_pairs

# Names are imported when first used, so that `medianmap --help` does not wait for compilers and linear algebra.
_NAMES = {
    ".estimators.median": ("MedianKMeans", "MedianNeuralGas", "MedianSOM"),
    ".estimators.relational": ("RelationalKMeans", "RelationalNeuralGas", "RelationalSOM"),
    ".estimators.batch": ("BatchKMeans", "BatchNeuralGas", "BatchSOM"),
    ".estimators.classifier": ("PrototypeClassifier",),
    ".estimators.model_file": ("load", "save"),
    ".patches.clusterer": ("PatchClusterer",),
    ".sources": ("as_dissimilarity",),
    ".sources.all_pairs": ("all_pairs",),
    ".readers": ("read",),
    ".refine.arrangement": ("arrange",),
    ".explore.beta_path": ("beta_path",),
    ".explore.health": ("check_dissimilarity",),
    ".explore.k_path": ("k_path",),
    ".explore.label_report": ("label_report",),
    ".explore.stability": ("uncertainty",),
    ".explore.width_front": ("width_front",),
    ".report": ("report",),
    ".report.compare": ("compare",),
    ".datasets": (
        "load_breast_cancer", "load_chromosomes", "load_globins", "load_iris", "simulate_chromosomes",
        "simulate_protein_families",
    ),
}  # fmt: skip
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [  # noqa: RUF022
    "__version__", "BatchKMeans", "BatchNeuralGas", "BatchSOM", "MedianKMeans", "MedianNeuralGas", "MedianSOM",
    "PatchClusterer", "PrototypeClassifier", "RelationalKMeans", "RelationalNeuralGas", "RelationalSOM",
    "all_pairs", "arrange", "as_dissimilarity", "beta_path", "check_dissimilarity", "compare", "k_path",
    "label_report", "load", "load_breast_cancer", "load_chromosomes", "load_globins", "load_iris", "read", "report",
    "save", "simulate_chromosomes", "simulate_protein_families", "uncertainty", "width_front",
]  # fmt: skip

# What lower folders ask of higher ones beside the public names, see utils/loading.py.
_HOME_OF_VIEWS = {"summary_html": ".report.notebook", "plot_model": ".report.plots"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _load(name)


def __dir__() -> list[str]:
    return __all__


def _load(name: str) -> Any:
    return getattr(import_module((_HOME | _HOME_OF_VIEWS)[name], __name__), name)


class _Package(ModuleType):
    """`medianmap.report` stays the function when Python, importing anything of the folder, binds the name to that."""

    report = property(lambda self: _load("report"), lambda self, folder: None)


sys.modules[__name__].__class__ = _Package


for _name in (*_HOME, *_HOME_OF_VIEWS):
    provide(_name, partial(_load, _name))
