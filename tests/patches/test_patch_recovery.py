"""A pass that is killed continues and ends with the same bits; workers may join, leave and die."""

import os
import pickle
import signal
import time
import zipfile

import numpy as np
import pytest
from support.extras import optional
from support.forked import forkserver, python
from support.maps import blobs

from medianmap import (
    BatchNeuralGas,
    MedianKMeans,
    MedianNeuralGas,
    PatchClusterer,
    PrototypeClassifier,
    as_dissimilarity,
)


def patches_of_words(checkpoint, result):
    """A pass whose end is written to a file; run in a process that may be killed."""
    words = ["".join(np.random.default_rng([5, k]).choice(list("ACGT"), 12 + k % 9)) for k in range(900)]
    km = MedianKMeans(5, metric="edit", random_state=7)
    fitted = PatchClusterer(km, patch_size=20, checkpoint=checkpoint, compute_labels=False).fit(iter(words))
    np.savez(result, places=fitted.medoid_indices_, m=fitted.multiplicities_, seen=fitted.n_samples_seen_,
             evaluations=fitted.n_evaluations_)  # fmt: skip


def outcome(path):
    with np.load(path) as found:
        return {name: found[name].tolist() for name in found}


def test_killed_at_random_moments_and_resumed_it_ends_the_same(tmp_path, rng):
    patches_of_words(tmp_path / "a", tmp_path / "a.npz")
    expected = outcome(tmp_path / "a.npz")
    checkpoint, result = tmp_path / "b", tmp_path / "b.npz"
    kills = 0
    while not result.exists():
        process = forkserver("test_patch_recovery").Process(target=patches_of_words, args=(checkpoint, result))
        process.start()
        if kills < 6:
            before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
            until = time.monotonic() + 300
            while process.is_alive() and time.monotonic() < until:
                if checkpoint.exists() and checkpoint.stat().st_mtime_ns != before:
                    break  # it has begun to write; now at any moment
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.15))
            process.kill()
            process.join()
            kills += process.exitcode == -signal.SIGKILL
        else:
            process.join(600)
            assert process.exitcode == 0
    assert kills >= 2
    assert outcome(result) == expected


def fitted(checkpoint, X, **params):
    return PatchClusterer(MedianKMeans(4, random_state=1), patch_size=20, checkpoint=checkpoint, **params).fit(X)


class Stop(Exception):
    pass


def interrupted_after(n):
    def on_patch(record):
        if record.n_patches == n:
            raise Stop

    return on_patch


@pytest.mark.parametrize("family", ["median", "batch"])
@pytest.mark.parametrize("labels", [False, True])
def test_stopped_after_any_patch_it_goes_on(family, labels, rng, tmp_path):
    X, y = blobs(rng, n=100), rng.integers(3, size=100)
    map_ = MedianNeuralGas(4, n_epochs=10, random_state=None) if family == "median" else BatchNeuralGas(4, n_epochs=10)

    def run(on_patch=None):
        patches = PatchClusterer(map_, patch_size=20, checkpoint=tmp_path / "c", shuffle=True, on_patch=on_patch)
        if labels:
            return PrototypeClassifier(patches, 0.5).fit(X, y)
        return patches.fit(X)

    # random_state is None: the seed is in the checkpoint, so every way through it ends the same.
    results = []
    for n in (1, 3):
        with pytest.raises(Stop):
            run(interrupted_after(n))
        start = (tmp_path / "c").read_bytes()
        for _ in range(2):
            (tmp_path / "c").write_bytes(start)
            done = run()
            map_done = done.estimator_ if labels else done
            results.append((map_done.cluster_centers_, map_done.multiplicities_))
        assert map_done.n_samples_seen_ == 100
        np.testing.assert_array_equal(results[-1][0], results[-2][0])
        np.testing.assert_array_equal(results[-1][1], results[-2][1])
        (tmp_path / "c").unlink()


def test_a_finished_checkpoint_is_not_run_again(rng, tmp_path):
    X, seen = blobs(rng, n=100), []
    first = fitted(tmp_path / "c", X)
    again = fitted(tmp_path / "c", X, on_patch=seen.append)
    assert seen == []
    np.testing.assert_array_equal(first.medoid_indices_, again.medoid_indices_)
    np.testing.assert_array_equal(first.labels_, again.labels_)
    assert first.n_evaluations_ == again.n_evaluations_


def test_a_checkpoint_of_another_run_is_refused(rng, tmp_path):
    X = blobs(rng, n=100)
    fitted(tmp_path / "c", X)
    kept = (tmp_path / "c").read_bytes()
    with pytest.raises(ValueError, match="was begun with other data, another map"):
        fitted(tmp_path / "c", X + 1)
    with pytest.raises(ValueError, match="was begun with other data, another map"):
        fitted(tmp_path / "c", X[:80])
    with pytest.raises(ValueError, match="was begun with other data, another map"):
        fitted(tmp_path / "c", X, n_patches=4)
    km = MedianKMeans(4, random_state=1)
    with pytest.raises(ValueError, match="was begun with other data, another map"):
        PatchClusterer(km, patch_size=20, checkpoint=tmp_path / "c").fit(X, sample_weight=np.arange(1.0, 101))
    with pytest.raises(ValueError, match="was begun with other data, another map"):
        PatchClusterer(MedianKMeans(3, random_state=1), patch_size=20, checkpoint=tmp_path / "c").fit(X)
    with pytest.raises(ValueError, match="was begun with other data, another map"):
        PatchClusterer(MedianKMeans(4, random_state=2), patch_size=20, checkpoint=tmp_path / "c").fit(X)
    assert (tmp_path / "c").read_bytes() == kept


OWN_METRIC = """
import sys
import numpy as np
from medianmap import MedianKMeans, PatchClusterer

x = np.random.default_rng(5).normal(size=100).tolist()

def stop(record):
    if record.n_patches == int(sys.argv[3]):
        sys.exit()

km = MedianKMeans(3, metric=lambda a, b, scale=float(sys.argv[2]): scale * abs(a - b), random_state=0)
print(PatchClusterer(km, 20, checkpoint=sys.argv[1], on_patch=stop).fit(x).medoid_indices_.tolist())
"""


def test_a_function_of_the_users_own_is_known_again_in_another_process(tmp_path):
    def run(name, scale, stop):
        return python(OWN_METRIC, tmp_path / name, scale, stop)

    whole = run("a", 1, 0).stdout
    assert run("b", 1, 2).stdout == ""
    assert "was begun with other data" in run("b", 2, 0).stderr
    assert run("b", 1, 0).stdout == whole != ""


def test_settings_that_print_alike_are_told_apart(rng, tmp_path):
    X = rng.normal(size=(100, 2000))
    w = np.ones(2000)
    km = MedianKMeans(3, metric="cityblock", metric_params={"w": w}, random_state=0)
    PatchClusterer(km, 20, checkpoint=tmp_path / "c").fit(X)
    other = w.copy()
    other[1000] = 2  # repr() of a long array leaves the middle out
    with pytest.raises(ValueError, match="was begun with other data, another map"):
        PatchClusterer(km.set_params(metric_params={"w": other}), 20, checkpoint=tmp_path / "c").fit(X)


def test_a_stream_that_has_grown_or_shrunk_since_is_refused(rng, tmp_path):
    X = blobs(rng, n=100)
    done = fitted(tmp_path / "c", iter(X[:50]))
    assert done.n_samples_seen_ == 50
    for n in (30, 60, 100):
        with pytest.raises(ValueError, match=r"after 50 points in 3 patches, which now have \d+: the data"):
            fitted(tmp_path / "c", iter(X[:n]))
    assert fitted(tmp_path / "c", iter(X[:50])).n_samples_seen_ == 50


def test_a_checkpoint_of_another_version_goes_on_with_a_warning(rng, tmp_path, monkeypatch):
    X = blobs(rng, n=100)
    with monkeypatch.context() as patch:
        patch.setattr("medianmap.utils.archive.__version__", "0.0.1")
        with pytest.raises(Stop):
            fitted(tmp_path / "c", X, on_patch=interrupted_after(2))
    with pytest.warns(UserWarning, match=r"written by medianmap 0\.0\.1, this is"):
        fitted(tmp_path / "c", X)


def test_damaged_and_foreign_files_are_refused_and_left(rng, tmp_path):
    X = blobs(rng, n=100)
    fitted(tmp_path / "c", X)
    whole = (tmp_path / "c").read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"not a checkpoint"):
        (tmp_path / "c").write_bytes(content)
        with pytest.raises(ValueError, match="is not a medianmap checkpoint, or was cut short"):
            fitted(tmp_path / "c", X)
        assert (tmp_path / "c").read_bytes() == content
    with zipfile.ZipFile(tmp_path / "c", "w") as archive:
        archive.writestr("checkpoint.json", '{"format": "medianmap-checkpoint", "schema": 1, "about": ""}')
    with pytest.raises(ValueError, match="damaged medianmap checkpoint"):
        fitted(tmp_path / "c", X)


def test_a_disk_that_fills_leaves_the_checkpoint_before(rng, tmp_path, monkeypatch):
    X = blobs(rng, n=100)
    calls = []

    def full(handle):
        calls.append(handle)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        fitted(tmp_path / "c", X)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["c"]  # nothing half-written beside it
    seen = []
    resumed = fitted(tmp_path / "c", X, on_patch=seen.append)
    assert seen[0].n_patches == 3
    np.testing.assert_array_equal(resumed.medoid_indices_, fitted(None, X).medoid_indices_)


def test_an_unwritable_checkpoint_is_said_before_the_work(rng, tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        fitted(tmp_path / "nowhere" / "c", blobs(rng, n=100))


# --- workers ----------------------------------------------------------------------------------------------------------


def tree(X, **params):
    km = MedianKMeans(4, metric="edit", random_state=2)
    return PatchClusterer(km, patch_size=25, merge="tree", compute_labels=False, **params).fit(X)


@pytest.fixture(scope="module")
def words():
    return ["".join(np.random.default_rng([8, k]).choice(list("ACGT"), 8 + k % 5)) for k in range(400)]


def test_any_number_of_processes_gives_the_same_tree(words):
    one, two, four = (tree(words, n_jobs=n) for n in (1, 2, 4))
    for other in (two, four):
        np.testing.assert_array_equal(one.medoid_indices_, other.medoid_indices_)
        np.testing.assert_array_equal(one.multiplicities_, other.multiplicities_)
        assert one.n_evaluations_ == other.n_evaluations_
    assert one.multiplicities_.sum() == 400
    assert one.n_patches_ == 16


def slow_difference(a, b):
    """A metric that gives a test the time to kill a worker in the middle of a task."""
    time.sleep(0.0005)
    return float(abs(a - b))


def test_a_cluster_with_a_killed_worker_gives_the_same_tree(words):
    distributed = optional("distributed")
    forkserver("test_patch_recovery")
    x = np.random.default_rng(3).normal(size=240).tolist()
    km = MedianKMeans(3, metric=slow_difference, random_state=2)
    expected = PatchClusterer(km, patch_size=20, merge="tree", compute_labels=False).fit(x)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    )
    with cluster, distributed.Client(cluster) as client:
        undisturbed = PatchClusterer(km, patch_size=20, merge="tree", compute_labels=False, client=client).fit(x)
        np.testing.assert_array_equal(undisturbed.medoid_indices_, expected.medoid_indices_)
        victims = []

        def kill_one(record):
            if record.n_patches == 2:
                pids = client.run(os.getpid)
                victims.append(next(iter(pids.values())))
                os.kill(victims[0], signal.SIGKILL)

        disturbed = PatchClusterer(
            km, patch_size=20, merge="tree", compute_labels=False, client=client, on_patch=kill_one
        ).fit(x)
        assert len(victims) == 1
        client.wait_for_workers(2, timeout=300)  # the one in the victim's place may still be starting
        assert victims[0] not in client.run(os.getpid).values()

        def kill_all(record):
            if record.n_patches == 3 and len(victims) == 1:
                victims.extend(client.run(os.getpid).values())
                for pid in victims[1:]:
                    os.kill(pid, signal.SIGKILL)

        all_killed = PatchClusterer(
            km, patch_size=20, merge="tree", compute_labels=False, client=client, on_patch=kill_all
        ).fit(x)
        assert len(victims) == 3
        by_address = PatchClusterer(
            km, patch_size=20, merge="tree", compute_labels=False, client=cluster.scheduler_address
        ).fit(x)
    for other in (disturbed, all_killed, by_address):
        np.testing.assert_array_equal(other.medoid_indices_, expected.medoid_indices_)
        np.testing.assert_array_equal(other.multiplicities_, expected.multiplicities_)
        assert other.n_evaluations_ == expected.n_evaluations_


def test_a_source_on_disk_is_sent_as_a_handle(tmp_path, rng):
    x = rng.normal(size=1500)
    np.save(tmp_path / "D.npy", np.abs(np.subtract.outer(x, x)))
    source = as_dissimilarity(tmp_path / "D.npy")
    assert len(pickle.dumps(source)) < 10_000
    km = MedianKMeans(4, metric="precomputed", random_state=0)
    one, two = (PatchClusterer(km, 300, merge="tree", n_jobs=n).fit(source) for n in (1, 2))
    np.testing.assert_array_equal(one.medoid_indices_, two.medoid_indices_)
