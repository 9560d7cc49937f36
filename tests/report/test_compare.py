"""Two maps of the same points: figures by brute force, the page in a browser, and the command."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

import medianmap
from medianmap import BatchSOM, MedianKMeans, MedianSOM
from medianmap.app.main import main

IRIS = load_iris()


@pytest.fixture(scope="module")
def pair():
    a = MedianSOM((2, 3), n_epochs=10, random_state=0).fit(IRIS.data)
    return a, BatchSOM((2, 2), n_epochs=10, random_state=0).fit(IRIS.data[:, :2])


@pytest.fixture(scope="module")
def report(pair):
    ids = [f"<b>{k}</b>" for k in range(150)]
    y = [str(IRIS.target_names[k]) for k in IRIS.target]
    return medianmap.compare(*pair, IRIS.data, IRIS.data[:, :2], ids=ids, y=y, names=("all", "sepals"))


def test_agreement_and_moves_by_brute_force(pair, report):
    a, b = pair
    facts = report.summary
    assert facts["adjusted_rand"] == pytest.approx(adjusted_rand_score(a.labels_, b.labels_))
    table = np.array([[np.sum((a.labels_ == j) & (b.labels_ == l)) for l in range(4)] for j in range(6)])
    most = max(sum(table[j, l] for l, j in enumerate(order)) for order in permutations(range(6), 4))
    assert sum(n for *_, n in facts["matches"]) == most
    assert all(table[j, l] == n for j, l, n in facts["matches"])
    match = {j: l for j, l, _ in facts["matches"]}
    assert {each["point"] for each in facts["moved"]} == {
        i for i in range(150) if match.get(a.labels_[i]) != b.labels_[i]
    }
    for each in facts["moved"]:
        i = each["point"]
        assert (each["id"], each["a"], each["b"]) == (f"<b>{i}</b>", a.labels_[i], b.labels_[i])
        expected = None if each["match"] is None else b.lattice_.distances[each["match"], each["b"]]
        assert each["steps"] == expected
    steps = [each["steps"] for each in facts["moved"] if each["steps"] is not None]
    assert steps == sorted(steps, reverse=True)


def test_a_map_agrees_with_itself(pair):
    facts = medianmap.compare(pair[0], pair[0], IRIS.data).summary
    assert facts["adjusted_rand"] == 1
    assert facts["moved"] == []


def test_a_selection_is_shown_on_both_maps(pair, report, write, visit):
    a, b = pair
    page = visit(write(report.content))
    j = int(np.argmax(a.hits_))
    page.click(f"#a{j}")
    there = {l: int(np.sum((a.labels_ == j) & (b.labels_ == l))) for l in range(4)}
    arrived = sorted((int(text) for text in page.locator("#map-b .arrived").all_text_contents()), reverse=True)
    assert arrived == sorted((n for n in there.values() if n), reverse=True)
    assert page.eval_on_selector_all("#map-b .cell.dim", "all => all.map(c => +c.dataset.neuron)") == [
        l for l, n in there.items() if not n
    ]
    ids = page.locator("#table tbody td:first-child").all_text_contents()
    assert set(ids) == {f"<b>{i}</b>" for i in np.flatnonzero(a.labels_ == j)}
    with page.expect_download() as waiting:
        page.click("#download-moved")
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(ids)
    page.keyboard.press("Escape")
    assert page.locator(".arrived").count() == 0
    assert page.locator("#table tbody tr").count() == min(200, len(report.summary["moved"]))
    page.check("input[value=labels]")
    assert page.locator("#legend .key").all_text_contents() == sorted(map(str, IRIS.target_names))
    page.click("#b1")
    assert "of sepals" in page.inner_text("#panel h2")


def test_wrong_lengths_are_refused(pair):
    with pytest.raises(ValueError, match="150 points and X_b 20"):
        medianmap.compare(*pair, IRIS.data, IRIS.data[:20, :2])
    with pytest.raises(ValueError, match="2 ids for 150"):
        medianmap.compare(*pair, IRIS.data, IRIS.data[:, :2], ids=["a", "b"])


def test_graphs_are_compared_too():
    one, two = (MedianKMeans(k, random_state=0).fit(IRIS.data) for k in (3, 4))
    page = medianmap.compare(one, two, IRIS.data)
    assert all(each["steps"] is None for each in page.summary["moved"])
    assert all(0 <= neuron["x"] <= 1 for shown in page.summary["maps"] for neuron in shown["neurons"])


def run(*args):
    with pytest.raises(SystemExit) as end:
        main(list(map(str, args)))
    return end.value.code


def test_the_command_compares_folders_by_ids(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["heron", "herons", "hero", "quark", "quarks", "quart", "heroes", "quarts"]
    for name, some in (("all", words), ("few", words[::-1][:6]), ("none", [f"{w}x" for w in words])):
        (tmp_path / f"{name}.fasta").write_text("".join(f">{w} {w[0]}\n{w.upper()}\n" for w in some))
        assert run("fit", f"{name}.fasta", "--metric", "edit", "--grid", "1x2", "--no-report", "-q", "-o", name) == 0
    capsys.readouterr()
    assert run("compare", "all", "few", "-o", "page.html", "--labels", "header") == 0
    told = "".join(capsys.readouterr())
    assert "2 points of one map alone" in told
    assert "adjusted Rand index" in told
    assert "page.html" in told
    assert "heroes" in (tmp_path / "page.html").read_text()
    assert run("compare", "all", "none") == 2
    assert "no id in common" in capsys.readouterr().err
    (tmp_path / "few/config.toml").unlink()
    assert run("compare", "all", "few") == 2
    assert "config.toml" in capsys.readouterr().err
    assert not (tmp_path / "compare.html").exists()
