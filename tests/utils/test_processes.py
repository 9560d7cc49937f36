"""Fits beside other fits, in forked processes and under Ctrl-C: none hangs, and none gives another result.

Each case is a process of its own, so that a hang ends the test and not the run; the time-out asserts nothing on speed.
"""

import os
import subprocess
import sys

import pytest

HANG = 300

FITS = """
import multiprocessing, os, signal, sys, threading, time, warnings
import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_info
from medianmap import BatchSOM, MedianNeuralGas, MedianSOM
warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forks beside threads

X = np.random.default_rng(0).normal(size=(500, 5))
D = cdist(X, X)
MAPS = [(MedianSOM((4, 5), metric="precomputed", n_epochs=12, random_state=0, n_jobs=2), D),
        (MedianNeuralGas(9, metric="precomputed", n_epochs=12, n_init=2, random_state=1, n_jobs=2), D),
        (BatchSOM((4, 5), n_epochs=12, random_state=0, n_jobs=2), X)]

def fit(which):
    map_, data = MAPS[which]
    return type(map_)(**map_.get_params()).fit(data).labels_

def blas():
    return sorted(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")

alone = [fit(k) for k in range(len(MAPS))]
limits = blas()

def check(found, which):
    assert np.array_equal(found, alone[which]), which

def in_fork(n=1):
    for _ in range(n):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for k in range(len(MAPS)):
                    check(fit(k), k)
                assert blas() == limits, (blas(), limits)
                code = 0
            finally:
                os._exit(code)
        yield child

def waited(child):
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
"""

CASES = {
    "two threads": """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    for which, found in zip([0, 1, 2] * 4, pool.map(fit, [0, 1, 2] * 4)):
        check(found, which)
assert blas() == limits
""",
    "limits from any thread": """
# Exactness needs one thread of BLAS in places; threadpoolctl lets only the thread that came first set the number.
from medianmap.utils.threads import limited
def inside():
    with limited(1):
        return blas()
fit(0)
seen = []
worker = threading.Thread(target=lambda: seen.append(inside()))
worker.start()
worker.join()
assert seen == [[1] * len(limits)], seen
assert blas() == limits
""",
    "fork while another thread fits": """
ended = threading.Event()
wrong = []
def fits():
    while not ended.is_set():
        for k in range(len(MAPS)):
            if not np.array_equal(fit(k), alone[k]):
                wrong.append(k)
worker = threading.Thread(target=fits)
worker.start()
for child in in_fork(12):
    waited(child)
ended.set()
worker.join()
assert not wrong
""",
    "fork while another thread holds our lock": """
from medianmap.utils import threads
from medianmap.utils.threads import limited
busy, stop = threading.Event(), threading.Event()
def holds():
    with limited(1):
        busy.set()
        stop.wait()
def grabs():
    while not stop.is_set():
        with threads._lock:
            time.sleep(0.001)
workers = [threading.Thread(target=each) for each in (holds, grabs)]
for each in workers:
    each.start()
busy.wait()
for child in in_fork(5):
    waited(child)
stop.set()
for each in workers:
    each.join()
""",
    "fork while another thread compiles": """
from numba import njit
stop = threading.Event()
def compiles():
    while not stop.is_set():
        @njit
        def total(x):
            s = 0.0
            for each in x:
                s += each * each
            return s
        total(X[0])
worker = threading.Thread(target=compiles)
worker.start()
time.sleep(0.1)
for child in in_fork(8):
    waited(child)
stop.set()
worker.join()
""",
    "fork after numba has threads": """
from numba import njit, prange
@njit(parallel=True)
def total(x):
    s = 0.0
    for i in prange(len(x)):
        s += x[i]
    return s
total(X[:, 0].copy())
for child in in_fork(2):
    waited(child)
""",
    "joblib": """
from joblib import Parallel, delayed, parallel_config
for backend in ("threading", "loky", "multiprocessing"):
    with parallel_config(backend, n_jobs=2):
        for which, found in zip([0, 1, 2], Parallel()(delayed(fit)(k) for k in range(3))):
            check(found, which)
assert blas() == limits
""",
    "Ctrl-C in a notebook": """
# The kernel of a notebook stays: what a fit was doing must be over, and its limits and handlers gone.
import gc
import random
signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
handlers = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
moments, interrupted = random.Random(0), 0
began = time.perf_counter()
fit(0)
lasts = time.perf_counter() - began
for k in range(40):
    try:
        signal.setitimer(signal.ITIMER_REAL, moments.uniform(0.05, 1.0) * lasts)
        fit(k % 2 * 2)
    except KeyboardInterrupt:
        interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    gc.collect()  # a limit ends with the call that holds it, and calls that were interrupted may be in a cycle
    assert blas() == limits, blas()
    assert {n: signal.getsignal(n) for n in handlers} == handlers
    if k % 8 == 0:
        for which in range(len(MAPS)):
            check(fit(which), which)
assert interrupted >= 10, interrupted
""",
    "an interrupt waits for the threads": """
from medianmap.utils.threads import run_chunks
done = []
def work(chunk):
    time.sleep(0.05)
    done.append(chunk)
def stopped(number, frame):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, stopped)
signal.setitimer(signal.ITIMER_REAL, 0.12)
try:
    run_chunks(work, [slice(k, k + 1) for k in range(200)], 2)
except KeyboardInterrupt:
    n = len(done)
    time.sleep(0.3)
    assert len(done) == n < 200, (n, len(done))
else:
    raise AssertionError("not interrupted")
""",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("case", CASES)
def test_neither_hangs_nor_gives_another_result(case, tmp_path):
    (tmp_path / "case.py").write_text(FITS + CASES[case])
    env = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "case.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
