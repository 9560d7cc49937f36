"""People's files as they are, each from the file to the folder by one command: small stand-ins of the same shape.

Outliers and the page's colours are tested where they are made.
"""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from first_tasks import IDS, SITES, votes, write_distances, write_square, write_votes, write_workbook
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from support.extras import optional
from support.fits import rows, run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mapped(capsys, *args, out="map"):
    """What `medianmap fit ARGS -o OUT` said on stderr; it must have ended well and written its folder."""
    assert run("fit", *args, "-o", out) == 0, capsys.readouterr().err
    assert {"report.html", "assignments.tsv", "model.mmap", "config.toml"} <= {f.name for f in Path(out).iterdir()}
    return capsys.readouterr().err


def refused(capsys, *args):
    """What it said on stderr where it must refuse and leave nothing."""
    before = sorted(Path().iterdir())
    assert run("fit", *args, "-o", "refused") == 2
    assert sorted(Path().iterdir()) == before
    return capsys.readouterr().err


# --- metadata


QIIME_1 = "#SampleID\tBarcodeSequence\tBodySite\tAge\n# made by hand\n" + "".join(
    f"{i}\tACGT{k}\t{SITES[k % 3]}\t{20 + k % 5}\n" for k, i in enumerate(IDS)
)
QIIME_2 = "sample-id\tBodySite\tAge\n#q2:types\tcategorical\tnumeric\n" + "".join(
    f'{i}\t"{SITES[k % 3]}"\t{20 + k % 5}\n' for k, i in enumerate(IDS)
)


@pytest.mark.parametrize("kind", ["QIIME 1", "QIIME 2", "CSV", "Excel"])
def test_a_microbiome_with_its_metadata(kind, here, capsys):
    write_distances()
    if kind == "Excel":
        optional("python_calamine")
        table = [line.split("\t") for line in QIIME_1.splitlines() if not line.startswith("# ")]
        write_workbook("meta.xlsx", [[int(c) if c.isdecimal() else c for c in row] for row in table])
    else:
        text = QIIME_2 if kind == "QIIME 2" else QIIME_1
        Path("meta.csv" if kind == "CSV" else "meta.tsv").write_text(text.replace("\t", "," if kind == "CSV" else "\t"))
    file = {"CSV": "meta.csv", "Excel": "meta.xlsx"}.get(kind, "meta.tsv")
    mapped(capsys, "D.tsv", "--labels", f"{file}:BodySite", "--grid", "2x3")
    table = rows("map/assignments.tsv")
    assert [row["label"] for row in table[:4]] == ["gut", "skin", "oral", "gut"]
    assert [row["Age"] for row in table[:6]] == ["20", "21", "22", "23", "24", "20"]
    assert ("BarcodeSequence" in table[0]) == (kind != "QIIME 2")
    assert '"name":"Age","values":["20","21","22","23","24"]' in Path("map/report.html").read_text()
    assert run("report", "map/model.mmap", "--labels", f"{file}:Age", "-o", "by-age.html") == 0
    assert '"name":"BodySite"' in Path("by-age.html").read_text()


def test_samples_that_only_one_of_the_files_has(here, capsys):
    write_distances()
    Path("meta.tsv").write_text(QIIME_1.replace("s.3\t", "t.3\t").replace("s.7\t", "t.7\t"))
    said = mapped(capsys, "D.tsv", "--labels", "meta.tsv:BodySite", "--grid", "2x3")
    assert re.search(r"2 of the 24 points of D.tsv are not in it: 's.3', 's.7'", said)
    assert re.search(r"2 of its 24 ids are not in D.tsv: 't.3', 't.7'", said)
    table = rows("map/assignments.tsv")
    assert (table[3]["label"], table[3]["Age"], table[4]["label"]) == ("", "", "skin")
    assert "--strict" in refused(capsys, "D.tsv", "--labels", "meta.tsv:BodySite", "--strict")
    assert re.search("no column 'Site'; choose one of 'BarcodeSequence', 'BodySite', 'Age'",
                     refused(capsys, "D.tsv", "--labels", "meta.tsv:Site"))  # fmt: skip
    assert re.search("labels are its column 'BodySite'; meta.tsv:COLUMN", mapped(
        capsys, "D.tsv", "--labels", "meta.tsv", "--grid", "2x3", out="guessed"))  # fmt: skip


# --- tables with text


def test_a_table_of_votes(here, capsys):
    table = list(votes())
    write_votes("votes.csv", table)
    said = mapped(capsys, "votes.csv", "--labels", "party", "--map", "gas", "-k", "2")
    assert "without --metric the rows of votes.csv are compared by 'gower'" in said
    found = rows("map/assignments.tsv")
    assert {row["label"] for row in found} == {"left", "right"}
    sides = [{row["neuron"] for row in found if row["label"] == side} for side in ("left", "right")]
    assert all(len(side) <= 2 for side in sides)
    # The distance of a row to its exemplar, by hand: mean over the columns that both have.
    ages = [float(row[-1]) for row in table if row[-1]]
    exemplar, row = table[int(found[5]["exemplar"])], table[5]
    parts = [float(a != b) for a, b in zip(row[1:-1], exemplar[1:-1], strict=True) if "?" not in (a, b)]
    parts += [abs(float(row[-1]) - float(exemplar[-1])) / (max(ages) - min(ages))] if row[-1] and exemplar[-1] else []
    assert float(found[5]["dissimilarity"]) == pytest.approx(np.mean(parts))
    assert "vote 7" in Path("map/exemplars.tsv").read_text().splitlines()[0]
    write_votes("new.csv", [["unknown", *("y" * 8), str(age)] for age in (41, 52, 63)])
    assert run("predict", "map/model.mmap", "new.csv", "-q") == 0
    assert capsys.readouterr().out.startswith("id\tneuron")
    assert run("fit", "--config", "map/config.toml", "-o", "same", "-q") == 0
    assert Path("same/model.mmap").read_bytes() == Path("map/model.mmap").read_bytes()


def test_a_row_without_any_vote(here, capsys):
    table = list(votes())
    table[7][1:] = ["?"] * 8 + [""]
    write_votes("votes.csv", table)
    assert re.search(r"line 9 \('7'\) has no value in any of its 9 columns; drop", refused(
        capsys, "votes.csv", "--labels", "party"))  # fmt: skip
    write_votes("votes.csv", votes())
    assert "categories or missing values" in refused(capsys, "votes.csv", "--labels", "party", "--metric", "euclidean")
    assert "drop --stream" in refused(capsys, "votes.csv", "--stream")


def test_numbers_with_gaps(here, capsys):
    X = np.random.default_rng(0).normal(size=(30, 4)).round(3).astype(str)
    X[3, 2] = "NA"
    Path("X.csv").write_text("a,b,c,d\n" + "\n".join(map(",".join, X)) + "\n")
    said = mapped(capsys, "X.csv", "--grid", "2x2")
    assert "compared by 'gower'" in said
    assert "values are missing" in said
    assert "--read kind=table" in refused(capsys, "X.csv", "--read", "kind=vectors")


def test_ecologists_files(here, capsys):
    h5py = optional("h5py")
    rng = np.random.default_rng(6)
    X = rng.poisson(3, (12, 5)) + np.eye(12, 5, dtype=int)
    samples, features = [f"s{k}" for k in range(12)], [f"otu{k}" for k in range(5)]
    kept = sparse.csr_array(X)
    with h5py.File("table.biom", "w") as file:
        for side, ids in (("sample", samples), ("observation", features)):
            file[f"{side}/ids"] = np.array(ids, "S")
        for part in ("data", "indices", "indptr"):
            file[f"sample/matrix/{part}"] = getattr(kept, part)
    Path("old.biom").write_text(json.dumps({
        "columns": [{"id": i} for i in samples], "rows": [{"id": i} for i in features], "matrix_type": "sparse",
        "data": [[int(c), int(r), int(X[r, c])] for r, c in zip(*np.nonzero(X), strict=True)],
    }))  # fmt: skip
    write_square("D.tsv", samples, squareform(pdist(X, "braycurtis")))
    counts = [[f, *(f"{x}.0" for x in X[:, k]), "k__Bacteria; p__A"] for k, f in enumerate(features)]
    lines = ["# Constructed from biom file", "\t".join(["#OTU ID", *samples, "taxonomy"]), *map("\t".join, counts)]
    Path("table.tsv").write_text("\n".join(lines) + "\n")
    for name, inner, content in (("D.qza", "distance-matrix.tsv", Path("D.tsv").read_bytes()),
                                 ("table.qza", "feature-table.biom", Path("table.biom").read_bytes()),
                                 ("tree.qza", "tree.nwk", b"();")):  # fmt: skip
        with zipfile.ZipFile(name, "w") as file:
            file.writestr(f"1b-2c/data/{inner}", content)
            file.writestr("1b-2c/metadata.yaml", "type: any\n")
    names = ("table.biom", "old.biom", "table.tsv", "D.qza", "table.qza")
    for name in names:
        said = mapped(capsys, name, "--map", "gas", "-k", "3", out=name + "-map")
        assert ("braycurtis" in said) == (name != "D.qza")
        assert rows(f"{name}-map/assignments.tsv")[3]["id"] == "s3"
    errors = {json.loads(Path(f"{name}-map/summary.json").read_text())["quality"]["quantization_error"]
              for name in names}  # fmt: skip
    assert max(errors) - min(errors) < 1e-12
    assert "tree.nwk; give an artifact of a distance matrix" in refused(capsys, "tree.qza")
    Path("bad.biom").write_text("{}")
    assert "no whole BIOM table" in refused(capsys, "bad.biom")
    Path("bad.tsv").write_text("#OTU ID\ts1\ts2\notu1\t1\t2\notu2\t3\n")
    assert "no whole BIOM table" in refused(capsys, "bad.tsv")


# --- sequences


def test_proteins_as_databases_ship_them(here, capsys):
    rng = np.random.default_rng(1)
    letters = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 30)) for _ in range(20)]
    letters[0] = letters[0][:10] + "U" + letters[0][10:]
    letters[1] = letters[1].lower()
    letters[2] += "*"
    letters[3] = letters[3][:5] + "XX" + letters[3][5:]
    letters[4] = letters[4][:5] + "--." + letters[4][5:]
    letters[5] = "O" + letters[5]
    Path("db.fasta").write_text("".join(f">sp|P{k}|NAME{k} a protein OS=yeast\n{s}\n" for k, s in enumerate(letters)))
    said = mapped(capsys, "db.fasta", "--grid", "2x2")
    for what in ("U in 1 sequence, scored as C", "O in 1 sequence, scored as K", "lower case in 1 ",
                 "a final * in 1 ", "gaps in 1 ", "--param spelling=exact"):  # fmt: skip
        assert what in said
    said = refused(capsys, "db.fasta", "--param", "spelling=exact")
    assert re.search(r"\('sp\|P0\|NAME0'\) has 'U' at position 10.*--param unknown=X", said)
    assert not re.search(r"metric_params|X\[", said)
    mapped(capsys, "db.fasta", "--param", "unknown=X", "--grid", "2x2", out="again")
    Path("new.fasta").write_text(">n\nacdefu-*\n")
    assert run("predict", "map/model.mmap", "new.fasta", "-q") == 0


def test_nucleotides_in_any_spelling(here, capsys):
    rng = np.random.default_rng(2)
    letters = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(12)]
    letters += [s.lower() for s in letters[:3]] + [
        letters[0].replace("T", "U"),
        letters[1][:9] + "RN-" + letters[1][9:],
    ]
    Path("reads.fna").write_text("".join(f">r{k}\n{s}\n" for k, s in enumerate(letters)))
    said = mapped(capsys, "reads.fna", "--grid", "2x2")
    assert "compared by 'edit'" in said
    assert "lower case in 3 sequences" in said
    assert "U in 1 sequence, scored as T" in said
    same = {row["id"]: row["dissimilarity"] for row in rows("map/assignments.tsv")}
    assert same["r0"] == same["r12"] == same["r15"]
    assert 'spelling = "dna"' in Path("map/config.toml").read_text()


def test_an_alignment(here, capsys):
    text = "".join(f">a{k}\nMKV{'-' * (k % 3)}{'ACDEF'[k % 5] * (4 - k % 3)}W\n" for k in range(12))
    Path("aligned.fasta").write_text(text)
    said = mapped(capsys, "aligned.fasta", "--grid", "2x2")
    assert "alignment of 8 columns" in said
    assert "--param mode=global" in said
    assert "gaps in 8 sequences, left out" in mapped(
        capsys, "aligned.fasta", "--grid", "2x2", "--param", "mode=global", out="anew"
    )


# --- folders and configurations


def test_every_command_takes_the_folder_of_a_fit(here, capsys):
    optional("matplotlib")
    write_distances()
    np.savetxt("X.csv", np.random.default_rng(0).normal(size=(20, 3)), delimiter=",")
    mapped(capsys, "X.csv", "--grid", "2x3")
    for args in (["info"], ["predict", "X.csv", "-o", "placed.tsv"], ["report", "-o", "r.html"],
                 ["plot", "--what", "hits", "-o", "-"]):  # fmt: skip
        answers = []
        for model in ("map", "map/model.mmap"):
            assert run(args[0], model, *args[1:]) == 0
            said = capsys.readouterr().out
            answers.append(re.sub(r"[\d.]+ points per second", "", said))
        assert answers[0] == answers[1]
        (here / "placed.tsv").unlink(missing_ok=True)
    (here / "empty").mkdir()
    assert run("info", "empty") == 2
    assert "empty holds no model.mmap" in capsys.readouterr().err


def test_a_folder_with_its_data_may_be_moved_and_used_from_anywhere(here, capsys, monkeypatch):
    (here / "project").mkdir()
    monkeypatch.chdir("project")
    write_distances()
    Path("meta.tsv").write_text(QIIME_1)
    mapped(capsys, "D.tsv", "--labels", "meta.tsv:BodySite", "--grid", "2x3")
    config = tomllib.loads(Path("map/config.toml").read_text())
    assert (config["input"], config["labels"]) == ("../D.tsv", "../meta.tsv:BodySite")
    before = Path("map/model.mmap").read_bytes(), Path("map/assignments.tsv").read_bytes()
    monkeypatch.chdir(here)
    (here / "project").rename("moved")
    for config in ("moved/map", "moved/map/config.toml", here / "moved" / "map" / "config.toml"):
        assert run("fit", "--config", config, "-o", "again", "--force", "-q") == 0
        assert (Path("again/model.mmap").read_bytes(), Path("again/assignments.tsv").read_bytes()) == before
    assert tomllib.loads(Path("again/config.toml").read_text())["input"] == "../moved/D.tsv"
    assert run("report", "moved/map", "-o", "r.html") == 0
    assert '"name":"Age"' in Path("r.html").read_text()
    Path("moved/hand.toml").write_text('input = "D.tsv"\nlabels = "meta.tsv"\ngrid = "2x2"\n')
    assert run("fit", "--config", "moved/hand.toml", "-o", "by-hand", "-q") == 0
    Path("moved/D.tsv").unlink()
    assert run("fit", "--config", "moved/hand.toml", "-o", "gone") == 2
    assert re.search(r"hand.toml names the data moved/D.tsv, which are not there", capsys.readouterr().err)


def test_a_column_of_labels_is_no_path(here, capsys):
    (here / "party").mkdir()
    write_votes("votes.csv", votes())
    mapped(capsys, "votes.csv", "--labels", "party", "--map", "gas", "-k", "2")
    assert tomllib.loads(Path("map/config.toml").read_text())["labels"] == "party"


# --- labels


def test_labels_of_minus_one_and_one_are_classes(here, capsys):
    write_distances()
    Path("y.csv").write_text("id,label\n" + "".join(f"{i},{1 if k % 2 else -1}\n" for k, i in enumerate(IDS)))
    mapped(capsys, "D.tsv", "--labels", "y.csv", "--beta", "0.5", "--grid", "2x3")
    assert {row["label"] for row in rows("map/assignments.tsv")} == {"-1", "1"}
    assert {each["class"] for each in json.loads(Path("map/summary.json").read_text())["classes"]} == {"-1", "1"}


# --- the first seconds


HEAVY = """
import sys
from medianmap.app.main import main
try:
    main(["fit", *sys.argv[1:], "-o", "m"])
finally:
    print(sorted({"sklearn", "scipy.stats", "pandas", "jinja2"} & sys.modules.keys()))
"""


@pytest.mark.parametrize(
    "args", [["broken.csv"], ["X.csv", "--metric", "edt"], ["X.csv", "-k", "5"], ["X.csv", "--grid", "3x3"]]
)
def test_mistakes_are_told_before_anything_heavy_is_imported(args, here):
    Path("X.csv").write_text("a,b\n1,2\n3,5\n")
    Path("broken.csv").write_text("id,string\na,AC\nb,GT,x\n")
    done = subprocess.run([sys.executable, "-c", HEAVY, *args], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "[]\n"), done.stderr
