"""Weighted edit distance: three backends against one another and against the recursive definition."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.extras import optional

from medianmap import MedianKMeans, as_dissimilarity, load, save
from medianmap.metrics import alignment as simd
from medianmap.metrics import bind
from medianmap.metrics.letters import whole
from medianmap.sources.base import ALL

LETTERS = "abc="
WORDS = st.lists(st.text(LETTERS, max_size=9), min_size=1, max_size=4)
CHROMOSOME = {"=": 0} | {c: k + 1 for k, c in enumerate("ABCDE")} | {c: -k - 1 for k, c in enumerate("abcdef")}


def recursive_edit(s, t, cost, indel):
    """The definition, word for word, without a table."""

    @cache
    def e(i, l):
        if i == 0 or l == 0:
            return (i + l) * indel
        return min(e(i - 1, l - 1) + cost(s[i - 1], t[l - 1]), e(i - 1, l) + indel, e(i, l - 1) + indel)

    return e(len(s), len(t))


def uniform(price):
    return lambda x, y: 0 if x == y else price


def between(a, b, **params):
    return bind("edit", params).between(a, b)


@given(
    a=WORDS,
    b=WORDS,
    price=st.sampled_from([0, 1, 0.5, 3, 0.1, 1 / 3]),
    indel=st.sampled_from([0, 1, 4.5, 0.7, 200, 500]),
)
@settings(max_examples=80)
def test_one_price_equals_the_recursive_definition(a, b, price, indel):
    expected = [[recursive_edit(s, t, uniform(price), indel) for t in b] for s in a]
    np.testing.assert_allclose(between(a, b, substitution=price, indel=indel), expected)


@given(
    a=WORDS,
    b=WORDS,
    table=st.lists(st.integers(0, 254), min_size=16, max_size=16),
    indel=st.integers(0, 254),
    scale=st.sampled_from([1, 2, 8, 10, 100]),
)
@settings(max_examples=80)
def test_any_table_gives_the_same_in_stringzillas_and_in_numba(a, b, table, indel, scale):
    optional("stringzillas")
    costs = (np.array(table).reshape(4, 4) // 2 * (1 - np.eye(4, dtype=int))) / scale
    params = {"substitution": costs, "indel": indel // 2 / scale, "alphabet": LETTERS}
    ours = between(a, b, **params, backend="numba")
    np.testing.assert_array_equal(between(a, b, **params, backend="stringzillas"), ours)
    expected = [
        [recursive_edit(s, t, lambda x, y: costs[LETTERS.index(x), LETTERS.index(y)], indel // 2 / scale) for t in b]
        for s in a
    ]
    np.testing.assert_allclose(ours, expected, atol=1e-9)


@given(a=WORDS, b=WORDS, unit=st.sampled_from([1, 2, 0.5, 0.1, 3.3, 1 / 3]))
@settings(max_examples=80)
def test_unit_costs_give_the_same_in_all_three(a, b, unit):
    optional("stringzillas"), optional("rapidfuzz")
    by = {name: between(a, b, substitution=unit, indel=unit, backend=name)
          for name in ("rapidfuzz", "numba", "stringzillas")}  # fmt: skip
    expected = [[recursive_edit(s, t, uniform(unit), unit) for t in b] for s in a]
    np.testing.assert_allclose(by["numba"], expected)
    for result in by.values():
        np.testing.assert_array_equal(result, by["numba"])


@pytest.mark.parametrize("indel", [0.7, 0.75])
def test_costs_by_a_function_do_not_depend_on_what_else_is_compared(indel):
    price = {"ab": 0.1 if indel == 0.7 else 0.25, "ac": 2**0.5, "bc": 0.3}
    words = ["aaa", "bbb", "abab", "c"]

    def cost(s, t):
        return price["".join(sorted(s + t))]

    alone = between(words[:3], words[:3], substitution=cost, indel=indel)
    among = between(words, words, substitution=cost, indel=indel)
    np.testing.assert_array_equal(among[:3, :3], alone)


TOKENS = st.lists(st.sampled_from([-1, -2, "a", 97, ("a", 1), None, 2.5, "word"]), max_size=7)


@given(a=st.lists(TOKENS, min_size=1, max_size=4), b=st.lists(TOKENS, min_size=1, max_size=4))
@settings(max_examples=60)
def test_any_tokens_can_be_compared(a, b):
    """-1 and -2 share a hash, and 'a' is code point 97: none of them may be taken for another."""
    optional("stringzillas"), optional("rapidfuzz")
    expected = [[recursive_edit(s, t, uniform(1), 1) for t in b] for s in a]
    for backend in ("auto", "rapidfuzz", "stringzillas", "numba"):
        np.testing.assert_array_equal(between(a, b, backend=backend), expected)


@given(a=st.lists(st.text("".join(CHROMOSOME), max_size=9), min_size=1, max_size=5))
@settings(max_examples=40)
def test_chromosome_costs_are_differences_of_density(a):
    expected = [[recursive_edit(s, t, lambda x, y: abs(CHROMOSOME[x] - CHROMOSOME[y]), 4.5) for t in a] for s in a]
    for backend in ("auto", "numba"):
        np.testing.assert_array_equal(bind("edit-chromosome", {"backend": backend}).between(a, a), expected)


def test_a_function_a_dictionary_and_a_table_say_the_same(rng):
    words = ["".join(rng.choice(list(LETTERS), rng.integers(0, 9))) for _ in range(12)]
    place = LETTERS.index
    table = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) / 4
    by_table = between(words, words, substitution=table, alphabet=LETTERS)
    by_function = between(words, words, substitution=lambda s, t: abs(place(s) - place(t)) / 4)
    pairs = {s + t: abs(place(s) - place(t)) / 4 for s in LETTERS for t in LETTERS if s < t}
    by_dict = between(words, words, substitution=pairs)
    np.testing.assert_array_equal(by_function, by_table)
    np.testing.assert_array_equal(by_dict, by_table)
    assert by_table.max() > 0


def test_an_asymmetric_table_gives_an_asymmetric_distance():
    metric = bind("edit", {"substitution": {"ab": 1, "ba": 2}, "indel": 5})
    assert not metric.symmetric
    assert metric.between(["a", "b"], ["a", "b"]).tolist() == [[0, 1], [2, 0]]
    assert bind("edit", {"substitution": {"ab": 1}}).symmetric
    assert bind("edit").symmetric
    assert not bind("edit", {"substitution": lambda s, t: 1.0}).symmetric
    assert bind("edit", {"substitution": lambda s, t: 1.0, "alphabet": "dna"}).symmetric


@pytest.mark.parametrize(
    ("how", "expected"),
    [("max", 2 / 3), ("sum", 2 / 5), ("yujian-bo", 4 / 7)],
)
def test_normalised_distances_by_hand(how, expected):
    """abc -> xb: one substitution and one deletion, lengths 3 and 2."""
    assert between(["abc"], ["xb"], normalize=how)[0, 0] == expected
    assert between([""], [""], normalize=how)[0, 0] == 0
    by_two = {"max": 4 / 3, "sum": 4 / 5, "yujian-bo": 4 / 7}  # doubled costs: yujian-bo alone is free of their unit
    assert between(["abc"], ["xb"], normalize=how, substitution=2, indel=2)[0, 0] == by_two[how]


def test_more_letters_than_a_backend_takes_go_to_the_next():
    greek = ["".join(chr(0x370 + k) for k in range(60)), "".join(chr(0x370 + k) for k in range(5, 65))]
    assert between(greek[:1], greek[1:], indel=2)[0, 0] == 20
    with pytest.raises(ValueError, match="at most 32 letters"):
        between(greek, greek, indel=2, backend="stringzillas")
    with pytest.raises(ValueError, match=r"'rapidfuzz'.*one cost"):
        between(greek, greek, indel=2, backend="rapidfuzz")


def test_without_the_fast_libraries_the_loop_does_the_same(monkeypatch):
    from medianmap.metrics import edit
    from medianmap.utils import loading as extras

    words = ["kitten", "sitting", "", "mitten"]
    unit, chromosome = between(words, words), bind("edit-chromosome").between(["=A", "b"], ["=A", "Cf="])

    def nothing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(extras, "import_module", nothing)
    for backend in ("stringzillas", "rapidfuzz"):
        with pytest.raises(ModuleNotFoundError, match=rf"backend '{backend}' needs {backend}; .*medianmap\[seq\]"):
            between(words, words, backend=backend)
    monkeypatch.setattr(edit, "find_spec", lambda name: None)
    monkeypatch.setattr(simd, "available", lambda: False)
    np.testing.assert_array_equal(between(words, words), unit)
    np.testing.assert_array_equal(bind("edit-chromosome").between(["=A", "b"], ["=A", "Cf="]), chromosome)


def test_whole_numbers_are_found_exactly():
    assert whole(4.5, [[0, 1.25]])[0] == 4
    scale, (prices,) = whole([0.29, 0.7])
    assert (scale, prices.tolist()) == (100, [29, 70])
    assert whole(1 / 3) is None
    assert whole(1e300) is None


def test_long_strings_and_threads_change_nothing(rng, monkeypatch):
    optional("stringzillas")
    words = ["".join(rng.choice(list("fa=AE"), n)) for n in (0, 1, 3000, 700, 64, 65, 33)]
    one = as_dissimilarity(words, "edit-chromosome", n_jobs=1).block(ALL, ALL)
    monkeypatch.setattr(simd, "CELLS_WORTH_THREADS", 0)
    for params in ({}, {"backend": "numba"}):
        two = as_dissimilarity(words, "edit-chromosome", metric_params=params, n_jobs=2)
        np.testing.assert_array_equal(two.block(ALL, ALL), one)
        np.testing.assert_array_equal(two.block(np.array([4, 2]), slice(1, 5)), one[np.ix_([4, 2], [1, 2, 3, 4])])


def test_a_map_of_tokens_with_a_table_is_saved_and_predicts(tmp_path):
    walks = [["home", "work"], ["home", "work", "gym"], ["shop", "home"], ["shop", "home", "home"]]
    fitted = MedianKMeans(2, metric="edit", random_state=0).fit(walks)
    save(fitted, tmp_path / "walks.mmap")
    assert load(tmp_path / "walks.mmap").predict(walks).tolist() == fitted.labels_.tolist()
    words = MedianKMeans(1, metric="edit", metric_params={"substitution": {"ab": 0.5}}).fit(["ab", "bb", "aa"])
    save(words, tmp_path / "words.mmap")
    assert load(tmp_path / "words.mmap").predict(["ba"]).tolist() == [0]


@pytest.mark.parametrize(
    ("objects", "params", "message"),
    [
        (["ab", "aXb"], {"alphabet": "ab"}, r"X\[1\] has 'X' at position 1 .*'ab'"),
        (["AC", "", "ACGN"], {"alphabet": "dna"}, r"X\[2\] has 'N' at position 3"),
        (["==", "=G"], {"substitution": "chromosome"}, r"X\[1\] has 'G' at position 1"),
        (["ab", ["a", "b"]], {}, r"X\[0\] is a str but X\[1\] is a tuple"),
        ([["a", ["b"]]], {}, r"X\[0\]\[1\] is a list"),
        ([3, 4], {}, r"X\[0\] is a int"),
        (["a"], {"substitution": "blosum"}, "'chromosome'"),
        (["a"], {"substitution": "chromosome", "alphabet": "ab"}, "leave alphabet out"),
        (["a"], {"substitution": [[0, 1], [1, 0]]}, "table.*alphabet"),
        (["a"], {"substitution": [[0, 1], [1, 0]], "alphabet": "abc"}, "needs 3 x 3"),
        (["a"], {"substitution": [[0, -1], [1, 0]], "alphabet": "ab"}, "cost of 'a' -> 'b' is -1"),
        (["a"], {"substitution": [[0, 1], [1, 2]], "alphabet": "ab"}, "'b' -> 'b' is 2; make it 0"),
        (["a"], {"substitution": {"ab": 1, "bc": 1}}, "No cost is given for 'a' -> 'c'"),
        (["a"], {"substitution": {"abc": 1}}, "'abc'.*two letters"),
        (["a"], {"substitution": {"ax": 1}, "alphabet": "ab"}, "alphabet is"),
        (["a"], {"substitution": None}, "substitution is None"),
        (["a"], {"indel": float("nan")}, "indel is nan"),
        (["a"], {"alphabet": "aa"}, "each once"),
        (["a"], {"normalize": "length"}, "normalize is 'length'"),
        (["a"], {"backend": "gpu"}, "backend is 'gpu'"),
        (["a"], {"gap": 3}, r"\['gap'\]; its parameters are substitution, indel"),
    ],
)
def test_mistakes_are_named(objects, params, message):
    with pytest.raises(ValueError, match=message):
        as_dissimilarity(objects, "edit", metric_params=params).block(ALL, ALL)


def test_chromosomes_nearest_neighbours(shared_data):
    """A tenth of the strings against all: the full figures are in benchmarks/edit.py."""
    import csv

    with open(shared_data / "chromosomes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    source = as_dissimilarity([row["string"] for row in rows], "edit-chromosome")
    y = np.array([row["class"] for row in rows])
    part = np.arange(0, len(rows), 10)
    D = source.block(part, ALL)
    D[np.arange(len(part)), part] = np.inf
    assert abs(np.mean(y[D.argmin(axis=1)] == y[part]) - 0.935) < 0.02
