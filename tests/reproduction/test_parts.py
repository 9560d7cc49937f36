"""What the parts of the reproduction measure and say: settings, samples, claims and sentences against oracles."""

from functools import partial

import numpy as np
import pytest
from support.maps import blob_distances
from support.records import chromosome_runs, runs_of

from medianmap import MedianKMeans, MedianNeuralGas, reference
from medianmap.core.vectors import squared_distances
from medianmap.datasets import load_breast_cancer
from reproduction import Plan, chromosomes, left_out, patches, proteins, speed, starts, study, truncated
from reproduction import chromosomes_page as page_of
from reproduction.plan import Labelled
from reproduction.runs import Runs
from reproduction.tables import FAILS, HOLDS, OPEN


@pytest.fixture
def blobs(rng):
    """Sixty points in three blobs: their distances and the blob of each."""
    D = blob_distances(rng, 60)
    return D, (D[:, [0, 1, 2]].argmin(axis=1)).astype(np.intp)


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
    assert speed.claims(runs)[0].verdict.startswith("holds" if not said else "**does not hold**")
    assert len(speed.table(runs)) == len(searches) + 5


def test_speed_claims_of_early_stopping_and_of_the_two_maps():
    def record(name, ms):
        of = {s: ms.get(s, 99.0) for s in speed.searches(name)}
        return {
            "N": 9,
            "simulated": False,
            **{f"{s}: {what}": t for s, t in of.items() for what in ("mean_ms", "ratio")},
        }

    runs = runs_of(**{
        "SOM, K=100": [record("SOM", {"bound-all-stop": 10.0, "auto": 3.0})],
        "NG, K=100": [record("NG", {"stop-coarse": 50.0, "auto": 6.0})],
        "SOM, K=484": [record("SOM", {"bound-all": 10.0, "bound-all-stop": 12.0})],
    })  # fmt: skip
    said = {claim.what: claim for claim in speed.claims(runs)}
    early = next(claim for what, claim in said.items() if "early stopping" in what)
    assert early.measured == "-20% (chapter: 24%)"
    assert not early.verdict.startswith("holds")
    factors = [claim.measured for what, claim in said.items() if "an epoch of the SOM" in what]
    assert factors == ["5.0 times less (chapter: 6.9)", "2.0 times less (chapter: 6.9)"]


def test_settings_have_names_of_their_own():
    """A name is a key of the journal: two settings of one name would share their runs."""
    settings = [s for K in (40, 100, 500) for s in (*chromosomes.gas(K), *chromosomes.means(K))]
    settings += [s for base in study.BASES.values() for s in study.changes(base).values()]
    settings += [s for K in left_out.REPORTED for s in left_out.compared(K)]
    assert len({s.name for s in set(settings)}) == len(set(settings))


def test_the_chapters_settings_do_not_hang_on_defaults():
    gas = chromosomes.Setting(100, how=chromosomes.CHAPTERS).map(3, Plan(threads=1))
    assert (gas.annealing, gas.sigma_start, gas.sigma_end, gas.n_epochs) == ("median", 50.0, 0.01, 100)
    assert gas.random_state == 3
    changed = study.changes(study.BASES["chapter's annealing"])
    assert changed["sigma_start 2"].map(0, Plan()).sigma_start == 2.0
    assert changed["30 epochs"].map(0, Plan()).n_epochs == 30
    assert changed["refined by swaps"].map(0, Plan()).refine == "swap"
    ours = study.BASES["our default"].map(0, Plan())
    assert ours.get_params() == MedianNeuralGas(100, metric="precomputed", random_state=0).get_params()


def test_chromosome_sentences_follow_the_numbers():
    high, low = chromosome_runs(0.95, 0.9, folds=20), chromosome_runs(0.8, 0.9)
    beside = [[c for c in page_of.claims(runs) if "K-means" in c.what] for runs in (high, low)]
    assert [len(found) for found in beside] == [4, 4]
    assert {c.verdict for c in beside[0]} == {HOLDS}
    assert {c.verdict for c in beside[1]} == {FAILS}
    # The chapter's 0.83 is that of K-means without labels, its 0.91 of K-means with labels.
    reported = {f.what: f.chapter for f in page_of.figures(high) if f.chapter}
    assert reported["10-fold: K=100, unsupervised median K-means, chapter's"] == "0.83"
    assert reported["10-fold: K=500, supervised median K-means, chapter's"] == "0.91"
    assert len(reported) == 5
    good, bad = " ".join(page_of.sentences(high)), " ".join(page_of.sentences(low))
    assert "over all strings, 2 times with other folds; a run is a fold" in good
    assert "over all strings; a run is a fold" in bad
    assert "instead of K-means, both refined by swaps +0.0" in good
    assert len(page_of.directions(high)) > 10


def test_every_class_left_out_is_shown_and_the_nearest_is_named_as_found_by_trying():
    runs = Runs()
    # 2 sqrt(0.94 * 0.06 / 4200) + 0.005 is 0.0123: two choices within, one and all strings not.
    for name, apart in (("7", 0.011), ("19", 0.001), ("2", 0.05), (None, 0.03)):
        for K, (clusters, gas) in left_out.REPORTED.items():
            for k, setting in enumerate(left_out.compared(K)):
                accuracy = float(gas if k else clusters) + apart
                what = chromosomes.HALVES if name is None else f"{left_out.LEFT}{name}: "
                for direction in (-0.01, 0.01):
                    record = {"learned": accuracy + direction, "posterior": accuracy + direction}
                    runs.add(what + setting.name, int(direction > 0), record)
    lines = left_out.lines(runs)
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    assert [row[0] for row in rows[3:]] == ["19", "7", "2", "none"]
    assert [row[-1] for row in rows[3:]] == ["4 of 4", "4 of 4", "0 of 4", "0 of 4"]
    assert rows[3][1] == "0.831"
    text = "\n".join(lines)
    assert "**without class 19**, is the most favourable choice found by trying all" in text
    assert "0.001 from the chapter's and meets 4 of 4; all four are met without 2 of the 3 classes" in text
    assert "proves neither" in text
    assert "Nor is it enough by itself" not in text
    for K in left_out.REPORTED:  # the chapter's own annealing, with no class left out near enough
        for name in ("7", "19", "2"):
            what = f"{left_out.LEFT}{name}: {chromosomes.Setting(K, how=chromosomes.CHAPTERS).name}"
            runs.records[what] = {0: {"learned": 0.8, "posterior": 0.8}, 1: {"learned": 0.8, "posterior": 0.8}}
    assert "at most 0.800 (K=100) and 0.800 (K=500), whichever class" in "\n".join(left_out.lines(runs))
    for setting in left_out.compared(500):
        for name in ("7", "19"):
            runs.records[f"{left_out.LEFT}{name}: {setting.name}"][0] = {"learned": 0.5, "posterior": 0.5}
    assert "does not explain" in "\n".join(left_out.lines(runs))
    assert left_out.lines(Runs()) == []


def test_study_lines_are_differences_on_the_same_runs():
    runs = Runs()
    for base, start in study.BASES.items():
        for k, what in enumerate(study.changes(start)):
            for r in range(4):
                record = {"learned": 0.8 + 0.01 * k * (r != 3) + 0.001 * r, "posterior": 0.5,
                          "quantization_error": 100.0 - k}  # fmt: skip
                runs.add(f"{study.STUDY}{base}, {what}", r, record)
    lines = study.lines(runs)
    assert "| our default | sigma_start 2 | +0.0075 ± 0.0025 | -1 ± 0 |  |" in lines  # t is 3.18 for four runs
    for records in runs.records.values():
        records.pop(3)
    assert "| our default | sigma_start 2 | +0.0100 ± 0.0000 | -1 ± 0 | clearly higher |" in study.lines(runs)
    assert study.lines(Runs()) == []


# Sampling, starts, truncation


def test_samples_are_as_large_as_they_say():
    n = 500  # patches of 100, and 40 prototypes: summaries are joined 2 x 100 points at a time
    assert patches.sample_size(patches.MEMORY, n) == 200
    s = patches.sample_size(patches.EVALUATIONS, n)
    assert s**2 / 2 <= n * (100 / 2 + 40) < (s + 1) ** 2 / 2


def test_a_sample_of_all_points_is_the_map_of_all_points(monkeypatch):
    """Its exemplars are numbers of training points, judged on all of them."""
    train, test = patches.folds(1, 0)[0]
    monkeypatch.setattr(patches, "sample_size", lambda way, n: n)
    whole, sampled = (patches.one(way, patches.OURS, train, test, 0) for way in (patches.FULL, patches.EVALUATIONS))
    assert sampled["quantization_error"] == pytest.approx(whole["quantization_error"], rel=1e-6)
    assert sampled["accuracy"] == whole["accuracy"]


def test_exemplars_of_a_sample_are_points_of_the_sample(monkeypatch):
    """Of a sample of K points each is an exemplar: the points that were drawn, in numbers of the training points."""
    train, test = patches.folds(1, 0)[0]
    seen = []
    monkeypatch.setattr(patches, "sample_size", lambda way, n: patches.K)
    monkeypatch.setattr(patches, "judged_medoids", lambda chosen, *rest: seen.append(sorted(chosen.tolist())) or {})
    patches.sampled(patches.MEMORY, patches.our_gas(patches.K, random_state=0), train, test, 5)
    drawn = np.random.default_rng([5, 2]).choice(len(train), patches.K, replace=False)
    assert seen == [sorted(drawn.tolist())]


def test_all_points_in_the_last_run_lower_the_error_of_the_sample():
    train, test = patches.folds(1, 0)[0]
    small, last = (patches.one(way, patches.CHAPTERS, train, test, 0, 5) for way in (patches.MEMORY, patches.LAST))
    assert last["quantization_error"] < small["quantization_error"]


def test_losses_and_claims_of_patches_are_run_by_run():
    runs = Runs()
    for way, error in ((patches.FULL, 10.0), (patches.PATCHES, 11.0), (patches.MEMORY, 12.0)):
        for run in range(30):
            runs.add(way + patches.OURS, run, {"accuracy": 0.9, "quantization_error": error + 0.01 * (run // 10)})
    assert patches.loss(runs, patches.PATCHES, patches.OURS) == pytest.approx([1.1, 11.01 / 10.01, 11.02 / 10.02])
    found = {claim.what: claim.verdict for claim in patches.claims(runs)}
    assert found["5 patches lose less than a sample of equal memory, our default (share of the loss)"] == HOLDS


def test_the_spread_over_starts_is_that_of_the_errors():
    errors = {"K-means": [8.0, 12.0] * 10, "NG": [12.99, 13.01] * 10, "SOM": [12.99, 13.01] * 10}
    data = "globins, median"
    runs = runs_of(**{f"{data}: {kind}": [{"quantization_error": e} for e in all_] for kind, all_ in errors.items()})
    value, error = starts.spread(runs, f"{data}: K-means")
    assert value == pytest.approx(np.std(errors["K-means"], ddof=1) / 10)
    assert 0 < error < 0.1 * value  # two values, ten of each: the deviation hardly depends on the draw
    verdicts = {claim.what: claim.verdict for claim in starts.claims(runs)}
    assert verdicts[f"{data}: K-means spreads more over starts than NG"] == HOLDS
    assert verdicts[f"{data}: SOM spreads more over starts than NG"] == OPEN
    assert starts.figures(runs)[0].ours == pytest.approx(100 * value)
    assert f"| {data} | K-means | 20 | {100 * value:.2f} ± {100 * error:.2f} | 1.000 | 1.250 | 1.500 |" in starts.table(
        runs
    )
    lone = runs_of(x=[{"quantization_error": e} for e in [9.9, 10.1] * 10 + [40.0]])
    assert starts.spread(lone, "x")[1] > 0.3 * starts.spread(lone, "x")[0]  # one start makes it, and may be missing
    assert f"A small spread is no good end: {data}, the best" in " ".join(starts.sentences(runs))
    runs.records[f"{data}: NG"][0]["quantization_error"] = 9.0
    assert "A small spread" not in " ".join(starts.sentences(runs))


def test_truncated_maps_are_the_chapters_and_rank_0_alone_is_k_means():
    plan, data, rng = Plan(quick=True), load_breast_cancer(), np.random.default_rng(3)
    points = np.sort(rng.permutation(len(data.y))[: len(data.y) // 2])
    X, start = data.X[points], rng.permutation(len(points))[:40]
    D = squared_distances(X, X)
    for most, at_most in ((None, np.inf), (2, 2)):
        weights = partial(reference.neural_gas, truncate=at_most)
        w, _, _ = reference.fit(weights, reference.schedule(20, 0.01, 4), start, D=D)
        found = truncated.one(plan, most, 3)
        assert found["quantization_error"] == pytest.approx(D[:, w].min(axis=1).sum() / 2)
    means = MedianKMeans(40, metric="sqeuclidean", annealing="median", init=start).fit(X)
    assert truncated.one(plan, 0, 3)["quantization_error"] == pytest.approx(means.quantization_error_)
    assert truncated.counting(np.array([1e9, 1e9]), None) == 1
    assert truncated.counting(np.array([1e9, 1e-9]), 3) == (4 + 1) / 2 / 40


@pytest.mark.parametrize(("guided", "words", "verdict"),
                         [(0.95, "help, +0.100", HOLDS), (0.75, "hurt", FAILS), (0.85, "neither", OPEN)])  # fmt: skip
def test_protein_sentences_follow_the_numbers(guided, words, verdict):
    noise = [0.0, 0.002, -0.002]
    record = [{"learned": [0.85 + e, guided - e, guided - 0.1], "posterior": [0.85 + e, 0.85, 0.85]} for e in noise]
    curves = {proteins.MEDIAN + scale: record for scale in (proteins.RAW, proteins.SCALED)}
    runs = runs_of(**curves, betas=[{"betas": [1.0, 0.5, 0.1]}], data=[{"N": 213, "classes": 4}],
                   **{"1-NN": [{"posterior": 0.98}, {"posterior": 0.99}]})  # fmt: skip
    said = " ".join(proteins.sentences_of("proteins", runs))
    assert f"{proteins.MEDIAN + proteins.RAW}: {words}" in said
    assert "213 globins of 4 families" in said
    claims = {claim.what: claim.verdict for claim in proteins.claims_of("proteins", runs)}
    assert claims["labels raise the accuracy of median NG"] == verdict
    assert claims["some beta in [0.5, 0.9] is above all others, D as it is"] == HOLDS
    (gain,) = [f for f in proteins.figures_of("proteins", runs) if f.chapter == "0.10"]
    assert gain.ours == pytest.approx(guided - 0.85)
    assert f"{guided:.3f} ± 0.001 / 0.850" in "\n".join(proteins.curve_table(runs))


def test_a_curve_is_judged_beta_by_beta(blobs):
    D, y = blobs
    record = proteins.curve(Labelled(np.tile(D, (2, 2)), np.tile(y, 2)), proteins.MEDIAN + proteins.RAW,
                            np.arange(60), np.arange(60, 120), 0, Plan(quick=True))  # fmt: skip
    assert {len(values) for values in record.values()} == {len(proteins.betas(Plan(quick=True)))}
    assert min(record["learned"][1:]) > 0.9
