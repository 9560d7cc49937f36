"""A square of numbers is dissimilarities, or it is refused with a sentence that names the choices: never vectors."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from support.fits import run

from medianmap.readers import Matrix, read
from medianmap.sources.squares import LOOKED_AT, judge_square


def points(n, seed=0):
    return squareform(pdist(np.random.default_rng(seed).normal(size=(n, 3))))


def similarities(n=20):
    X = np.random.default_rng(1).normal(size=(n, 30))
    return {
        "unit": np.exp(-points(n)),
        "correlation": np.corrcoef(X),
        "scores": np.exp(-points(n)) * 100,
        "kernel": X[:, :3] @ X[:, :3].T + 10,
        "negated": -points(n),
    }


@given(st.integers(3, 60), st.integers(0, 99), st.floats(0, 0.004))
def test_a_rounded_matrix_is_dissimilarities(n, seed, error):
    noise = np.random.default_rng(seed).uniform(0, 1, (n, n)) * error
    D = points(n, seed) + noise + noise.T
    D *= 1 / D[~np.eye(n, dtype=bool)].mean()
    np.fill_diagonal(D, error)
    verdict = judge_square(D)
    assert (verdict.kind, verdict.symmetric, verdict.diagonal) == ("dissimilarities", True, error)


def test_zeros_on_the_diagonal_are_enough():
    D = np.triu(points(9))  # far from symmetric
    verdict = judge_square(D)
    assert (verdict.kind, verdict.symmetric) == ("dissimilarities", False)
    D[3, 4] = np.nan
    assert judge_square(D).kind == judge_square(np.zeros((1, 1))).kind == "dissimilarities"


@pytest.mark.parametrize("kind", ["unit", "correlation", "scores", "kernel", "negated"])
def test_similarities_are_refused_with_their_conversion_and_converted_when_asked(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    S = similarities()[kind]
    np.save("S.npy", S)
    np.savetxt("S.csv", S, delimiter=",", fmt="%.17g")
    np.savez("S.npz", S=S)
    for name in ("S.npy", "S.csv", "S.npz"):
        with pytest.raises(ValueError, match=r"kind='similarity'.* D = .*kind='matrix'.*kind='vectors'"):
            read(name)
        matrix = read(name, kind="similarity")
        assert isinstance(matrix, Matrix)
        own = np.diag(S)
        D = {"scores": 1 - S / 100, "kernel": own[:, None] + own - 2 * S, "negated": -S}.get(kind, 1 - S)
        np.testing.assert_allclose(matrix.D, D, atol=1e-12)
    assert run("fit", "S.csv", "-o", "map") == 2
    assert "--read kind=similarity" in capsys.readouterr().err
    assert not Path("map").exists()
    assert run("check", "S.csv") == 2  # the same verdict, beside what there is to say of the numbers
    said = capsys.readouterr().out
    assert "NOT usable" in said
    assert "--read kind=similarity" in said
    assert run("check", "S.csv", "--read", "kind=similarity") == 0


def test_numbers_that_show_nothing_are_refused(tmp_path, capsys):
    X = np.random.default_rng(3).normal(size=(12, 12))
    for n, name in ((12, "vectors"), (2, "few")):
        np.save(tmp_path / f"{name}.npy", X[:n, :n])
        with pytest.raises(ValueError, match=rf"{n} x {n} numbers may be dissimilarities or vectors"):
            read(tmp_path / f"{name}.npy")
    assert read(tmp_path / "vectors.npy", kind="vectors").objects.shape == (12, 12)
    with pytest.raises(ValueError, match="similarity=RULE"):
        read(tmp_path / "vectors.npy", kind="similarity")
    assert run("fit", tmp_path / "vectors.npy", "--read", "kind=vectors", "--grid", "2x2", "-o", tmp_path / "map") == 0
    D = points(12) + 0.5  # symmetric, but the diagonal is no rounding
    np.save(tmp_path / "D.npy", D)
    with pytest.raises(ValueError, match=r"diagonal is not zero \(up to 0.5\)"):
        read(tmp_path / "D.npy")


def test_a_rounded_diagonal_becomes_zero_and_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    D = points(30) + 0.001
    np.save("D.npy", D)
    np.savetxt("D.csv", D, delimiter=",", fmt="%.17g")
    for name in ("D.npy", "D.csv"):
        found = read(name)
        np.testing.assert_array_equal(found.D, D - np.diag(np.diag(D)))
        assert "0.001" in found.note
    assert isinstance(read("D.npy").D, np.memmap)
    np.testing.assert_array_equal(np.load("D.npy"), D)  # the file itself is as it was
    for verb in (["fit", "D.csv", "--grid", "3x3", "-o", "map"], ["check", "D.csv"],
                 ["fit", "D.npy", "--metric", "precomputed", "--grid", "3x3", "-o", "map2"]):  # fmt: skip
        assert run(*verb) == 0
        assert verb[0] == "check" or "up to 0.001, was taken for rounding and set to 0" in capsys.readouterr().err


class Counted(np.ndarray):
    """An array that counts the entries that are read from it."""

    read = 0

    def __getitem__(self, where):
        found = super().__getitem__(where)
        Counted.read += np.size(found)
        return found


def test_a_large_matrix_is_judged_from_a_sample():
    n = 3000
    D = np.ones((n, n), np.float32)
    np.fill_diagonal(D, 1e-4)
    Counted.read = 0
    verdict = judge_square(D.view(Counted))
    assert (verdict.kind, round(verdict.diagonal, 9)) == ("dissimilarities", 1e-4)
    assert Counted.read <= LOOKED_AT**2 + n


def test_a_memory_map_of_20000_points_is_never_vectors(tmp_path):
    n = 20_000
    path = tmp_path / "D.npy"
    D = np.lib.format.open_memmap(path, "w+", np.float16, (n, n))  # a hole: it takes no room on the disk
    at = np.arange(0, n, 100)
    D[at, at] = 0.5
    D.flush()
    with pytest.raises(ValueError, match=r"20000 x 20000 numbers.*kind='matrix'"):
        read(path)
    D[at, at] = 0
    D.flush()
    matrix = read(path)
    assert isinstance(matrix, Matrix)
    assert isinstance(matrix.D, np.memmap)


def test_names_decide_where_they_differ(put):
    text = "id,x,y,z\na,0,1,2\nb,1,0,3\nc,2,3,0\n"
    with pytest.raises(ValueError, match="rows and columns differ in name"):
        read(put("x.csv", text))
    found = read(put("x.csv", text.replace("1,0,3", "7,5,3")))
    assert (found.kind, found.columns) == ("vectors", ["x", "y", "z"])
    named = re.sub("x,y,z", "a,b,c", text).replace("0,1,2", "4,1,2")
    with pytest.raises(ValueError, match="may be dissimilarities or vectors"):
        read(put("x.csv", named))


def test_queries_may_be_as_many_as_the_prototypes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savetxt("D.csv", points(30), delimiter=",", fmt="%.17g")
    assert run("fit", "D.csv", "--grid", "2x2", "-o", "map") == 0
    np.savetxt("new.csv", np.random.default_rng(0).uniform(1, 2, (4, 4)), delimiter=",")
    assert run("predict", "map/model.mmap", "new.csv", "-q") == 0
    assert len(capsys.readouterr().out.splitlines()) > 4
