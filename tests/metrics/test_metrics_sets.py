"""Sets, k-mers, letters and compression against plain Python, and mixed tables against a plain loop."""

import zlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medianmap import MedianKMeans, as_dissimilarity, load, save
from medianmap.metrics import bind
from medianmap.sources.base import ALL

SETS = st.lists(st.frozensets(st.sampled_from(["a", 1, None, (2, 3)])), min_size=1, max_size=5)


@given(a=SETS, b=SETS)
@settings(max_examples=60)
def test_sets_share_what_python_says(a, b):
    expected = [[1 - len(s & t) / len(s | t) if s | t else 0 for t in b] for s in a]
    np.testing.assert_allclose(bind("jaccard-sets").between(a, b), expected, atol=1e-15)


WORDS = st.lists(st.text("ACG", min_size=3, max_size=12), min_size=1, max_size=4)


@given(a=WORDS, b=WORDS, k=st.integers(1, 3))
@settings(max_examples=60)
def test_kmers_are_those_of_python(a, b, k):
    def kmers(s):
        return [s[i : i + k] for i in range(len(s) - k + 1)]

    def cosine(s, t):
        letters = sorted({*s, *t})
        x, y = (np.array([word.count(c) for c in letters]) for word in (s, t))
        return 1 - x @ y / np.sqrt((x @ x) * (y @ y))

    pairs = [[(kmers(s), kmers(t)) for t in b] for s in a]
    rules = {
        "jaccard": lambda s, t: 1 - len({*s} & {*t}) / len({*s} | {*t}),
        "containment": lambda s, t: 1 - len({*s} & {*t}) / len({*s}),
        "cosine": cosine,
    }
    for mode, rule in rules.items():
        expected = [[rule(s, t) for s, t in row] for row in pairs]
        np.testing.assert_allclose(bind("kmer", {"k": k, "mode": mode}).between(a, b), expected, atol=1e-12)


def test_containment_goes_one_way():
    metric = bind("kmer", {"k": 2, "mode": "containment"})
    assert not metric.symmetric
    assert bind("kmer", {"k": 2}).symmetric
    assert metric.between(["ACG"], ["ACGT"]).tolist() == [[0]]
    np.testing.assert_allclose(metric.between(["ACGT"], ["ACG"]), [[1 / 3]])


def test_letters_that_differ_are_counted():
    assert bind("hamming-strings").between(["abcd"], ["abcd", "aXcY"]).tolist() == [[0, 0.5]]
    assert bind("hamming-strings", {"normalize": False}).between(["abλd"], ["abcX"]).tolist() == [[2]]
    assert bind("hamming-strings").between([""], [""]).tolist() == [[0]]
    fitted = MedianKMeans(1, metric="hamming-strings").fit(["abc", "abd"])
    with pytest.raises(ValueError, match="3 and 4 letters"):
        fitted.predict(["abcd"])


def test_compression_by_the_formula():
    s, t = "the cat sat on the mat " * 8, "entirely other words, 12345 " * 8

    def size(text):
        return len(zlib.compress(text.encode(), level=9, wbits=-15))

    expected = (size(t + s) - min(size(s), size(t))) / max(size(s), size(t))
    assert bind("ncd").between([s], [t])[0, 0] == expected
    for compressor in ("zlib", "bz2", "lzma"):
        d = bind("ncd", {"compressor": compressor}).between([s], [s, s + "!", t])[0]
        assert d[0] == 0
        assert d[1] < d[2]


TABLE = pd.DataFrame(
    {
        "age": [20, 30, 40, 60],
        "smoker": [True, False, False, True],
        "town": ["Ulm", "Bonn", None, "Ulm"],
        "weight": [70.0, np.nan, 90.0, 70.0],
    }
)


def test_gower_by_hand():
    """Rows 0 and 1: age 10 / 40, smoker differs, town differs, weight unknown: 2.25 / 3."""
    D = as_dissimilarity(TABLE, "gower").block(ALL, ALL)
    np.testing.assert_allclose(D[0], [0, 2.25 / 3, (0.5 + 1 + 1) / 3, 1 / 4])
    weighted = as_dissimilarity(TABLE, "gower", metric_params={"weights": [2, 1, 1, 0]}).block(ALL, ALL)
    np.testing.assert_allclose(weighted[0, 1], (2 * 0.25 + 1 + 1) / 4)


def test_gower_keeps_the_ranges_of_its_training_data(tmp_path):
    fitted = MedianKMeans(2, metric="gower", random_state=0).fit(TABLE)
    assert fitted.metric_params_["ranges"] == [40, None, None, 20]
    np.testing.assert_array_equal(fitted.predict(TABLE), fitted.labels_)
    far = [(1000, True, "Rome", 70.0)]
    assert fitted.transform(far).max() <= 1
    save(fitted, tmp_path / "table.mmap")
    np.testing.assert_array_equal(load(tmp_path / "table.mmap").transform(far), fitted.transform(far))
    with pytest.raises(ValueError, match=r"X\[0\] has 'old' in column 0, which holds numbers"):
        fitted.predict([("old", True, "Ulm", 70.0)])
    with pytest.raises(ValueError, match=r"X\[0\] has 3 columns.*4"):
        fitted.predict([(20, True, "Ulm")])


def test_numbers_can_be_categories_and_constant_columns_tell_little():
    rows = [(1, 5), (2.0, 5), (1.0, 5)]
    D = as_dissimilarity(rows, "gower", metric_params={"categorical": [0]}).block(ALL, ALL)
    assert D.tolist() == [[0, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]]
    bound = as_dissimilarity(rows, "gower").metric
    assert bound.between([(1.0, 5.0)], [(1.0, 6.0)]).tolist() == [[0.5]]


@pytest.mark.parametrize(
    ("metric", "objects", "params", "message"),
    [
        ("jaccard-sets", [{1}, "ab"], {}, r"X\[1\] is a str"),
        ("jaccard-sets", [[1, [2]]], {}, r"X\[0\] holds a list"),
        ("kmer", ["ACGT", "AC"], {}, r"X\[1\] has 2 letters.* k = 3"),
        ("kmer", ["ACGT"], {"k": 0}, "k is 0"),
        ("kmer", ["ACGT"], {"mode": "dice"}, "mode is 'dice'"),
        ("hamming-strings", ["abc", "ab"], {}, r"X\[1\] has 2 letters.*X\[0\] has 3"),
        ("hamming-strings", ["abc"], {"normalize": "yes"}, "normalize is 'yes'"),
        ("ncd", ["abc"], {"compressor": "zip"}, "compressor is 'zip'"),
        ("gower", [(1, "a"), ("b", "a")], {}, r"X\[1\] has 'b' in column 0, which holds numbers"),
        ("gower", [("a", 1), (2, 1)], {}, r"X\[1\] has 2.0 in column 0, which holds categories"),
        ("gower", [(1, 2), (1,)], {}, r"X\[1\] has 1 columns.*2"),
        ("gower", [(1, None), (None, 2)], {}, r"NaN for the pair \(0, 1\)"),
        ("gower", [(1, 2)], {"categorical": [2]}, "names the column 2"),
        ("gower", [(1, 2)], {"weights": [1]}, "weights must be 2 numbers"),
        ("gower", ["row"], {}, r"X\[0\] is a str"),
    ],
)
def test_mistakes_are_named(metric, objects, params, message):
    with pytest.raises(ValueError, match=message):
        as_dissimilarity(objects, metric, metric_params=params).block(ALL, ALL)
