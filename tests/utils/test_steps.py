"""How far long work is: what loops tell, and what a terminal shows of it."""

import re
import time

import numpy as np
import pytest
from support.fits import write_words

from medianmap import MedianKMeans, MedianNeuralGas, check_dissimilarity
from medianmap.app.output import Watch, stage_bars
from medianmap.app.run import run_fit
from medianmap.app.settings import FitSettings
from medianmap.core.neighborhood import make_lattice
from medianmap.explore import layout, prototype_dissimilarities
from medianmap.readers import read
from medianmap.refine import refine_som, swap_medoids
from medianmap.sources.all_pairs import all_pairs
from medianmap.utils.threads import epochs_watched, followed, in_steps, step


def squared(points):
    return ((points[:, None] - points[None]) ** 2).sum(axis=2)


class Notes(Watch):
    """Everything that was told, by stage."""

    def __init__(self):
        self.told = {}

    def progress(self, stage, done, total):
        self.told.setdefault(stage, []).append((done, total))


def test_nobody_hears_steps_unless_followed():
    notes = Notes()
    step("alone", 1, 2)
    with followed(notes.progress):
        step("work", 1, 2)
        assert [part.stop for part in in_steps("rows", 7, 3)] == [3, 6, 7]
    step("after", 1, 2)
    assert notes.told == {"work": [(1, 2)], "rows": [(0, 7), (3, 7), (6, 7), (7, 7)]}


def test_a_callback_of_ones_own_hears_instead_of_the_follower():
    around, own = Notes(), Notes()
    with followed(around.progress):
        all_pairs(np.eye(3), "euclidean", on_progress=own.progress)
        assert around.told == {}
        all_pairs(np.eye(3), "euclidean")
    assert own.told == around.told
    assert own.told["dissimilarities"][-1] == (6, 6)


@pytest.mark.parametrize("kicks", [0, 3])
def test_swaps_tell_how_many_candidates_are_left(rng, kicks):
    D, notes = squared(rng.normal(size=(2500, 3))), Notes()
    start = np.arange(12)
    silent = swap_medoids(D, start, kicks=kicks)
    with followed(notes.progress):
        told = swap_medoids(D, start, kicks=kicks)
    assert np.array_equal(told.medoids, silent.medoids)
    done, totals = np.array(notes.told["swaps"]).T
    assert (np.diff(done) > 0).all()
    assert (totals >= done).all()
    assert done[-1] > 1500 * (1 + kicks)  # all but the last block of each descent, and again after swaps
    assert totals[0] == 2500 * (1 + kicks)  # every descent looks at all candidates once at least
    assert totals[-1] - done[-1] < 1024  # less than a block is left when the last is begun


def test_swaps_on_a_lattice_are_told(rng):
    D, notes = squared(rng.normal(size=(2500, 2))), Notes()
    with followed(notes.progress):
        refine_som(D, np.arange(12), make_lattice((3, 4)), kicks=1)
    done, totals = np.array(notes.told["swaps"]).T
    assert (np.diff(done) > 0).all()
    assert (totals > done).all()
    assert totals[0] == 5000


def test_samples_exemplars_and_layouts_are_told():
    words, notes = [f"{k:b}" for k in range(70)], Notes()
    model = MedianKMeans(40, metric="edit", random_state=0).fit(words)
    with followed(notes.progress):
        check_dissimilarity(words, metric="edit")
        P = prototype_dissimilarities(model)
        layout(P, max_iter=5)
    assert notes.told["sample"] == [(0, 70), (32, 70), (64, 70), (70, 70)]
    assert notes.told["exemplars"] == [(0, 40), (32, 40), (40, 40)]
    assert notes.told["layout"] == [(k, 5) for k in range(len(notes.told["layout"]))]
    assert P.shape == (40, 40)
    assert (np.diag(P) == 0).all()


@pytest.mark.parametrize(
    ("settings", "stages"),
    [
        ({"map": "gas", "k": 4, "refine": "swap"}, ["dissimilarities", "health", "epochs", "swaps", "layout"]),
        ({"grid": (2, 3), "refine": "swap"}, ["dissimilarities", "health", "epochs", "swaps", "exemplars"]),
        ({"map": "kmeans", "k": 3, "patch": 12}, ["sample", "health", "patches", "assignment", "exemplars", "layout"]),
    ],
)  # fmt: skip
def test_every_long_stage_of_a_fit_has_a_total(tmp_path, monkeypatch, settings, stages):
    monkeypatch.chdir(tmp_path)
    write_words()
    notes = Notes()
    run_fit(FitSettings("words.fasta", metric="edit", **settings), "map", watch=notes)
    for stage in stages:
        done, total = notes.told[stage][-1]
        assert total is not None, stage
        assert 0 <= done <= total, stage


def test_bars_tell_rate_and_time_left(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes this for a terminal
    monkeypatch.setenv("COLUMNS", "120")
    with stage_bars(True) as move:
        for stage in ("epochs", "swaps", "epochs"):  # a stage that comes again is shown again
            move(stage, 0, 100)
            time.sleep(0.15)
            move(stage, 50, 100)
            time.sleep(0.15)
    shown = re.findall(r"(epochs|candidates)/s, \d+ s left", capsys.readouterr().err)
    assert list(dict.fromkeys(shown)) == ["epochs", "candidates"]
    assert shown[-1] == "epochs"


def test_a_file_tells_how_much_of_it_is_read(tmp_path):
    path, notes = tmp_path / "v.csv", Notes()
    path.write_text("".join(f"{k},{k + 1}.5\n" for k in range(90_000)))
    with followed(notes.progress):
        assert len(read(path)) == 90_000
    size = path.stat().st_size // 1000
    done, totals = zip(*notes.told["reading"], strict=True)
    assert set(totals) == {size}
    assert done[-1] == size
    assert len(set(done)) > 3


def test_epochs_are_watched_from_around_a_fit_and_no_map_keeps_the_watcher(rng, caplog):
    X, seen, own = rng.normal(size=(40, 2)), [], []
    with epochs_watched(seen.append), caplog.at_level("INFO", logger="medianmap"):
        fitted = MedianNeuralGas(3, n_epochs=4, n_init=2, n_jobs=2, random_state=0, on_epoch=own.append).fit(X)
        assert seen == own
        assert {epoch.run for epoch in seen} == {0, 1}
        assert sum("sigma" in record.message for record in caplog.records) == len(seen)
        plain = MedianNeuralGas(3, n_epochs=4, n_init=2, n_jobs=2, random_state=0).fit(X)
    assert len(seen) == 2 * len(own)
    assert plain.on_epoch is None
    assert plain.labels_.tolist() == fitted.labels_.tolist()
    MedianNeuralGas(3, n_epochs=4, random_state=0).fit(X)
    assert len(seen) == 2 * len(own)
