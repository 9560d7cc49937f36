"""Pages to pass on: a map coloured by what is known of its points, framed for documentation, and two maps compared."""

import tempfile
from pathlib import Path

import medianmap

globins = medianmap.load_globins()
few = slice(0, 630, 3)
sequences, ids, families = globins.sequences[few], globins.ids[few], globins.families[few]
threes, twos = (
    medianmap.MedianSOM((5, 6), metric="kmer", metric_params={"k": k}, random_state=0).fit(sequences) for k in (3, 2)
)

known = {"species": [name.split("_")[-1] for name in ids], "length": [len(each) for each in sequences]}
page = medianmap.report(threes, sequences, ids=ids, y=families, metadata=known, title="Globins by shared 3-mers")
both = medianmap.compare(threes, twos, sequences, ids=ids, y=families, names=("3-mers", "2-mers"))

folder = Path(tempfile.mkdtemp(prefix="globins-"))
page.save(folder / "report.html")
both.save(folder / "compare.html")
(folder / "documentation.html").write_text(f"<!doctype html><title>Globins</title>{page.frame(height=700)}", "utf-8")
print("pages in", folder)

print(f"adjusted Rand index {both.summary['adjusted_rand']:.2f}, {len(both.summary['moved'])} of {len(ids)} moved")
for each in both.summary["moved"][:3]:
    print(f"{each['id']} went from neuron {each['a']} to {each['b']}, not to {each['match']}")
