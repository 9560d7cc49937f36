"""medianmap: topographic maps of data known only by pairwise dissimilarities, with real exemplars as prototypes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .allpairs import all_pairs
    from .classifier import PrototypeClassifier
    from .estimators import BatchKMeans, BatchNeuralGas, BatchSOM, MedianKMeans, MedianNeuralGas, MedianSOM
    from .health import check_dissimilarity
    from .kpath import k_path
    from .patches.clusterer import PatchClusterer
    from .persistence import load, save
    from .relational_estimators import RelationalKMeans, RelationalNeuralGas, RelationalSOM
    from .sources import as_dissimilarity
    from .widthfront import width_front

# Names are imported when first used, so that `medianmap --help` does not wait for compilers and linear algebra.
_HOME = {
    "MedianKMeans": ".estimators",
    "MedianNeuralGas": ".estimators",
    "MedianSOM": ".estimators",
    "BatchKMeans": ".estimators",
    "BatchNeuralGas": ".estimators",
    "BatchSOM": ".estimators",
    "RelationalKMeans": ".relational_estimators",
    "RelationalNeuralGas": ".relational_estimators",
    "RelationalSOM": ".relational_estimators",
    "PrototypeClassifier": ".classifier",
    "PatchClusterer": ".patches.clusterer",
    "all_pairs": ".allpairs",
    "as_dissimilarity": ".sources",
    "check_dissimilarity": ".health",
    "k_path": ".kpath",
    "width_front": ".widthfront",
    "save": ".persistence",
    "load": ".persistence",
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
    "check_dissimilarity",
    "k_path",
    "load",
    "save",
    "width_front",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)


def __dir__() -> list[str]:
    return __all__
