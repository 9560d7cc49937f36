"""How sequences are spelled, by what is written and what is said of it; what tells nucleotides and alignments."""

import pytest

from medianmap import as_dissimilarity
from medianmap.metrics.letters import are_aligned, is_nucleic, respelling


def test_spelling_of_nucleotides_makes_strings_equal():
    D = as_dissimilarity(["ACGT", "acgu", "AC-GT", "TTTT"], "edit", metric_params={"spelling": "dna"})
    assert D.block(slice(None), slice(None)).tolist() == [[0, 0, 0, 3], [0, 0, 0, 3], [0, 0, 0, 3], [3, 3, 3, 0]]
    exact = as_dissimilarity(["ACGT", "acgu"], "edit").block(slice(None), slice(None))
    assert exact[0, 1] == 4
    with pytest.raises(ValueError, match="lists of tokens"):
        as_dissimilarity([["a", "b"]], "edit", metric_params={"spelling": "dna"})


def test_an_alphabet_keeps_its_own_letters():
    assert respelling("dna", "ACGU")(["acgu", "T"]) == ["ACGU", "T"]  # T is not in it and stays to be refused
    assert respelling("protein", "ACDEK-")(["a-uOj"]) == ["A-CKj"]
    assert respelling("exact") is None


def test_what_is_said_counts_sequences():
    told = respelling("protein", "ACDEFGHIKLMNPQRSTVWY").told(["ACU", "acu", "A--C*", "AAA", "U"])
    assert told.startswith("U in 3 sequences, scored as C; ")
    assert "lower case in 1 sequence, read as upper case" in told
    assert "gaps in 1 sequence, left out" in told
    assert "a final * in 1 sequence, left out" in told
    assert respelling("dna").told(["ACGT"]) == ""


@pytest.mark.parametrize(
    ("sequences", "nucleic"),
    [
        (["ACGT", "acgtn"], True),
        (["ACGUACGUAC", "ACGT-ACGRT"], True),
        (["MKV", "ACG"], False),
        (["ACDHKMRSVWY"], False),  # codes of nucleotides, but too many of several
        ([""], False),
    ],
)
def test_nucleotides_are_told_from_proteins(sequences, nucleic):
    assert is_nucleic(sequences) is nucleic


@pytest.mark.parametrize(
    ("rows", "aligned"),
    [
        (["AC-T", "A--T"], True),
        (["AC.T", "ACGT"], True),
        (["ACGT", "ACGA"], False),  # no gap
        (["AC-T", "ACT"], False),
        (["A-", "-C"], False),  # these two share no column
    ],
)
def test_rows_of_an_alignment(rows, aligned):
    assert are_aligned(rows) is aligned
