"""Draw docs/report.png: the report that the README's first example writes, in a browser, one neuron chosen.

python docs/report_picture.py docs/report.png        (needs playwright and chromium, and no network)
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from medianmap import MedianSOM
from medianmap.datasets import load_globins
from medianmap.report.content import gather
from medianmap.report.html import render
from medianmap.utils.files import write_text

EXEMPLAR = "HBAZ_HUMAN"
CHROMIUM = os.environ.get("MEDIANMAP_CHROMIUM") or shutil.which("chromium")


def main(picture: str) -> None:
    globins = load_globins()
    som = MedianSOM((8, 10), metric="alignment", refine="swap", random_state=0).fit(globins.sequences)
    content = gather(som, globins.sequences, ids=globins.ids, y=globins.families, title="Globins by alignment")
    chosen = [neuron["exemplar"] for neuron in content["neurons"]].index(EXEMPLAR)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        write_text(page_file, render(content))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.click(f"#n{chosen}")
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
