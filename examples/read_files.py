"""One set of sequences read three ways: from FASTA with a metric, from search scores, and from a PHYLIP matrix."""

import tempfile
from pathlib import Path

from medianmap import MedianKMeans
from medianmap.readers import read, write_phylip

FASTA = """>h1 helix
MKALAEELAKKL
>h2 helix
MKALAEKLAKKL
>h3 helix
MRALAEELAKRL
>s1 strand
TVTVKVTVNGTV
>s2 strand
TVTIKVTVNGTI
"""
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "toy.fasta").write_text(FASTA)
    records = read(folder / "toy.fasta", label=1, alphabet="protein")
    source = records.source("edit")

    # What another program would hand over: identities in per cent, and a matrix.
    D = source.block(slice(None), slice(None))
    rows = [(a, b, 100 - 100 * d / 12) for a, row in zip(records.ids, D, strict=True)
            for b, d in zip(records.ids, row, strict=True)]  # fmt: skip
    (folder / "identity.tsv").write_text("".join(f"{a}\t{b}\t{s}\n" for a, b, s in rows))
    write_phylip(folder / "toy.phy", D, records.ids)

    sources = {
        "FASTA + edit": source,
        "identities": read(folder / "identity.tsv", similarity="1-s/100").source(),
        "PHYLIP": read(folder / "toy.phy").source(),
    }
    for title, given in sources.items():
        fitted = MedianKMeans(2, metric="precomputed", n_init=5, random_state=0).fit(given)
        print(f"{title:14s} exemplars {', '.join(fitted.prototype_ids_)}; labels {fitted.labels_.tolist()}")
