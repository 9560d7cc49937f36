"""Pair tables and search hits: both directions, one triangle, missing and repeated pairs, similarities by rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from medianmap.readers import read

TRIANGLE = "a\tb\t1.5\na\tc\t2\nb\tc\t0.25\n"
D3 = np.array([[0, 1.5, 2], [1.5, 0, 0.25], [2, 0.25, 0]])


def test_one_triangle_is_mirrored_and_says_so(put):
    for name in ("x.pairs", "x.tsv", "x.txt"):
        found = read(put(name, TRIANGLE))
        assert found.ids == ["a", "b", "c"]
        np.testing.assert_array_equal(found.D, D3)
        assert "one triangle" in found.note


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
def test_delimiters_comments_and_a_line_of_names(put, delimiter):
    text = "# made by hand\nfrom\tto\tdistance\n" + TRIANGLE
    found = read(put("x.pairs", text.replace("\t", delimiter).replace("made by hand", "handmade")))
    np.testing.assert_array_equal(found.D, D3)


def test_columns_by_name_and_ids_in_a_given_order(put):
    text = "score,one,two\n1.5,a,b\n2,a,c\n0.25,b,c\n"
    found = read(put("x.csv", text), format="pairs", columns=("one", "two", "score"), ids=["c", "a", "b"])
    assert found.ids == ["c", "a", "b"]
    np.testing.assert_array_equal(found.D, D3[np.ix_([2, 0, 1], [2, 0, 1])])
    by_position = read(put("x.csv", text), format="pairs", columns=(1, 2, 0))
    np.testing.assert_array_equal(by_position.D, D3)


def test_ids_that_are_numbers(put):
    text = "1,2,1.5\n1,3,2\n2,3,0.25\n"
    with pytest.raises(ValueError, match="format='pairs', or format='table'"):
        read(put("x.csv", text))
    np.testing.assert_array_equal(read(put("x.csv", text), format="pairs").D, D3)
    assert read(put("x.csv", text), format="table", kind="vectors").objects.shape == (3, 3)


def test_both_directions_stay_as_they_are_unless_told(put):
    path = put("x.pairs", "a b 1\nb a 3\na a 0\nb b 0\n")
    assert read(path).D.tolist() == [[0, 1], [3, 0]]
    assert not read(path).source().symmetric
    for how, value in (("min", 1), ("max", 3), ("mean", 2)):
        assert read(path, symmetrize=how).D.tolist() == [[0, value], [value, 0]]


def test_one_way_pairs_among_others_are_missing_unless_declared(put):
    path = put("x.pairs", "a b 1\nb a 1\na c 2\nc a 2\nb c 5\n")
    with pytest.raises(ValueError, match=r"1 of 6 pairs have no value, first the pair \('c', 'b'\)"):
        read(path)
    assert read(path, symmetric=True).D[2, 1] == 5
    assert read(path, missing=7).D[2, 1] == 7
    assert read(path, missing="max").D[2, 1] == 2


def test_nothing_is_mirrored_if_told_so(put):
    path = put("x.pairs", "a b 1\na c 2\nb c 3\n")
    assert read(path, symmetric=False, missing=9).D.tolist() == [[0, 1, 2], [9, 0, 3], [9, 9, 0]]


def test_the_value_of_a_repeated_pair_is_a_choice(put):
    path = put("x.pairs", "a b 2\nb a 5\na b 1\na b 3\n")
    with pytest.raises(ValueError, match=r"lines 1 and 3 are both the pair \('a', 'b'\)"):
        read(path)
    assert [read(path, duplicates=how).D[0, 1] for how in ("first", "min", "max")] == [2, 1, 3]


HITS = """# BLAST
a\ta\t100.0\t50\t0\t0\t1\t50\t1\t50\t1e-30\t100
a\tb\t80.0\t50\t10\t0\t1\t50\t1\t50\t1e-10\t60
b\tb\t100.0\t50\t0\t0\t1\t50\t1\t50\t1e-28\t 64
b\ta\t80.0\t50\t10\t0\t1\t50\t1\t50\t1e-9\t56
"""


@pytest.mark.parametrize("name", ["x.m8", "x.tsv"])
def test_hits_by_every_rule(put, name):
    path = put(name, HITS)
    np.testing.assert_allclose(read(path, similarity="normalized").D, [[0, 0.25], [0.3, 0]])
    assert read(path, similarity="max-s").D.tolist() == [[0, 40], [44, 36]]
    assert read(path, score="pident", similarity="1-s/100").D.tolist() == [[0, 1 - 0.8], [1 - 0.8, 0]]
    by_hand = read(path, score="evalue", similarity=lambda e: np.log1p(e)).D
    assert by_hand[0, 1] == np.log1p(1e-10)
    halved = read(path, similarity=lambda s: 1 / s, symmetrize="max").D
    assert halved[0, 1] == 1 / 56


def test_further_columns_of_hits_are_passed_over(put):
    rows = "".join(line + "\t50\t50\n" for line in HITS.splitlines()[1:])
    assert read(put("x.m8", rows), similarity="max-s").D[0, 1] == 40


def test_hits_that_a_search_left_out_need_a_policy(put):
    path = put("x.m8", HITS + HITS.splitlines()[1].replace("a\ta", "c\tc") + "\n")
    with pytest.raises(ValueError, match="4 of 6 pairs have no value"):
        read(path, similarity="normalized")
    found = read(path, similarity="normalized", missing=1)
    assert found.D[2].tolist() == [1, 1, 0]
    with pytest.raises(ValueError, match="'c' has no value"):
        read(path, similarity="normalized", missing="max")


def test_rules_on_matrices(put):
    path = put("S.csv", "1,0.5\n0.25,1\n")
    assert read(path, similarity="1-s").D.tolist() == [[0, 0.5], [0.75, 0]]
    np.testing.assert_allclose(read(path, similarity="-log").D, -np.log([[1, 0.5], [0.25, 1]]))
    path = put("G.csv", "x,y\n4,3\n3,9\n")
    assert read(path, similarity="normalized").D.tolist() == [[0, 0.5], [0.5, 0]]


def test_rounding_above_the_largest_similarity_is_zero(put):
    assert read(put("S.csv", "1.0000000000000002,0.5\n0.5,1\n"), similarity="1-s").D[0, 0] == 0


def test_empty_cells_of_a_matrix_are_missing_pairs(put):
    path = put("D.csv", ",a,b,c\na,,1,NA\nb,1,0,3\nc,2,3,0\n")
    with pytest.raises(ValueError, match=r"1 of 6 pairs have no value, first the pair \('a', 'c'\)"):
        read(path)
    assert read(path, missing=5).D.tolist() == [[0, 1, 5], [1, 0, 3], [2, 3, 0]]
    assert read(path, missing="max").D[0, 2] == 1


@given(st.data())
def test_a_shuffled_table_of_pairs_is_the_matrix_it_came_from(tmp_path_factory, data):
    n = data.draw(st.integers(2, 6))
    D = data.draw(arrays(np.float64, (n, n), elements=st.floats(0, 10)))
    ids = [f"p{k}" for k in range(n)]
    cells = data.draw(st.permutations([(i, l) for i in range(n) for l in range(n)]))
    path = tmp_path_factory.mktemp("pairs") / "x.pairs"
    path.write_text("".join(f"p{i}\tp{l}\t{float(D[i, l])!r}\n" for i, l in cells))
    np.testing.assert_array_equal(read(path, ids=ids).D, D)

    # Any set of pairs left out is refused, and filled by the policy everywhere and nowhere else.
    kept = [c for c in cells if c[0] == c[1] or data.draw(st.booleans())]
    path.write_text("".join(f"p{i}\tp{l}\t{float(D[i, l])!r}\n" for i, l in kept))
    holes = np.full((n, n), True)
    holes[tuple(np.array(kept).T)] = False
    if holes.any():
        with pytest.raises(ValueError, match=f"{holes.sum()} of {n * n - n} pairs have no value"):
            read(path, ids=ids, symmetric=False)
    np.testing.assert_array_equal(read(path, ids=ids, symmetric=False, missing=77).D, np.where(holes, 77, D))
