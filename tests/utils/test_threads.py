"""Threads: limits are set and put back, chunks are all done, the log appears when asked for."""

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from support.maps import blobs
from threadpoolctl import threadpool_info

from medianmap import MedianKMeans
from medianmap.utils import threads
from medianmap.utils.files import atomic
from medianmap.utils.threads import limited, n_threads, run_chunks


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def test_the_limit_holds_inside_and_is_put_back():
    before = blas_threads()
    with limited(1) as n:
        assert n == 1
        assert set(blas_threads()) == {1}
        assert n_threads(None) == 1
    assert blas_threads() == before


def test_fits_in_parallel_threads_put_the_limit_back(rng):
    X = blobs(rng, n=200)
    before = blas_threads()
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda s: MedianKMeans(5, random_state=s % 2, n_jobs=1).fit(X), range(8)))
    assert blas_threads() == before
    for fitted in fits[2:]:
        np.testing.assert_array_equal(fitted.labels_, fits[fitted.random_state].labels_)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_every_chunk_is_done_and_errors_come_through(n_jobs):
    done = np.zeros(10)

    def work(part):
        done[part] += 1

    run_chunks(work, [slice(k, k + 1) for k in range(10)], n_jobs)
    assert done.tolist() == [1] * 10
    with pytest.raises(ZeroDivisionError):
        run_chunks(lambda part: 1 // (part.start - 7), [slice(k, k + 1) for k in range(10)], n_jobs)


def test_negative_n_jobs_count_back_from_all_cores():
    assert n_threads(-1) >= 1
    assert n_threads(-1000) == 1
    assert n_threads(5) == 5


def test_verbose_is_seen_without_any_set_up_of_logging(rng, capsys, monkeypatch):
    logger = logging.getLogger("medianmap")
    monkeypatch.setattr(logger, "propagate", False)
    MedianKMeans(3, verbose=1, random_state=0).fit(blobs(rng))
    printed = capsys.readouterr()
    assert "epoch 0" in printed.err
    assert printed.out == ""
    assert logger.handlers == []


def test_a_block_that_fails_leaves_no_file_behind(tmp_path):
    (tmp_path / "kept").write_text("before")

    def fail():
        with atomic(tmp_path / "kept") as file:
            file.write(b"half")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept").read_text() == "before"


def test_work_that_is_shared_out_again_inside_does_not_wait_for_itself():
    done = []

    def outer(part):
        run_chunks(lambda inner: done.append((part.start, inner.start)), [slice(0, 1), slice(1, 2)], 2)

    # In a process of few threads this would never end: the test runs beside it.
    fit = threading.Thread(target=run_chunks, args=(outer, [slice(0, 1), slice(1, 2)], 2), daemon=True)
    fit.start()
    fit.join(300)
    assert not fit.is_alive()
    assert sorted(done) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_small_work_is_done_at_once_and_longer_work_in_threads():
    """Which is which is known from the time before; what is done in either way is the same."""
    chunks = [slice(k, k + 1) for k in range(4)]
    seen, done = set(), []

    def work(part):
        done.append(part.start)
        seen.add(threading.get_ident())

    for _ in range(200):  # the machine may be busy
        seen.clear()
        run_chunks(work, chunks, 2)
        if seen == {threading.get_ident()}:
            break
    assert seen == {threading.get_ident()}
    assert all(done.count(k) == done.count(0) for k in range(4))

    def long_work(part):
        time.sleep(0.002)
        seen.add(threading.get_ident())

    for _ in range(3):
        seen.clear()
        run_chunks(long_work, chunks, 2)
    assert threading.get_ident() not in seen
    assert len(seen) == 2


def test_small_work_is_known_where_waking_threads_takes_long(monkeypatch):
    """As on a busy machine: else what was handed out once would be handed out for ever."""
    handed_out = []

    class Slow:
        def submit(self, work, *given):
            time.sleep(10 * threads.WAKING)
            handed_out.append(given)
            done = Future()
            done.set_result(work(*given))
            return done

    monkeypatch.setattr(threads, "_pool", lambda n: Slow())
    for _ in range(50):
        run_chunks(lambda part: None, [slice(0, 1), slice(1, 2)], 2)
    assert 2 <= len(handed_out) < 2 * 50
