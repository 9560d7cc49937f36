"""Numbers before pictures: everything that the page shows, as one plain dictionary that JSON can hold."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..core.quality import torn_share
from ..estimators.base import BaseMap
from ..estimators.batch import BatchMap
from ..explore import (
    class_shares,
    layout,
    mean_dissimilarity,
    prototype_dissimilarities,
    superclusters,
    symmetrized,
    topology_graph,
    two_best,
    u_matrix,
)
from ..explore.health import Health
from ..explore.prototypes import as_lengths
from ..predict.queries import as_queries, exemplar_places, map_of
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_count
from ..utils.palette import FILLS
from .exemplars import exemplars, numbers
from .exemplars import members as listed_members
from .html import n_bytes
from .plots.axes import slices

# A page can be mailed; what is left for members is what the rest does not take.
PAGE_BYTES, PAGE_ITSELF = 4_800_000, 120_000
# A graph of more edges is a cloud: the strongest are drawn.
EDGES_PER_PROTOTYPE = 6
# Steps of the layout times K^2: some seconds.
LAYOUT_WORK = 1.2e8
LONGEST_VALUE = 300
# Quantities: even steps of lightness, away from the ground of the page as they grow.
RAMPS = {
    "light": ["#eef5ec", "#c4e3cf", "#8bcabf", "#53a9b2", "#3a83a2", "#345c8b", "#33376b", "#251c45"],
    "dark": ["#25333b", "#264a5a", "#2a6478", "#378091", "#559da3", "#82bab1", "#b8d6c1", "#f0f3d8"],
}


def gather(
    model: Any,
    X: Any,
    *,
    ids: Sequence[str] | None = None,
    y: Any = None,
    points: NDArray[Any] | None = None,
    title: str | None = None,
    health: Health | Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    members: int | None = None,
) -> dict[str, Any]:
    """What a fitted map shows of its data; `report.html.render` makes a page of it.

    Parameters
    ----------
    model : a fitted map, a PatchClusterer or a PrototypeClassifier.
    X : what it was fitted on.
    ids : (N,) names of the points; None takes those that X carries, or numbers.
    y : (N,) names of classes, None or "" where a point has none.
    points : `structure.two_best(model, X)`, where it has been computed already.
    title : heading of the page.
    health : what `check_dissimilarity` found.
    settings : shown as they are, by name.
    members : most members listed of a prototype; None lists as many as a page below 5 MB can hold.
    """
    fitted = map_of(model)
    if members is not None:
        check_count(members, "members")
    points = two_best(model, X) if points is None else points
    N, K = len(points), len(fitted.hits_)
    names = _names(fitted, X, ids, N)
    y = _labels(y, N)
    P = prototype_dissimilarities(model, X)
    content: dict[str, Any] = {
        "title": str(title) if title is not None else f"{type(fitted).__name__} of {N} points",
        "map": type(fitted).__name__,
        "dissimilarity": _dissimilarity_name(fitted),
        "n_points": N,
        "n_prototypes": K,
        **_map(fitted, points, P),
        "exemplars": exemplars(model, fitted, X),
        "training": _training(fitted),
        "health": health.as_dict() if isinstance(health, Health) else None if health is None else dict(health),
        "settings": {str(name): _plain(value) for name, value in (settings or {}).items()},
        "parameters": {name: _plain(value) for name, value in fitted.get_params(deep=False).items()},
        "versions": _versions(),
        "ramps": RAMPS,
    }
    _name_exemplars(content["neurons"], fitted, points, names)
    codes = _add_classes(content, points["prototype"], y)
    _add_predictions(content["neurons"], model)
    n_free = PAGE_BYTES - PAGE_ITSELF - n_bytes(content) - 60 * K
    content["members"], content["listed"] = listed_members(points, names, codes, K, n_free, members)
    return content


def _map(fitted: Any, points: NDArray[Any], P: FloatArray) -> dict[str, Any]:
    """Neurons with their places and numbers, and the edges between them."""
    K, d = len(P), points["dissimilarity"]
    hits = np.bincount(points["prototype"], minlength=K)
    quality, groups = mean_dissimilarity(points, K), superclusters(P)
    lattice = getattr(fitted, "lattice_", None)
    torn = None if lattice is None or K == 1 else torn_share(points["prototype"], points["second"], lattice)
    told: dict[str, Any] = {"lattice": None, "stress": None, "edges_left_out": 0}
    if lattice is not None:
        rows, columns = lattice.shape
        told["lattice"] = {"kind": lattice.kind, "rows": rows, "columns": columns, "periodic": lattice.periodic}
        positions, u = lattice.positions, u_matrix(lattice, P)
        means, edges = u.means, [[int(a), int(b), *numbers(s)] for a, b, s in u.edges]
    else:
        positions, told["stress"] = _placed(fitted, P)
        graph = topology_graph(points)
        means, edges, told["edges_left_out"] = _graph(graph, symmetrized(P))
    return {
        **told,
        "kind": "lattice" if lattice is not None else "graph",
        "empty": int(np.count_nonzero(hits == 0)),
        "quality": {
            "quantization_error": numbers(0.5 * d.sum())[0],
            "mean_dissimilarity": numbers(d.mean())[0],
            "topographic_error": None if torn is None else numbers(torn)[0],
        },
        "groups": {"n": groups.n_groups, "colors": list(FILLS[: groups.n_groups])},
        "neurons": [
            {
                "neuron": j,
                **({"row": j // columns, "column": j % columns} if lattice is not None else {}),
                "x": float(f"{positions[j, 0]:.6g}"),
                "y": float(f"{positions[j, 1]:.6g}"),
                "hits": int(hits[j]),
                "u": numbers(means[j])[0],
                "quality": numbers(quality[j])[0],
                "group": int(groups.groups[j]),
            }
            for j in range(K)
        ],
        "edges": edges,
    }


def _placed(fitted: Any, P: FloatArray) -> tuple[FloatArray, float]:
    """Places (K, 2) of prototypes without a lattice, the longest side 1, and the stress."""
    steps = int(np.clip(LAYOUT_WORK / len(P) ** 2, 30, 300))
    drawn = layout(as_lengths(fitted, P), max_iter=steps)
    # Turned so that the map is wide rather than high; each axis points to its largest coordinate.
    z = drawn.positions @ np.linalg.eigh(drawn.positions.T @ drawn.positions)[1][:, ::-1]
    z *= np.where(z[np.abs(z).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    z -= z.min(axis=0)
    return z / (z.max() or 1.0), float(f"{drawn.stress:.4g}")


def _graph(graph: NDArray[Any], S: FloatArray) -> tuple[FloatArray, list[list[Any]], int]:
    """(mean dissimilarity to neighbours (K,), NaN without; strongest edges [a, b, dissimilarity, count]; left out)."""
    K, (a, b) = len(S), (graph["a"], graph["b"])
    ends, s = np.concatenate([a, b]), np.tile(S[a, b], 2)
    degree = np.bincount(ends, minlength=K)
    sums = np.bincount(ends, weights=s, minlength=K)
    means = np.divide(sums, degree, out=np.full(K, np.nan), where=degree > 0)
    most = max(EDGES_PER_PROTOTYPE * K, 100)
    kept = np.sort(np.argsort(-graph["count"], kind="stable")[:most])
    edges = [[int(a[e]), int(b[e]), numbers(S[a[e], b[e]])[0], int(graph["count"][e])] for e in kept]
    return means, edges, len(graph) - len(kept)


def _names(fitted: BaseMap, X: Any, ids: Sequence[str] | None, N: int) -> list[str]:
    names = as_queries(fitted, X, None).names if ids is None else ids
    told = [str(name) for name in (range(N) if names is None else names)]
    if len(told) != N:
        raise ValueError(f"There are {len(told)} ids for {N} points; give one id a point.")
    return told


def _labels(y: Any, N: int) -> NDArray[Any] | None:
    """(N,) class names, None without; None if no point has one."""
    if y is None:
        return None
    if len(y) != N:
        raise ValueError(f"There are {len(y)} labels in y for {N} points; give one a point, None where there is none.")
    told = np.array([None if name is None or name != name or name == "" else str(name) for name in y], object)
    return told if any(name is not None for name in told) else None


def _add_classes(content: dict[str, Any], prototypes: IntArray, y: NDArray[Any] | None) -> IntArray | None:
    """Class shares, majority and purity of each neuron; returns the number (N,) of each point's class, -1 without."""
    content |= {"classes": None, "class_names": []}
    if y is None:
        return None
    neurons = content["neurons"]
    shares, classes = class_shares(prototypes, y, len(neurons))
    names = [str(name) for name in classes]
    cut = slices(shares, np.array([float(n["hits"]) for n in neurons]), names)
    content["classes"] = {
        "names": cut.names,
        "colors": cut.colors,
        "shares": [[float(f"{x:.4g}") for x in row] for row in cut.shares],
    }
    content["class_names"] = names
    for neuron, row in zip(neurons, shares, strict=True):
        labelled = row.sum() > 0
        neuron["majority"] = names[int(row.argmax())] if labelled else None
        neuron["purity"] = numbers(row.max())[0] if labelled else None
    code = {name: k for k, name in enumerate(names)}
    return np.array([-1 if name is None else code[name] for name in y], np.intp)


def _add_predictions(neurons: list[dict[str, Any]], model: Any) -> None:
    """The class that a PrototypeClassifier predicts at each neuron."""
    if hasattr(model, "prototype_labels_"):
        for neuron, k in zip(neurons, model.prototype_labels_.argmax(axis=1), strict=True):
            neuron["predicts"] = str(model.classes_[k])


def _name_exemplars(neurons: list[dict[str, Any]], fitted: Any, points: NDArray[Any], names: list[str]) -> None:
    """exemplar: id of the prototype, or of the point nearest to a combination or a mean (None without points).

    The points may be others than those of training, so that the id that the map carries comes first.
    """
    nearest = [-1] * len(neurons)
    for i in np.lexsort((-points["point"], -points["dissimilarity"])).tolist():
        nearest[points["prototype"][i]] = i
    carried, places = getattr(fitted, "prototype_ids_", None), exemplar_places(fitted)
    if places is None or len(getattr(fitted, "labels_", names)) != len(names):
        places = np.array(nearest)
    for j, neuron in enumerate(neurons):
        if carried is not None:
            neuron["exemplar"] = str(carried[j])
        else:
            neuron["exemplar"] = names[places[j]] if 0 <= places[j] < len(names) else None


def _dissimilarity_name(fitted: Any) -> str:
    if isinstance(fitted, BatchMap):
        return "squared Euclidean distance"
    return str(_plain(fitted.metric))


def _training(fitted: Any) -> dict[str, Any] | None:
    """The epochs; None where they were not recorded, as by a pass over patches."""
    history = getattr(fitted, "history_", None)
    if history is None or not len(history):
        return None
    plan = fitted._plan(len(fitted.hits_))
    return {
        "converged": bool(fitted.converged_),
        "anneals": plan.assignment.anneals,
        # Exemplars were combinations of the data until the last epochs, so the error rises there.
        "combines": plan.as_combinations and not plan.only_swaps,
        "swaps": getattr(fitted, "n_swaps_", None),
        "sigma": numbers(history["sigma"], 4),
        "quantization_error": numbers(history["quantization_error"]),
        "moved": [int(n) for n in history["moved"]],
    }


def _plain(value: Any) -> Any:
    """A value as JSON and people can read it; without addresses in memory, so that equal maps make equal pages."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(value)
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.size <= 20 else f"array of shape {value.shape}"
    told = str(value)
    return told if len(told) <= LONGEST_VALUE else f"{told[:LONGEST_VALUE]}..."


def _versions() -> dict[str, str]:
    found = {"medianmap": __version__, "Python": platform.python_version()}
    return found | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
