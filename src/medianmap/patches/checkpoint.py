"""The checkpoint of a pass: its state after every patch in one file, from which a killed run continues."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from .._version import __version__
from ..estimators.model_file import Kind, Reader, Writer
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
    about: str = ""  # fingerprint of data, map and settings, where there is a checkpoint

    def after(self, prototypes: Prototypes | None, cost: PatchCost) -> PassProgress:
        """The progress after one more patch; merged prototypes, for which no point is read, are no patch."""
        return replace(
            self, prototypes=prototypes, n_patches=self.n_patches + (cost.n_read > 0), n_seen=self.n_seen + cost.n_read,
            evaluations=self.evaluations + cost.evaluations, epochs=self.epochs + cost.epochs,
        )  # fmt: skip


def write_checkpoint(path: str | os.PathLike[str], progress: PassProgress) -> None:
    """Write atomically: the checkpoint before stays until this one is complete."""
    writer, prototypes = Writer(), progress.prototypes
    content = {
        "about": progress.about,
        "counts": [progress.seed, progress.n_patches, progress.n_seen, progress.evaluations, progress.epochs],
        "prototypes": None if prototypes is None else writer.encode(dict(vars(prototypes)), "a prototype"),
    }
    CHECKPOINT.write(path, content, writer.arrays)


def read_checkpoint(path: str | os.PathLike[str]) -> PassProgress | None:
    """The progress in the file; None if there is no file, ValueError if it is damaged."""
    if not Path(path).exists():
        return None
    header, archive = CHECKPOINT.open(path)
    with archive:
        try:
            decoded = Reader(archive).decode(header["prototypes"])
            prototypes = None if decoded is None else Prototypes(**decoded)
            seed, patches, seen, evaluations, epochs = (int(count) for count in header["counts"])
            progress = PassProgress(seed, prototypes, patches, seen, evaluations, epochs, header["about"])
        except Exception as error:
            raise CHECKPOINT.damaged(path, error) from None
    if header.get("medianmap") != __version__:
        warnings.warn(
            f"{path} was written by medianmap {header.get('medianmap')}, this is {__version__}: the run continues, but "
            "its result may differ from that of one version alone.", UserWarning, stacklevel=2,
        )  # fmt: skip
    return progress
