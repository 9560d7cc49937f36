"""`medianmap.report(model, X)`: what a person calls to look at a map, from a script or a notebook."""

import json
import os
import pydoc
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from support.maps import blobs
from support.pages import until

import medianmap
from medianmap import MedianSOM
from medianmap.report.summary import summarize

HOSTILE = """</iframe><script>parent.document.title='owned'</script>"'"""


@pytest.fixture(scope="module")
def page():
    X = blobs(np.random.default_rng(0))
    som = MedianSOM((2, 3), n_epochs=5, random_state=0).fit(X)
    ids = [f"{HOSTILE}{i}" for i in range(len(X))]
    return medianmap.report(som, X, ids=ids, y=["a", "b", None] * 20, title=HOSTILE)


class Frames(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_a_page_is_saved_whole_and_shown_in_a_frame_of_its_own(page, tmp_path):
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page.html
    assert os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(FileNotFoundError, match="no folder"):
        page.save(tmp_path / "nowhere" / "report.html")
    [(tag, attributes)] = Frames(page._repr_html_()).found  # nothing of the page leaks into the notebook
    assert tag == "iframe"
    assert attributes["srcdoc"] == page.html
    assert "allow-same-origin" not in attributes["sandbox"]
    assert HOSTILE in repr(page)


def test_the_frame_works_in_a_browser(page, browser, tmp_path):
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><title>nb</title>{page._repr_html_()}", encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, offline=True)
    heard = []
    notebook = context.new_page()
    notebook.on("pageerror", lambda error: heard.append(str(error)))
    notebook.goto((tmp_path / "notebook.html").as_uri())
    frame = notebook.frames[1]
    frame.wait_for_selector("html[data-ready]")
    frame.click("#n0")
    until(frame, "document.querySelector('#panel').textContent.length > 100")
    assert notebook.title() == "nb"
    assert heard == []
    context.close()


def test_the_summary_is_plain_and_says_what_the_map_says(page):
    facts = page.summary
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["n_points"] == sum(neuron["points"] for neuron in facts["neurons"]) == 60
    assert facts["quality"]["purity"] == pytest.approx(
        sum(neuron["purity"] * sum(c >= 0 for c in listed["classes"]) for neuron, listed in
            zip(facts["neurons"], facts["members"], strict=True) if neuron["purity"]) / 40
    )  # fmt: skip
    assert page.content["quality"]["quantization_error"] == float(f"{facts['quality']['quantization_error']:.6g}")


def test_a_model_alone_has_facts_too(rng):
    X = blobs(rng)
    som = MedianSOM((2, 3), n_epochs=5, random_state=0).fit(X)
    alone, whole = summarize(som), summarize(som, X, structure=True)
    assert alone["quality"]["quantization_error"] == som.quantization_error_
    assert alone["quality"]["quantization_error"] == pytest.approx(whole["quality"]["quantization_error"])
    assert [n["hits"] for n in alone["neurons"]] == [n["points"] for n in whole["neurons"]]
    assert "n_points" not in alone


def test_an_unfitted_or_foreign_model_is_refused_in_one_sentence(rng):
    X = blobs(rng)
    with pytest.raises(NotFittedError, match="MedianSOM"):
        medianmap.report(MedianSOM((2, 3)), X)
    with pytest.raises(TypeError, match="KMeans"):
        medianmap.report(KMeans(2).fit(X), X)
    with pytest.raises(TypeError, match="estimator"):
        medianmap.report("model.mmap", X)


@pytest.mark.parametrize(
    "order",
    [
        "import medianmap; r = medianmap.report; import medianmap.report.plots as plots",
        "import medianmap.report.plots as plots; import medianmap; r = medianmap.report",
        "from medianmap import report as r; import medianmap; from medianmap.report import plots",
        "from medianmap.report.plots import MapDisplay; from medianmap import report as r; import medianmap\n"
        "plots = medianmap.report.plots",
        "import medianmap; from medianmap.report.summary import summarize; r = medianmap.report\n"
        "import medianmap.report.plots as plots",
    ],
)
def test_the_name_is_the_function_and_the_package_in_any_order_of_import(order):
    code = f"{order}\nassert r is medianmap.report and r.plots is plots and plots.MapDisplay\nimport inspect\n" \
        "print(inspect.isfunction(r), list(inspect.signature(r).parameters)[:2], r.Report.__name__)"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "True ['model', 'X'] Report\n", done.stderr


def test_help_is_that_of_the_function():
    shown = pydoc.render_doc(medianmap.report, renderer=pydoc.plaintext)
    assert shown.startswith("Python Library Documentation: function report in module medianmap.report\n")
    assert "PACKAGE CONTENTS" not in shown
    assert "self-contained" not in shown
    assert "title : heading of the page" in shown


def test_importing_the_package_is_light():
    code = (
        "import sys, medianmap; print([n for n in ('numpy', 'sklearn', 'numba', 'rich', 'jinja2') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
