"""One summary of a fitted map: the facts that page, terminal, notebook and summary.json show, as a plain dictionary."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..core.plane import layout, symmetrized
from ..core.quality import border_share, class_counts, class_indices, neighborhood_indices
from ..explore import prototypes as views
from ..explore.stability import Uncertainty
from ..predict.assign_all import Answers, nearest_of, two_best
from ..predict.queries import as_queries, exemplar_places, map_of
from ..predict.verdicts import has_all_pairs, judged
from ..sources import ComputedSource, DenseSource, Source, SubsetSource
from ..sources.base import ALL, ExpensiveSource, FloatArray, IntArray
from ..sources.computed import ROWS_PER_STEP, take
from ..utils.threads import in_steps, limited
from .exemplars import exemplar_drawings
from .members import add_metadata, add_plane, add_texts, class_names, members_of
from .order import add_order, price_of_order

# Indices of order compare all pairs of points; of more points than this, a random sample is compared.
MOST_POINTS = 2000
# The same for objects whose dissimilarities are not computed yet.
MOST_COMPUTED = 500
# A graph of more edges cannot be read: the strongest are kept.
EDGES_PER_PROTOTYPE = 6
# Steps of the layout times K^2: some seconds.
LAYOUT_WORK = 1.2e8
LONGEST_VALUE = 300
# How many of the points that are least sure are named, and of those that are unusual or between two groups.
MOST_UNSURE = 10
MOST_TOLD = 20

# What summary.json holds, in this order.
WRITTEN = (
    "n_border_points", "n_outliers", "map", "n_points", "n_neurons", "grid", "lattice", "epochs", "converged",
    "empty", "n_points_compared", "n_points_labelled", "reading", "verdict",
    "quality", "certainty", "outliers", "borders", "groups", "torn", "classes", "neurons",
)  # fmt: skip
WRITTEN_OF_NEURONS = (
    "neuron", "exemplar", "hits", "layer", "row", "column", "exemplar_id", "majority", "purity", "class", "probability",
)  # fmt: skip


def summarize(
    model: Any, X: Any = None, *, ids: Sequence[str] | None = None, y: Any = None, points: NDArray[Any] | None = None,
    pairs: Source | None = None, structure: bool = False, seed: int = 0, sure: Uncertainty | None = None,
    metadata: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """The facts of a fitted map as a dictionary that JSON can hold; numbers are not rounded.

    Parameters
    ----------
    model : a fitted map, a PatchClusterer or a PrototypeClassifier.
    X : the data it was fitted on, or others; None gives the facts of the model alone.
    ids : (N,) names of the points; None takes those that X carries, or numbers.
    y : (N,) names of classes; None, NaN or "" where a point has none. With it `classes` says where each class is.
    points : the table of `two_best` or `judged`, where it is computed already.
    pairs : dissimilarities (N, N) of the points; with them `quality` has the indices that compare points with points.
    structure : also what a picture needs: prototypes among themselves, their places, what they look like, and members.
    metadata : what else is known of the points: columns (N,) by name, or a frame, for the lists of members.
    seed : of the sample that those indices are taken from when there are many points.
    sure : what `uncertainty` told of the points; without it margins between prototypes say how sure a point is.
    """
    fitted: Any = map_of(model)
    lattice = getattr(fitted, "lattice_", None)
    facts = _of_model(model, fitted)
    if X is None:
        return facts
    points = two_best(model, X) if points is None else points
    if "outlier_score" not in (points.dtype.names or ()):
        points, facts["scored_by_exemplars"] = judged(points, pairs), not has_all_pairs(pairs)
    names, classes = _names(fitted, X, ids, len(points)), class_names(y, len(points))
    with limited(1):  # the same bits everywhere
        _add_points(facts, fitted, points, names)
        _add_certainty(facts, points, names, sure)
        if pairs is not None:
            sample, keep = _sampled(pairs, seed)
            facts["n_points_compared"] = len(keep)
            facts["quality"] |= neighborhood_indices(sample, points["prototype"][keep], lattice)
            if lattice is not None:  # labels would be part of the price
                w = None if facts["predicted_classes"] else getattr(fitted, "medoid_indices_", None)
                total = facts["quality"]["inertia"]
                facts["quality"]["price_of_order"] = price_of_order(
                    sample if len(keep) == len(points) else pairs, w, total
                )
        if lattice is not None:
            add_order(facts, lattice, points)
        answers = Answers(model)
        predicted = None if answers.classifier is None else answers.predicted(nearest_of(points))
        codes = _add_classes(facts, points["prototype"], classes, predicted)
        if structure:
            P = views.prototype_dissimilarities(model, X)
            if lattice is None:
                _add_graph(facts, P, fitted, points)
            else:  # the U-matrix: of each neuron u, and edges [a, b, dissimilarity] between those that touch
                u = views.u_matrix(lattice, P)
                facts |= {"stress": None, "edges": [list(edge) for edge in u.edges.tolist()], "edges_left_out": 0}
                for neuron, mean in zip(facts["neurons"], u.means.tolist(), strict=True):
                    neuron["u"] = mean
            found = views.superclusters(views.as_lengths(fitted, P), hits=fitted.hits_)
            facts["groups"] = {"n": found.n_groups, "why": found.why}
            for neuron, group in zip(facts["neurons"], found.groups.tolist(), strict=True):
                neuron["group"] = group
            facts["exemplars"] = exemplar_drawings(model, fitted, X)
            facts["members"] = members_of(points, names, codes, len(P))
            add_texts(facts, points, X)
            add_metadata(facts, points, metadata)
            spread = np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).astype(np.intp))
            if pairs is None:
                add_plane(facts, fitted, points, None, spread)
            elif isinstance(pairs, ComputedSource) and len(keep) < len(points):  # a few landmarks can place more
                add_plane(facts, fitted, points, SubsetSource(pairs, spread), spread)
            else:
                add_plane(facts, fitted, points, sample, keep)
    return facts


def written(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts that summary.json holds."""
    shown = {name: facts[name] for name in WRITTEN if name in facts}
    if facts.get("accuracy") is not None:
        shown["quality"] = facts["quality"] | {"training_accuracy": facts["accuracy"]}
    shown["neurons"] = [
        {name: neuron[name] for name in WRITTEN_OF_NEURONS if name in neuron} for neuron in facts["neurons"]
    ]
    return shown


def lattice_text(facts: dict[str, Any]) -> str:
    """Where the neurons of a SOM are, in words; summary.json does not tell a torus."""
    if facts["grid"] is None:
        return "at given distances"
    return f"{' x '.join(map(str, facts['grid']))} {facts['lattice']}" + (", torus" if facts.get("periodic") else "")


def _of_model(model: Any, fitted: Any) -> dict[str, Any]:
    """What a model says without its data."""
    layers = [model]
    while (inner := getattr(layers[-1], "estimator_", None) or getattr(layers[-1], "map_", None)) is not None:
        layers.append(inner)
    lattice, metric = getattr(fitted, "lattice_", None), getattr(fitted, "metric", None)
    trained = layers[1] if hasattr(model, "classes_") else model
    error = getattr(trained, "quantization_error_", None)
    quality = {} if error is None else {"quantization_error": float(error)}
    if lattice is not None:
        share = border_share(fitted.hits_, lattice)
        quality |= {} if isnan(share) else {"border_share": share}
    return {
        "model": " of ".join(type(layer).__name__ for layer in layers),
        "map": type(fitted).__name__, "metric": plain(metric), "n_neurons": len(fitted.hits_),
        "grid": None if lattice is None or lattice.places is None else list(lattice.shape),
        "lattice": getattr(lattice, "kind", None), "periodic": getattr(lattice, "periodic", None),
        "predicted_classes": [str(name) for name in getattr(model, "classes_", ())],
        "patches": {
            "n": trained.n_patches_, "n_points": trained.n_samples_seen_, "stopped_early": trained.stopped_early_
        } if hasattr(trained, "n_patches_") else None,
        "epochs": int(fitted.n_iter_), "converged": bool(getattr(fitted, "converged_", False)),
        "training": _training(fitted),
        "empty": int(np.count_nonzero(np.asarray(fitted.hits_) == 0)),
        "quality": quality,
        "neurons": _neurons(model, fitted, lattice),
        "parameters": {name: plain(value) for name, value in fitted.get_params(deep=False).items()},
        "versions": {"medianmap": __version__, "Python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
    }  # fmt: skip


def _training(fitted: Any) -> dict[str, Any] | None:
    """The epochs; None where they were not recorded, as in a pass over patches."""
    history = getattr(fitted, "history_", None)
    if history is None or not len(history):
        return None
    plan = fitted._plan(len(fitted.hits_))
    return {
        "converged": bool(fitted.converged_),
        "anneals": plan.assignment.anneals and bool((history["sigma"] > 0).any()),
        "cools": plan.temperature is not None,  # its sigma is the temperature of soft assignments
        # Prototypes were combinations of the data until the last epochs, so the error rises there.
        "combines": plan.as_combinations and not plan.without_epochs,
        "swaps": getattr(fitted, "n_swaps_", None),
        **{name: history[name].tolist() for name in ("sigma", "quantization_error", "moved")},
    }


def _neurons(model: Any, fitted: Any, lattice: Any) -> list[dict[str, Any]]:
    """Each prototype: its number, place, weight, exemplar, and of a classifier its class."""
    places, names = exemplar_places(fitted), getattr(fitted, "prototype_ids_", None)
    neurons: list[dict[str, Any]] = []
    for j, hits in enumerate(fitted.hits_):
        neuron: dict[str, Any] = {"neuron": j, "hits": float(hits)}
        neuron["exemplar"] = None if places is None else int(places[j])
        neuron["exemplar_id"] = None if names is None else str(names[j])
        if lattice is not None:
            if lattice.places is not None:
                place = [int(index) for index in np.unravel_index(j, lattice.shape)]
                neuron |= dict(zip(("layer", "row", "column")[-len(place) :], place, strict=True))
            neuron["x"], neuron["y"] = lattice.positions[j].tolist()
        neurons.append(neuron)
    for neuron, (name, share) in zip(neurons, Answers(model).classes or (), strict=False):
        neuron |= {"class": str(name), "probability": share}
    return neurons


def _names(fitted: Any, X: Any, ids: Sequence[str] | None, N: int) -> list[str]:
    names = as_queries(fitted, X, None).names if ids is None else ids
    texts = [str(name) for name in (range(N) if names is None else names)]
    if len(texts) != N:
        raise ValueError(f"There are {len(texts)} ids for {N} points; give one id per point.")
    return texts


def _add_points(facts: dict[str, Any], fitted: Any, points: NDArray[Any], names: list[str]) -> None:
    """How far the points are from their prototypes, and which of them show the prototypes.

    exemplar_id : of the prototype, or of the point nearest to a combination or a mean (None without points). The
    points may be others than those of training, so an id that the map carries comes first.
    """
    neurons = facts["neurons"]
    inertia = float(points["dissimilarity"].sum())
    facts["n_points"] = len(points)
    facts["mean_dissimilarity"] = float(points["dissimilarity"].mean())
    _add_verdicts(facts, points, names)
    facts["quality"] = {"quantization_error": 0.5 * inertia, "inertia": inertia}
    counts = np.bincount(points["prototype"], minlength=len(neurons)).tolist()
    means = views.mean_dissimilarity(points, len(neurons)).tolist()
    nearest: list[int | None] = [None] * len(neurons)
    for i in np.lexsort((-points["point"], -points["dissimilarity"])).tolist():
        nearest[points["prototype"][i]] = i
    trained_on_these = len(getattr(fitted, "labels_", names)) == len(names)
    for neuron, n, mean, near in zip(neurons, counts, means, nearest, strict=True):
        neuron |= {"points": n, "mean_dissimilarity": mean if n else None}
        if neuron["exemplar_id"] is None:
            at = neuron["exemplar"] if neuron["exemplar"] is not None and trained_on_these else near
            neuron["exemplar_id"] = None if at is None or not 0 <= at < len(names) else names[at]


def _add_verdicts(facts: dict[str, Any], points: NDArray[Any], names: list[str]) -> None:
    """The most unusual points, and those nearest to the border of two groups; how many of them are flagged.

    second : the nearest prototype of the other group.
    """
    facts["n_outliers"], facts["n_border_points"] = int(points["outlier"].sum()), int(points["border"].sum())
    for listed, flag, score in (("outliers", "outlier", "outlier_score"), ("borders", "border", "border_score")):
        first = np.argsort(-points[score], kind="stable")[:MOST_TOLD]
        facts[listed] = [
            {"point": int(i), "id": names[i], "neuron": int(points["prototype"][i]), "score": float(points[score][i]),
             "flagged": bool(points[flag][i])} | ({"second": int(points["other"][i])} if flag == "border" else {})
            for i in first
        ]  # fmt: skip
    if len(facts["neurons"]) == 1:
        facts["borders"] = []


def _add_certainty(facts: dict[str, Any], points: NDArray[Any], names: list[str], sure: Uncertainty | None) -> None:
    """Of each neuron how sure its points are, in the mean, and which points are the least sure of all.

    How sure a point is: its confidence over resamples, or the margin 1 - d / e, d and e the dissimilarities to its two
    nearest prototypes. None of a neuron without points, and of all where there is one neuron.
    """
    K = len(facts["neurons"])
    if sure is not None and len(sure.points) != len(points):
        raise ValueError(
            f"`uncertainty` told of {len(sure.points)} points, but there are {len(points)}; pass the same."
        )
    how = 1.0 - points["ratio"] if sure is None else sure.points["confidence"]
    own = points["prototype"]
    counts, sums = np.bincount(own, minlength=K).tolist(), np.bincount(own, how, K).tolist()
    for neuron, n, total in zip(facts["neurons"], counts, sums, strict=True):
        neuron["sure"] = total / n if n and K > 1 else None
    least = np.lexsort((-points["ratio"], how))[:MOST_UNSURE].tolist() if K > 1 else []
    facts["certainty"] = {
        "n_resamples": 0 if sure is None else sure.n_resamples,
        "mean": float(how.mean()) if K > 1 else None,
        "least_sure": [
            {
                "id": names[i],
                "neuron": int(own[i]),
                "second": int(points["second"][i]),
                "ratio": float(points["ratio"][i]),
            }
            | ({} if sure is None else {name: float(sure.points[name][i]) for name in ("stability", "confidence")})
            for i in least
        ],
    }


def _add_classes(
    facts: dict[str, Any], prototypes: IntArray, names: list[str | None], predicted: list[tuple[Any, float]] | None
) -> IntArray | None:
    """Where each class is; returns the number (N,) of each point's class, -1 without, or None if no point has one.

    predicted : class and share of each point by a classifier.
    """
    classes = sorted({name for name in names if name is not None})
    number = {name: c for c, name in enumerate(classes)}
    codes = np.array([-1 if name is None else number[name] for name in names], np.intp)
    known = np.flatnonzero(codes >= 0)
    facts |= {"classes": [], "accuracy": None, "n_points_labelled": len(known)}
    if not classes:
        return None
    neurons = facts["neurons"]
    counts = class_counts(prototypes[known], codes[known], n_clusters=len(neurons))[0]
    facts["quality"] |= class_indices(prototypes[known], codes[known])
    for c, name in enumerate(classes):  # its size, the neurons where it is the majority, and its share there
        own = (counts.argmax(axis=1) == c) & (counts.sum(axis=1) > 0)
        size, at_home = float(counts[:, c].sum()), float(counts[own, c].sum())
        facts["classes"].append({"class": name, "points": size, "neurons": int(own.sum()), "at_home": at_home / size})
    for neuron, row in zip(neurons, counts, strict=True):
        total = row.sum()
        neuron["shares"] = (row / (total or 1.0)).tolist()
        neuron["majority"] = classes[int(row.argmax())] if total else None
        neuron["purity"] = float(row.max() / total) if total else None
    if predicted is not None:
        facts["accuracy"] = sum(str(predicted[i][0]) == names[i] for i in known.tolist()) / len(known)
    return codes


def _sampled(source: Source, seed: int) -> tuple[Source, IntArray]:
    """The points that are compared with each other, ascending, and their dissimilarities."""
    n = source.shape[0]
    most = MOST_COMPUTED if isinstance(source, ComputedSource) else MOST_POINTS
    keep = np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    part = source if n <= most else SubsetSource(source, keep)
    # What is computed or asked for on demand would be so again for every index.
    if isinstance(source, ComputedSource):
        D, own = np.empty(part.shape), replace(source, objects=take(source.objects, keep), places=keep, ids=None)
        for rows in in_steps("sample", len(keep), ROWS_PER_STEP):
            own.fill(D, rows, slice(rows.start if own.symmetric else 0, len(keep)))
        return DenseSource(D, own.symmetric), keep
    if isinstance(source, ExpensiveSource):
        return DenseSource(np.asarray(part.block(ALL, ALL)), part.symmetric), keep
    return part, keep


def _add_graph(facts: dict[str, Any], P: FloatArray, fitted: Any, points: NDArray[Any]) -> None:
    """Places of prototypes without a lattice, the longest side 1; edges [a, b, dissimilarity, count] of the strongest.

    u is the mean dissimilarity to the prototypes that are joined to one; None where there are none.
    """
    K, S, graph = len(P), symmetrized(P), views.topology_graph(points)
    drawn = layout(views.as_lengths(fitted, P), max_iter=int(np.clip(LAYOUT_WORK / K**2, 30, 300)))
    # Turned so that the map is wide rather than high; each axis points to its largest coordinate.
    z = drawn.positions @ np.linalg.eigh(drawn.positions.T @ drawn.positions)[1][:, ::-1]
    z *= np.where(z[np.abs(z).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    z -= z.min(axis=0)
    z /= z.max() or 1.0
    a, b, count = graph["a"], graph["b"], graph["count"]
    ends = np.concatenate([a, b])
    degree = np.bincount(ends, minlength=K)
    sums = np.bincount(ends, weights=np.tile(S[a, b], 2), minlength=K)
    kept = np.sort(np.argsort(-count, kind="stable")[: max(EDGES_PER_PROTOTYPE * K, 100)])
    facts["stress"], facts["edges_left_out"] = drawn.stress, len(graph) - len(kept)
    facts["edges"] = [[int(a[e]), int(b[e]), float(S[a[e], b[e]]), int(count[e])] for e in kept]
    for neuron, (x, y), total, n in zip(facts["neurons"], z.tolist(), sums.tolist(), degree.tolist(), strict=True):
        neuron |= {"x": x, "y": y, "u": total / n if n else None}


def plain(value: Any) -> Any:
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
    text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
