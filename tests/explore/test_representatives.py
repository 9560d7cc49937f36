"""Medoids of given clusters against brute force; outliers and the coverage curve against their definitions."""

from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.extras import optional

import medianmap.explore.representatives as module
from medianmap import all_pairs
from medianmap.explore.representatives import coverage, far_members, medoid, representatives
from medianmap.readers.clusters import Clusters
from medianmap.sources import as_dissimilarity


def by_brute_force(D, members):
    sums = [fsum(float(D[i, l]) for i in members) for l in members]
    return members[sums.index(min(sums))]


def clusters_of(groups, old=0):
    """Clusters of groups of ids, each represented by its member `old`."""
    return Clusters([str(k) for k in range(len(groups))], [g[old] for g in groups], [list(g) for g in groups])


def names(places):
    return [f"x{k}" for k in places]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 3)
    monkeypatch.setattr(module, "COLUMNS", 4)


@given(
    n=st.integers(1, 40),
    symmetric=st.booleans(),
    levels=st.integers(1, 50),
    seed=st.integers(0, 2**20),
    rows=st.integers(1, 9),
    columns=st.integers(1, 9),
)
def test_the_medoid_is_that_of_brute_force_whatever_the_blocks(n, symmetric, levels, seed, rows, columns):
    rng = np.random.default_rng(seed)
    D = rng.integers(0, levels, (n + 5, n + 5)) * 0.1  # few levels: ties that rounding would break
    D = D + D.T if symmetric else D
    members = rng.permutation(n + 5)[:n]
    counts = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS", rows)
        patch.setattr(module, "COLUMNS", columns)
        source = as_dissimilarity(D, symmetric=symmetric)
        assert medoid(source, members, counts.append) == by_brute_force(D, list(members))
        assert sum(counts) == (module._area(n, symmetric) if n > 1 else 0)


def test_a_tie_that_rounding_breaks_goes_to_the_earlier_member():
    # Columns 0 and 1 hold the same terms in two orders; summed one by one, column 1 comes out smaller.
    D = np.array([[0.1, 0.3, 9], [0.2, 0.2, 9], [0.3, 0.1, 9]])
    assert (D[0, 1] + D[1, 1]) + D[2, 1] < (D[0, 0] + D[1, 0]) + D[2, 0]
    assert medoid(as_dissimilarity(D), np.arange(3)) == 0
    assert medoid(as_dissimilarity(D), np.array([1, 0, 2])) == 1


def test_a_difference_within_rounding_counts():
    least = np.finfo(np.float64).eps
    D = np.array([[0, 0.5, 9], [0.5 + 2 * least, 0, 9], [0.5, 0.5, 0]])
    assert medoid(as_dissimilarity(D), np.arange(3)) == 1
    assert medoid(as_dissimilarity(D), np.array([1, 0, 2])) == 1


def test_a_tie_in_a_sample_goes_to_its_earlier_member():
    ids = names(range(20))
    found = representatives(clusters_of([ids], old=19), ids, np.zeros((20, 1)), "euclidean", max_members=5)
    assert found.clusters["medoid"][0] == module._compared(0, 19, 20, 5, 0).min() < 19


def test_globins_clustered_by_a_threshold_get_their_true_medoids():
    optional("Bio")
    from medianmap.datasets import load_globins

    data = load_globins()
    D = all_pairs(data.sequences, "alignment").D
    ids = list(data.ids)
    labels = by_threshold(D, 0.6)
    groups = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
    clusters = clusters_of([[ids[i] for i in group] for group in groups])
    found = representatives(clusters, ids, data.sequences)
    assert max(map(len, groups)) > 100
    assert [int(m) for m in found.clusters["medoid"]] == [by_brute_force(D, list(group)) for group in groups]
    for row, group in zip(found.clusters, groups, strict=True):
        assert row["mean_to_medoid"] == fsum(D[group, row["medoid"]]) / len(group)
        assert row["mean_to_old"] == fsum(D[group, group[0]]) / len(group)
        assert row["mean_to_medoid"] <= row["mean_to_old"]
    assert len(found.unclustered) == 0


def by_threshold(D, t):
    """Greedy clusters: the first object not yet taken takes all within t."""
    labels = np.full(len(D), -1)
    k = 0
    for i in range(len(D)):
        if labels[i] < 0:
            labels[(labels < 0) & (D[:, i] <= t)] = k
            k += 1
    return labels


def test_members_their_dissimilarities_and_outliers_are_told(small_blocks):
    x = np.array([[5.0], [1.0], [1.1], [0.9], [1.2], [0.8], [40.0], [7.0], [7.0], [3.0]])
    groups = [names([1, 2, 3, 4, 5, 6]), names([0]), names([8, 7])]
    found = representatives(clusters_of(groups, old=-1), names(range(10)), x, "euclidean")
    assert found.clusters["medoid"].tolist() == [1, 0, 8]
    assert found.clusters["old"].tolist() == [6, 0, 7]
    assert found.clusters["size"].tolist() == found.clusters["compared"].tolist() == [6, 1, 2]
    assert found.clusters["outliers"].tolist() == [1, 0, 0]
    assert found.unclustered.tolist() == [9]
    np.testing.assert_array_equal(found.members["member"], [1, 2, 3, 4, 5, 6, 0, 8, 7])
    np.testing.assert_array_equal(found.members["cluster"], [0, 0, 0, 0, 0, 0, 1, 2, 2])
    np.testing.assert_allclose(found.members["to_medoid"], [0, 0.1, 0.1, 0.2, 0.2, 39, 0, 0, 0])
    np.testing.assert_allclose(found.members["to_old"], [39, 38.9, 39.1, 38.8, 39.2, 0, 0, 0, 0])
    assert found.members["outlier"].tolist() == [False] * 5 + [True] + [False] * 3


def test_outliers_lie_more_than_three_mads_above_the_median():
    d = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])  # median 3, MAD 2
    assert far_members(np.append(d[:-1], 9.0)).tolist() == [False] * 7
    assert far_members(np.append(d[:-1], 9.1)).tolist() == [False] * 6 + [True]
    assert far_members(np.append(d[:-1], 9.1), mads=4).sum() == 0
    assert far_members(np.array([0.0, 0.1, 0.1, 99.0])).sum() == 0  # four members are too few to tell
    assert far_members(np.array([0.0, 0.1, 0.1, 0.1, 99.0])).tolist() == [False] * 4 + [True]


def test_the_coverage_curve_counts_members_within_each_threshold(rng):
    members = np.zeros(200, module.MEMBER_FIELDS)
    members["to_old"], members["to_medoid"] = rng.random(200) * 2, rng.random(200)
    curve = coverage(members, 11)
    assert curve["threshold"][0] == 0
    assert curve["threshold"][-1] == members["to_old"].max()
    for t, old, new in curve:
        assert old == np.mean(members["to_old"] <= t)
        assert new == np.mean(members["to_medoid"] <= t)
    assert curve[-1]["old"] == curve[-1]["medoid"] == 1
    assert coverage(np.zeros(3, module.MEMBER_FIELDS)).tolist() == [(0, 1, 1)]


def test_a_large_cluster_seeks_its_medoid_in_a_seeded_sample_with_the_old_representative(rng):
    x = rng.normal(size=(300, 2))
    ids = names(range(300))
    clusters = clusters_of([ids[:280], ids[280:]], old=7)
    found = [
        representatives(clusters, ids, x, "euclidean", max_members=40, seed=seed).clusters for seed in (1, 1, 2, 3, 4)
    ]
    assert found[0]["compared"].tolist() == [40, 20]
    assert found[0].tolist() == found[1].tolist()
    assert len({int(table["medoid"][0]) for table in found}) > 1
    assert len({int(table["medoid"][1]) for table in found}) == 1
    D = as_dissimilarity(x, "euclidean").block(slice(None), slice(None))
    sample = module._compared(0, 7, 280, 40, 1)
    assert len(set(sample)) == 40
    assert sample.tolist() == sorted(sample)
    assert 7 in sample
    assert found[0]["medoid"][0] == by_brute_force(D, list(sample))
    assert found[0]["mean_to_medoid"][0] == fsum(D[:280, found[0]["medoid"][0]]) / 280


def test_nothing_depends_on_threads_or_blocks(rng, small_blocks):
    words = ["".join(rng.choice(list("ACDEFGHIKL"), rng.integers(3, 30))) for _ in range(60)]
    ids = names(range(60))
    clusters = clusters_of([ids[:50], ids[50:]])
    one = representatives(clusters, ids, words, "edit", n_jobs=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS", 64)
        two = representatives(clusters, ids, words, "edit", n_jobs=2)
    assert one.clusters.tolist() == two.clusters.tolist()
    assert one.members.tolist() == two.members.tolist()


@pytest.mark.parametrize("metric", ["euclidean", lambda a, b: float(abs(a[0] - 2 * b[0]))])
def test_progress_ends_at_its_total(rng, small_blocks, metric):
    told = []
    ids = names(range(30))
    clusters = clusters_of([ids[:20], ids[20:21], ids[21:]])
    representatives(clusters, ids, rng.random((30, 1)), metric, on_progress=lambda *args: told.append(args))
    done = [d for _, d, _ in told]
    assert done == sorted(done)
    assert {(stage, total) for stage, _, total in told} == {("dissimilarities", done[-1])}


def test_a_matrix_serves_as_well_as_objects(rng):
    x = rng.random((20, 2))
    D = as_dissimilarity(x, "euclidean").block(slice(None), slice(None))
    ids = names(range(20))
    clusters = clusters_of([ids[:12], ids[12:]])
    a, b = representatives(clusters, ids, x, "euclidean"), representatives(clusters, ids, D, "precomputed")
    assert a.members.tolist() == b.members.tolist()
    with pytest.raises(ValueError, match="19 ids for 20 points"):
        representatives(clusters_of([ids[:12]]), ids[:19], D, "precomputed")
    D[2, 3] = np.nan
    with pytest.raises(ValueError, match=r"D\[2, 3\] is NaN"):
        representatives(clusters, ids, D, "precomputed")


def test_members_are_found_by_the_accession_that_mmseqs_makes_of_a_uniprot_id():
    ids = ["sp|P1|A_HUMAN", "tr|P2|B_MOUSE", "P3", "gb|P4|one", "gb|P4|two"]
    words = ["ACD", "ACE", "ACF", "W", "W"]
    found = representatives(clusters_of([["P1", "P2", "P3"]]), ids, words, "edit")
    assert found.members["member"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"1 of 2 cluster members are not in the input: 'P4'"):
        representatives(clusters_of([["P1", "P4"]]), ids, words, "edit")
    with pytest.raises(ValueError, match=r"'P1' and 'sp\|P1\|A_HUMAN' are both the object 'sp\|P1\|A_HUMAN'"):
        representatives(clusters_of([["P1", "P2"], ["sp|P1|A_HUMAN"]]), ids, words, "edit")


def test_a_representative_outside_its_cluster_is_refused():
    with pytest.raises(ValueError, match="The representative 'b' is not a member of its own cluster"):
        representatives(Clusters(["0"], ["b"], [["a"]]), ["a", "b"], ["AC", "AD"], "edit")


@pytest.mark.parametrize(
    ("groups", "ids", "options", "message"),
    [
        ([["a", "b", "p", "q", "r", "s"]], "ab", {}, "4 of 6 cluster members .*: 'p', 'q', 'r' and 1 more"),
        ([], "ab", {}, "There are no clusters"),
        ([["a"]], "aa", {}, "places 1 and 2 have the same id 'a'"),
        ([["a"]], "ab", {"max_members": 1}, "max_members is 1; it must be a whole number >= 2"),
        ([["a"]], "ab", {"seed": -1}, "seed is -1"),
        ([["a"]], "ab", {"outlier_mads": -1}, "outlier_mads is -1"),
        ([["a"]], "ab", {"n_jobs": 0}, "n_jobs is 0"),
        ([["a"]], "ab", {"metric": "edits"}, "There is no metric 'edits'"),
    ],
)
def test_mistakes_are_one_sentence(groups, ids, options, message):
    with pytest.raises(ValueError, match=message):
        representatives(clusters_of(groups), list(ids), ["AC", "AD"], **{"metric": "edit", **options})
