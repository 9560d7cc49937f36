"""n_init: several starts side by side give what they give one after another."""

import gc
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from support.maps import BATCH, MEDIAN, METHODS, blob_distances, blobs, estimator

from medianmap import MedianKMeans, MedianNeuralGas, RelationalKMeans
from medianmap.core.assignment import Winner
from medianmap.core.engine import Problem, run_all
from medianmap.core.spaces import MedianSpace
from medianmap.core.vectors import VectorSpace
from medianmap.sources import DenseSource
from medianmap.utils.threads import alone, n_threads, run_chunks


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("collisions", ["distinct", "noise"])
@pytest.mark.parametrize("annealing", ["median", "relational"])
def test_the_number_of_threads_changes_nothing(method, collisions, annealing, rng):
    D = blob_distances(rng, n=120, centers=8)
    params = {"metric": "precomputed", "collisions": collisions, "annealing": annealing}
    fits = [estimator(method, 6, n_init=5, random_state=3, n_jobs=n, **params).fit(D) for n in (1, 2, 4)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.medoid_indices_, fits[0].medoid_indices_)
        np.testing.assert_array_equal(other.history_, fits[0].history_)


@pytest.mark.parametrize("family", [MEDIAN, BATCH])
def test_the_best_of_single_runs_is_kept(family, rng):
    X = blobs(rng, n=100, centers=7)
    starts = np.random.default_rng(np.random.RandomState(7).randint(2**31 - 1, size=4))
    singles = [
        estimator("kmeans", 5, family, init=starts.choice(100, 5, replace=False)).fit(X).inertia_ for _ in range(6)
    ]
    best = estimator("kmeans", 5, family, n_init=6, random_state=7, n_jobs=2).fit(X)
    assert best.inertia_ == min(singles)
    assert min(singles) < max(singles)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_run_is_that_of_the_weighted_error(seed, rng):
    D, m, last = blob_distances(rng, n=60, centers=8), rng.lognormal(0.0, 3.0, 60), {}
    fitted = estimator("kmeans", 3, metric="precomputed", n_init=6, random_state=seed,
                       on_epoch=lambda epoch: last.__setitem__(epoch.run, epoch.quantization_error))  # fmt: skip
    fitted.fit(D, sample_weight=m)
    assert len(last) == 6
    assert fitted.quantization_error_ == pytest.approx(min(last.values()))


def test_a_users_function_is_called_from_the_users_thread_in_order(rng):
    seen = []
    MedianNeuralGas(
        3,
        n_init=3,
        n_epochs=4,
        n_jobs=2,
        random_state=0,
        on_epoch=lambda e: seen.append((e.run, threading.get_ident())),
    ).fit(blobs(rng))
    assert [run for run, _ in seen] == sorted(run for run, _ in seen)
    assert {run for run, _ in seen} == {0, 1, 2}
    assert {thread for _, thread in seen} == {threading.get_ident()}


def problem(space):
    return Problem(space, Winner(), np.ones(space.n_points))


def test_runs_lie_in_threads_of_their_own_that_do_not_split_further(rng):
    at_once = threading.Barrier(2, timeout=300)

    def train(own, run, watch):
        at_once.wait()  # breaks unless two runs are under way at the same time
        return own.space, n_threads(2), n_threads(None)

    space = VectorSpace(blobs(rng))
    outcomes = list(run_all(train, problem(space), 2, 2, lambda epoch: None))
    assert [threads for _, *threads in outcomes] == [[1, 1], [1, 1]]
    assert n_threads(2) == 2

    median = MedianSpace(DenseSource(blob_distances(rng), symmetric=True), "auto")
    spaces = [own for own, *_ in run_all(train, problem(median), 2, 2, lambda epoch: None)]
    assert spaces[0].memory is not spaces[1].memory
    assert spaces[0].source is spaces[1].source is median.source


def test_a_failure_in_one_run_ends_all(rng):
    begun = []

    def train(own, run, watch):
        begun.append(run)
        if run == 0:
            raise ValueError("no")
        while True:  # until the failure of the other reaches it
            watch(None)

    with pytest.raises(ValueError, match="no"):
        list(run_all(train, problem(VectorSpace(blobs(rng))), 50, 2, lambda epoch: None))
    assert len(begun) < 50


def test_a_run_is_stopped_between_two_epochs_too(rng):
    both = threading.Barrier(2, timeout=300)

    def train(own, run, watch):
        both.wait()
        if run == 0:
            raise ValueError("no")
        end = time.monotonic() + 300
        while time.monotonic() < end:  # refinement has no epochs, but shares out work
            run_chunks(lambda part: None, [slice(0, 1)], 2)
        went_on.append(run)

    went_on = []
    with pytest.raises(ValueError, match="no"):
        list(run_all(train, problem(VectorSpace(blobs(rng))), 2, 2, lambda epoch: None))
    assert went_on == []


def test_a_thread_that_works_alone_does_so_until_the_outermost_end():
    with alone(threading.Event()):
        with alone(threading.Event()):
            pass
        assert n_threads(2) == 1
    assert n_threads(2) == 2


def test_outcomes_are_let_go_of_as_they_are_taken(rng):
    class Outcome:
        pass

    held = []

    def train(own, run, watch):
        outcome = Outcome()
        held.append(weakref.ref(outcome))
        return outcome

    for n_jobs in (1, 2):
        held.clear()
        for _ in run_all(train, problem(VectorSpace(blobs(rng))), 20, n_jobs, lambda epoch: None):
            pass
        del _
        gc.collect()
        assert [ref() for ref in held] == [None] * 20


CTRL_C = """
import logging, sys
import numpy as np
from medianmap import MedianNeuralGas
D = np.abs(np.subtract.outer(*[np.random.default_rng(0).random(600)] * 2))
logging.basicConfig(stream=sys.stdout, level=logging.INFO)
MedianNeuralGas(40, metric="precomputed", n_epochs=100000, n_init=4, n_jobs=2, verbose=2).fit(D)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for another process")
def test_ctrl_c_ends_runs_in_threads():
    with subprocess.Popen([sys.executable, "-c", CTRL_C], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as fit:
        assert b"run" in fit.stdout.readline()  # the first epoch of a run
        fit.send_signal(signal.SIGINT)
        _, said = fit.communicate(timeout=300)
    assert said.strip().endswith(b"KeyboardInterrupt")


def test_a_source_that_is_not_in_memory_is_asked_by_one_thread(rng):
    threads = set()

    def difference(a, b):
        threads.add(threading.get_ident())
        return float(np.abs(a - b).sum())

    MedianKMeans(3, metric=difference, n_init=4, n_jobs=2, random_state=0).fit(blobs(rng, n=30))
    assert len(threads) == 1


def test_relational_maps_restart_too(rng):
    X = blobs(rng)
    one = RelationalKMeans(4, n_init=4, random_state=0, n_jobs=1).fit(X)
    two = RelationalKMeans(4, n_init=4, random_state=0, n_jobs=2).fit(X)
    np.testing.assert_array_equal(one.coefficients_.toarray(), two.coefficients_.toarray())
