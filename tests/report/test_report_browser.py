"""The report in a real browser, offline: what a reader clicks, types and downloads is what the content holds."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from support.pages import first_column, page_shows, until

from medianmap import BatchSOM, MedianKMeans, MedianNeuralGas, MedianSOM, RelationalNeuralGas, uncertainty
from medianmap.datasets import load_globins

READY = "html[data-ready]"
HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\"'><b>&amp;</b>",
    "tab\tline\nend\u2028.",
    "=SUM(1)",
    "plain",
]


@pytest.fixture(scope="module")
def globins():
    data = load_globins()
    keep = range(0, 630, 5)
    strings = [data.sequences[i] for i in keep]
    narrow = {"neighborhood": "exponential", "sigma_end": 0.01, "annealing": "median", "init": "random"}
    som = MedianSOM((4, 5), metric="kmer", random_state=0, **narrow).fit(
        strings
    )  # torn, so that there are tears to draw
    return page_shows(
        som, strings, ids=[data.ids[i] for i in keep], y=[data.families[i] for i in keep], title="Globins"
    ), som


@pytest.fixture(scope="module")
def globin_page(globins, write):
    return write(globins[0])


def natural(name):
    """Numbers inside names by their value, punctuation before digits before letters."""
    parts = re.findall(r"\d+|\D", name.lower())
    return [(1, int(p), "") if p.isdigit() else (2 if p.isalpha() else 0, 0, p) for p in parts]


def test_click_shows_exemplar_members_and_neighbours(globins, globin_page, visit):
    content, som = globins
    page = visit(globin_page)
    for j in (0, 7, 19):
        page.click(f"#n{j}")
        assert page.inner_text("#panel h2").startswith(f"Neuron {j}")
        assert page.inner_text(".exemplar-id") == content["neurons"][j]["exemplar"]
        rows = page.locator(".sequence .row").all_text_contents()
        letters = "".join(row.replace(" ", "").lstrip("0123456789") for row in rows)
        assert letters == som.cluster_centers_[j]
        assert first_column(page, 0) == content["members"][j]["ids"][:50]
        joined = {b if a == j else a for a, b, _ in content["edges"] if j in (a, b)}
        assert {int(text.removeprefix("neuron ")) for text in first_column(page, 1)} == joined
        assert page.get_attribute(f"#n{j}", "aria-selected") == "true"
    other = first_column(page, 1)[0]
    page.click(f"#panel >> text={other}")
    assert page.inner_text("#panel h2").lower().startswith(other)
    tints = page.eval_on_selector_all(".sequence i[class]", "all => all.map(i => getComputedStyle(i).backgroundColor)")
    assert len(set(tints)) == 6


def ramp(content, theme, t):
    """The colour of t in [0, 1], worked out here once more."""
    stops = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in content["ramps"][theme]], float)
    place = np.linspace(0, 1, len(stops))
    return [np.interp(t, place, stops[:, c]) for c in range(3)]


def as_rgb(fill):
    return [int(fill[k : k + 2], 16) for k in (1, 3, 5)]


def shares_of(column, K):
    """(K, C) shares of the values of a column, from its counts."""
    shares = np.zeros((K, len(column["values"])))
    for j, flat in enumerate(column["counts"]):
        shares[j, flat[::2]] = flat[1::2]
    return shares / np.maximum(shares.sum(axis=1, keepdims=True), 1)


def test_colourings_paint_the_numbers(globins, globin_page, visit):
    content, _ = globins
    page = visit(globin_page)
    neurons = content["neurons"]
    assert page.inner_text("#legend").startswith("Classes")
    sides = [edge[2] for edge in content["edges"]]
    ranges = {
        "hits": (0, max(n["hits"] for n in neurons)),
        "u": (min(sides), max(sides)),
        "quality": (min(n["quality"] for n in neurons), max(n["quality"] for n in neurons)),
        "sure": (min(n["sure"] for n in neurons), max(n["sure"] for n in neurons)),
    }
    for theme in ("light", "dark"):
        for key, (low, high) in ranges.items():
            page.check(f"input[value={key}]")
            fills = page.eval_on_selector_all(".cell", "all => all.map(c => c.getAttribute('fill'))")
            for neuron, fill in zip(neurons, fills, strict=True):
                share = (neuron[key] - low) / (high - low)
                share = np.sqrt(share) if key == "hits" else share
                assert as_rgb(fill) == pytest.approx(ramp(content, theme, share), abs=1.01)
        page.check("input[value=group]")
        fills = page.eval_on_selector_all(".cell", "all => all.map(c => c.getAttribute('fill'))")
        assert fills == [content["styles"][n["group"]][0] for n in neurons]
        page.click("#theme")
    page.check("input[value=labels]")
    fills = page.eval_on_selector_all(".cell", "all => all.map(c => c.getAttribute('fill'))")
    shares = shares_of(content["labels"], len(neurons))
    assert fills == [content["styles"][int(np.argmax(row))][0] for row in shares]
    used = [k for k in range(shares.shape[1]) if shares[:, k].any()]
    assert page.eval_on_selector_all(".slice", "all => all.map(p => +p.dataset.class)") == used
    assert page.locator("#legend .key bdi").all_text_contents() == content["labels"]["values"]


def test_the_least_sure_points_lead_to_the_two_neurons_they_are_between(globins, globin_page, visit):
    content, _ = globins
    page, listed = visit(globin_page), content["certainty"]["least_sure"]
    assert first_column(page, 1) == [point["id"] for point in listed]
    assert "d1 / d2" in page.inner_text("#panel table.members >> nth=1")
    page.locator("#panel table.members >> nth=1").locator("button").nth(3).click()  # the second neuron of the second
    assert page.inner_text("#panel h2").startswith(f"Neuron {listed[1]['second']}")
    assert "mean margin" in page.inner_text("#panel dl.facts")


def test_resamples_are_named_where_there_are_any(write, visit):
    X = load_iris().data
    km = MedianKMeans(4, random_state=0).fit(X)
    told = uncertainty(km, X, n_resamples=4)
    page = visit(write(page_shows(km, X, sure=told)))
    page.check("input[value=sure]")
    assert "4 resamples" in page.inner_text("#legend")
    assert "confidence" in page.inner_text("#panel table.members >> nth=1")
    page.click("#n1")
    assert "mean confidence" in page.inner_text("#panel dl.facts")


def test_combinations_are_shown_by_the_nearest_point(write, visit):
    X = load_iris().data
    model = RelationalNeuralGas(4, metric="sqeuclidean", random_state=0).fit(X)
    page = visit(write(page_shows(model, X)))
    page.click("#n2")
    assert "Prototype: a combination; the nearest point is" in page.inner_text("#panel")
    assert page.inner_text(".exemplar-id") == str(model.exemplar_indices_[2])
    assert "combinations of the data until" not in page.inner_text("#training")


def test_search_highlights_the_neurons(globins, globin_page, visit):
    content, _ = globins
    page = visit(globin_page)
    wanted = content["members"][3]["ids"][-1]
    page.fill("#search", wanted.lower())
    page.wait_for_selector("#found button")
    holding = {j for j, m in enumerate(content["members"]) if any(wanted in each for each in m["ids"])}
    assert set(page.eval_on_selector_all(".cell.found", "all => all.map(c => +c.dataset.neuron)")) == holding
    assert "1 id at 1 neuron" in page.inner_text("#found-count")
    page.press("#search", "Enter")
    assert page.inner_text("#panel h2").startswith("Neuron 3")
    page.fill("#search", "myg_")
    until(page, "document.querySelectorAll('#found button').length > 1")
    holding = {j for j, m in enumerate(content["members"]) if any("MYG_" in each for each in m["ids"])}
    assert set(page.eval_on_selector_all(".cell.found", "all => all.map(c => +c.dataset.neuron)")) == holding
    page.fill("#search", "no such id")
    until(page, "document.querySelector('#found-count').textContent.startsWith('No id')")
    page.press("#search", "Escape")
    assert page.locator(".cell.found").count() == 0


def downloaded(page, button):
    with page.expect_download() as waiting:
        page.click(button)
    return Path(waiting.value.path()).read_text(encoding="utf-8").split("\n"), waiting.value.suggested_filename


def test_sorting_and_downloads(globins, globin_page, visit):
    content, _ = globins
    page = visit(globin_page)
    neurons = content["neurons"]

    def order():
        return page.eval_on_selector_all("#table tbody tr", "rows => rows.map(row => +row.dataset.row)")

    assert order() == list(range(20))
    for key, by, now in (
        ("hits", lambda n: -n["hits"], "ascending"),
        ("quality", lambda n: -n["quality"], "ascending"),
        ("exemplar", lambda n: natural(n["exemplar"]), "descending"),
    ):
        page.click(f"[data-sort={key}]")
        assert order() == [n["neuron"] for n in sorted(neurons, key=by)]
        page.click(f"[data-sort={key}]")
        assert page.get_attribute(f"th:has([data-sort={key}])", "aria-sort") == now
    page.click("[data-sort=neuron]")
    lines, name = downloaded(page, "#download-neurons")
    assert name == "neurons.tsv"
    assert lines.pop() == ""
    header, *rows = [line.split("\t") for line in lines]
    at = {column: k for k, column in enumerate(header)}
    for neuron, row in zip(neurons, rows, strict=True):
        assert int(row[at["neuron"]]) == neuron["neuron"]
        assert row[at["exemplar"]] == neuron["exemplar"]
        assert int(row[at["points"]]) == neuron["hits"]
        assert float(row[at["U-matrix"]]) == neuron["u"]
        assert float(row[at["mean dissimilarity"]]) == neuron["quality"]
        assert int(row[at["supercluster"]]) == neuron["group"] + 1
        assert (row[at["majority class"]], float(row[at["purity"]])) == (neuron["majority"], neuron["purity"])
    lines, name = downloaded(page, "#download-points")
    assert name == "assignments.tsv"
    rows = [line.split("\t") for line in lines[1:-1]]
    expected = [
        [each, str(j), content["class_names"][c]]
        for j, m in enumerate(content["members"])
        for each, c in zip(m["ids"], m["classes"], strict=True)
    ]
    assert [[row[0], row[1], row[3]] for row in rows] == expected
    assert [float(row[2]) for row in rows] == [d for m in content["members"] for d in m["dissimilarities"]]
    page.click("#table tbody tr:nth-child(5) td:nth-child(4)")
    assert page.inner_text("#panel h2").startswith("Neuron 4")


def test_the_verdict_and_the_torn_links(globins, globin_page, visit):
    content, _ = globins
    page = visit(globin_page)
    told, torn = content["order"], content["order"]["torn"]
    assert page.inner_text("#verdict") == told["verdict"]
    alike = {"map": "Cells that touch are alike", "torn map": "Cells that touch are mostly alike"}
    assert alike.get(told["reading"], "Cells that touch need not be alike") in page.inner_text("#panel")
    shown = page.eval_on_selector_all(
        ".measures > div", "all => all.map(div => [...div.children].map(c => c.innerText))"
    )
    assert [(name, words) for name, _, words in shown] == [(name, words) for name, _, words in content["measures"]]
    for (_, value, _), (_, expected, _) in zip(shown, content["measures"], strict=True):
        assert float(value.replace(",", "")) == pytest.approx(expected, rel=1e-3)
    assert torn
    assert page.locator(".torn").count() == 0
    page.check("#show-torn")
    boxes = page.eval_on_selector_all(
        ".cell", "all => all.map(c => c.getBBox()).map(b => [b.x, b.y, b.width, b.height])"
    )
    centers = [(x + width / 2, y + height / 2) for x, y, width, height in boxes]
    ends = page.eval_on_selector_all(
        ".torn", "all => all.map(line => line.getAttribute('d').match(/-?[\\d.]+/g).map(Number))"
    )
    assert ends == [pytest.approx([*centers[a], *centers[b]], abs=0.1) for a, b, _ in torn]
    widths = page.eval_on_selector_all(".torn", "all => all.map(line => +line.getAttribute('stroke-width'))")
    assert widths == sorted(widths, reverse=True)
    j = torn[0][0]
    page.click(f"#n{j}")  # the line that ends there is in nobody's way
    assert page.inner_text("#panel h2").startswith(f"Neuron {j}")
    page.uncheck("#show-torn")
    own = [link for link in torn if j in link[:2]]
    assert page.locator(".torn").count() == len(own) < len(torn)  # those of the chosen neuron stay
    page.keyboard.press("Escape")
    assert page.locator(".torn").count() == 0


@pytest.mark.parametrize("reading", ["map", "torn map", "clustering"])
def test_cells_are_called_alike_only_where_they_are(reading, globins, write, visit):
    content = {**globins[0], "order": {"reading": reading, "verdict": "<b>So it is.</b>", "torn": []}}
    page = visit(write(content))
    assert ("touch are alike" in page.inner_text("#panel")) == (reading == "map")
    assert ("touch are mostly alike" in page.inner_text("#panel")) == (reading == "torn map")
    assert ("need not be alike" in page.inner_text("#panel")) == (reading == "clustering")
    assert page.inner_text("#verdict") == "<b>So it is.</b>"
    assert page.locator("#show-torn").count() == 0  # nothing is torn


def test_keyboard_alone(globins, globin_page, visit):
    page = visit(globin_page)

    def active():
        return page.evaluate("document.activeElement.getAttribute('aria-activedescendant')")

    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "listbox":
            break
    assert active() == "n0"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    steps = [("ArrowRight", "n1"), ("ArrowRight", "n2"), ("ArrowDown", "n6"), ("ArrowDown", "n12"), ("ArrowUp", "n6")]
    for key, reached in [*steps, ("ArrowLeft", "n5"), ("End", "n19"), ("ArrowRight", "n19"), ("Home", "n0")]:
        page.keyboard.press(key)
        assert active() == reached, key
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.inner_text("#panel h2").startswith("Neuron 1")
    page.keyboard.press("Escape")
    assert page.inner_text("#panel h2") == "Choose a neuron"
    assert active() == "n1"
    page.keyboard.press("+")
    assert page.evaluate("document.activeElement.classList.contains('near')")
    page.keyboard.press("0")
    page.focus("input[name=coloring]:checked")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#legend").startswith("Number of points")
    page.focus("#theme")
    page.keyboard.press("Enter")
    assert page.get_attribute("html", "data-theme") == "dark"
    page.focus("[data-sort=hits]")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.get_attribute("th:has([data-sort=hits])", "aria-sort") == "descending"


def test_every_control_and_region_has_a_name(globin_page, visit):
    page = visit(globin_page)
    page.click("#n3")
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, input, [role], section, aside')].filter((e) =>
            !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim()
              || e.labels?.length || e.getAttribute('role') === 'status')).map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_hostile_text_is_inert_and_shown(write, visit):
    words = [f"{text}{'x' * k}" for k, text in enumerate(HOSTILE)]
    km = MedianKMeans(2, metric="edit", random_state=0).fit(words)
    content = page_shows(km, words, ids=HOSTILE, y=HOSTILE[::-1], title=HOSTILE[0], settings={HOSTILE[1]: HOSTILE[2]})
    page = visit(write(content))
    assert page.title() == HOSTILE[0]
    assert page.inner_text("h1") == HOSTILE[0]
    shown = []
    for j in range(2):
        page.click(f"#n{j}")
        assert page.locator(".exemplar-id").text_content() == content["neurons"][j]["exemplar"]
        assert page.locator(".plain").text_content() == km.cluster_centers_[j]
        shown += first_column(page, 0)
    assert sorted(shown) == sorted(HOSTILE)
    page.fill("#search", "<script>")
    page.wait_for_selector("#found button")
    assert page.locator("#found button").all_text_contents() == [HOSTILE[0]]
    assert page.locator("img, b b, script").count() == 2  # the data and the script, which are ours
    lines, _ = downloaded(page, "#download-points")
    assert sorted(line.split("\t")[0] for line in lines[1:-1]) == sorted(
        text.replace("\t", " ").replace("\n", " ").replace("\u2028", " ") for text in HOSTILE
    )
    assert {len(line.split("\t")) for line in lines[:-1]} == {4}
    assert page.title() == HOSTILE[0]


def test_the_policy_stops_what_is_not_ours(globin_page, browser):
    """A script or a picture added later neither runs nor loads."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(globin_page)
    page.wait_for_selector(READY)
    page.evaluate(
        """() => { const script = document.createElement('script'); script.textContent = 'document.title = "owned"';
        document.body.append(script); const image = new Image(); image.src = 'https://example.org/x.png';
        document.body.append(image); document.body.setAttribute('style', 'display: none'); }"""
    )
    assert page.title() == "Globins"
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    context.close()


def test_a_graph_a_series_and_vectors_are_drawn(write, visit, rng):
    X = rng.normal(size=(80, 3)) + np.repeat([[0.0], [6.0]], 40, axis=0)
    content = page_shows(MedianNeuralGas(6, random_state=0).fit(X), X)
    page = visit(write(content))
    assert page.locator(".link").count() >= 1
    assert not page.is_visible("#verdict")
    assert page.locator("#show-torn").count() == 0
    assert "silhouette" in page.inner_text("#quality")
    before = page.get_attribute("#n2", "r")
    page.click("#n2")
    assert page.locator(".drawing .dot").count() == 3
    page.click("[aria-label='Zoom in']")
    assert page.get_attribute("#n2", "r") != before  # nodes part as one looks closer
    assert page.locator("svg.near").count() == 1
    waves = [np.sin(np.linspace(0, 6 + k % 3, 30 + k % 5)) for k in range(24)]
    page = visit(write(page_shows(MedianSOM((2, 3), metric="dtw", random_state=0).fit(waves), waves)))
    page.click("#n4")
    assert page.get_attribute("#panel .curve", "d").count("L") >= 29
    D = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))
    page = visit(write(page_shows(MedianKMeans(3, metric="precomputed", random_state=0).fit(D), D)))
    page.click("#n1")
    assert page.locator("#panel svg").count() == 0


def test_capped_members_point_to_the_file(globins, write, visit):
    content = {**globins[0], "members": [dict(m) for m in globins[0]["members"]]}
    j = max(range(20), key=lambda j: content["neurons"][j]["hits"])
    for members in content["members"]:
        members["others"] = members["ids"][2:]
        for name in ("ids", "dissimilarities", "classes"):
            members[name] = members[name][:2]
    content["listed"] = {"cap": 2, "complete": False, "n_listed": 40, "n_searchable": 126}
    page = visit(write(content))
    page.click(f"#n{j}")
    assert first_column(page, 0) == content["members"][j]["ids"]
    assert f"and {content['neurons'][j]['hits'] - 2} more in assignments.tsv" in page.inner_text("#panel")
    assert page.locator("#download-points").count() == 0
    page.fill("#search", content["members"][j]["others"][-1])
    page.wait_for_selector("#found button")
    assert page.eval_on_selector_all(".cell.found", "all => all.map(c => +c.dataset.neuron)") == [j]


def test_component_planes_and_mixtures(write, visit):
    iris = load_iris(as_frame=True)
    names = [f"species {k % 2}" for k in iris.target]
    content = page_shows(BatchSOM((2, 3), n_epochs=5, random_state=0).fit(iris.data), iris.data, y=names)
    page = visit(write(content))
    page.check("input[value=feature]")
    for k in (0, 3):
        page.select_option("#feature", str(k))
        values = [data["values"][k] for data in content["exemplars"]["data"]]
        fills = page.eval_on_selector_all(".cell", "all => all.map(c => c.getAttribute('fill'))")
        shares = (np.array(values) - min(values)) / np.ptp(values)
        for share, fill in zip(shares, fills, strict=True):
            assert as_rgb(fill) == pytest.approx(ramp(content, "light", share), abs=1.01)
        assert iris.feature_names[k] in page.inner_text("#legend")
    page.check("input[value=hits]")
    assert not page.is_visible("#feature")
    j = int(np.argmin(shares_of(content["labels"], 6).max(axis=1)))
    page.click(f"#n{j}")
    told = page.locator(".mixture .key").all_text_contents()
    assert len(told) == 2
    assert told[0] == f"{content['neurons'][j]['majority']}{100 * content['neurons'][j]['purity']:.0f}%"


@pytest.mark.parametrize("model", [BatchSOM((1, 1), n_epochs=1), MedianKMeans(1), MedianSOM((2, 4), periodic=True)])
def test_the_least_of_maps(model, write, visit, rng):
    X = rng.normal(size=(12, 2))
    page = visit(write(page_shows(model.fit(X), X)))
    for key in ("u", "quality", "group", "hits"):
        page.check(f"input[value={key}]")
    page.click("#n0")
    assert page.inner_text("#panel h2").startswith("Neuron 0")
    assert "NaN" not in page.inner_text("body")
    assert "Infinity" not in page.inner_text("body")


def test_narrow_dark_and_printed(globin_page, visit):
    page = visit(globin_page, viewport={"width": 360, "height": 740}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 23, 26)"
    page.click("#n3")
    assert page.evaluate("document.querySelector('#panel h2').getBoundingClientRect().top < innerHeight")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('#search')).display") != "none"
    assert not page.is_visible("#search")
    assert page.is_visible("#n3")
    assert page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen")
    page.check("input[value=hits]")
    by_night = page.get_attribute("#n3", "fill")
    page.emulate_media(media="print")
    until(page, f"document.querySelector('#n3').getAttribute('fill') !== '{by_night}'")  # paper is always light


@pytest.mark.parametrize("name", ["layers", "star"])
def test_layers_and_given_distances(name, write, visit):
    star = np.where(np.eye(7, dtype=bool), 0, 2)
    star[0, 1:] = star[1:, 0] = 1
    params = {"layers": {"grid": (2, 2, 3)}, "star": {"lattice": star}}[name]
    X = load_iris().data
    som = BatchSOM(random_state=0, **params).fit(X)
    content = page_shows(som, X)
    page = visit(write(content))
    said = {"layers": "2 × 2 × 3 hexagonal", "star": "7 neurons at given distances"}[name]
    assert said in page.inner_text("#lead")
    lines = page.eval_on_selector_all(".link", "all => all.map(p => (p.getAttribute('d').match(/M/g) || []).length)")
    assert sum(lines) == (6 if name == "star" else 0)
    page.check("input[value=u]")
    walls = page.eval_on_selector_all(".wall", "all => all.map(p => (p.getAttribute('d').match(/M/g) || []).length)")
    within = [a for a, b, _ in content["edges"] if name == "star" or a // 6 == b // 6]
    assert sum(walls) == len(within)
    page.click("#n5")
    where = {"layers": " · layer 0, row 1, column 2", "star": ""}[name]
    assert page.inner_text("#panel h2") == f"Neuron 5{where}"
    joined = {b if a == 5 else a for a, b, _ in content["edges"] if 5 in (a, b)}
    assert {int(text.removeprefix("neuron ")) for text in first_column(page, 1)} == joined
    heads = page.locator("#table th").all_text_contents()
    assert [each for each in ("layer", "row", "column") if each in heads] == (
        ["layer", "row", "column"] if name == "layers" else []
    )


def test_metadata_of_the_members_is_listed(write, visit):
    words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    som = MedianSOM((1, 2), metric="edit", random_state=0).fit(words)
    content = page_shows(
        som, words, ids=words, metadata={"year": [1990, 1991, None, 1992, 1990, 1993], HOSTILE[0]: words}
    )
    page = visit(write(content))
    page.click(f"#n{som.predict(['hero'])[0]}")
    assert page.locator("#panel table.members").first.locator("th").all_text_contents() == [
        "id", "dissimilarity", "year", HOSTILE[0]
    ]  # fmt: skip
    cells = [row.split("\t") for row in page.locator("#panel table.members").first.inner_text().splitlines()[1:]]
    assert {(row[0], row[2], row[3]) for row in cells} == {
        ("heron", "1990", "heron"), ("herons", "1991", "herons"), ("hero", "–", "hero")
    }  # fmt: skip
