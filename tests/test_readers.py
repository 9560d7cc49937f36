"""Every format gives back its objects, ids, labels and numbers; plain, compressed and from a pipe."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import optional
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist, squareform

from medianmap import MedianKMeans
from medianmap.readers import (
    FORMATS,
    Matrix,
    Records,
    from_anndata,
    iter_records,
    read,
    write_lsmat,
    write_pairs,
    write_phylip,
)

D3 = np.array([[0, 1.5, 2], [1.5, 0, 0.25], [2, 0.25, 0]])


@pytest.fixture
def put(tmp_path):
    """put(name, text) -> path of a new file."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def on_stdin(monkeypatch, text):
    class Stdin:
        buffer = io.BytesIO(text.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)


# --- sequences


FASTA = ">a1 first family\nAC\nGT\n\n>b2\tsecond\nTT GG\r\n"


def test_fasta_keeps_ids_descriptions_and_letters(put):
    optional("dnaio")
    found = read(put("x.fasta", FASTA))
    assert found.ids == ["a1", "b2"]
    assert found.objects == ["ACGT", "TTGG"]
    assert found.descriptions == ["first family", "second"]
    assert (found.kind, found.labels, found.note) == ("strings", None, "")


def test_labels_of_sequences_are_a_word_of_the_header_or_a_function_of_it(put):
    optional("dnaio")
    path = put("x.fa", FASTA)
    assert read(path, label=1).labels == ["first", "second"]
    assert read(path, label=lambda header: header[0]).labels == ["a", "b"]


def test_fastq_is_read_as_sequences(put):
    optional("dnaio")
    found = read(put("x.fq", "@r1 lane\nACGT\n+\nIIII\n@r2\nA\n+\nI\n"))
    assert (found.ids, found.objects, found.descriptions) == (["r1", "r2"], ["ACGT", "A"], ["lane", ""])


def test_globins(shared_data):
    optional("dnaio")
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
    optional("dnaio")
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


def test_strings_without_a_header_and_lines_of_text(put):
    table = read(put("x.tsv", "g1\tACG\ng2\tTTT\n"))
    assert (table.ids, table.objects) == (["g1", "g2"], ["ACG", "TTT"])
    assert "first line was read as data" in table.note
    lines = read(put("x.txt", "to be, or not\nto be\n"))
    assert (lines.ids, lines.objects, lines.kind) == (["0", "1"], ["to be, or not", "to be"], "strings")


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
    square = read(put("y.csv", "1,2\n3,4\n"))
    assert (square.kind, square.note.split(",")[0]) == ("vectors", "square")
    assert isinstance(read(put("y.csv", "1,2\n3,4\n"), kind="matrix"), Matrix)


def test_an_iris_frame_from_pandas(put):
    from sklearn.datasets import load_iris

    bunch = load_iris(as_frame=True)
    frame = bunch.data.assign(species=bunch.target_names[bunch.target])
    found = read(put("iris.csv", frame.to_csv()))
    np.testing.assert_array_equal(found.objects, bunch.data.to_numpy())
    assert found.labels == frame.species.tolist()
    assert found.columns == list(bunch.data.columns)


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


# --- matrices


def matrix_texts(n):
    rng = np.random.default_rng(n)
    D = squareform(pdist(rng.random((n, 3))))
    ids = [f"s{k}" for k in range(n)]
    return D, ids, pd.DataFrame(D, ids, ids)


@pytest.mark.parametrize(
    ("name", "text", "has_ids"),
    [
        ("plain", lambda f: f.to_csv(header=False, index=False), False),
        ("header", lambda f: f.to_csv(index=False), True),
        ("row names", lambda f: f.to_csv(header=False), True),
        ("both", lambda f: f.to_csv(), True),
        ("corner", lambda f: f.to_csv(index_label="id"), True),
        ("as R writes it", lambda f: f.to_csv()[1:], True),
        ("semicolons", lambda f: f.to_csv(sep=";"), True),
    ],
)
def test_csv_matrices(put, name, text, has_ids):
    D, ids, frame = matrix_texts(5)
    for content in (text(frame), text(frame).replace("\n", "\r\n"), "\ufeff" + text(frame)):
        found = read(put("D.csv", content))
        assert isinstance(found, Matrix), name
        np.testing.assert_array_equal(found.D, D)
        assert found.ids == (ids if has_ids else None)


def test_matrices_whose_ids_are_numbers(put):
    D, _, _ = matrix_texts(5)
    frame = pd.DataFrame(D)
    for text in (frame.to_csv(), frame.to_csv(index=False), frame.to_csv(index_label="id")):
        found = read(put("D.csv", text))
        np.testing.assert_array_equal(found.D, D)
        assert found.ids == ["0", "1", "2", "3", "4"]
    assert read(put("D.csv", frame.to_csv(header=False, index=False))).ids is None


def test_ids_that_are_words_of_tables_stay_ids(put):
    frame = pd.DataFrame(D3, ["dna", "class", "id"], ["dna", "class", "id"])
    for text in (frame.to_csv(), frame.to_csv(index_label="name")):
        assert read(put("D.csv", text)).ids == ["dna", "class", "id"]


def test_proteins(shared_data):
    found = read(shared_data / "proteins" / "D.csv")
    np.testing.assert_array_equal(found.D, np.loadtxt(shared_data / "proteins" / "D.csv", delimiter=","))
    labels = read(shared_data / "proteins" / "labels.csv")
    assert (found.D.shape, len(labels)) == ((213, 213), 213)
    nearest = np.argmin(found.D + np.diag(np.full(213, np.inf)), axis=1)
    hits = [labels.objects[i] == labels.objects[l] for i, l in enumerate(nearest)]
    assert np.mean(hits) == pytest.approx(0.981, abs=0.001)


def test_a_matrix_becomes_a_map_with_its_ids(put):
    D, ids, frame = matrix_texts(9)
    fitted = MedianKMeans(3, metric="precomputed", random_state=0).fit(read(put("D.csv", frame.to_csv())).source())
    assert fitted.prototype_ids_ == [ids[k] for k in fitted.medoid_indices_]
    assert fitted.medoid_indices_.tolist() == (
        MedianKMeans(3, metric="precomputed", random_state=0).fit(D).medoid_indices_.tolist()
    )


def test_records_become_a_map_with_their_ids(put):
    found = read(put("x.csv", "id,string\na,ACGT\nb,ACGA\nc,TTTT\nd,TTTA\n"))
    fitted = MedianKMeans(2, metric="precomputed", init=[0, 2]).fit(found.source("edit"))
    assert fitted.labels_.tolist() == [0, 0, 1, 1]
    assert set(fitted.prototype_ids_) <= set("abcd")


PHYLIP_ROWS = {
    "square": ["alpha 0 1.5 2", "beta 1.5 0 0.25", "gamma 2 0.25 0"],
    "lower": ["alpha", "beta 1.5", "gamma 2 0.25"],
    "lower with diagonal": ["alpha 0", "beta 1.5 0", "gamma 2 0.25 0"],
    "wrapped": ["alpha 0 1.5", "   2", "beta 1.5 0", "   0.25", "gamma 2 0.25", "   0"],
}


@pytest.mark.parametrize("shape", PHYLIP_ROWS)
def test_phylip(put, shape):
    text = "   3\n" + "\n".join(PHYLIP_ROWS[shape]) + "\n"
    for name in ("D.phy", "D.txt"):
        found = read(put(name, text))
        assert found.ids == ["alpha", "beta", "gamma"]
        np.testing.assert_array_equal(found.D, D3)


def test_strict_phylip_names_may_hold_blanks_and_touch_numbers(put):
    rows = ["Homo sapie0.0 1.5 2.0", "Pan trogl 1.5 0.0 0.25", "Mus       2.0 0.25 0.0"]
    found = read(put("D.phy", "3\n" + "\n".join(rows)))
    assert found.ids == ["Homo sapie", "Pan trogl", "Mus"]
    np.testing.assert_array_equal(found.D, D3)


def test_phylip_that_reads_in_two_ways_is_refused(put):
    path = put("D.phy", "2\nABCDEFGHIJ0.0\nKLMNOPQRST1.5 0.0\n")
    with pytest.raises(ValueError, match="names='strict' or names='relaxed'"):
        read(path)
    assert read(path, names="strict").D[1, 0] == 1.5
    assert read(path, names="relaxed").ids == ["ABCDEFGHIJ0.0", "KLMNOPQRST1.5"]


def test_lsmat_from_scikit_bio(tmp_path):
    skbio = optional("skbio")
    ids = ["x", "y y", "z"]
    skbio.DistanceMatrix(D3, ids).write(str(tmp_path / "D.lsmat"), format="lsmat")
    for name in ("D.lsmat", "D.tsv"):
        (tmp_path / "D.tsv").write_bytes((tmp_path / "D.lsmat").read_bytes())
        found = read(tmp_path / name)
        assert found.ids == ids
        np.testing.assert_array_equal(found.D, D3)


def test_what_is_written_is_read_by_scikit_bio(tmp_path):
    skbio = optional("skbio")
    write_lsmat(tmp_path / "D.lsmat", D3, ["x", "y", "z"])
    theirs = skbio.DistanceMatrix.read(str(tmp_path / "D.lsmat"), format="lsmat")
    np.testing.assert_array_equal(theirs.data, D3)
    assert list(theirs.ids) == ["x", "y", "z"]


values = st.floats(0, 1e300, allow_nan=False)
ids_of_5 = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters='"#'), min_size=1),
    min_size=2,
    max_size=5,
    unique=True,
)


@given(st.data())
def test_write_then_read_is_identity(tmp_path_factory, data):
    ids = data.draw(ids_of_5)
    D = data.draw(arrays(np.float64, (len(ids), len(ids)), elements=values))
    folder = tmp_path_factory.mktemp("round")
    for write, name, options in (
        (write_phylip, "D.phy", {"names": "relaxed"}),
        (write_lsmat, "D.lsmat", {}),
        (write_pairs, "D.pairs", {}),
    ):
        write(folder / name, D, ids)
        found = read(folder / name, **options)
        assert found.ids == ids, name
        np.testing.assert_array_equal(found.D, D, err_msg=name)


# --- arrays


def test_npy_is_a_memory_map(tmp_path):
    np.save(tmp_path / "D.npy", D3.astype(np.float32))
    found = read(tmp_path / "D.npy")
    assert isinstance(found.D, np.memmap)
    assert found.D.dtype == np.float32
    np.testing.assert_array_equal(found.D, D3)
    assert found.source().symmetric
    packed = tmp_path / "E.npy.gz"
    packed.write_bytes(gzip.compress((tmp_path / "D.npy").read_bytes()))
    np.testing.assert_array_equal(read(packed).D, D3)


def test_npy_vectors_strings_and_condensed(tmp_path):
    np.save(tmp_path / "X.npy", np.arange(6.0).reshape(3, 2))
    assert (read(tmp_path / "X.npy").kind, read(tmp_path / "X.npy").ids) == ("vectors", ["0", "1", "2"])
    assert read(tmp_path / "X.npy", kind="series").kind == "series"
    np.save(tmp_path / "S.npy", np.array(["AC", "GT"]))
    assert read(tmp_path / "S.npy").objects == ["AC", "GT"]
    np.save(tmp_path / "c.npy", squareform(D3))
    np.testing.assert_array_equal(read(tmp_path / "c.npy").source().block(slice(None), slice(None)), D3)
    np.testing.assert_array_equal(read(tmp_path / "c.npy", similarity="max-s").D, np.where(np.eye(3), 0, 2 - D3))


def test_npz_with_ids_and_labels(tmp_path):
    np.savez(tmp_path / "D.npz", D=D3, ids=["x", "y", "z"], labels=["u", "u", "v"])
    found = read(tmp_path / "D.npz")
    assert (found.ids, found.labels) == (["x", "y", "z"], ["u", "u", "v"])
    np.savez(tmp_path / "two.npz", D=D3, X=np.ones((3, 2)))
    assert read(tmp_path / "two.npz", key="X").kind == "vectors"
    np.savez(tmp_path / "series.npz", a=np.arange(3.0), b=np.arange(2.0))
    series = read(tmp_path / "series.npz")
    assert (series.ids, [len(x) for x in series.objects]) == (["a", "b"], [3, 2])


@pytest.mark.filterwarnings("ignore")
def test_anndata(tmp_path):
    anndata = optional("anndata")
    from scipy.sparse import csr_array

    cells = anndata.AnnData(np.ones((3, 2)), obs=pd.DataFrame({"type": ["u", "v", "u"]}, index=["x", "y", "z"]))
    cells.obsp["D"] = D3
    cells.obsm["X_pca"] = np.arange(6.0).reshape(3, 2)
    cells.write_h5ad(tmp_path / "x.h5ad")
    matrix = read(tmp_path / "x.h5ad", key="D", label="type")
    assert (matrix.ids, matrix.labels) == (["x", "y", "z"], ["u", "v", "u"])
    np.testing.assert_array_equal(matrix.D, D3)
    vectors = read(tmp_path / "x.h5ad", kind="vectors")
    np.testing.assert_array_equal(vectors.objects, cells.obsm["X_pca"])
    with pytest.raises(ValueError, match=r"obsp\['D'\], obsm\['X_pca'\]: pass one as key="):
        read(tmp_path / "x.h5ad")

    cells.obsp["graph"] = csr_array(np.where(D3 == 0.25, 0, D3))
    with pytest.raises(ValueError, match="2 of 6 pairs have no value"):
        from_anndata(cells, key="graph")
    assert from_anndata(cells, key="graph", missing=9).D[1, 2] == 9


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
    optional("dnaio")
    on_stdin(monkeypatch, FASTA)
    assert [r.id for r in iter_records("-")] == ["a1", "b2"]


def test_contents_that_leave_no_doubt_need_no_ending(put):
    optional("dnaio")
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
