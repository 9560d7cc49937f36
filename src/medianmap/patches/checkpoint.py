"""The checkpoint of a pass: its state after every patch in one file, from which a killed run goes on."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from .._version import __version__
from ..estimators.archive import Kind, Reader, Writer
from .one_patch import PatchCost
from .points import Prototypes

CHECKPOINT = Kind("checkpoint.json", "medianmap-checkpoint", 1, "medianmap checkpoint")


@dataclass(frozen=True)
class PassProgress:
    """How far a pass is: the prototypes, what it took so far, the seed of all patches."""

    seed: int
    prototypes: Prototypes | None = None
    n_patches: int = 0
    n_seen: int = 0  # points read, those of weight 0 included
    evaluations: int = 0
    epochs: int = 0

    def after(self, prototypes: Prototypes | None, cost: PatchCost) -> PassProgress:
        """The progress after one more patch; merged prototypes, for which no point is read, are no patch."""
        return PassProgress(
            self.seed,
            prototypes,
            self.n_patches + (cost.n_read > 0),
            self.n_seen + cost.n_read,
            self.evaluations + cost.evaluations,
            self.epochs + cost.epochs,
        )


def write_checkpoint(path: str | os.PathLike[str], about: str, progress: PassProgress) -> None:
    """Write atomically: the checkpoint before stays until this one is complete."""
    writer = Writer()
    prototypes = progress.prototypes
    content = {
        "about": about,
        "counts": [progress.seed, progress.n_patches, progress.n_seen, progress.evaluations, progress.epochs],
        "prototypes": None if prototypes is None else writer.encode(dict(vars(prototypes)), "a prototype"),
    }
    CHECKPOINT.write(path, content, writer.arrays)


def seed_of_checkpoint(path: str | os.PathLike[str], otherwise: int) -> int:
    """The seed with which the run in the file began; `otherwise` where there is no file yet."""
    if not Path(path).exists():
        return otherwise
    header, archive = CHECKPOINT.open(path)
    archive.close()
    try:
        return int(header["counts"][0])
    except Exception as error:
        raise CHECKPOINT.damaged(path, error) from None


def read_checkpoint(path: str | os.PathLike[str], about: str) -> PassProgress | None:
    """The progress in the file; None if there is no file. ValueError if it is damaged or of another pass."""
    if not Path(path).exists():
        return None
    header, archive = CHECKPOINT.open(path)
    with archive:
        try:
            found = header["about"]
            prototypes = Reader(archive).decode(header["prototypes"])
            seed, *counts = (int(count) for count in header["counts"])
            progress = PassProgress(seed, None if prototypes is None else Prototypes(**prototypes), *counts)
        except Exception as error:
            raise CHECKPOINT.damaged(path, error) from None
    if found != about:
        raise ValueError(
            f"{path} is the checkpoint of another run (other data, map or settings); choose another file for this run, "
            "or delete that one."
        )
    if header.get("medianmap") != __version__:
        warnings.warn(
            f"{path} was written by medianmap {header.get('medianmap')}, this is {__version__}: the run goes on, but "
            "its result may differ from that of one version alone.",
            UserWarning,
            stacklevel=2,
        )
    return progress
