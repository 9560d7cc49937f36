"""medianmap: topographic maps of data known only by pairwise dissimilarities, with real exemplars as prototypes."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .utils.providers import provide

if TYPE_CHECKING:
    from .estimators.batch import BatchKMeans, BatchNeuralGas, BatchSOM
    from .estimators.classifier import PrototypeClassifier
    from .estimators.median import MedianKMeans, MedianNeuralGas, MedianSOM
    from .estimators.model_file import load, save
    from .estimators.relational import RelationalKMeans, RelationalNeuralGas, RelationalSOM
    from .explore.beta_path import beta_path
    from .explore.health import check_dissimilarity
    from .explore.k_path import k_path
    from .explore.width_front import width_front
    from .patches.clusterer import PatchClusterer
    from .sources import as_dissimilarity
    from .sources.all_pairs import all_pairs

# Names are imported when first used, so that `medianmap --help` does not wait for compilers and linear algebra.
_HOME = {
    "MedianKMeans": ".estimators.median",
    "MedianNeuralGas": ".estimators.median",
    "MedianSOM": ".estimators.median",
    "BatchKMeans": ".estimators.batch",
    "BatchNeuralGas": ".estimators.batch",
    "BatchSOM": ".estimators.batch",
    "RelationalKMeans": ".estimators.relational",
    "RelationalNeuralGas": ".estimators.relational",
    "RelationalSOM": ".estimators.relational",
    "PrototypeClassifier": ".estimators.classifier",
    "PatchClusterer": ".patches.clusterer",
    "all_pairs": ".sources.all_pairs",
    "as_dissimilarity": ".sources",
    "beta_path": ".explore.beta_path",
    "check_dissimilarity": ".explore.health",
    "k_path": ".explore.k_path",
    "width_front": ".explore.width_front",
    "save": ".estimators.model_file",
    "load": ".estimators.model_file",
}

__all__ = [
    "BatchKMeans",
    "BatchNeuralGas",
    "BatchSOM",
    "MedianKMeans",
    "MedianNeuralGas",
    "MedianSOM",
    "PatchClusterer",
    "PrototypeClassifier",
    "RelationalKMeans",
    "RelationalNeuralGas",
    "RelationalSOM",
    "__version__",
    "all_pairs",
    "as_dissimilarity",
    "beta_path",
    "check_dissimilarity",
    "k_path",
    "load",
    "save",
    "width_front",
]


# What lower folders ask of higher ones beside the public names, see utils/providers.py.
_HOME_OF_VIEWS = {"notebook_view": ".report.notebook"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _load(name)


def __dir__() -> list[str]:
    return __all__


def _load(name: str) -> Any:
    return getattr(import_module((_HOME | _HOME_OF_VIEWS)[name], __name__), name)


for _name in (*_HOME, *_HOME_OF_VIEWS):
    provide(_name, partial(_load, _name))
