"""Files as spreadsheets, instruments and other programs write them: each works, or is refused in one sentence."""

import gzip

import numpy as np
import pytest
from support.fits import run

from medianmap.readers import FORMATS, iter_records, read
from medianmap.readers.foreign import FOREIGN

POINTS = [[0.125, -1.5], [2.25, 3.0], [4.5, -0.25], [1.0, 2.0]]
D = np.linalg.norm(np.array(POINTS)[:, None] - np.array(POINTS), axis=-1).round(3)
NAMES = ["ant", "bee", "cat", "dog"]


def comma(text):
    return text.replace(",", ";").replace(".", ",")


def as_csv(header="id,x,y"):
    return header + "\n" + "".join(f"{name},{x},{y}\n" for name, (x, y) in zip(NAMES, POINTS, strict=True))


def test_decimal_commas_between_semicolons_are_points(put):
    found = read(put("x.csv", comma(as_csv())))
    np.testing.assert_array_equal(found.objects, POINTS)
    assert "decimal commas read as points" in found.note
    bare = read(put("y.csv", comma("".join(f"{x},{y}\n" for x, y in POINTS))))
    np.testing.assert_array_equal(bare.objects, POINTS)  # and not three columns between commas
    matrix = comma(
        ","
        + ",".join(NAMES)
        + "\n"
        + "".join(f"{n},{','.join(map(str, row))}\n" for n, row in zip(NAMES, D.tolist(), strict=True))
    )
    assert read(put("D.csv", matrix)).ids == NAMES
    np.testing.assert_array_equal(read(put("D.csv", matrix)).D, D)
    np.testing.assert_array_equal([each.object for each in iter_records(put("x.csv", comma(as_csv())))], POINTS)
    series = read(put("s.csv", "a;1,5;2,5\nb;1;2;3,5\n"), kind="series")
    np.testing.assert_array_equal(series.objects[1], [1, 2, 3.5])
    strings = read(put("t.csv", "id;string\na;1,5\nb;2,5\n"), string="string")
    assert strings.objects == ["1,5", "2,5"]  # strings stay what they are
    tabs = read(put("q.csv", "id\tx\ty\na;b\t1\t2\nc;d\t3\t4\n".replace("id", "i;d")))
    assert tabs.ids == ["a;b", "c;d"]
    plain = read(put("p.csv", "1;2.5\n3;4\n5;6\n"))
    assert "commas" not in plain.note


THOUSANDS = {
    "table": "id;x;y\na;1,234;2\nb;12,100;3\nc;7;4\n",
    "grid": "1,234;2,225\n-1,100;3,000\n2,500;1,500\n",
    "decimal points beside": "id;x;y\na;1,234;2.5\nb;1,100;3.5\nc;2,500;1.5\n",
    "and decimals": "id;x;y\na;1,234;1,234.5\nb;1,100;2,233.5\nc;2,500;12.5\n",
    "decimals": "id;x;y\na;1,5;1,234.5\nb;1,1;2,233.5\nc;2,5;12.5\n",
    "by points": "id;x;y\na;1.234;1,5\nb;2.100;2,5\nc;1.000;4,5\n",
    "by points, and decimals": "id;x;y\na;1.234,5;1,5\nb;2.100,0;2,5\nc;1.000,2;4,5\n",
    "beyond the sample": "id;x;y\n" + "".join(f"a{k};{k};{k},5\n" for k in range(9000)) + "b;1.234;1,5\n",
}


@pytest.mark.parametrize("case", THOUSANDS)
def test_separators_of_thousands_are_never_read_as_decimals(put, case):
    with pytest.raises(ValueError, match=r"thousands; write all numbers without separators and with decimal points"):
        read(put("x.csv", THOUSANDS[case]))


def test_a_comma_after_the_sample_is_not_guessed(put):
    rows = "".join(f"a{k};{k};{k + 1}\n" for k in range(9000))
    with pytest.raises(ValueError, match=r"line 9002.*'1,234'"):
        read(put("x.csv", f"id;x;y\n{rows}b;1,234;5\n"))
    # One decimal that cannot be anything else says what all commas are.
    found = read(put("y.csv", "id;x;y\na;1,234;0,5\nb;1,100;2.5\nc;2,500;1,25\n"))
    np.testing.assert_array_equal(found.objects, [[1.234, 0.5], [1.1, 2.5], [2.5, 1.25]])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_text_with_a_mark_needs_no_encoding(put, name, encoding):
    raw = as_csv().replace("ant", "Ämeise日").encode(encoding)
    found = read(put(name, gzip.compress(raw) if name.endswith("gz") else raw))
    assert found.ids == ["Ämeise日", *NAMES[1:]]
    np.testing.assert_array_equal(found.objects, POINTS)


def test_large_utf16_files_are_recoded_piece_by_piece(put):
    text = "id,string\n" + "".join(f"日{k},{'größe' * (k % 7 + 1)}\n" for k in range(20_000))
    found = read(put("x.csv", text.encode("utf-16")))
    assert len(found) == 20_000
    assert found.objects[-1] == "größe" * (19_999 % 7 + 1)
    big = read(put("y.csv", b"\xfe\xff" + text.encode("utf-16-be")))
    assert big.ids == found.ids
    assert read(put("x.csv", text.encode("utf-16")), encoding="utf-16").ids == found.ids
    with pytest.raises(ValueError, match="begins as UTF-16 text, but is not"):
        read(put("z.csv", as_csv().encode("utf-16")[:-1]))


def test_utf16_sequences(put):
    assert read(put("x.fasta", ">a\nACDE\n>b\nACDF\n".encode("utf-16"))).objects == ["ACDE", "ACDF"]


@pytest.mark.parametrize("mark", ["#", "%"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt"])
def test_comments_before_a_table_are_skipped(put, mark, name):
    sign = "\t" if name == "x.tsv" else ","
    table = as_csv().replace(",", sign)
    found = read(put(name, f'{mark} made by a program, "version 1\n{mark}\n\n{mark} date: today\n{table}'))
    assert found.ids == NAMES
    np.testing.assert_array_equal(found.objects, POINTS)
    header = read(put(name, f"{mark} made by a program\n{mark}{table}"))  # the last such line holds the names
    assert header.ids == NAMES
    assert header.columns == ["x", "y"]
    with pytest.raises(ValueError, match="line 4 has 2 columns where 3"):
        read(put(name, f"{mark} a comment\nid{sign}x{sign}y\na{sign}1{sign}2\nb{sign}3\nc{sign}1{sign}4\n"))


def test_lines_of_text_and_quoted_names_are_no_comments(put):
    assert read(put("x.txt", "#one\ntwo\n")).objects == ["#one", "two"]
    found = read(put("x.csv", '# by hand\n#id,"x, in mm",y\na,1,2\nb,3,5\nc,2,2\n'))
    assert found.columns == ["x, in mm", "y"]
    every = read(put("y.csv", "#1,2,3\n#2,4,5\n#3,1,1\n"))
    assert every.ids == ["#1", "#2", "#3"]


def test_bars_separate_cells_where_numbers_do(put):
    found = read(put("x.txt", as_csv().replace(",", "|")))
    assert (found.ids, found.columns) == (NAMES, ["x", "y"])
    assert read(put("y.txt", "sp|P1|ONE\nsp|P2|TWO\n")).objects == ["sp|P1|ONE", "sp|P2|TWO"]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("sign", [",", "\t", ";"])
def test_lower_triangles_are_mirrored(put, named, diagonal, sign):
    rows = []
    for i in range(4):
        cells = [NAMES[i]] * named + [str(v) for v in D[i, : i + diagonal].tolist()]
        rows.append(sign.join(cells))
    text = "\n".join(row for row in rows if row) + "\n"
    found = read(put("x.csv" if sign != "\t" else "x.tsv", text))
    np.testing.assert_array_equal(found.D, D)
    assert found.ids == (NAMES if named else None)
    assert "a lower triangle, mirrored" in found.note


def test_triangles_whose_names_are_numbers(put):
    without = read(put("x.csv", "1\n2,0.5\n3,0.75,0.25\n"))
    assert without.ids == ["1", "2", "3"]
    np.testing.assert_array_equal(without.D, [[0, 0.5, 0.75], [0.5, 0, 0.25], [0.75, 0.25, 0]])
    np.testing.assert_array_equal(read(put("x.csv", "1,0\n2,0.5,0\n3,0.75,0.25,0\n")).D, without.D)
    zeros = read(put("x.csv", "0\n1,0\n2,3,0\n"))
    assert zeros.ids is None
    np.testing.assert_array_equal(zeros.D, [[0, 1, 2], [1, 0, 3], [2, 3, 0]])


def test_damaged_triangles_are_refused(put):
    rows = [",".join(["1.25"] * i + ["0"]) for i in range(200)]
    assert read(put("x.csv", "\n".join(rows))).D.shape == (200, 200)
    rows[-1] = "1,2,3"  # behind what is looked at first
    with pytest.raises(ValueError, match="line 200 has 3 columns where 200 are expected, one more than in the line"):
        read(put("x.csv", "\n".join(rows)))
    with pytest.raises(ValueError, match="the same id 'a'"):
        read(put("x.csv", "a,0\nb,1,0\na,2,3,0\n"))


@pytest.mark.parametrize("empty", ["", "NA"])
@pytest.mark.parametrize("upper", [True, False])
def test_a_square_with_one_empty_triangle_is_mirrored(put, empty, upper):
    there = np.triu(np.ones((4, 4), bool), 1) if upper else np.tril(np.ones((4, 4), bool), -1)
    rows = [f"{n}," + ",".join(str(D[i, j]) if there[i, j] else empty for j in range(4)) for i, n in enumerate(NAMES)]
    found = read(put("D.csv", "," + ",".join(NAMES) + "\n" + "\n".join(rows) + "\n"))
    np.testing.assert_array_equal(found.D, D)
    assert "one triangle is empty; the other is mirrored" in found.note
    rows[3 if not upper else 0] = NAMES[3 if not upper else 0] + "," + ",".join([empty] * 4)
    with pytest.raises(ValueError, match="pairs have no value"):
        read(put("D.csv", "," + ",".join(NAMES) + "\n" + "\n".join(rows) + "\n"))


@pytest.mark.parametrize("cells", [
    ["1,000.5", "2,500.0", "12,000.1"], ["2.5 mm", "3.1 mm", "10 mm"], ["5%", "10 %", "7.5%"], ["<0.5", "> 2", "<1"],
    ["2020-01-31", "2020-02-01", "2021-12-24"], ["31.1.2020", "1.2.2020", "24.12.2021"],
])  # fmt: skip
def test_numbers_with_trimmings_are_not_taken_for_strings(put, cells):
    table = "id,value,n\n" + "".join(
        f'{n},"{cell}",{k}\n' for k, (n, cell) in enumerate(zip(NAMES, cells, strict=False))
    )
    with pytest.raises(ValueError, match=rf"column 'value' holds '{cells[0][:2]}.*no plain number.*string=NAME"):
        read(put("x.csv", table))
    assert read(put("x.csv", table), string="value").objects == cells


def test_short_codes_are_strings(put):
    assert read(put("x.csv", "id,code,n\na,1abc,1\nb,16S,2\nc,3D,3\n")).objects == ["1abc", "16S", "3D"]


def test_a_line_of_names_alone_is_said_to_be_so(put):
    with pytest.raises(ValueError, match="a line of names and no rows after it"):
        read(put("x.csv", "a,b,c\n"))


def test_phylip_alignments_and_dist_files(put):
    with pytest.raises(ValueError, match="PHYLIP alignment, not a matrix; write its sequences as FASTA"):
        read(put("x.phy", "2 6\nant       AAGCTN\nbee       AAGCTT\n"))
    lower = "4\n" + "".join(" ".join([NAMES[i], *map(str, D[i, :i].tolist())]) + "\n" for i in range(4))
    np.testing.assert_array_equal(read(put("x.dist", lower)).D, D)  # as mothur writes it
    pairs = "".join(f"{NAMES[i]} {NAMES[j]} {D[i, j]}\n" for i in range(4) for j in range(i))
    assert sorted(read(put("x.dist", pairs)).ids) == NAMES


@pytest.mark.parametrize("ending", FOREIGN)
def test_files_of_other_kinds_are_known_by_their_ending(put, ending):
    with pytest.raises(ValueError, match=rf"^\S*x\{ending} holds .*; .*\.$") as said:
        read(put(f"x{ending}", "LOCUS"))
    assert "\n" not in str(said.value)
    assert not any(ending in each.extensions for each in FORMATS.values())


def test_infinite_values_are_refused_in_one_line(put, tmp_path, capsys):
    file = put("x.csv", as_csv().replace("2.25", "inf"))
    assert run("fit", file, "-o", tmp_path / "out") == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "point 1, column 0 is inf" in said
