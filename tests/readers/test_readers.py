"""Sequences and tables give back their objects, ids and labels; plain, compressed, in a stream and from a pipe."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.extras import optional

from medianmap.readers import FORMATS, Matrix, Records, iter_records, read


def on_stdin(monkeypatch, text):
    class Stdin:
        buffer = io.BytesIO(text.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)


# --- sequences


FASTA = ">a1 first family\nAC\nGT\n\n>b2\tsecond\nTT GG\r\n"


def test_fasta_keeps_ids_descriptions_and_letters(put):
    found = read(put("x.fasta", FASTA))
    assert found.ids == ["a1", "b2"]
    assert found.objects == ["ACGT", "TTGG"]
    assert found.descriptions == ["first family", "second"]
    assert (found.kind, found.labels, found.note) == ("strings", None, "")


def test_labels_of_sequences_are_a_word_of_the_header_or_a_function_of_it(put):
    path = put("x.fa", FASTA)
    assert read(path, label=1).labels == ["first", "second"]
    assert read(path, label=lambda header: header[0]).labels == ["a", "b"]


def test_fastq_is_read_as_sequences(put):
    found = read(put("x.fq", "@r1 lane\nACGT\n+\nIIII\n@r2\nA\n+\nI\n"))
    assert (found.ids, found.objects, found.descriptions) == (["r1", "r2"], ["ACGT", "A"], ["lane", ""])


def test_globins(shared_data):
    found = read(shared_data / "globins.fasta", label=1, alphabet="protein")
    assert len(found) == 630
    counts = {name: found.labels.count(name) for name in set(found.labels)}
    assert counts == {"HA": 235, "HB": 197, "MY": 71, "GG/GP": 81, "others": 46}
    streamed = list(iter_records(shared_data / "globins.fasta", label=1))
    assert [(r.id, r.object, r.label) for r in streamed] == list(
        zip(found.ids, found.objects, found.labels, strict=True)
    )


names = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=12)


@given(st.dictionaries(names, st.text("ACGT", min_size=1, max_size=200), min_size=1, max_size=8), st.integers(1, 70))
def test_fasta_round_trip(tmp_path_factory, entries, width):
    path = tmp_path_factory.mktemp("fasta") / "x.fasta"
    lines = []
    for name, letters in entries.items():
        lines += [f">{name} some words", *(letters[k : k + width] for k in range(0, len(letters), width))]
    path.write_text("\n".join(lines))
    found = read(path)
    assert dict(zip(found.ids, found.objects, strict=True)) == entries


# --- tables of records


def test_chromosomes(shared_data):
    found = read(shared_data / "chromosomes.csv")
    assert len(found) == 4400
    assert {len([x for x in found.labels if x == c]) for c in set(found.labels)} == {200}
    frame = pd.read_csv(shared_data / "chromosomes.csv", dtype=str)
    assert found.objects == frame["string"].tolist()
    assert found.ids == frame["id"].tolist()
    assert "column 'string' read as strings" in found.note
    other = read(shared_data / "chromosomes.csv", id="id", label="part", string=6)
    assert set(other.labels) == {"a", "b"}
    assert other.objects == found.objects


def test_a_column_is_found_by_name_position_and_guess(put):
    path = put("x.csv", "gene,dna,part\ng1,ACG,left\ng2,TTT,left\n")
    by_guess = read(path)
    assert (by_guess.ids, by_guess.objects) == (["g1", "g2"], ["ACG", "TTT"])
    by_hand = read(path, id=1, string="part", label=0)
    assert (by_hand.ids, by_hand.objects, by_hand.labels) == (["ACG", "TTT"], ["left", "left"], ["g1", "g2"])
    assert by_hand.note == ""
    assert read(path, id=0, string=-2).objects == ["ACG", "TTT"]


def test_columns_that_are_not_used_are_told(put):
    path = put("x.csv", "key,text,tall,wide\na,red,1,2\nb,blue,3,4\n")
    by_guess = read(path)
    assert by_guess.objects == ["red", "blue"]
    assert "columns 'tall', 'wide' left out; to compare numbers, pass kind='vectors'" in by_guess.note
    assert "left out" not in read(path, string="text").note
    asked = read(path, kind="vectors")
    assert asked.objects.tolist() == [[1, 2], [3, 4]]
    assert "column 'text' left out" in asked.note
    assert "column 'comment' left out" in read(put("y.csv", path.read_text().replace("text", "comment"))).note


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("tall,wide", ["tall", "wide"]),
        ("2, 3", ["tall", "wide"]),
        (3, ["wide"]),
        ("wide", ["wide"]),
        (["tall"], ["tall"]),
    ],
)
def test_columns_may_be_a_text_with_commas(put, columns, expected):
    path = put("x.csv", "key,text,tall,wide\na,red,1,2\nb,blue,3,4\n")
    assert read(path, columns=columns).columns == expected


def test_a_column_that_is_not_there_is_named_whole(put):
    with pytest.raises(ValueError, match="no column 'tal' for the vectors; choose one of 'key', 'tall', 'wide'"):
        read(put("x.csv", "key,tall,wide\na,1,2\nb,3,4\n"), columns="tal")


def test_strings_without_a_header_and_lines_of_text(put):
    table = read(put("x.tsv", "g1\tACG\ng2\tTTT\n"))
    assert (table.ids, table.objects) == (["g1", "g2"], ["ACG", "TTT"])
    assert "first line was read as data" in table.note
    lines = read(put("x.txt", "to be, or not\nto be\n"))
    assert (lines.ids, lines.objects, lines.kind) == (["0", "1"], ["to be, or not", "to be"], "strings")


def test_a_known_word_is_a_name_above_a_column_but_not_a_line_of_text(put):
    assert read(put("x.csv", "sequence\nACGT\nGG\n")).objects == ["ACGT", "GG"]
    assert read(put("x.txt", "protein\ndna\n")).objects == ["protein", "dna"]
    assert read(put("x.csv", "id,string\na,\n"), allow_empty=True).objects == [""]


def test_quoted_cells_and_semicolons(put):
    found = read(put("x.csv", 'id;text\na;"one; ""two"""\nb;"three\nfour"\n'))
    assert found.objects == ['one; "two"', "three\nfour"]


def test_vectors_with_ids_labels_and_column_names(put):
    text = "name,x,y,species\np1,1,2.5,iris\np2,-3,4e1,iris\np3,0,0,rose\n"
    found = read(put("x.csv", text))
    np.testing.assert_array_equal(found.objects, [[1, 2.5], [-3, 40], [0, 0]])
    assert (found.ids, found.labels, found.columns) == (["p1", "p2", "p3"], ["iris", "iris", "rose"], ["x", "y"])
    assert found.kind == "vectors"
    one = read(put("x.csv", text), columns=["y"])
    assert (one.columns, one.objects.ravel().tolist()) == (["y"], [2.5, 40, 0])


def test_labels_before_the_numbers_are_not_taken_for_ids(put):
    found = read(put("x.csv", "setosa,1,2\nsetosa,3,5\nvirginica,0,1\n"))
    assert (found.labels, found.ids) == (["setosa", "setosa", "virginica"], ["0", "1", "2"])


def test_plain_numbers_are_vectors(put):
    found = read(put("x.txt", "1 2  3\n4 5 6\n"))
    np.testing.assert_array_equal(found.objects, [[1, 2, 3], [4, 5, 6]])
    assert read(put("y.csv", "1,2\n3,4\n"), kind="vectors").objects.shape == (2, 2)
    assert isinstance(read(put("y.csv", "1,2\n3,4\n"), kind="matrix"), Matrix)


def test_an_iris_frame_from_pandas(put):
    from sklearn.datasets import load_iris

    bunch = load_iris(as_frame=True)
    frame = bunch.data.assign(species=bunch.target_names[bunch.target])
    found = read(put("iris.csv", frame.to_csv()))
    np.testing.assert_array_equal(found.objects, bunch.data.to_numpy())
    assert found.labels == frame.species.tolist()
    assert found.columns == list(bunch.data.columns)


def test_lines_longer_than_a_first_look(put):
    X = np.arange(60_000.0).reshape(3, 20_000)
    names = [f"feature{k}" for k in range(20_000)]
    found = read(put("x.csv", pd.DataFrame(X, ["p", "q", "r"], names).to_csv()))
    np.testing.assert_array_equal(found.objects, X)
    assert (found.ids, found.columns) == (["p", "q", "r"], names)


def test_series_have_lengths_of_their_own(put):
    found = read(put("x.csv", "a,1,2,3\nb,4,,\n"), kind="series", id=0)
    assert found.ids == ["a", "b"]
    assert [x.tolist() for x in found.objects] == [[1, 2, 3], [4]]


def test_streams_equal_the_whole(put):
    path = put("x.csv.gz", gzip.compress(b"id,x,y,class\na,1,2,u\nb,3,4,v\n"))
    whole = read(path)
    stream = list(iter_records(path))
    assert [r.id for r in stream] == whole.ids
    assert [r.label for r in stream] == whole.labels
    np.testing.assert_array_equal([r.object for r in stream], whole.objects)


def test_a_stream_does_not_read_ahead(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,string\n" + "".join(f"s{k},ACGT\n" for k in range(200_000)) + "broken\n")
    stream = iter_records(path)
    assert next(stream).id == "s0"
    with pytest.raises(ValueError, match="line 200002 has 1 columns"):
        list(stream)


# --- the door


def test_gz_and_stdin_give_the_same(put, monkeypatch):
    text = "id,string\na,ACGT\nb,GGTT\n"
    plain = read(put("x.csv", text))
    packed = read(put("x.csv.gz", gzip.compress(text.encode())))
    on_stdin(monkeypatch, text)
    piped = read("-")
    for found in (packed, piped):
        assert (found.ids, found.objects, found.note) == (plain.ids, plain.objects, plain.note)


def test_sequences_from_stdin(monkeypatch):
    on_stdin(monkeypatch, FASTA)
    assert [r.id for r in iter_records("-")] == ["a1", "b2"]


def test_contents_that_leave_no_doubt_need_no_ending(put):
    assert read(put("sequences", FASTA)).ids == ["a1", "b2"]
    assert read(put("x.unknown", "@r\nA\n+\nI\n")).ids == ["r"]
    assert read(put("x.data", "a\tACGT\nb\tGG\n"), format="tsv").objects == ["ACGT", "GG"]


def test_other_encodings(put):
    text = "id,text\nä,größe\n"
    assert read(put("x.csv", text.encode("latin-1")), encoding="latin-1").ids == ["ä"]
    assert read(put("x.csv", text.encode("utf-16")), encoding="utf-16").objects == ["größe"]


def test_every_format_has_words_and_endings_of_its_own():
    endings = [ending for each in FORMATS.values() for ending in each.extensions]
    assert len(set(endings)) == len(endings)
    assert all(each.holds for each in FORMATS.values())


def test_records_have_a_length(put):
    found = read(put("x.txt", "one\ntwo\n"))
    assert isinstance(found, Records)
    assert len(found) == 2


LETTERS = st.text("ACGTUNacgt*-.", min_size=1, max_size=30)


@given(st.lists(st.tuples(st.text("abc |_0", max_size=8), LETTERS), min_size=1, max_size=6), st.integers(1, 9),
       st.sampled_from(["\n", "\r\n"]), st.booleans())  # fmt: skip
def test_fasta_is_read_as_dnaio_reads_it(tmp_path_factory, records, width, end, packed):
    dnaio = optional("dnaio")
    lines = []
    for k, (description, letters) in enumerate(records):
        lines += [f">r{k} {description}", *(letters[at : at + width] for at in range(0, len(letters), width)), ""]
    path = tmp_path_factory.mktemp("fasta") / ("x.fa.gz" if packed else "x.fa")
    text = end.join(lines).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    found = read(path)
    with dnaio.open(path) as theirs:
        expected = list(theirs)
    assert found.objects == [record.sequence for record in expected]
    assert found.ids == [record.name.split()[0] for record in expected]


@given(st.lists(LETTERS, min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_fastq_is_read_as_dnaio_reads_it(tmp_path_factory, sequences, end):
    dnaio = optional("dnaio")
    path = tmp_path_factory.mktemp("fastq") / "x.fastq"
    lines = [line for k, s in enumerate(sequences) for line in (f"@r{k}", s, "+", "@" * len(s))]
    path.write_bytes(end.join([*lines, ""]).encode())
    with dnaio.open(path) as theirs:
        assert [record.object for record in iter_records(path)] == [record.sequence for record in theirs]
