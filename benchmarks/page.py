"""How large a page is, and how long a browser needs until it answers: 120 neurons, and 100000 points.

python benchmarks/page.py        (needs playwright and chromium; docs/report.md has the figures)

Prints for each page its bytes, the seconds from opening the file until it is ready, from a click until a neuron shows,
and until another colouring is painted; the best of three. Ready: all but the later rows of the table is drawn.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import medianmap

CHROMIUM = os.environ.get("MEDIANMAP_CHROMIUM") or shutil.which("chromium")
CLICK = """j => { const from = performance.now();
  document.getElementById('n' + j).dispatchEvent(new MouseEvent('click', { bubbles: true }));
  document.querySelector('#panel h2').getBoundingClientRect(); return (performance.now() - from) / 1000; }"""
PAINT = """() => { const from = performance.now(); document.querySelector('input[value=u]').click();
  document.querySelector('#map').getBoundingClientRect(); return (performance.now() - from) / 1000; }"""


def globins() -> Any:
    data = medianmap.load_globins()
    som = medianmap.MedianSOM((10, 12), metric="kmer", random_state=0).fit(data.sequences)
    species = [name.split("_")[-1] for name in data.ids]
    return medianmap.report(som, data.sequences, ids=data.ids, y=data.families, metadata={"species": species})


def crowd() -> Any:
    """How well the map is trained is nothing to its page: one epoch."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100_000, 3)) + 4 * rng.integers(3, size=(100_000, 1))
    som = medianmap.BatchSOM((40, 50), n_epochs=1, sigma_start=0.01, sigma_end=0.01, init=X[:2000]).fit(X[:2000])
    ids = [f"sp|Q{i:06d}|PROT{i % 977:03d}_HUMAN" for i in range(len(X))]
    return medianmap.report(som, X, ids=ids, y=[f"family {k}" for k in rng.integers(6, size=len(X))],
                            metadata={"year": rng.integers(1968, 2020, size=len(X)).tolist()})  # fmt: skip


def main() -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, make in (("630 globins, 120 neurons", globins), ("100000 points, 2000 neurons", crowd)):
            file = Path(folder) / "report.html"
            make().save(file)
            best = [np.inf] * 3
            for _ in range(3):
                page = browser.new_page(viewport={"width": 1280, "height": 720})
                start = perf_counter()
                page.goto(file.as_uri())
                page.wait_for_selector("html[data-ready]")
                times = perf_counter() - start, page.evaluate(CLICK, 50), page.evaluate(PAINT)
                best = [min(one, other) for one, other in zip(best, times, strict=True)]
                page.close()
            told = ", ".join(f"{what} {s:.2f} s" for what, s in zip(("ready", "click", "colouring"), best, strict=True))
            print(f"{name}: {file.stat().st_size:,} bytes; {told}")
        browser.close()


if __name__ == "__main__":
    main()
