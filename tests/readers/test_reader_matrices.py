"""Matrices in text, in arrays and in AnnData give back every number, to its last bit, and their ids."""

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist, squareform
from support.extras import optional

from medianmap import MedianKMeans
from medianmap.readers import Matrix, from_anndata, read, write_lsmat, write_pairs, write_phylip

D3 = np.array([[0, 1.5, 2], [1.5, 0, 0.25], [2, 0.25, 0]])


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


def test_small_tables_of_whole_numbers(put):
    assert isinstance(read(put("D.csv", "0,1,2\n1,0,3\n2,3,0\n")), Matrix)
    assert read(put("X.csv", "id,x,y\n1,2,3\n2,4,4\n")).ids == ["1", "2"]
    assert read(put("X.csv", "x,y,z\n1,2,3\n2,4,4\n"), kind="vectors").objects.shape == (2, 3)


def test_a_square_with_other_names_above_than_at_its_side_is_vectors(put):
    found = read(put("X.csv", "id,x,y\na,0,1\nb,1,0\n"))
    assert (found.ids, found.columns) == (["a", "b"], ["x", "y"])
    assert "different names" in found.note


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
    with pytest.raises(ValueError, match=r"obsp\['D'\], obsm\['X_pca'\]; pass key="):
        read(tmp_path / "x.h5ad")

    cells.obsp["graph"] = csr_array(np.where(D3 == 0.25, 0, D3))
    with pytest.raises(ValueError, match="2 of 6 pairs have no value"):
        from_anndata(cells, key="graph")
    assert from_anndata(cells, key="graph", missing=9).D[1, 2] == 9
    cells.write_h5ad(tmp_path / "sparse.h5ad")
    np.testing.assert_array_equal(read(tmp_path / "sparse.h5ad", key="graph", missing=9).D, np.where(D3 == 0.25, 9, D3))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_anndata_of_nothing_but_counts(kind, tmp_path):
    anndata = optional("anndata")
    from scipy.sparse import csr_matrix

    X = np.arange(6.0).reshape(2, 3)
    cells = anndata.AnnData(X if kind == "dense" else csr_matrix(X), var=pd.DataFrame(index=["g1", "g2", "g3"]))
    cells.write_h5ad(tmp_path / "x.h5ad")
    found = read(tmp_path / "x.h5ad")
    np.testing.assert_array_equal(found.objects, X)
    assert (found.kind, found.columns) == ("vectors", ["g1", "g2", "g3"])
    cells.obsm["X_pca"] = X[:, :1]
    assert from_anndata(cells).objects.shape == (2, 1)
    np.testing.assert_array_equal(from_anndata(cells, key="X").objects, X)
