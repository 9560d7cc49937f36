"""630 globins from UniProtKB/Swiss-Prot, shipped with the package; GLOBINS.md beside this file has the attribution."""

from __future__ import annotations

from importlib.resources import files

from .records import Sequences


def load_globins() -> Sequences:
    """630 globin sequences under their Swiss-Prot entry names, with families by name.

    HA 235 and HB 197 (alpha and beta chains of haemoglobin), MY 71 (myoglobin), GG/GP 81 (globins of invertebrates and
    plants), others 46. UniProtKB/Swiss-Prot, CC BY 4.0.
    """
    text = (files(__package__) / "globins.fasta").read_text(encoding="ascii")
    records = [record.split("\n", 1) for record in text.split(">")[1:]]
    heads = [head.split() for head, _ in records]
    return Sequences(
        ["".join(body.split()) for _, body in records], [head[0] for head in heads], [head[1] for head in heads]
    )
