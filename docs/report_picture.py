"""Draw docs/report.png: the report that the README's first example writes, in a browser, one neuron chosen.

python docs/report_picture.py docs/report.png        (needs playwright and chromium, and no network)
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import medianmap

EXEMPLAR = "HBAZ_HUMAN"
CHROMIUM = os.environ.get("MEDIANMAP_CHROMIUM") or shutil.which("chromium")


def main(picture: str) -> None:
    globins = medianmap.load_globins()
    som = medianmap.MedianSOM((8, 10), metric="alignment", refine="swap", random_state=0).fit(globins.sequences)
    report = medianmap.report(som, globins.sequences, ids=globins.ids, y=globins.families, title="Globins by alignment")
    chosen = [neuron["exemplar_id"] for neuron in report.summary["neurons"]].index(EXEMPLAR)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        report.save(page_file)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 944}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.click(f"#n{chosen}")
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
