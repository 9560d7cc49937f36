"""Whether two versions of the code give the same maps, bit for bit.

    python benchmarks/same_results.py --before REV     this tree against a git revision
    python benchmarks/same_results.py --dump FILE      what this tree gives, as an .npz file

Fits the nine maps, refined and supervised ones, and patches on the shipped data, and compares every fitted attribute.
Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
ATTRIBUTES = ("labels_", "medoid_indices_", "cluster_centers_", "inertia_", "quantization_error_", "hits_", "n_iter_",
              "converged_", "n_swaps_", "n_evaluations_", "prototype_labels_", "coefficients_", "support_",
              "self_terms_", "multiplicities_", "history_")  # fmt: skip


def cases() -> Iterator[tuple[str, Callable[[], Any], Any, Any]]:
    """(name, a function that makes the estimator, X, y or None) of every fit; public names only."""
    import medianmap as mm
    from medianmap import datasets

    def source(objects: Any, metric: str) -> Any:
        return np.asarray(mm.as_dissimilarity(objects, metric).block(slice(None), slice(None)))

    globins, iris, cancer = datasets.load_globins(), datasets.load_iris(), datasets.load_breast_cancer()
    strings = datasets.simulate_chromosomes(220)
    few = globins.sequences[::3]
    matrices = {
        "globins": (source(few, "alignment"), np.asarray(globins.y)[::3]),
        "chromosomes": (source(strings.sequences, "edit-chromosome"), np.asarray(strings.y)),
    }
    vectors = {"iris": (iris.X, iris.y), "cancer": (cancer.X, cancer.y)}
    shapes = {"KMeans": (8,), "NeuralGas": (9,), "SOM": ((3, 4),)}

    def map_(family: str, shape: str, **params: Any) -> Any:
        return getattr(mm, family + shape)(*shapes[shape], random_state=3, **params)

    for shape in shapes:
        for name, (D, y) in matrices.items():
            for family in ("Median", "Relational"):
                yield f"{family}{shape} {name}", lambda f=family, s=shape: map_(f, s, metric="precomputed"), D, None
            for more in ({"refine": "swap"}, {"annealing": "median"}, {"annealing": "median", "refine": "swap"},
                         {"n_init": 3, "collisions": "allow", "search": "standard"},
                         {"annealing": "median", "collisions": "noise", "init": "k-medoids++"}):  # fmt: skip
                said = ", ".join(f"{key}={value}" for key, value in more.items())
                make = lambda s=shape, m=more: map_("Median", s, metric="precomputed", **m)  # noqa: E731
                yield f"Median{shape} {name}, {said}", make, D, None
            for beta in (0.3, 0.9):
                make = lambda s=shape, b=beta: mm.PrototypeClassifier(map_("Median", s, metric="precomputed"), b)  # noqa: E731
                yield f"PrototypeClassifier of MedianSOM {name}, beta={beta}".replace("SOM", shape), make, D, y
        for name, (X, y) in vectors.items():
            for family in ("Median", "Relational", "Batch"):
                yield f"{family}{shape} {name}", lambda f=family, s=shape: map_(f, s), X, None
                yield (f"PrototypeClassifier of {family}{shape} {name}",
                       lambda f=family, s=shape: mm.PrototypeClassifier(map_(f, s), 0.5), X, y)  # fmt: skip
                yield (f"PatchClusterer of {family}{shape} {name}",
                       lambda f=family, s=shape: mm.PatchClusterer(map_(f, s), 50), X, None)  # fmt: skip
        yield (f"Median{shape} of globins as strings", lambda s=shape: map_("Median", s, metric="alignment"), few, None)
    whole = mm.MedianSOM((10, 10), metric="alignment", refine="swap", random_state=0)
    yield "MedianSOM of all 630 globins, 10 x 10, refined", lambda: whole, globins.sequences, None
    as_tree = mm.PatchClusterer(map_("Median", "NeuralGas", metric="alignment"), 60, merge="tree")
    yield "PatchClusterer of globins as strings, a tree", lambda: as_tree, few, None


def found(fitted: Any) -> Iterator[tuple[str, np.ndarray]]:
    """(name, array) of each fitted attribute of the estimator and of the map inside it; a field of history_ is one."""
    for inner in ("estimator_", "map_"):
        if hasattr(fitted, inner):
            yield from ((f"{inner}.{name}", array) for name, array in found(getattr(fitted, inner)))
    for name in ATTRIBUTES:
        value = getattr(fitted, name, None)
        if value is None:
            continue
        if hasattr(value, "toarray"):
            value = value.toarray()
        array = np.asarray(value)
        if array.dtype.names:
            yield from ((f"{name}.{field}", array[field]) for field in array.dtype.names)
        else:
            yield name, array.astype(str) if array.dtype == object else array


def dump(path: Path) -> None:
    """Every fit's attributes into an .npz file, under "case: attribute"."""
    import warnings

    import medianmap

    arrays = {"medianmap": np.array(medianmap.__file__)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make, X, y in cases():
            fitted = make().fit(X) if y is None else make().fit(X, y)
            arrays |= {f"{name}: {attribute}": array for attribute, array in found(fitted)}
            arrays[f"{name}: predict"] = np.asarray(fitted.predict(X[:40]))
    np.savez(path, **arrays)


def differences(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> list[str]:
    """What is not the same to the bit: "case: attribute", and in what."""
    said = []
    for key in sorted((set(before) | set(after)) - {"medianmap"}):
        if key not in before or key not in after:
            said.append(f"{key}: only {'before' if key in before else 'after'}")
        elif before[key].dtype != after[key].dtype or before[key].shape != after[key].shape:
            one, other = (f"{a[key].dtype} {a[key].shape}" for a in (before, after))
            said.append(f"{key}: {one} before, {other} after")
        elif before[key].tobytes() != after[key].tobytes():
            said.append(f"{key}: {np.mean(before[key] != after[key]):.0%} of the entries differ")
    return said


@contextmanager
def tree_of(revision: str) -> Iterator[Path]:
    """The files of a git revision in a folder, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def dumped(tree: Path, path: Path) -> dict[str, np.ndarray]:
    """What the code of a tree gives, in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(tree / "src")}
    subprocess.run([sys.executable, __file__, "--dump", str(path)], check=True, env=env)
    with np.load(path) as arrays:
        given = dict(arrays)
    assert Path(str(given["medianmap"])).is_relative_to(tree), given["medianmap"]
    return given


def compare(revision: str) -> int:
    """Print a table of cases; the number of attributes that differ."""
    with tempfile.TemporaryDirectory() as folder, tree_of(revision) as tree:
        before = dumped(tree, Path(folder) / "before.npz")
        after = dumped(ROOT, Path(folder) / "after.npz")
    said = differences(before, after)
    print("| fit | attributes | different |\n| --- | --- | --- |")
    names = dict.fromkeys(key.rsplit(": ", 1)[0] for key in [*before, *after] if key != "medianmap")
    for name in names:
        keys = {key for key in [*before, *after] if key.startswith(f"{name}: ")}
        print(f"| {name} | {len(keys)} | {sum(one.startswith(f'{name}: ') for one in said)} |")
    print(
        f"\n{len(names)} fits, {len(set(before) | set(after)) - 1} attributes, {len(said)} different", *said, sep="\n"
    )
    return len(said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--before", metavar="REV")
    which.add_argument("--dump", type=Path, metavar="FILE")
    given = parser.parse_args()
    if given.dump:
        dump(given.dump)
    else:
        sys.exit(1 if compare(given.before) else 0)


if __name__ == "__main__":
    main()
