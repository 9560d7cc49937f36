"""`python -m reproduction`: its protocol pieces against oracles, its journal, its sentences, and the front door."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from support.extras import optional
from support.maps import blob_distances
from support.records import chromosome_runs

from medianmap import MedianNeuralGas, PrototypeClassifier
from reproduction import PARTS, Plan, proteins, reproduce, tables
from reproduction.__main__ import run as main
from reproduction.command import NAMES
from reproduction.items import GROUPS, items
from reproduction.judging import affinity, faster_pam, judged, judged_medoids, leave_one_out, neighbours, share
from reproduction.page import page, wrapped
from reproduction.plan import Task
from reproduction.runs import Runs, open_runs, run_all
from reproduction.tables import FAILS, HOLDS, OPEN, Claim, Figure, as_mean, claim, figure, figure_table, markdown


def run(*args):
    with pytest.raises(SystemExit) as stopped:
        main(list(map(str, args)))
    return stopped.value.code


@pytest.fixture
def blobs(rng):
    """Sixty points in three blobs: their distances and the blob of each."""
    D = blob_distances(rng, 60)
    return D, (D[:, [0, 1, 2]].argmin(axis=1)).astype(np.intp)


# Tables


def test_a_figure_is_a_mean_with_its_standard_error():
    values = np.array([0.9, 0.94, 0.92, 0.96])
    (one,) = figure("iris", "accuracy", values, "0.92")
    assert one.ours == pytest.approx(0.93)
    assert one.error == pytest.approx(np.std(values, ddof=1) / 2)
    # Without a number of its own the chapter's mean is taken to be of as many runs.
    assert one.cells() == ("accuracy", "0.930 ± 0.013", "4", "0.92", "+0.010 ± 0.018", "agrees")
    assert figure("iris", "nothing", np.zeros(0)) == []
    alone = Figure("iris", "alone", 0.5, 0.0, 1)
    assert alone.cells() == ("alone", "0.500", "1", "", "", "")
    assert alone.as_record()["difference"] is None


def test_tables_of_markdown():
    assert markdown(("a", "b"), [("1", "2")]) == ["| a | b |", "| --- | --- |", "| 1 | 2 |", ""]
    assert markdown(("a", "b"), []) == []
    assert len(figure_table([Figure("p", "w", 1.0, 0.1, 3)])) == 4
    assert as_mean(np.zeros(0)) == "–"


def test_a_figure_agrees_within_t_standard_errors_and_half_a_unit():
    """Worked by hand: 10 runs, standard error 0.01, the chapter's mean of 40 runs: t = 2.262, sqrt(1 + 10/40)."""
    edge = 2.2622 * 0.01 * np.sqrt(1.25) + 0.005
    for difference, verdict in ((0.99, "agrees"), (-0.99, "agrees"), (1.01, "**above**"), (-1.01, "**below**")):
        one = Figure("p", "w", 0.89 + difference * edge, 0.01, 10, "0.89", chapter_runs=40)
        assert one.verdict == verdict
        assert one.error_of_difference == pytest.approx(0.01 * np.sqrt(1.25))
    assert Figure("p", "w", 0.8951, 0.0, 10, "0.89").verdict == "**above**"  # known to half a unit: 0.885 to 0.895
    assert Figure("p", "w", 0.8949, 0.0, 10, "0.89").verdict == "agrees"
    assert Figure("p", "w", 0.1, 0.0, 1, "0.89").verdict == ""  # one run has no error bar
    # The chapter's single run spreads like any of ours: ten runs of standard deviation 0.1 say little against it.
    assert Figure("p", "w", 0.70, 0.1 / np.sqrt(10), 10, "0.89", chapter_runs=1).verdict == "agrees"


def test_claims_follow_the_sign_and_the_standard_error():
    at = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    limit = tables.far(6) * np.std(at, ddof=1) / np.sqrt(6)
    assert tables.far(6) == pytest.approx(2.5706, abs=1e-4)  # Student's t for 95% and 5 degrees of freedom
    for shift, verdict in ((1.01, HOLDS), (0.99, OPEN), (-0.99, OPEN), (-1.01, FAILS)):
        (found,) = claim("p", "w", at + shift * limit)
        assert found.verdict == verdict
        assert found.holds == (verdict == HOLDS)
    assert claim("p", "w", np.zeros(1)) == []


# Judging


def test_neighbours_are_those_of_scikit_learn(blobs):
    D, y = blobs
    train, test = np.arange(0, 60, 2), np.arange(1, 60, 2)
    across = D[np.ix_(test, train)]
    oracle = KNeighborsClassifier(1, metric="precomputed").fit(D[np.ix_(train, train)], y[train])
    np.testing.assert_array_equal(neighbours(across, y[train], 1), oracle.predict(across))
    # Two classes twice each among four neighbours: the class of the nearest wins.
    assert neighbours(np.array([[1.0, 2.0, 3.0, 4.0, 9.0]]), np.array([2, 0, 0, 2, 1]), 4).tolist() == [2]
    assert leave_one_out(np.array([[0.0, 1, 3], [1, 0, 2], [3, 2, 0]]), np.array([0, 0, 1])) == pytest.approx(2 / 3)


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_one_fit_gives_both_labelings(blobs, beta):
    D = blobs[0]
    y = np.random.default_rng(1).integers(3, size=60)  # labels that the data do not tell
    train, test = np.arange(0, 60, 2), np.arange(1, 60, 2)
    gas = MedianNeuralGas(6, metric="precomputed", n_epochs=10, random_state=0)
    within, across = D[np.ix_(train, train)], D[np.ix_(test, train)]
    record = judged(gas, beta, within, y[train], across, y[test], scaled=True)
    for name, labeling in (("learned", "learned"), ("posterior", "majority")):
        classifier = PrototypeClassifier(gas, beta, labeling=labeling).fit(within, y[train])
        assert record[name] == classifier.score(across, y[test])
    assert record["quantization_error"] == classifier.estimator_.quantization_error_
    if beta == 0.5:
        assert record["learned"] != record["posterior"]  # or the two could be exchanged and nobody would see it
    assert share(np.array([1, 2, 3]), np.array([1, 0, 3])) == pytest.approx(2 / 3)


def test_medoids_of_any_method_are_judged_by_hand():
    D = np.abs(np.subtract.outer([0.0, 1, 2, 10, 11], [0.0, 1, 2, 10, 11]))
    record = judged_medoids(np.array([1, 3]), D, np.array([0, 0, 1, 1, 1]), D[[0, 4]], np.array([0, 0]))
    assert record == {"posterior": 0.5, "quantization_error": 1.5, "prototypes": 2}


def test_affinity_propagation_is_asked_for_k_exemplars(blobs):
    assert len(affinity(blobs[0], 3, 0)) == 3


def test_faster_pam_gives_k_medoids(blobs):
    optional("kmedoids")
    chosen = faster_pam(blobs[0], 3, 0)
    assert len(set(chosen.tolist())) == 3
    assert len(set(blobs[0][:, chosen].argmin(axis=1).tolist())) == 3


# The journal


def tasks(n, log):
    def work(k):
        log.append(k)
        return {"value": k**2}

    return [Task(f"s{k % 2}", k // 2, lambda k=k: work(k)) for k in range(n)]


def test_an_interrupted_run_goes_on_after_its_last_line(tmp_path):
    path, about, log = tmp_path / "runs.jsonl", {"seed": 0}, []

    def stop(what, done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_runs(path, about) as runs:
        run_all(tasks(6, log), runs, stop)
    with path.open("a") as file:
        file.write('{"setting": "s1", "run": 1, "val')  # the line that was being written
    with open_runs(path, about) as runs:
        run_all(tasks(6, log), runs, lambda *_: None)
        again = runs.records
    assert log == [0, 1, 2, 3, 4, 5]
    with open_runs(tmp_path / "whole.jsonl", about) as runs:
        run_all(tasks(6, []), runs, lambda *_: None)
        assert runs.records == again
    assert (tmp_path / "whole.jsonl").read_bytes() == path.read_bytes()
    assert runs.values("s1", "value").tolist() == [1, 9, 25]
    assert runs.values("s7", "value").tolist() == []


def test_other_runs_are_not_mixed_in(tmp_path):
    path = tmp_path / "runs.jsonl"
    with open_runs(path, {"seed": 0}):
        pass
    with (
        pytest.raises(ValueError, match=r"begun with seed 0, not 1; give another folder"),
        open_runs(path, {"seed": 1}),
    ):
        pass
    with (
        open_runs(path, {"seed": 0}),
        pytest.raises(ValueError, match="Another process"),
        open_runs(path, {"seed": 0}),
    ):
        pass


def test_paragraphs_are_wrapped_and_tables_are_not():
    assert wrapped("| " + "cell " * 40 + "|").count("\n") == 0
    lines = wrapped("word " * 40).split("\n")
    assert len(lines) == 2
    assert max(map(len, lines)) <= 120


def test_pages_say_what_does_not_hold():
    runs = chromosome_runs(0.8, 0.9)
    text = page({"chromosomes": runs}, set(), Plan())
    assert "**does not hold**" in text
    assert "Not run: iris" in text
    assert "reproduction-chromosomes.svg" not in text
    assert "Nothing is judged after a quick run" in page({"chromosomes": runs}, set(), Plan(quick=True))
    assert Claim("p", "w", "m", HOLDS).holds


def test_pages_say_which_parts_are_of_an_earlier_day():
    runs, other = chromosome_runs(0.8, 0.9), Runs()
    runs.day, other.day = "2026-11-16", "2026-11-19"
    text = " ".join(page({"chromosomes": runs, "starts": other}, set(), Plan()).split())
    assert "not run again since, so that the code may have changed: chromosomes (2026-11-16)." in text
    assert "Runs begun on 2026-11-16." in text
    assert "Of an earlier day" not in page({"chromosomes": runs}, set(), Plan())


def heading(line):
    """The anchor of a heading, as it is made of its words."""
    words = "".join(c for c in line.lstrip("# ").lower() if c.isalnum() or c in " -_")
    return words.strip().replace(" ", "-")


def test_the_list_of_items_leads_somewhere():
    docs = Path(__file__).resolve().parents[2] / "docs"
    links = re.findall(r"\]\(([^)#]*)(#[^)]*)?\)", "\n".join(items()))
    assert len(links) > 20
    for name, anchor in links:
        target = docs / (name or "reproduction.md")
        assert target.exists(), name
        if anchor:
            lines = target.read_text().splitlines()
            assert anchor[1:] in {heading(line) for line in lines if line.startswith("#")}, anchor
    assert all(len(rows) > 5 for _, rows in GROUPS)


# The front door


def test_its_usage_names_it_as_it_is_called_and_its_folder_is_not_that_of_the_code(capsys):
    assert run("--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Usage: python -m reproduction [OPTIONS] [PART]..." in said
    assert "[default: reproduced]" in said


def test_the_names_of_the_command_are_those_of_the_parts():
    assert tuple(PARTS) == NAMES


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run of all that needs no data."""
    optional("matplotlib")
    optional("Bio")
    folder = tmp_path_factory.mktemp("quick")
    return folder, run("--quick", "-o", folder, "-q")


def test_a_quick_run_of_all_that_needs_no_data(quick):
    folder, code = quick
    assert code == 0
    text = (folder / "reproduction.md").read_text()
    content = json.loads((folder / "reproduction.json").read_text())
    for part in ("iris", "breast-cancer", "patches", "globins", "speed"):
        assert PARTS[part].title in text
        assert content["runs"][part]
    for name in ("iris", "globins", "speed"):
        assert (folder / f"reproduction-{name}.svg").read_bytes().startswith(b"<?xml")
        assert f"(reproduction-{name}.svg)" in text
    assert "Not run: chromosomes, proteins." in text
    errors = [f for f in content["figures"] if f["what"] == "batch NG: quantization error"]
    assert 40.5 <= errors[0]["ours"] <= 41.3
    assert {record["simulated"] for record in content["runs"]["speed"]} == {True}


def test_the_same_command_runs_nothing_twice(quick, capsys, monkeypatch):
    folder, _ = quick
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr("reproduction.runs.Runs.add", lambda *_: pytest.fail("a finished run was run again"))
    assert run("--quick", "-o", folder) == 0
    said = capsys.readouterr()
    assert "40.9" in said.out
    assert "left out, since your own data are needed with --data: chromosomes, proteins." in said.err
    assert f"Wrote {folder / 'reproduction.md'}" in said.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_page_of_what_there_is_runs_nothing(quick, tmp_path, monkeypatch):
    lines = (quick[0] / "quick-iris.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "quick-iris.jsonl").write_text("".join(lines[:-3]))  # some runs are missing
    monkeypatch.setattr("reproduction.runs.Runs.add", lambda *_: pytest.fail("something was run"))
    assert run("--quick", "--page", "-o", tmp_path, "-q") == 0
    text = (tmp_path / "reproduction.md").read_text()
    assert "## Iris" in text
    assert "Not run: breast-cancer" in text


def test_an_interrupted_command_says_how_to_go_on(tmp_path, capsys):
    optional("matplotlib")

    def stop(part, what, done, total):
        if done == 4:
            raise KeyboardInterrupt

    plan = Plan(quick=True, runs=1)
    with pytest.raises(KeyboardInterrupt):
        reproduce(["iris"], plan, tmp_path / "a", stop)
    assert not (tmp_path / "a" / "reproduction.md").exists()
    first, whole = (reproduce(["iris"], plan, tmp_path / name)["iris"].records for name in "ab")
    assert first == whole
    assert (tmp_path / "a" / "reproduction.md").read_bytes() == (tmp_path / "b" / "reproduction.md").read_bytes()


def test_ctrl_c_is_one_sentence(tmp_path, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("reproduction.runs.Runs.add", interrupt)
    assert run("iris", "--quick", "-o", tmp_path) == 130
    assert f"kept in {tmp_path}, and the same command goes on after them" in capsys.readouterr().err


def test_with_data_of_ones_own(shared_data, tmp_path, capsys):
    optional("matplotlib")
    assert run("proteins", "--quick", "--data", shared_data, "-o", tmp_path) == 0
    said = capsys.readouterr()
    assert "0.981" in said.out  # leave-one-out 1-NN, as published
    content = json.loads((tmp_path / "reproduction.json").read_text())
    gains = [f["ours"] for f in content["figures"] if f["what"].startswith(proteins.MEDIAN) and "gain" in f["what"]]
    assert min(gains) > 0
    assert (tmp_path / "reproduction-proteins.svg").exists()
    assert run("proteins", "--quick", "--data", shared_data, "-o", tmp_path, "--seed", "1") == 2
    assert "begun with seed 0, not 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["globes"], "'globes' is not one of 'iris'"),
        (["iris", "--runs", "0"], "0 is not in the range"),
        (["--data", "nowhere"], "There is no folder nowhere; give the folder of your data with --data."),
        (["proteins", "--data", "nowhere"], "There is no folder nowhere"),
        (["chromosomes"], "chromosomes.csv is not part of this library; say where your copy lies with --data FOLDER."),
        (["proteins", "--data", "empty"], "empty has no proteins/D.csv; put your copy there, or leave that part out."),
        (["--data", "empty"], "empty has neither chromosomes.csv and proteins/D.csv"),
    ],
)
def test_mistakes_are_one_sentence(args, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert run(*args, "--quick") == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""
    assert list(tmp_path.iterdir()) == [tmp_path / "empty"]
