"""`python -m reproduction`: its protocol pieces against oracles, its journal, its sentences, and the front door."""

import json

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from support.extras import optional
from support.maps import blob_distances

from medianmap import MedianNeuralGas, PrototypeClassifier
from reproduction import PARTS, Plan, chromosomes, proteins, reproduce, speed, study
from reproduction import chromosomes_page as page_of
from reproduction.__main__ import run as main
from reproduction.command import NAMES
from reproduction.judging import affinity, faster_pam, judged, judged_medoids, leave_one_out, neighbours, share
from reproduction.page import page, wrapped
from reproduction.plan import Labelled, Task
from reproduction.runs import Runs, open_runs, run_all
from reproduction.tables import Claim, Figure, above, agrees, as_mean, figure, figure_table, markdown


def run(*args):
    with pytest.raises(SystemExit) as stopped:
        main(list(map(str, args)))
    return stopped.value.code


@pytest.fixture
def blobs(rng):
    """Sixty points in three blobs: their distances and the blob of each."""
    D = blob_distances(rng, 60)
    return D, (D[:, [0, 1, 2]].argmin(axis=1)).astype(np.intp)


def runs_of(**settings):
    """Runs from lists of records by setting."""
    runs = Runs()
    for setting, records in settings.items():
        for run, record in enumerate(records):
            runs.add(setting, run, record)
    return runs


# Tables


def test_a_figure_is_a_mean_with_its_standard_error():
    (one,) = figure("iris", "accuracy", np.array([0.9, 0.94, 0.92, 0.96]), 0.92)
    assert one.ours == pytest.approx(0.93)
    assert one.error == pytest.approx(np.std([0.9, 0.94, 0.92, 0.96], ddof=1) / 2)
    assert one.cells() == ("accuracy", "0.930 ± 0.013", "4", "0.920", "+0.010")
    assert figure("iris", "nothing", np.zeros(0)) == []
    alone = Figure("iris", "alone", 0.5, 0.0, 1)
    assert alone.cells() == ("alone", "0.500", "1", "", "")
    assert alone.as_record()["difference"] is None


def test_tables_of_markdown():
    assert markdown(("a", "b"), [("1", "2")]) == ["| a | b |", "| --- | --- |", "| 1 | 2 |", ""]
    assert markdown(("a", "b"), []) == []
    assert len(figure_table([Figure("p", "w", 1.0, 0.1, 3)])) == 4
    assert as_mean(np.zeros(0)) == "–"


def test_claims_and_verdicts_follow_the_numbers():
    assert above("p", "accuracy", np.array([0.96, 0.94]), 0.95)[0].holds
    assert not above("p", "accuracy", np.array([0.93, 0.94]), 0.95)[0].holds
    assert above("p", "accuracy", np.zeros(0), 0.95) == []
    assert agrees(41.0, 40.96, 0.1, 0.3) == "agrees with the chapter within 0.3"
    assert agrees(44.0, 40.96, 0.1, 0.3) == "is 3.040 above the chapter's"
    assert agrees(40.0, 40.96, 0.5, 0.3).startswith("is 0.960 below the chapter's; that is within two")


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
    record = judged(gas, beta, within, y[train], across, y[test])
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


# What is said


def test_the_chapters_ratios():
    best = {name: round(max(ratios.values()), 1) for name, ratios in speed.CHAPTER.items()}
    assert best == {("SOM", 100): 40.7, ("SOM", 484): 32.3, ("NG", 100): 5.5, ("NG", 500): 4.4}


@pytest.mark.parametrize(("ratio", "said"), [(2.0, True), (50.0, False)])
def test_speed_sentences_follow_the_numbers(ratio, said):
    searches = speed.searches("NG")
    record = {f"{s}: {what}": ratio for s in searches for what in ("mean_ms", "ratio", "terms")}
    runs = runs_of(**{"NG, K=100": [{"N": 4400, "simulated": False, **record}]})
    text = " ".join(speed.sentences(runs))
    assert ("gain less over `standard`" in text) == said
    assert ("`stop-coarse` (median NG, K=100)" in text) == said
    assert "`stop` (" not in text  # 1.01 in the chapter
    assert speed.claims(runs)[0].holds != said
    assert len(speed.table(runs)) == len(searches) + 5


def test_settings_have_names_of_their_own():
    """A name is a key of the journal: two settings of one name would share their runs."""
    settings = [s for K in (40, 100, 500) for s in chromosomes.candidates(K)]
    settings += [other for K in (40, 100, 500) for other in chromosomes.rivals(K)]
    settings += [s for base in study.BASES.values() for s in study.changes(base).values()]
    assert len({s.name for s in set(settings)}) == len(set(settings))


def chromosome_runs(gas, means, folds=10):
    """Runs in which every gas and every K-means has one accuracy."""
    runs = Runs()
    runs.add("data", 0, {"N": 4400, "classes": 22})
    for K in (100, 500):
        maps = dict.fromkeys(chromosomes.candidates(K), gas) | dict.fromkeys(chromosomes.rivals(K), means)
        for setting, accuracy in maps.items():
            record = {"learned": accuracy, "posterior": accuracy, "quantization_error": 9.0}
            for r in range(3):
                if K == 100 and setting.kind == "NG":
                    runs.add(chromosomes.TUNING + setting.name, r, record)
            for r in range(4):
                runs.add(chromosomes.HALVES + setting.name, r, record)
            for r in range(folds):
                runs.add(chromosomes.TENFOLD + setting.name, r, record)
    for how in (chromosomes.HALVES, chromosomes.TENFOLD):
        runs.add(how + "12-NN", 0, {"posterior": 0.945})
    return runs


def test_chromosome_sentences_follow_the_numbers():
    high, low = chromosome_runs(0.95, 0.9, folds=20), chromosome_runs(0.8, 0.9)
    assert all(claim.holds for claim in page_of.claims(high))
    assert [c.holds for c in page_of.claims(low) if "12-NN" not in c.what].count(True) == 0
    good, bad = " ".join(page_of.sentences(high)), " ".join(page_of.sentences(low))
    assert "is missed" not in good
    assert "within 0.005 of the chapter's or above it" in good
    assert "K=100: 0.86 by halves is missed by 0.0600; tried were" in bad
    assert "stays 0.090 below the chapter's 0.89, although 12-NN reaches" in bad
    assert "over all strings, 2 times with other folds; a run is a fold" in good
    assert "over all strings; a run is a fold" in bad
    assert "chapter's order" not in good
    assert "K=100: the chapter's order, neural gas above K-means, is not found under its annealing" in bad
    assert "from K/2, nor under our default." in bad
    assert "K=500: refined by swaps, neural gas is 0.1000 below K-means on the same folds, more than two" in bad
    assert "(21 classes would be 4200" in good
    assert any(f.chapter == 0.93 and f.ours == pytest.approx(0.95) for f in page_of.figures(high))
    assert len(page_of.directions(high)) > 10


def test_study_lines_are_differences_on_the_same_runs():
    runs = Runs()
    for base, start in study.BASES.items():
        for k, what in enumerate(study.changes(start)):
            for r in range(2):
                record = {"learned": 0.8 + 0.01 * k + 0.001 * r, "posterior": 0.5, "quantization_error": 100.0 - k}
                runs.add(f"{study.STUDY}{base}, {what}", r, record)
    lines = study.lines(runs)
    assert "| our default | sigma_start 2 | +0.0100 ± 0.0000 | -1 ± 0 |" in lines
    said = "\n".join(lines)
    assert "moves accuracy by +0.0000 ± 0.0000 and multiplies the quantization error by 1.000" in said
    assert "more than the way of annealing." in said
    assert "Better than our default by more than 0.005 and two standard errors: 'sigma_start 2' (+0.0100" in said
    for record in (records[r] for s, records in runs.records.items() for r in records):
        record["learned"] = 0.8
    assert "speak for no other default" in "\n".join(study.lines(runs))
    assert study.lines(Runs()) == []


@pytest.mark.parametrize(
    ("guided", "words"),
    [(0.95, "labels help, by 0.100"), (0.75, "labels hurt"), (0.85, "labels make no clear difference")],
)
def test_protein_sentences_follow_the_numbers(guided, words):
    noise = [0.0, 0.002, -0.002]
    record = [{"learned": [0.85 + e, guided - e], "posterior": [0.85 + e, 0.85]} for e in noise]
    runs = runs_of(**{proteins.MEDIAN + proteins.RAW: record, "betas": [{"betas": [1.0, 0.5]}],
                      "data": [{"N": 213, "classes": 4}], "1-NN": [{"posterior": 0.98}] * 3})  # fmt: skip
    said = " ".join(proteins.sentences_of("proteins", runs))
    assert words in said
    assert "213 globins of 4 families" in said
    assert "inside the chapter's [0.5, 0.9]" in said
    assert proteins.claims_of("proteins", runs)[0].holds == (guided == 0.95)
    gain = next(f for f in proteins.figures_of("proteins", runs) if "gain" in f.what)
    assert gain.ours == pytest.approx(guided - 0.85)
    assert gain.chapter == 0.10


def test_a_curve_is_judged_beta_by_beta(blobs):
    D, y = blobs
    record = proteins.curve(Labelled(np.tile(D, (2, 2)), np.tile(y, 2)), proteins.MEDIAN + proteins.RAW,
                            np.arange(60), np.arange(60, 120), 0, Plan(quick=True))  # fmt: skip
    assert {len(values) for values in record.values()} == {len(proteins.betas(Plan(quick=True)))}
    assert min(record["learned"][1:]) > 0.9


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
    assert Claim("p", "w", "m", True).holds


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
