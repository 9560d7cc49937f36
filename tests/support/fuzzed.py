"""Random fits over scales, weights, types and all parameters, each compared with other ways to the same answer.

A case follows from its seed. `failures(seed)` returns what went wrong, by kind, and an empty dictionary where every way
gave the same: each search, two threads, a memory map, the condensed form, a matrix and weights times a power of two,
another order of the points, points twice for weight 2, and the model saved and loaded. Swaps are held against brute
force. A RuntimeWarning or a number that is not finite is a failure; so is any error but a sentence that refuses numbers
outside the range, which then every way must give.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

import medianmap
from medianmap import PrototypeClassifier, load, save
from medianmap.search import strategies_for

MAPS = ("MedianKMeans", "MedianNeuralGas", "MedianSOM", "RelationalKMeans", "RelationalNeuralGas", "RelationalSOM")
STRUCTURES = ("clouds", "random", "asymmetric", "ties", "duplicates", "mixed", "outlier", "constant")
# The largest dissimilarity, and the largest weight.
SIZES = (1.0, 1.0, 1.0, 1e307, 1e300, 1e200, 1e60, 1e30, 1e12, 1e-12, 1e-30, 1e-60, 1e-200, 1e-307, 1e-315)
HEAVY = (1.0, 1.0, 1e9, 1e40, 1e100, 1e-9, 1e-40, 1e-300)
# Comparisons that few random parameters allow are aimed at, so that each kind is drawn about as often as the others.
AIMS = {"any": 0.4, "order": 0.2, "twice": 0.2, "swaps": 0.2}
# What answers a fit that is refused may say: all name what was found.
REFUSALS = ("overflow", "too far apart", "between 1e-100 and 1e100", "its limit")


@dataclass(frozen=True)
class Case:
    """D (N, N), weights m (N,) or None, a map and, in some cases, labels and a classifier around the map."""

    seed: int
    structure: str
    D: np.ndarray
    m: np.ndarray | None
    map: Any
    y: np.ndarray | None = None
    labelled: dict[str, Any] = field(default_factory=dict)

    def model(self, **params: Any) -> Any:
        """An unfitted model."""
        inner = clone(self.map).set_params(**params)
        return inner if self.y is None else PrototypeClassifier(inner, **self.labelled)

    def describe(self) -> str:
        weights = "none" if self.m is None else f"{self.m.min():g}..{self.m.max():g}"
        D = f"{self.structure} {self.D.dtype} {self.D.shape[0]} {self.D.max():g}"
        return f"seed {self.seed}: {self.model()!r}, D {D}, weights {weights}"


def make_case(seed: int) -> Case:
    rng = np.random.default_rng([22, seed])
    ranges = [rng.integers(2, 12), rng.integers(12, 40), rng.integers(60, 80), rng.integers(300, 600)]
    n = int(rng.choice(ranges, p=[0.4, 0.5, 0.09, 0.01]))
    aim = str(rng.choice([*AIMS], p=[*AIMS.values()]))
    in_order = aim in ("order", "twice")  # what `_plain` asks for
    structure = "asymmetric" if in_order else str(rng.choice(STRUCTURES))
    D = _scaled(_matrix(structure, n, rng), structure, rng)
    m = _weights(n, rng, mixed=not in_order)
    counting = np.arange(n) if m is None else np.flatnonzero(m)
    K = int(rng.integers(1, min(len(counting), 9) + 1))
    map_ = _map(str(rng.choice(MAPS if aim == "any" else MAPS[:3])), K, counting, float(D.max()), rng)
    if in_order:
        plain = {"annealing": "median", "refine": None, "n_init": 1, "init": rng.permutation(counting)[:K]}
        plain["collisions"] = "allow" if aim == "twice" else str(rng.choice(["distinct", "allow"]))
        map_.set_params(**plain, **({"temperature": None} if hasattr(map_, "temperature") else {}))
    if aim == "swaps":  # of the summed dissimilarity alone, to their end
        map_.set_params(refine="swap", max_swaps=None, **({"order": 0.0} if hasattr(map_, "order") else {}))
    case = Case(seed, structure, D, m, map_)
    if aim == "any" and rng.random() < 0.25:
        y = rng.integers(0, 3, n).astype(object)
        y[rng.random(n) < 0.3] = None
        y[counting[0]] = 1
        labelled = {"beta": float(rng.choice([0.1, 0.5, 0.9, 1.0])), "random_state": 3}
        labelled["labeling"] = str(rng.choice(["spread", "majority", "learned"]))
        return replace(case, y=y, labelled=labelled)
    return case


def _matrix(structure: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if structure == "duplicates":
        return np.repeat(np.repeat(_matrix("random", -(-n // 2), rng), 2, 0), 2, 1)[:n, :n]
    if structure == "clouds":
        X = rng.normal(size=(n, 3)) + 6 * rng.integers(0, 3, (n, 1))
        D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        D = D if rng.random() < 0.5 else np.sqrt(D)
    elif structure == "ties":
        D = rng.integers(0, 4, (n, n)).astype(float)
    elif structure == "mixed":
        D = 10 ** rng.uniform(-rng.choice([5, 50, 250]), 0, (n, n))
    else:
        D = np.ones((n, n)) if structure == "constant" else rng.random((n, n))
    if structure == "outlier":
        D[n // 2] *= 10.0 ** rng.integers(3, 30)
    if structure != "asymmetric" and rng.random() < 0.8:
        D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    return D / (D.max() or 1.0)


def _scaled(D: np.ndarray, structure: str, rng: np.random.Generator) -> np.ndarray:
    """D at a random size and of a random type."""
    if structure == "ties" and rng.random() < 0.3:
        return np.rint(3 * D).astype(rng.choice(["int64", "uint8", "float16", ">f8"]))
    size = float(rng.choice(SIZES))
    if rng.random() < 0.3:
        return (D * min(max(size, 1e-42), 3e38)).astype(np.float32)
    return D * size


def _weights(n: int, rng: np.random.Generator, mixed: bool) -> np.ndarray | None:
    if rng.random() < 0.4:
        return None
    kinds = {
        "counts": rng.integers(1, 4, n).astype(float),
        "zeros": rng.integers(0, 3, n).astype(float),
        "real": rng.uniform(0.5, 2, n),
        "mixed": 10 ** rng.uniform(-rng.choice([5, 20, 150]), 0, n),
    }
    names = [*kinds] if mixed else ["counts", "zeros", "real"]
    m = kinds[str(rng.choice(names))] * float(rng.choice(HEAVY))
    return m if m.any() else None


def _map(name: str, K: int, counting: np.ndarray, largest: float, rng: np.random.Generator) -> Any:
    """A map with random values of all its parameters."""

    def some(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    params: dict[str, Any] = {"random_state": int(rng.integers(100)), "n_init": some(1, 1, 1, 2)}
    params["init"] = some("random", "k-medoids++", rng.permutation(counting)[:K])
    if name.startswith("Median"):
        params |= {
            "annealing": some("auto", "median", "relational", "none"),
            "collisions": some("distinct", "distinct", "noise", "allow"),
            "refine": some(None, "swap"), "max_swaps": some(None, None, 0, 3),
        }  # fmt: skip
    if name.endswith("KMeans"):
        params |= {"n_clusters": K, "max_iter": some(300, 3)}
        if params.get("annealing") != "none":
            params["temperature"] = some(None, None, "auto", 0.1 * largest or 1.0)
    else:
        widths = some(
            (None, 0.01), (None, 0.5), (None, 2.0), (None, 0.1), (1.0, 1e-9), (1e300, 1e-300), (1e90, 1e-90), (3.0, 3.0)
        )
        params |= {"n_epochs": some(1, 4, 10), "neighborhood": some("exponential", "gaussian")}
        params |= {"sigma_start": widths[0], "sigma_end": widths[1]}
    if name.endswith("NeuralGas"):
        params |= {"n_clusters": K, "truncate": some(None, None, 0, 2), "compression": some(None, "auto", 2)}
    if name.endswith("SOM"):
        rows = some(*(r for r in range(1, K + 1) if K % r == 0))
        params |= {
            "grid": (rows, K // rows), "lattice": some("rectangular", "hexagonal"),
            "periodic": some(False, rows % 2 == 0),
            "normalized": some(True, False), "winner": some("neighborhood", "nearest"), "arrange": some(True, False),
            "truncate": some(None, None, 0.0, 1.5), "init": some(params["init"], "embedding"),
        }  # fmt: skip
        if name == "MedianSOM":
            params["order"] = some(0.0, 0.12, 0.5)
    return getattr(medianmap, name)(metric="precomputed", **params)


# --- one way to the answer ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """A fitted model, or the sentence with which it was refused."""

    model: Any = None
    refused: str = ""

    @property
    def map(self) -> Any:
        return getattr(self.model, "estimator_", self.model)

    def parts(self) -> dict[str, np.ndarray]:
        fitted, found = self.map, {}
        for name in ("labels_", "hits_", "medoid_indices_", "exemplar_indices_", "inertia_", "n_iter_", "self_terms_"):
            if hasattr(fitted, name):
                found[name] = np.asarray(getattr(fitted, name))
        for name in ("sigma", "cost", "quantization_error", "moved"):
            found[f"history_[{name!r}]"] = fitted.history_[name]
        if hasattr(fitted, "coefficients_"):
            found["coefficients_"] = fitted.coefficients_.toarray()
        if fitted is not self.model:
            found["prototype_labels_"] = self.model.prototype_labels_
        return found


def answer(case: Case, D: Any = None, m: Any = None, **params: Any) -> Answer:
    """Fit with RuntimeWarnings as errors."""
    model = case.model(**params)
    D, m = case.D if D is None else D, case.m if m is None else m
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            return Answer(model.fit(D, case.y, sample_weight=m))
        except ValueError as error:
            if any(word in str(error) for word in REFUSALS):
                return Answer(refused=str(error))
            raise


def difference(a: Answer, b: Answer, names: tuple[str, ...] = ()) -> str:
    """What differs between two answers, to the last bit; empty if nothing does."""
    if a.refused or b.refused:
        return "" if bool(a.refused) == bool(b.refused) else f"refused: {a.refused or b.refused}"
    p, q = a.parts(), b.parts()
    return ", ".join(
        name for name in names or p
        if p.keys() != q.keys() or not np.array_equal(p[name], q[name], equal_nan=p[name].dtype.kind == "f")
    )  # fmt: skip


# --- the checks, each by its kind -----------------------------------------------------------------------------------


def failures(seed: int, seen: Counter[str] | None = None) -> dict[str, str]:
    """What went wrong in the case of this seed, by kind; each check that applied is counted in `seen`."""
    case, wrong = make_case(seed), {}
    seen = Counter() if seen is None else seen
    try:
        first = answer(case, **({"search": "standard"} if hasattr(case.map, "search") else {}), n_jobs=1)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    seen["refused" if first.refused else "fitted"] += 1
    for kind, check in CHECKS.items():
        try:
            found = check(case, first)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        seen[kind] += found is not None
        if found:
            wrong[kind] = found
    return wrong


def _searches(case: Case, first: Answer) -> str | None:
    if not hasattr(case.map, "search"):
        return None
    every = strategies_for(case.map._gives) if case.seed % 4 == 0 else case_searches(case)
    # The low-rank screens too, which so few points would not call for.
    with patch("medianmap.search.rank_screen.SMALLEST_LOW_RANK", (1, 1) if case.seed % 2 else (1000, 20)):
        told = [(name, difference(first, answer(case, search=name))) for name in every if name != "standard"]
    return "; ".join(f"{name}: {what}" for name, what in told if what)


def case_searches(case: Case) -> list[str]:
    """Two of the searches and the default."""
    every = [name for name in strategies_for(case.map._gives) if name != "standard"]
    return ["auto", *{every[case.seed % len(every)], every[(case.seed // 7) % len(every)]}]


def _finite(case: Case, first: Answer) -> str | None:
    if first.refused:
        return None
    odd = [name for name, part in first.parts().items() if part.dtype.kind == "f" and not np.isfinite(part).all()]
    return ", ".join(odd)


def _threads(case: Case, first: Answer) -> str | None:
    return difference(answer(case, n_jobs=1), answer(case, n_jobs=2))


def _memory_map(case: Case, first: Answer) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "D.npy"
        np.save(path, case.D)
        return difference(answer(case), answer(case, np.load(path, mmap_mode="r")))


def _condensed(case: Case, first: Answer) -> str | None:
    if not np.array_equal(case.D, case.D.T) or case.D.dtype == np.float16 or len(case.D) == 1:
        return None
    v = case.D[np.triu_indices(len(case.D), 1)]
    return difference(answer(case), answer(case, v), ("labels_", "hits_", "inertia_", "history_['cost']"))


def _powers_of_two(case: Case, first: Answer) -> str | None:
    """Half the dissimilarities and four times the weights: the same map."""
    D, m = case.D, np.ones(len(case.D)) if case.m is None else case.m
    known = getattr(case.map, "temperature", None)
    if D.dtype != np.float64 or not D.any():
        return None
    low = D[D > 0].min()
    if low < 1e-300 or m[m > 0].min() < 1e-290 or not isinstance(known, str | None):
        return None
    a, b = answer(case), answer(case, D / 2, 4 * m)
    if a.refused or b.refused or case.labelled.get("beta", 1.0) < 1.0:
        return None
    names = tuple(n for n in ("labels_", "medoid_indices_", "exemplar_indices_", "coefficients_") if n in a.parts())
    wrong = difference(a, b, names)
    costs = 2 * a.map.history_["cost"], b.map.history_["cost"]
    return wrong or ("" if np.allclose(*costs, rtol=1e-15, atol=1e-307) else "cost")  # subnormal ones are rounded


def _plain(case: Case) -> bool:
    """Whether nothing but rounding depends on the order of the points: two points alone are tied if D is symmetric."""
    known = case.map.get_params()
    return (
        hasattr(case.map, "search") and case.structure == "asymmetric" and case.y is None
        and not isinstance(known["init"], str) and known["n_init"] == 1 and known["refine"] is None
        and known["annealing"] == "median" and known["collisions"] != "noise" and known.get("temperature") is None
        and (case.m is None or case.m[case.m > 0].min() > 1e-12 * case.m.max())
    )  # fmt: skip


def _permuted(case: Case, first: Answer) -> str | None:
    if not _plain(case) or first.refused:
        return None
    p = np.random.default_rng(case.seed).permutation(len(case.D))
    D, m = np.ascontiguousarray(case.D[np.ix_(p, p)]), None if case.m is None else case.m[p]
    other = answer(case, D, m, init=np.argsort(p)[case.map.init])
    return "" if np.array_equal(p[other.map.medoid_indices_], first.map.medoid_indices_) else "medoid_indices_"


def _doubled(case: Case, first: Answer) -> str | None:
    """A point twice instead of a point of weight 2; the second comes later, so that ties go to the first."""
    if not _plain(case) or first.refused or case.map.collisions != "allow":
        return None
    n, rng = len(case.D), np.random.default_rng(case.seed)
    m = np.ones(n) if case.m is None else case.m
    twice = np.flatnonzero((rng.random(n) < 0.5) & (m > 0))
    at = np.concatenate([np.arange(n), twice])
    heavier = m.copy()
    heavier[twice] *= 2
    a, b = answer(case, m=heavier), answer(case, np.ascontiguousarray(case.D[np.ix_(at, at)]), m[at])
    if a.refused or b.refused:
        return None
    return "" if np.array_equal(a.map.medoid_indices_, at[b.map.medoid_indices_]) else "medoid_indices_"


def _saved(case: Case, first: Answer) -> str | None:
    if first.refused:
        return None
    with tempfile.TemporaryDirectory() as folder:
        save(first.model, Path(folder) / "model")
        again = load(Path(folder) / "model")
    wrong = difference(first, Answer(again))
    seen = again.predict(case.D) if case.y is None else again.estimator_.predict(case.D)
    return wrong or ("" if np.array_equal(seen, first.map.labels_) else "predict is not labels_")


def _swaps(case: Case, first: Answer) -> str | None:
    """No single swap lowers the summed dissimilarity of what swaps call settled."""
    known = case.map.get_params()
    if known.get("refine") is None or known["max_swaps"] is not None or known.get("order") or case.y is not None:
        return None
    if first.refused or len(case.D) > 40:
        return None
    fitted, m = first.map, np.ones(len(case.D)) if case.m is None else case.m
    keep = np.flatnonzero(m)
    # In the range in which nothing is lost, so that the sums are as good as float64 has them.
    D = np.ldexp(case.D[np.ix_(keep, keep)].astype(np.float64), -int(np.frexp(float(case.D.max()))[1]))
    m = np.ldexp(m[keep], -int(np.frexp(m.max())[1]))
    w = np.searchsorted(keep, fitted.medoid_indices_)
    loss = float((m * D[:, w].min(axis=1)).sum())
    for j, c in product(range(len(w)), range(len(keep))):
        other = np.where(np.arange(len(w)) == j, c, w)
        if c not in w and (less := float((m * D[:, other].min(axis=1)).sum())) < loss * (1 - 1e-14 * len(keep)):
            return f"{w[j]} -> {c} lowers {loss!r} to {less!r}"
    return ""


CHECKS: dict[str, Callable[[Case, Answer], str | None]] = {
    "finite": _finite, "searches": _searches, "threads": _threads, "memory map": _memory_map, "condensed": _condensed,
    "powers of two": _powers_of_two, "permutation": _permuted, "duplication": _doubled, "save and load": _saved,
    "swaps": _swaps,
}  # fmt: skip
