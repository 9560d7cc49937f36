"""What a model file may hold: each fitted attribute of each class, its type, shape and range, and how they depend.

A shape is written with letters: K prototypes, N training points, M columns, S points that combinations are made of, C
classes, E epochs. A letter stands for the same number in a whole model. An attribute of a map is one line in a table
here; what is not in the tables is refused, so a new one that is not written down fails every test that saves a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from ..core.engine import HISTORY
from ..core.neighborhood import Lattice
from ..metrics.registry import bind
from ..sources.checks import as_objects

# Letters and the numbers that they stand for in one model.
Sizes: TypeAlias = dict[str, int]
# ValueError, which says what is wrong with the value, after its name.
Check: TypeAlias = Callable[[Any, Sizes], None]


def refuse(why: str) -> NoReturn:
    """ValueError with the rest of a sentence that begins with a name."""
    raise ValueError(why)


# --- kinds of values ------------------------------------------------------------------------------------------------


def has_shape(found: tuple[int, ...], shape: str, sizes: Sizes) -> None:
    """ValueError unless the letters of `shape` can stand for the numbers found."""
    letters = shape.split()
    if len(found) != len(letters):
        refuse(f"has {len(found)} dimensions, not {len(letters)}")
    for letter, n in zip(letters, found, strict=True):
        if sizes.setdefault(letter, n) != n:
            refuse(f"has the shape {found}, where {shape} = {' '.join(str(sizes[each]) for each in letters)}")


def array(kinds: str, shape: str, low: float = -np.inf, below: str = "", ascending: bool = False) -> Check:
    """Numbers of some kinds of type (f, i, ...), finite, at least `low`, below what a letter stands for."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            refuse(f"is {_kind(value)}")
        if value.dtype.kind == "f" and value.dtype.itemsize < 8:
            refuse(f"is {_kind(value)}, not of float64")
        has_shape(value.shape, shape, sizes)
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            refuse("has an entry that is no finite number")
        if value.size and value.min() < low:
            refuse(f"has an entry below {low:g}")
        if value.size and below and value.max() >= sizes.get(below, np.inf):
            refuse(f"has the entry {value.max()}, and {below} is {sizes[below]}")
        if ascending and (np.diff(value) <= 0).any():
            refuse("does not ascend")

    return check


def history(value: Any, sizes: Sizes) -> None:
    """A record for each epoch, with finite numbers."""
    known = HISTORY.names or ()
    if not isinstance(value, np.ndarray) or not value.dtype.names or not {*value.dtype.names} <= {*known}:
        refuse(f"is {_kind(value)}, no history")
    for name in value.dtype.names:
        if value.dtype[name] != HISTORY[name]:
            refuse(f"has a column {name!r} of type {value.dtype[name]}")
    has_shape(value.shape, "E", sizes)
    if not all(np.isfinite(value[name]).all() for name in value.dtype.names):
        refuse("has an entry that is no finite number")


def number(low: float = -np.inf, high: float = np.inf) -> Check:
    """A finite number."""

    def check(value: Any, sizes: Sizes) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            refuse(f"is {_kind(value)}, not a finite number")
        if not low <= value <= high:
            refuse(f"is {value:g}, not between {low:g} and {high:g}")

    return check


def count(letter: str = "") -> Check:
    """A whole number, not below 0; the number that a letter stands for, if one is given."""

    def check(value: Any, sizes: Sizes) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            refuse(f"is {_kind(value)}, not a count")
        if letter and sizes.setdefault(letter, value) != value:
            refuse(f"is {value}, where {letter} is {sizes[letter]}")

    return check


def flag(value: Any, sizes: Sizes) -> None:
    """True or False."""
    if not isinstance(value, bool):
        refuse(f"is {_kind(value)}, not true or false")


def texts(letter: str) -> Check:
    """So many strings, in a list or an array of objects."""

    def check(value: Any, sizes: Sizes) -> None:
        if not (isinstance(value, list) or (isinstance(value, np.ndarray) and value.dtype.kind == "O")):
            refuse(f"is {_kind(value)}, not a list")
        if not all(isinstance(each, str) for each in value):
            refuse("holds something else than strings")
        has_shape((len(value),), letter, sizes)

    return check


def objects(letter: str) -> Check:
    """So many data points: vectors, or anything that the metric takes (see `check_objects`); or None."""

    def check(value: Any, sizes: Sizes) -> None:
        if value is None:
            return
        if isinstance(value, np.ndarray):
            array("fiub", f"{letter} M" if value.ndim == 2 else letter)(value.astype(np.float64, copy=False), sizes)
        elif not isinstance(value, list):
            refuse(f"is {_kind(value)}, not a list of objects")
        has_shape((len(value),), letter, sizes)

    return check


def nothing(value: Any, sizes: Sizes) -> None:
    """None."""
    if value is not None:
        refuse(f"is {_kind(value)}, not null")


def named(value: Any, sizes: Sizes) -> None:
    """A dictionary."""
    if not isinstance(value, dict):
        refuse(f"is {_kind(value)}, not a dictionary")


def sparse(shape: str) -> Check:
    """A matrix of finite numbers without its zeros; its indices were checked when it was made."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, csr_array) or value.dtype != np.float64 or not np.isfinite(value.data).all():
            refuse(f"is {_kind(value)}, no sparse matrix of finite numbers")
        has_shape(value.shape, shape, sizes)

    return check


def lattice(value: Any, sizes: Sizes) -> None:
    """The lattice of K neurons."""
    if not isinstance(value, Lattice):
        refuse(f"is {_kind(value)}, no lattice")
    has_shape((len(value.distances),), "K", sizes)


def classes(value: Any, sizes: Sizes) -> None:
    """(C,) different labels."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind == "V":
        refuse(f"is {_kind(value)}, no array of labels")
    if (
        not all(isinstance(each, str | bytes | int | float | bool) for each in value.tolist())
        and value.dtype.kind == "O"
    ):
        refuse("holds something else than labels")
    if len(set(value.tolist())) < len(value):
        refuse("holds a label twice")
    has_shape(value.shape, "C", sizes)


def model(value: Any, sizes: Sizes) -> None:
    """A fitted model inside this one, which was checked by itself."""
    n = getattr(value, "_n_features_out", None)
    if not isinstance(n, int):
        refuse("is no fitted map")
    has_shape((n,), "K", sizes)


def summary(value: Any, sizes: Sizes) -> None:
    """What a tree of patches keeps, see `PatchClusterer.summary_`."""
    named(value, sizes)
    parts = {**SUMMARY, **OF_FIELDS} if OF_FIELDS.keys() & value.keys() else SUMMARY
    for name, check in parts.items():
        _one(value, name, check, sizes)
    in_sets = value["sets"][:, 0]
    fits = sizes.get("PP") in (None, int((in_sets**2).sum()))
    if value.keys() != parts.keys() or int(in_sets.sum()) != sizes["P"] or not fits:
        refuse("has parts that do not fit together")
    if value["sets"].size and value["sets"][:, 1].max() >= sizes["L"]:
        refuse("has sets of a level that it has not")
    if "near" in value and (value["near"] >= np.repeat(in_sets, in_sets)[:, None]).any():
        refuse("has neighbours beyond the summary of a point")


def usual(value: Any, sizes: Sizes) -> None:
    """What a map remembers of its training points, see `remember` in predict/assign_all.py."""
    named(value, sizes)
    parts = {**USUAL, **OF_MAJORITY} if OF_MAJORITY.keys() & value.keys() else USUAL
    if value.keys() != parts.keys():
        refuse("has parts that do not fit together")
    for name, check in parts.items():
        _one(value, name, check, sizes)


def classes_or_none(value: Any, sizes: Sizes) -> None:
    """A class for each of K prototypes, None where there is none."""
    if not isinstance(value, list) or not all(each is None or isinstance(each, str) for each in value):
        refuse(f"is {_kind(value)}, not a list of classes")
    has_shape((len(value),), "K", sizes)


# --- the tables -----------------------------------------------------------------------------------------------------

SUMMARY: Mapping[str, Check] = {
    "multiplicities": array("f", "P", low=0),
    "indices": array("i", "P"),
    "points": objects("P"),
    "sets": array("i", "sets two", low=0),
    "counts": array("i", "L two", low=0),
}
# What a summary of earlier versions, and one of means, does not have: all three or none.
OF_FIELDS: Mapping[str, Check] = {
    "means": array("f", "PP"),
    "near": array("i", "P neighbours", low=0),
    "rules": array("f", "P rules"),
}
USUAL: Mapping[str, Check] = {
    "groups": array("i", "K", low=0, below="K"),
    "held": array("i", "K", low=0),
    "around": array("f", "K", low=0),
    "floor": number(low=0),
    "centers": array("f", "two"),
    "spreads": array("f", "two", low=0),
    "novelty": number(),
    "border": number(low=0),
}
# Where the points had labels: both or none.
OF_MAJORITY: Mapping[str, Check] = {"majority": classes_or_none, "majority_share": array("f", "K", low=0)}
COLUMNS: Mapping[str, Check] = {"n_features_in_": count(), "feature_names_in_": texts("M")}
LEARNED: Mapping[str, Check] = {
    "hits_": array("f", "K", low=0),
    "labels_": array("i", "N", low=0, below="K"),
    "inertia_": number(),
    "quantization_error_": number(),
    "n_iter_": count(),
    "converged_": flag,
    "history_": history,
    "usual_": usual,
    **COLUMNS,
}
OF_METRIC: Mapping[str, Check] = {
    "metric_params_": named, "n_evaluations_": count(), "prototype_ids_": texts("K"),
}  # fmt: skip
MEDIAN: Mapping[str, Check] = {
    **LEARNED, **OF_METRIC,
    "medoid_indices_": array("i", "K", low=0),
    "cluster_centers_": objects("K"),
    "n_swaps_": count(),
}  # fmt: skip
RELATIONAL: Mapping[str, Check] = {
    **LEARNED, **OF_METRIC,
    "support_": array("i", "S", low=0),
    "coefficients_": sparse("K S"),
    "self_terms_": array("f", "K"),
    "exemplar_indices_": array("i", "K", low=0),
    "prototype_dissimilarities_": array("f", "K K"),
    "support_objects_": objects("S"),
    "support_ids_": texts("S"),
    "cluster_centers_": nothing,
}  # fmt: skip
BATCH: Mapping[str, Check] = {**LEARNED, "cluster_centers_": array("f", "K M")}
ON_LATTICE: Mapping[str, Check] = {"lattice_": lattice}
PATCHES: Mapping[str, Check] = {
    "map_": model,
    "multiplicities_": array("f", "K", low=0),
    "cluster_centers_": objects("K"),
    "medoid_indices_": array("i", "K"),
    "exemplar_indices_": array("i", "K"),
    "carried_indices_": array("i", "carried"),
    "summary_": summary,
    "prototype_ids_": texts("K"),
    "lattice_": lattice,
    "labels_": array("i", "N", low=0, below="K"),
    "inertia_": number(),
    "quantization_error_": number(),
    "n_samples_seen_": count(),
    "n_patches_": count(),
    "n_evaluations_": count(),
    "n_iter_": count(),
    "stopped_early_": flag,
    **COLUMNS,
}
CLASSIFIER: Mapping[str, Check] = {
    "estimator_": model,
    "classes_": classes,
    "prototype_labels_": array("f", "K C", low=0),
    "beta_": number(0, 1),
    **COLUMNS,
}


@dataclass(frozen=True)
class Schema:
    """fitted : the check of each attribute. needed : what a fitted model cannot do without."""

    fitted: Mapping[str, Check]
    needed: frozenset[str]


def _maps(family: str, fitted: Mapping[str, Check], needed: str) -> dict[str, Schema]:
    every = frozenset(needed.split())
    return {
        f"{family}KMeans": Schema(fitted, every),
        f"{family}NeuralGas": Schema(fitted, every),
        f"{family}SOM": Schema({**fitted, **ON_LATTICE}, every | {"lattice_"}),
    }


SCHEMAS: Mapping[str, Schema] = {
    **_maps("Median", MEDIAN, "hits_ cluster_centers_ medoid_indices_ n_iter_"),
    **_maps("Relational", RELATIONAL, "hits_ coefficients_ self_terms_ support_ exemplar_indices_ n_iter_"),
    **_maps("Batch", BATCH, "hits_ cluster_centers_ n_iter_ n_features_in_"),
    "PrototypeClassifier": Schema(CLASSIFIER, frozenset({"classes_", "prototype_labels_", "estimator_", "beta_"})),
    "PatchClusterer": Schema(
        PATCHES, frozenset({"map_", "multiplicities_", "n_samples_seen_", "n_patches_", "n_evaluations_", "n_iter_"})
    ),
}

# Parameters without which a model would answer by others than it was fitted with.
NEEDED_PARAMETERS = frozenset({"metric", "metric_params", "estimator"})


# --- a whole model --------------------------------------------------------------------------------------------------


def check_fitted(name: str, fitted: Mapping[str, Any], params: Mapping[str, Any]) -> None:
    """ValueError unless the fitted attributes of a model of the class `name` are what they must be and fit together."""
    schema, sizes = SCHEMAS[name], Sizes(two=2)
    unknown, lacking = sorted(fitted.keys() - schema.fitted.keys()), sorted(schema.needed - fitted.keys())
    if unknown or lacking:
        raise ValueError(f"it has the unknown {', '.join(unknown)}" if unknown else f"it lacks {', '.join(lacking)}")
    for attribute, check in schema.fitted.items():
        if attribute in fitted:
            _one(fitted, attribute, check, sizes)
    for attribute, agrees in AGREEMENTS.items():
        if attribute in fitted and not agrees(fitted, params):
            raise ValueError(f"its {attribute} does not agree with the rest")
    if "metric" in params:
        check_objects(fitted, params)


def check_objects(fitted: Mapping[str, Any], params: Mapping[str, Any]) -> None:
    """ValueError unless the metric takes what it will compare with."""
    metric = params["metric"]
    if not isinstance(metric, str):
        raise ValueError(f"its metric is {_kind(metric)}, not a name")
    held = fitted.get("support_objects_", fitted.get("cluster_centers_"))
    if metric == "precomputed":
        if held is not None or "n_features_in_" not in fitted:
            raise ValueError("it holds objects, but its metric is 'precomputed', or does not say of how many points")
        places = fitted.get("support_", fitted.get("medoid_indices_"))
        if places is not None and places.size and places.max() >= fitted["n_features_in_"]:
            raise ValueError("its prototypes are points that there are not")
        return
    if held is None or "metric_params_" not in fitted:
        raise ValueError(f"it holds no objects to compare by the metric {metric!r}")
    try:
        bound = bind(metric, fitted["metric_params_"])
    except ValueError:
        if not metric.isidentifier() and "-" not in metric:
            raise
        return  # a metric that its author registered: `predict` says that it is unknown here
    known = as_objects(held, bound, vectors=isinstance(held, np.ndarray))
    bound.between(known[:1], known[:1])  # parameters that the metric cannot use


def _one(values: Mapping[str, Any], name: str, check: Check, sizes: Sizes) -> None:
    if name not in values:
        raise ValueError(f"it lacks {name}")
    try:
        check(values[name], sizes)
    except ValueError as error:
        raise ValueError(f"its {name} {error}") from None


def _kind(value: Any) -> str:
    """What a value is, in a few words."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    return (
        repr(value) if isinstance(value, str | int | float | None) and len(repr(value)) < 40 else type(value).__name__
    )


def _contains(whole: Any, part: Mapping[str, Any]) -> bool:
    """Whether every entry of `part` is in `whole`."""
    same = (name in whole and np.array_equal(whole[name], value) for name, value in part.items())
    return all(same)


# What an attribute has to do with others: fitted, params -> whether it agrees.
AGREEMENTS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], bool]] = {
    "quantization_error_": lambda f, p: f["quantization_error_"] == 0.5 * f.get("inertia_", math.nan),
    "history_": lambda f, p: len(f["history_"]) == f["n_iter_"],
    "labels_": lambda f, p: "hits_" not in f or set(np.flatnonzero(f["hits_"])) <= set(np.unique(f["labels_"])),
    "metric_params_": lambda f, p: _contains(f["metric_params_"], p.get("metric_params") or {}),
    "prototype_labels_": lambda f, p: bool(np.allclose(f["prototype_labels_"].sum(axis=1), 1.0)),
    "coefficients_": lambda f, p: bool(np.allclose(f["coefficients_"].sum(axis=1), 1.0)),
    "prototype_dissimilarities_": lambda f, p: not np.diag(f["prototype_dissimilarities_"]).any(),
    "cluster_centers_": lambda f, p: (
        getattr(f["cluster_centers_"], "ndim", 0) != 2 or f.get("n_features_in_", -1) == f["cluster_centers_"].shape[1]
    ),
    "feature_names_in_": lambda f, p: len(f["feature_names_in_"]) == f.get("n_features_in_"),
    "map_": lambda f, p: np.array_equal(f["multiplicities_"], f["map_"].hits_),
}
