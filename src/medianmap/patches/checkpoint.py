"""The checkpoint of a pass: its state after every patch in one file, from which a killed run continues."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..estimators.model_file import Kind, Reader, Writer
from ..sources.computed import take
from .fields import Fields
from .one_patch import PatchCost
from .points import Prototypes, joined

CHECKPOINT = Kind("checkpoint.json", "medianmap-checkpoint", 1, "medianmap checkpoint")


@dataclass(frozen=True)
class Level:
    """The summaries that one level of a tree holds, and how many were added to it, and joined there, so far."""

    sets: tuple[Prototypes, ...] = ()
    n_added: int = 0
    n_joins: int = 0


@dataclass(frozen=True)
class PassProgress:
    """How far a pass is: the prototypes, what it took so far, the seed of all patches.

    Of a tree it has the levels, or the points of the first patch as long as that is alone; the prototypes come last.
    """

    seed: int
    prototypes: Prototypes | None = None
    n_patches: int = 0
    n_seen: int = 0  # points read, those of weight 0 included
    evaluations: int = 0
    epochs: int = 0
    about: str = ""  # fingerprint of data, map and settings, where there is a checkpoint
    levels: tuple[Level, ...] = ()
    alone: Prototypes | None = None

    @property
    def n_leaves(self) -> int:
        """How many patches of a tree are summarised."""
        return self.levels[0].n_added if self.levels else 0

    @property
    def held(self) -> list[Prototypes]:
        """The sets of points that a tree holds, those of the newest patches first."""
        return [*(() if self.alone is None else (self.alone,)), *(each for level in self.levels for each in level.sets)]

    @property
    def summary(self) -> dict[str, Any]:
        """The summaries, without dissimilarities and labels: see `PatchClusterer.summary_`."""
        held = self.held
        sizes = [(len(each.m), k) for k, level in enumerate(self.levels) for each in level.sets]
        about = {
            "points": joined(*(each.points for each in held)),
            "indices": np.concatenate([each.places for each in held]),
            "multiplicities": np.concatenate([each.m for each in held]),
            "sets": np.array(sizes, np.intp),
            "counts": np.array([(level.n_added, level.n_joins) for level in self.levels], np.intp),
        }
        fields = [each.fields for each in held if each.fields is not None]
        if fields and len(fields) == len(held):  # means have none, nor have models of earlier versions
            about["means"] = np.concatenate([each.means.ravel() for each in fields])
            about["near"] = np.concatenate([each.near for each in fields])
            about["rules"] = np.concatenate([each.rules for each in fields])
        return about

    def holding(self, summary: dict[str, Any]) -> PassProgress:
        """The same with the `summary` of another."""
        m, first, squares = summary["multiplicities"], 0, 0

        def part(size: int) -> Prototypes:
            nonlocal first, squares
            at, first = np.arange(first, first + size), first + size
            fields = None
            if "means" in summary:
                means, squares = summary["means"][squares : squares + size * size], squares + size * size
                fields = Fields(means.reshape(size, size), summary["near"][at], summary["rules"][at])
            own = take(summary["points"], at), summary["indices"][at], m[at], None, np.empty((size, 0))
            return Prototypes(*own, fields=fields)

        sets = [(level, part(size)) for size, level in summary["sets"].tolist()]
        levels = [
            Level(tuple(each for level, each in sets if level == k), *counts)
            for k, counts in enumerate(summary["counts"].tolist())
        ]
        return replace(self, levels=tuple(levels))

    def with_held(self, change: Callable[[Prototypes], Prototypes]) -> PassProgress:
        """The same with every summary changed."""
        levels = tuple(replace(level, sets=tuple(map(change, level.sets))) for level in self.levels)
        return replace(self, levels=levels)

    def after(self, prototypes: Prototypes | None, cost: PatchCost) -> PassProgress:
        """The progress after one more patch; merged prototypes, for which no point is read, are no patch."""
        return replace(
            self, prototypes=prototypes, n_patches=self.n_patches + (cost.n_read > 0), n_seen=self.n_seen + cost.n_read,
            evaluations=self.evaluations + cost.evaluations, epochs=self.epochs + cost.epochs,
        )  # fmt: skip


def write_checkpoint(path: str | os.PathLike[str], progress: PassProgress) -> None:
    """Write atomically: the checkpoint before stays until this one is complete."""
    writer, prototypes = Writer(), progress.prototypes

    def encoded(points: Prototypes | None) -> Any:
        if points is None:
            return None
        own = vars(points)
        return writer.encode({**own, "fields": points.fields and dict(vars(points.fields))}, "a prototype")

    content = {
        "about": progress.about,
        "counts": [progress.seed, progress.n_patches, progress.n_seen, progress.evaluations, progress.epochs],
        "prototypes": encoded(prototypes),
        "alone": encoded(progress.alone),
        "levels": [[list(map(encoded, level.sets)), level.n_added, level.n_joins] for level in progress.levels],
    }
    CHECKPOINT.write(path, content, writer.arrays)


def read_checkpoint(path: str | os.PathLike[str]) -> PassProgress | None:
    """The progress in the file; None if there is no file, ValueError if it is damaged."""
    if not Path(path).exists():
        return None
    header, archive = CHECKPOINT.open(path)
    with archive:
        try:
            reader = Reader(archive)

            def decoded(content: Any) -> Any:
                if content is None:
                    return None
                own = reader.decode(content)
                fields = own.pop("fields", None)  # missing in files of earlier versions
                return Prototypes(**own, fields=fields and Fields(**fields))

            seed, patches, seen, evaluations, epochs = (int(count) for count in header["counts"])
            levels = tuple(Level(tuple(map(decoded, sets)), *counts) for sets, *counts in header["levels"])
            progress = PassProgress(
                seed, decoded(header["prototypes"]), patches, seen, evaluations, epochs, header["about"], levels,
                decoded(header["alone"]),
            )  # fmt: skip
        except Exception as error:
            raise CHECKPOINT.damaged(path, error) from None
    if header.get("medianmap") != __version__:
        warnings.warn(
            f"{path} was written by medianmap {header.get('medianmap')}, this is {__version__}: the run continues, but "
            "its result may differ from that of one version alone.", UserWarning, stacklevel=2,
        )  # fmt: skip
    return progress
