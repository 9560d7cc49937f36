"""Fourteen files as people have them, each from the file to the folder by one command; what the command says.

    python benchmarks/first_tasks.py [NAME ...]

Small stand-ins of the same shape are made here from random numbers, also for tests/app/test_first_tasks.py. Printed are
the command, its exit code and all that it says on stderr.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

AMINO_ACIDS, BASES = "ACDEFGHIKLMNPQRSTVWY", "ACGT"
IDS = [f"s.{k}" for k in range(24)]
SITES = ("gut", "skin", "oral")


@dataclass(frozen=True)
class Task:
    """One task: `make` writes the files into the present folder; `command` ends well and leaves the folder "map".

    says : what must be among the words on stderr, as regular expressions.
    refused : the command that a user would try before and that is refused, and what it says.
    """

    make: Callable[[np.random.Generator], Any]
    command: str
    says: tuple[str, ...] = ()
    refused: tuple[str, str] | None = None


# --- the files


def cloud(n: int, seed: int = 0) -> Any:
    """Dissimilarities (n, n) of n points in space."""
    return squareform(pdist(np.random.default_rng(seed).normal(size=(n, 3))))


def write_square(path: str, ids: Sequence[str], D: Any) -> None:
    """A matrix with names at its sides, separated by tabs, as QIIME and scikit-bio write it."""
    rows = ["\t".join([i, *map(repr, row)]) for i, row in zip(ids, D.tolist(), strict=True)]
    Path(path).write_text("\n".join(["\t".join(["", *ids]), *rows]) + "\n")


def write_csv(path: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    Path(path).write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")


def write_fasta(path: str, sequences: Iterable[str], header: str = "r{}") -> None:
    Path(path).write_text("".join(f">{header.format(k)}\n{s}\n" for k, s in enumerate(sequences)))


def write_workbook(path: str, table: Iterable[Sequence[Any]]) -> None:
    """The smallest .xlsx with these rows of cells: text in place, numbers as numbers."""
    text = '<c t="inlineStr"><is><t>{}</t></is></c>'
    rows = "".join(
        f"<row>{''.join(f'<c><v>{c}</v></c>' if isinstance(c, int | float) else text.format(c) for c in row)}</row>"
        for row in table
    )
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types"><Override '
                      f'PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/><Override '
                      f'PartName="/xl/worksheets/sheet1.xml" '
                      f'ContentType="{types}.worksheet+xml"/></Types>')  # fmt: skip
        file.writestr("_rels/.rels", f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
                      f'Type="{rel}/officeDocument" Target="xl/workbook.xml"/></Relationships>')  # fmt: skip
        file.writestr("xl/workbook.xml", f'<workbook {main} xmlns:r="{rel}"><sheets><sheet name="one" sheetId="1" '
                      f'r:id="r1"/></sheets></workbook>')  # fmt: skip
        file.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships"><Relationship '
                      f'Id="r1" Type="{rel}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>')  # fmt: skip
        file.writestr("xl/worksheets/sheet1.xml", f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>")


def mutated(sequence: str, share: float, rng: np.random.Generator, letters: str) -> str:
    """The sequence with about this share of its letters drawn anew."""
    return "".join(str(rng.choice(list(letters))) if rng.random() < share else letter for letter in sequence)


def family(n: int, length: int, rng: np.random.Generator, letters: str, share: float = 0.2) -> list[str]:
    """n sequences of three families in turn."""
    ancestors = ["".join(rng.choice(list(letters), length)) for _ in range(3)]
    return [mutated(ancestors[k % 3], share, rng, letters) for k in range(n)]


def write_distances() -> None:
    """D.tsv as QIIME writes it, of the points IDS."""
    write_square("D.tsv", IDS, cloud(24))


def microbiome(_: np.random.Generator) -> None:
    """A distance matrix and metadata of QIIME 2, each with a sample that the other lacks."""
    write_distances()
    lines = [f'{i}\t"{SITES[k % 3]}"\t{2008 + k % 5}\n' for k, i in enumerate([*IDS[:-1], "s.none"])]
    Path("metadata.tsv").write_text(
        "sample-id\tbody-site\tyear\n#q2:types\tcategorical\tnumeric\n" + "".join(lines)
    )  # fmt: skip


def votes(n: int = 40) -> Iterable[list[str]]:
    """Rows of a table of votes: two parties, y, n and ? for a vote that was not cast, and an age."""
    rng = np.random.default_rng(4)
    for k in range(n):
        party = ("left", "right")[k % 2]
        cast = [("y" if (rng.random() < 0.85) == (party == "left") else "n") if rng.random() < 0.9 else "?"
                for _ in range(8)]  # fmt: skip
        yield [party, *cast, "" if k == 5 else str(30 + k)]


def write_votes(path: str, table: Iterable[Sequence[str]]) -> None:
    write_csv(path, ["party", *(f"vote {k}" for k in range(8)), "age"], table)


def proteins(rng: np.random.Generator) -> None:
    """FASTA as Swiss-Prot has it, with U, lower case, a final stop and gaps."""
    letters = family(36, 40, rng, AMINO_ACIDS)
    letters[0] = letters[0][:10] + "U" + letters[0][11:]
    letters[1] = letters[1].lower()
    letters[2] += "*"
    letters[3] = letters[3][:5] + "--." + letters[3][5:]
    write_fasta("proteins.fasta", letters, "sp|P{0:05}|NAME{0}_YEAST A protein OS=Saccharomyces")


def two_classes(rng: np.random.Generator) -> None:
    y = np.repeat([-1, 1], 30)
    X = rng.normal(size=(60, 3)).round(3) + y[:, None]
    write_csv("signs.csv", ["a", "b", "c", "y"], [[*x, k] for x, k in zip(X.tolist(), y.tolist(), strict=True)])


def planted(rng: np.random.Generator) -> None:
    """3000 points in six clouds, and three far from all of them."""
    X = rng.normal(size=(3000, 4)) + np.repeat(rng.normal(size=(6, 4)) * 6, 500, axis=0)
    X[[7, 1500, 2999]] = [[60] * 4, [-60] * 4, [60, -60, 60, -60]]
    write_csv("planted.csv", ["id", *"abcd"], [[f"p{k}", *x] for k, x in enumerate(X.round(3).tolist())])


def isolates(rng: np.random.Generator) -> None:
    """Virus genes that drift from year to year, named as databases name them, and their metadata."""
    gene, lines, rows = "".join(rng.choice(list(BASES), 120)), [], ["strain\tdate\tyear\tcountry"]
    for k in range(40):
        gene, name = mutated(gene, 0.02, rng, BASES), f"A/City{k}/{k}/{1968 + k}"
        lines.append(f">{name}\n{gene}\n")
        rows.append(f"{name}\t{1968 + k}-03-01\t{1968 + k}\t{('Chile', 'Japan')[k % 2]}")
    Path("flu.fasta").write_text("".join(lines))
    Path("flu.tsv").write_text("\n".join(rows) + "\n")


def peptides(rng: np.random.Generator) -> None:
    rows = [[s, f"A*0{k % 3}:01", int(rng.integers(1, 50000))] for k, s in enumerate(family(90, 9, rng, AMINO_ACIDS))]
    write_csv("peptides.csv", ["peptide", "allele", "ic50"], rows)


def reads(rng: np.random.Generator) -> None:
    """More reads than can be compared in all pairs."""
    letters = rng.choice(list(BASES), (20_500, 16))
    Path("reads.fastq").write_text(
        "".join(f"@read{k}\n{''.join(row)}\n+\n{'I' * 16}\n" for k, row in enumerate(letters))
    )  # fmt: skip


def series(rng: np.random.Generator) -> None:
    """Curves of several lengths, one a line after its name."""
    lines = []
    for k in range(30):
        curve = np.sin(np.linspace(0, 6, 20 + k % 7) * (1 + k % 3)) + rng.normal(size=20 + k % 7) / 10
        lines.append(",".join([f"curve{k}", *(f"{value:.3f}" for value in curve)]))
    Path("series.csv").write_text("\n".join(lines) + "\n")


def nucleotides(rng: np.random.Generator) -> None:
    """DNA and RNA in either case, with letters for uncertain bases."""
    letters = family(36, 60, rng, BASES, 0.1)
    letters[0], letters[1], letters[2] = letters[0].replace("T", "U"), letters[1].lower(), letters[2][:9] + "RN-AC"
    write_fasta("genes.fna", letters)


def wine(_: np.random.Generator) -> None:
    """A sheet of measurements in units of their own, and a class."""
    from sklearn.datasets import load_wine

    wines = load_wine()
    names = [wines.target_names[k] for k in wines.target]
    rows = [[*map(float, row), str(name)] for row, name in zip(wines.data, names, strict=True)]
    write_workbook("wine.xlsx", [[*wines.feature_names, "class"], *rows])


# --- the tasks

TASKS = {
    "a microbiome and its metadata": Task(
        microbiome, "fit D.tsv --labels metadata.tsv:body-site",
        ("1 of the 24 points of D.tsv are not in it: 's.23'", "1 of its 24 ids are not in D.tsv: 's.none'"),
    ),
    "a table of votes": Task(
        lambda _: write_votes("votes.csv", votes()), "fit votes.csv --labels party", ("compared by 'gower'",),
        ("fit votes.csv --labels party --metric euclidean", "--metric euclidean does not compare"),
    ),
    "a matrix with a rounded diagonal": Task(
        lambda _: np.savetxt("rounded.csv", cloud(40) + 0.001 * np.eye(40), delimiter=",", fmt="%.3f"),
        "fit rounded.csv", ("the diagonal, up to 0.001, was taken for rounding and set to 0",),
    ),
    "a matrix of similarities": Task(
        lambda _: np.savetxt("S.csv", np.exp(-cloud(40)), delimiter=",", fmt="%.6f"),
        "fit S.csv --read kind=similarity", ("converted by D = 1 - S",),
        ("fit S.csv", "look like similarities.*--read kind=similarity.*D = 1 - S"),
    ),
    "proteins of a database": Task(
        proteins, "fit proteins.fasta",
        ("by 'alignment'", "U in 1 sequence, scored as C", "lower case in 1 ", "a final [*] in 1 ", "gaps in 1 ",
         "--param spelling=exact"),
    ),
    "classes called -1 and 1": Task(two_classes, "fit signs.csv --labels y --beta 0.5"),
    "3000 points, three of them far off": Task(planted, "fit planted.csv", ("by 'euclidean'",)),
    "isolates by year": Task(isolates, "fit flu.fasta --labels flu.tsv:year", ("by 'edit'",)),
    "peptides": Task(peptides, "fit peptides.csv --labels allele", ("column 'peptide' read as strings",)),
    "a large matrix on disk": Task(
        lambda _: np.save("large.npy", cloud(2000).astype(np.float32)), "fit large.npy", ("so read as a matrix",)
    ),
    "reads": Task(reads, "fit reads.fastq -k 50 --map gas", ("20500 points", "210 million pairs", "--patch 0")),
    "series": Task(
        series, "fit series.csv --read kind=series", ("compared by 'dtw'",), ("fit series.csv", "--read kind=series")
    ),
    "DNA": Task(nucleotides, "fit genes.fna", ("by 'edit'", "lower case in 1 ", "U in 1 sequence, scored as T")),
    "wine, in a workbook": Task(
        wine, "fit wine.xlsx --labels class", (r"'proline' makes up 99.* of their squared.*--metric seuclidean",)
    ),
}  # fmt: skip


def make(name: str) -> Task:
    """Write the files of a task into the present folder."""
    TASKS[name].make(np.random.default_rng(0))
    return TASKS[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"by default all: {', '.join(TASKS)}")
    for name in parser.parse_args().names or TASKS:
        with TemporaryDirectory() as folder:
            os.chdir(folder)
            task = make(name)
            print(f"\n## {name}\n")
            for command in [*(task.refused or ())[:1], task.command]:
                done = subprocess.run(
                    [sys.executable, "-m", "medianmap", *command.split(), "-o", "map"], capture_output=True, text=True
                )
                print(f"$ medianmap {command} -o map\n{done.stderr}{done.stdout}-> exit code {done.returncode}\n")
            os.chdir("/")


if __name__ == "__main__":
    main()
