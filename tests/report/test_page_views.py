"""What the page is coloured by, several neurons at once, the plane, and pictures, in a real browser, offline."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from support.pages import page_shows, until

from medianmap import MedianNeuralGas, MedianSOM
from medianmap.datasets import load_globins
from medianmap.report.exemplars import logos
from medianmap.report.html import _column

HOSTILE = "</script><script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def globins():
    data = load_globins()
    keep = range(0, 630, 7)
    strings, ids = [data.sequences[i] for i in keep], [data.ids[i] for i in keep]
    som = MedianSOM((3, 4), metric="kmer", n_epochs=20, random_state=0).fit(strings)
    years = [None if k % 9 == 4 else 1968 + k % 50 for k in range(len(ids))]
    metadata = {
        "year": years,
        "species": [name.split("_")[-1] for name in ids],
        HOSTILE: ids,
        "lab": [k % 3 for k in range(len(ids))],
    }
    content = page_shows(som, strings, ids=ids, y=[data.families[i] for i in keep], title=HOSTILE, metadata=metadata)
    return content, som, strings, ids, years


@pytest.fixture(scope="module")
def address(globins, write):
    return write(globins[0])


def fills(page):
    return page.eval_on_selector_all(".cell", "all => all.map(c => c.getAttribute('fill'))")


def as_rgb(fill):
    return [int(fill[k : k + 2], 16) for k in (1, 3, 5)]


def ramp(content, t):
    stops = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in content["ramps"]["light"]], float)
    return [np.interp(t, np.linspace(0, 1, len(stops)), stops[:, c]) for c in range(3)]


def downloaded(page, button):
    with page.expect_download() as waiting:
        page.click(button)
    return Path(waiting.value.path()), waiting.value.suggested_filename


def lit(page):
    """How many dots of the plane are ringed."""
    return sum(page.eval_on_selector_all("#points .lit", "all => all.map(p => +p.dataset.n)"))


# --- columns of metadata ----------------------------------------------------------------------------------------------


def test_numbers_are_a_scale_of_means_and_classes_are_counted(globins):
    content, som, _, _, years = globins
    year, species, hostile, lab = content["columns"]
    assert [column["kind"] for column in content["columns"]] == ["numbers", "classes", "classes", "classes"]
    assert (hostile["name"], lab["numeric"], species["numeric"]) == (HOSTILE, True, False)
    known = np.array([np.nan if each is None else each for each in years])
    for j in range(12):
        own = known[som.labels_ == j]
        assert year["means"][j] == pytest.approx(np.nanmean(own), rel=1e-5)
        assert sum(lab["counts"][j][1::2]) == len(own)
    assert year["missing"] == np.isnan(known).sum()
    assert year["values"] == sorted(year["values"], key=int)


@pytest.mark.parametrize(
    ("values", "kind", "numeric"),
    [
        ([str(k) for k in range(1990, 2010)], "numbers", True),
        ([*(str(k) for k in range(1990, 2010)), "unknown"], "numbers", True),
        (["0", "1", "2"], "classes", True),
        (["3", "5", "a", "b", "c", "d"], "classes", False),
        ([f"w{k}" for k in range(1001)], "text", False),
        (["unknown"], "classes", False),
    ],
)
def test_the_kind_of_a_column(values, kind, numeric):
    column = _column("x", values, [list(range(len(values)))])
    assert (column["kind"], column["numeric"]) == (kind, numeric)
    assert (column["counts"] is None) == (kind == "text")


def test_colour_by_years_with_bounds(globins, address, visit):
    content, *_ = globins
    page = visit(address)
    page.check("input[value=metadata]")
    means = content["columns"][0]["means"]
    share = (np.array(means) - min(means)) / np.ptp(means)
    for fill, t in zip(fills(page), share, strict=True):
        assert as_rgb(fill) == pytest.approx(ramp(content, t), abs=1.01)
    told = page.inner_text("#legend")
    assert "Mean year" in told
    assert f"{content['columns'][0]['missing']} points without a number" in told
    bound = sorted(means)[5] - 0.001
    page.fill("#bound-from", str(bound))
    dim = page.eval_on_selector_all(".cell.dim", "all => all.map(c => +c.dataset.neuron)")
    assert dim == [j for j, mean in enumerate(means) if mean < bound]
    assert dim
    page.fill("#bound-from", "")
    assert page.locator(".cell.dim").count() == 0
    page.click("#other-face")  # the same years as classes
    assert page.locator("#legend button.key").count() == 21


def test_many_classes_are_searched_and_chosen(globins, address, visit):
    content, *_ = globins
    page = visit(address)
    page.check("input[value=metadata]")
    page.select_option("#metadata", "1")
    column = content["columns"][1]
    totals = np.zeros(len(column["values"]), int)
    for flat in column["counts"]:
        totals[flat[::2]] += flat[1::2]
    assert page.locator("#legend button.key").count() == 21
    assert f"{len(totals) - 21} other classes" in page.inner_text("#legend")
    rare = column["values"][int(np.argsort(-totals, kind="stable")[-1])]
    page.fill("#find-class", rare.lower())
    page.locator("#legend .matches button", has_text=rare).first.click()
    code = column["values"].index(rare)
    holding = [j for j, flat in enumerate(column["counts"]) if code in flat[::2]]
    shown = page.eval_on_selector_all(".cell:not(.dim)", "all => all.map(c => +c.dataset.neuron)")
    assert shown == holding
    page.click("#all-classes")
    assert page.locator(".cell.dim").count() == 0
    page.select_option("#metadata", "2")  # a hostile name is shown, not run
    assert HOSTILE in page.inner_text("#legend")
    assert page.title() == HOSTILE


def test_a_chosen_class_dims_the_rest(globins, address, visit):
    content, *_ = globins
    page = visit(address)
    page.locator("#legend button.key").nth(1).click()
    assert page.locator("#legend button.key").nth(1).get_attribute("aria-pressed") == "true"
    holding = [j for j, flat in enumerate(content["labels"]["counts"]) if 1 in flat[::2]]
    assert page.eval_on_selector_all(".cell:not(.dim)", "all => all.map(c => +c.dataset.neuron)") == holding
    assert sum(page.eval_on_selector_all("#points .pale", "all => all.map(p => +p.dataset.n)")) == sum(
        n for flat in content["labels"]["counts"] for code, n in zip(flat[::2], flat[1::2], strict=True) if code != 1
    )


def test_twelve_classes_have_twelve_looks(write, visit, rng):
    X = rng.normal(size=(240, 2)) + 6 * np.column_stack([np.arange(240) % 4, np.arange(240) % 3])
    som = MedianSOM((4, 5), n_epochs=10, random_state=0).fit(X)
    page = visit(write(page_shows(som, X, y=[f"class {k % 12:02d}" for k in range(240)])))
    looks = page.eval_on_selector_all("#legend .key rect", "all => all.map(r => r.getAttribute('fill'))")
    assert len(set(looks)) == len(looks) == 12
    assert sum(look.startswith("url(#style-") for look in looks) == 5
    for look in looks[7:]:
        assert page.locator(f"{look[4:-1]} path").count() == 1  # stripes


def test_one_large_neuron_leaves_the_pies_of_the_others_legible(globins, write, visit):
    neurons = [{**neuron, "hits": 1 if j else 1000} for j, neuron in enumerate(globins[0]["neurons"])]
    labels = {**globins[0]["labels"], "counts": [[0, 1 if j else 1000] for j in range(12)]}
    page = visit(write({**globins[0], "neurons": neurons, "labels": labels}))
    radii = [float(r) for r in re.findall(r"a([\d.]+) ", page.get_attribute(".slice", "d"))][::2]
    assert max(radii) / min(radii) == pytest.approx(1000**0.25, rel=0.01)  # areas go with the root of the points
    assert "areas grow with the root" in page.inner_text("#legend")


# --- several neurons --------------------------------------------------------------------------------------------------


def drag(page, drawing, corners):
    """Drag over corners, shares of the drawing's box."""
    box = page.locator(drawing).bounding_box()
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=3)
    page.mouse.up()


def picked(page):
    return page.eval_on_selector_all(".cell[aria-selected=true]", "all => all.map(c => +c.dataset.neuron)")


def test_a_rectangle_and_a_lasso_select_neurons_and_their_points(globins, address, visit):
    content, *_ = globins
    page = visit(address)
    page.click("[data-tool=rectangle]")
    drag(page, "#map svg", [(0.02, 0.02), (0.98, 0.98)])
    assert picked(page) == list(range(12))
    assert lit(page) == content["n_points"]
    page.click("[data-tool=lasso]")
    box = page.locator("#map svg").bounding_box()
    at = [page.locator(f"#n{j}").bounding_box() for j in (1, 2)]
    wide = [((b["x"] - box["x"]) / box["width"], (b["y"] - box["y"]) / box["height"]) for b in at]
    (x0, y0), (x1, _) = wide
    width, height = at[0]["width"] / box["width"], at[0]["height"] / box["height"]
    left, right, top, bottom = x0 + 0.1 * width, x1 + 0.9 * width, y0 + 0.4 * height, y0 + 0.6 * height
    drag(page, "#map svg", [(left, top), (right, top), (right, bottom), (left, bottom)])
    assert picked(page) == [1, 2]
    points = content["neurons"][1]["hits"] + content["neurons"][2]["hits"]
    assert page.inner_text("#panel h2") == f"2 neurons · {points} points"
    assert lit(page) == points
    page.click("[data-tool=lasso]")  # no tool again
    page.click("#n7", modifiers=["Control"])
    assert picked(page) == [1, 2, 7]
    page.click("#n1", modifiers=["Control"])
    assert picked(page) == [2, 7]
    page.keyboard.press("Escape")
    assert picked(page) == []
    assert page.inner_text("#panel h2") == "Choose a neuron"
    page.click("#n5")
    assert lit(page) == content["neurons"][5]["hits"]


def test_members_of_a_selection_as_tsv_and_fasta(globins, address, visit):
    content, som, strings, ids, _ = globins
    page = visit(address)
    page.click("#n3")
    page.click("#n6", modifiers=["Control"])
    file, name = downloaded(page, "#members-tsv")
    assert name == "members.tsv"
    head, *rows = [line.split("\t") for line in file.read_text().splitlines()]
    assert head == ["id", "neuron", "dissimilarity", "class", *(column["name"] for column in content["columns"])]
    own = {ids[i]: strings[i] for i in np.flatnonzero(np.isin(som.labels_, [3, 6]))}
    assert {row[0] for row in rows} == set(own)
    file, name = downloaded(page, "#members-fasta")
    assert name == "members.fasta"
    records = [each.split("\n", 1) for each in file.read_text().strip().split(">")[1:]]
    assert {head.split()[0]: text.replace("\n", "") for head, text in records} == own
    row, column = divmod(int(som.labels_[ids.index(records[0][0].split()[0])]), 4)
    assert f"row={row} column={column}" in records[0][0]  # as in prototypes.fasta


def test_the_plane_selects_on_the_map(globins, address, visit):
    content, *_ = globins
    page = visit(address)
    assert page.locator("#points .dots").count() > 1
    order = "all => all.map(p => getComputedStyle(p).paintOrder.split(' ')[0])"
    assert set(page.eval_on_selector_all("#points .dots", order)) == {"stroke"}  # or rims would hide dots in a crowd
    assert f"{content['plane']['correlation']:g}" in page.inner_text("#plane-told")
    page.locator("#points").scroll_into_view_if_needed()
    page.click("[data-tool=rectangle]")
    drag(page, "#points", [(0.01, 0.01), (0.99, 0.99)])
    assert picked(page) == sorted({j for j, *_ in content["plane"]["places"]})
    before = page.locator("#points .dots").first.get_attribute("d")
    page.check("input[value=cells]")
    assert page.locator("#points .dots").first.get_attribute("d") != before
    assert "cell of its neuron" in page.inner_text("#plane-told")


def test_the_plane_keeps_the_dissimilarities():
    X = np.random.default_rng(2).normal(size=(60, 2)) * [5, 2]
    content = page_shows(MedianNeuralGas(5, random_state=0).fit(X), X)
    assert content["plane"]["correlation"] == pytest.approx(1, abs=0.01)  # the plane itself
    z = np.array([place[2:] for place in content["plane"]["places"]])
    order = [place[:2] for place in content["plane"]["places"]]
    ids = [int(content["members"][j]["ids"][k]) for j, k in order]
    apart = np.linalg.norm(z[:, None] - z[None], axis=2)
    true = np.linalg.norm(X[ids][:, None] - X[ids][None], axis=2)
    assert np.corrcoef(apart.ravel(), true.ravel())[0, 1] > 0.999


# --- cells and pictures -----------------------------------------------------------------------------------------------


def test_cells_show_their_exemplars_when_they_are_large(globins, address, visit):
    content, *_ = globins
    page = visit(address, viewport={"width": 700, "height": 700})
    for _ in range(4):
        page.click("[aria-label='Zoom in']")
    shown = page.locator(".glimpse-name").all_text_contents()
    assert 0 < len(shown) < 12
    names = [neuron["exemplar"] for neuron in content["neurons"]]
    assert all(any(name.startswith(each.rstrip("…")) for name in names) for each in shown)
    assert page.locator(".letter").count() > 10  # logos
    page.click("[aria-label='Show the whole map']")
    page.set_viewport_size({"width": 420, "height": 700})
    page.click("[aria-label='Zoom in']")
    page.click("[aria-label='Show the whole map']")
    assert page.locator(".glimpse").count() == 0


def test_logos_count_the_letters_of_aligned_members():
    others = ["GGGGGGGGGGGG"] * 6
    [logo, plain] = logos(["AAWCAAAA", "G" * 12], [["AAWCAAAA", "AAWCAAA", "AWCAAAA", "AAWDAAAA"], others], "protein")
    assert (logo["n"], logo["start"]) == (4, 1)
    assert logo["columns"][2].startswith("W")
    assert [each[0] for each in logo["columns"][3].replace("D", " D").split()] == ["C", "D"]
    assert plain["columns"] == [plain["columns"][0]] * 10
    assert logos(["ACGT", "ACGT"], [["ACGT"] * 2, ["ACGT"] * 3], "dna")[0] is None  # two are no logo


def test_the_view_is_saved_as_svg_and_png(globins, address, visit):
    content, *_ = globins
    page = visit(address)
    page.click("#theme")
    page.check("input[value=hits]")
    file, name = downloaded(page, "#save-svg")
    assert name == "map.svg"
    tree = ElementTree.parse(file).getroot()
    words = [each.text for each in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert words[0] == HOSTILE
    assert "Number of points" in words[1]
    assert {str(neuron["hits"]) for neuron in content["neurons"] if neuron["hits"]} <= set(words)
    paths = [each.get("fill") for each in tree.iter("{http://www.w3.org/2000/svg}path")]
    dark = ["rgb({}, {}, {})".format(*as_rgb(color)) for color in fills(page)]
    assert [fill for fill in paths if fill in dark] == dark
    assert not any(each.get("class") or each.get("onload") for each in tree.iter())
    file, name = downloaded(page, "#save-png")
    assert name == "map.png"
    assert file.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(file.read_bytes()[16:20], "big") == 2560


def test_the_legend_is_above_the_fold_and_rows_count_from_0(globins, address, visit):
    page = visit(address, viewport={"width": 1280, "height": 720})
    box = page.locator("#legend").bounding_box()
    assert box["y"] + box["height"] < 400
    numbers = page.locator(".ruler").all_text_contents()
    assert numbers == ["0", "1", "2", "0", "1", "2", "3"]
    page.click("#n5")
    assert page.inner_text("#panel h2") == "Neuron 5 · row 1, column 1"
    file, _ = downloaded(page, "#download-neurons")
    head, *rows = [line.split("\t") for line in file.read_text().splitlines()]
    assert rows[5][head.index("row")] == rows[5][head.index("column")] == "1"


def test_torn_places_are_marked(globins, write, visit):
    neurons = globins[0]["neurons"]
    at = next(j for j, neuron in enumerate(neurons) if neuron["hits"])
    content = {
        **globins[0],
        "order": {"reading": "torn map", "verdict": "So.", "torn": [[at, (at + 7) % 12, 2 * neurons[at]["hits"]]]},
    }
    page = visit(write(content))
    assert at in page.eval_on_selector_all(".crack[data-at]", "all => all.map(c => +c.dataset.at)")
    assert page.locator(".torn").count() == 0
    page.click(f"#n{at}")  # its own links
    assert page.locator(".torn").count() == 1


def test_outliers_and_borders_are_listed(globins, address, visit):
    content, *_ = globins
    page = visit(address)
    for name in ("outliers", "borders"):
        listed = page.locator(f"#{name} tbody tr td:first-child").all_text_contents()
        assert listed == [point["id"] for point in content[name]]
        assert listed
    page.locator("#outliers tbody button").first.click()
    assert page.inner_text("#panel h2").startswith(f"Neuron {content['outliers'][0]['neuron']} ")


def test_near_nodes_of_a_graph_are_called_alike_only_where_the_layout_is_true(write, visit, rng):
    X = rng.normal(size=(60, 2))
    content = page_shows(MedianNeuralGas(5, random_state=0).fit(X), X)
    page = visit(write({**content, "stress": 0.05}))
    assert "near nodes are alike" in page.inner_text("#panel")
    page = visit(write({**content, "stress": 0.41}))
    assert "need not be alike (stress of the layout 0.41)" in page.inner_text("#panel")
    until(page, "document.documentElement.dataset.ready === 'yes'")
