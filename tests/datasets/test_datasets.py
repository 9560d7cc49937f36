"""Shipped data, simulators and the reader of the user's chromosomes."""

import csv
import gzip
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.extras import optional

from medianmap import as_dissimilarity
from medianmap.datasets import chromosomes as chromosomes_module
from medianmap.datasets import (
    load_breast_cancer,
    load_chromosomes,
    load_globins,
    load_iris,
    newick,
    simulate_chromosomes,
    simulate_protein_families,
)
from medianmap.datasets import proteins as proteins_module
from medianmap.datasets.chromosomes import ALPHABET
from medianmap.datasets.proteins import AMINO_ACIDS, blosum62, replacement
from medianmap.sources import ALL

GREY = {letter: k - 6 for k, letter in enumerate(ALPHABET)}


# --- shipped --------------------------------------------------------------------------------------------------------


def test_the_globins_are_630_in_five_families():
    globins = load_globins()
    counts = {name: globins.families.count(name) for name in globins.class_names}
    assert counts == {"others": 46, "GG/GP": 81, "HA": 235, "HB": 197, "MY": 71}
    assert len(set(globins.ids)) == 630
    assert all(re.fullmatch(f"[{AMINO_ACIDS}X]+", s) for s in globins.sequences)
    assert [globins.class_names[c] for c in globins.y] == globins.families
    for name, family in zip(globins.ids, globins.families, strict=True):
        assert (family == "HA") == name.startswith("HBA")
    assert globins.ids[0] == "BAHG_VITSP"
    assert globins.sequences[0].startswith("MLDQQTINIIKATVPVLKEHG")
    assert globins.sequences[0].endswith("EADLYAQAVE")


def test_the_globins_are_the_shared_ones(shared_data):
    shared = (shared_data / "globins.fasta").read_text()
    globins = load_globins()
    lines = (f">{i} {f}\n{s}\n" for i, f, s in zip(globins.ids, globins.families, globins.sequences, strict=True))
    assert "".join(lines) == shared


def test_the_attribution_is_shipped_beside_the_data():
    from importlib.resources import files

    text = (files("medianmap.datasets") / "GLOBINS.md").read_text()
    assert "UniProt" in text
    assert "CC BY 4.0" in text


def test_vectors_are_z_scores():
    for data, shape in ((load_iris(), (150, 4)), (load_breast_cancer(), (569, 30))):
        assert data.X.shape == shape
        assert np.allclose(data.X.mean(axis=0), 0)
        assert np.allclose(data.X.std(axis=0, ddof=1), 1)


# --- proteins -------------------------------------------------------------------------------------------------------


def test_the_substitution_table_is_biopythons():
    table = optional("Bio.Align").substitution_matrices.load("BLOSUM62")
    assert np.array_equal(blosum62(), [[table[a][b] for b in AMINO_ACIDS] for a in AMINO_ACIDS])


def test_replacement_is_a_reversible_chain():
    T, pi = replacement(blosum62())
    assert np.allclose(T.sum(axis=1), 1)
    assert np.all(np.diag(T) == 0)
    assert np.allclose(pi @ T, pi)
    assert np.allclose(pi[:, None] * T, (pi[:, None] * T).T)
    V = T[AMINO_ACIDS.index("V")]
    assert AMINO_ACIDS[V.argmax()] == "I"  # valine becomes isoleucine first of all


@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_any_tree_is_a_tree(n, n_families, seed):
    n_families = min(n, n_families)
    data = simulate_protein_families(n, n_families, length=20, random_state=seed)
    assert len(data.sequences) == len(set(data.ids)) == n
    assert len(data.class_names) == n_families
    assert data.class_names == sorted(data.class_names)
    assert all(data.sequences)
    nodes = np.arange(1, 2 * n - 1)
    assert data.parents[0] == -1
    assert (data.parents[1:] < nodes).all()
    children = np.bincount(data.parents[1:], minlength=2 * n - 1)
    assert sorted(np.flatnonzero(children == 0)) == sorted(data.leaves)
    assert set(children[children > 0]) <= {2}
    assert (data.lengths >= 0).all()
    # All leaves lie at the same time.
    age = np.zeros(2 * n - 1)
    for node in nodes:
        age[node] = age[data.parents[node]] + data.lengths[node]
    assert np.allclose(age[data.leaves], 0.8 * (n_families > 1) + 0.4 * (n > n_families))
    # A family is a clade: its leaves lie side by side and the number of changes between neighbours is the least.
    changes = sum(a != b for a, b in pairwise(data.families))
    assert changes == n_families - 1


def test_newick_holds_the_same_tree():
    data = simulate_protein_families(30, 4, random_state=3)
    text = newick(data)
    tree = optional("skbio").TreeNode.read([text])
    assert [tip.name.replace(" ", "_") for tip in tree.tips()] == data.ids
    depth = {tip.name.replace(" ", "_"): tip.distance(tree) for tip in tree.tips()}
    assert np.allclose(list(depth.values()), max(depth.values()), rtol=1e-4)
    assert newick(simulate_protein_families(1, 1)) == "F01_0000000;"


def test_the_same_seed_gives_the_same_families_and_another_does_not():
    a, b, c = (simulate_protein_families(50, random_state=s) for s in (1, 1, 2))
    assert a.sequences == b.sequences
    assert a.sequences != c.sequences
    # The stream of numbers is our own, so this holds everywhere.
    again = np.random.default_rng(1)
    assert simulate_protein_families(50, random_state=again).sequences == a.sequences


def test_families_can_be_told_apart_and_fade_with_distance():
    ratios = []
    for between, within in ((0.8, 0.4), (0.05, 4.0)):
        data = simulate_protein_families(150, between=between, within=within, random_state=0)
        D = as_dissimilarity(data.sequences, "edit").block(ALL, ALL)
        same = data.y[:, None] == data.y
        ratios.append(D[same & ~np.eye(150, dtype=bool)].mean() / D[~same].mean())
    assert ratios[0] < 0.75
    assert ratios[1] > 0.9


def test_letters_stay_stationary_and_changes_are_as_many_as_asked_for():
    T, pi = replacement(blosum62())
    # Two leaves that parted at the root, no indels: the chain that both walked, summed over rates, gives the share of
    # equal letters.
    time, length = 0.3, 200_000
    data = simulate_protein_families(2, 2, length=length, between=time, indel_rate=0, random_state=5)
    a, b = (np.array([AMINO_ACIDS.index(c) for c in s]) for s in data.sequences)
    assert len(a) == len(b) == length
    assert np.abs(np.bincount(a, minlength=20) / length - pi).max() < 0.004
    total = data.lengths.sum()  # both branches
    values, vectors = np.linalg.eig(T)
    equal = 0.0
    for rate in proteins_module.SITE_RATES:
        P = (vectors * np.exp((values - 1) * total * rate)) @ np.linalg.inv(vectors)
        equal += float((pi * np.diag(P.real)).sum()) / len(proteins_module.SITE_RATES)
    assert (a == b).mean() == pytest.approx(equal, abs=0.005)


def test_indels_keep_the_mean_length():
    data = simulate_protein_families(400, 400, indel_rate=0.05, random_state=0)
    sizes = np.array([len(s) for s in data.sequences])
    assert sizes.std() > 3
    assert abs(sizes.mean() - 150) < 12
    assert len({len(s) for s in simulate_protein_families(40, indel_rate=0).sequences}) == 1
    # About 800 insertions and 800 deletions in each: one letter too many or too few in every one would add 800.
    for string in simulate_protein_families(2, 2, length=20_000, indel_rate=0.05, random_state=2).sequences:
        assert abs(len(string) - 20_000) < 600


def test_site_rates_are_the_quarters_of_a_gamma_distribution():
    from scipy.stats import expon

    edges = expon.ppf([0, 0.25, 0.5, 0.75, 1])
    means = [4 * expon.expect(lambda x: x, lb=a, ub=b) for a, b in pairwise(edges)]
    assert np.allclose(means, proteins_module.SITE_RATES, atol=1e-5)


def test_a_hundred_thousand_proteins():
    assert len(simulate_protein_families(100_000).sequences) == 100_000


# --- chromosomes ----------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(1, 80), st.integers(1, 30), st.sampled_from([0, 0.5, 1.0, 3.0]), st.integers(0, 2**32 - 1))
def test_every_string_is_a_profile_of_levels(n, n_classes, noise, seed):
    data = simulate_chromosomes(n, n_classes, noise=noise, random_state=seed)
    assert len(data.sequences) == len(set(data.ids)) == n
    for string in data.sequences:
        levels = np.cumsum([GREY[letter] for letter in string])
        assert levels[-1] == 0
        assert ((levels[:-1] >= 1) & (levels[:-1] <= 6)).all()
    sizes = np.bincount(data.y)
    assert sizes.max() - sizes.min() <= 1 or n < n_classes


def test_without_noise_only_the_stretch_differs():
    data = simulate_chromosomes(40, 2, noise=0, random_state=1)
    shapes = {re.sub("=+", "", s) for s in data.sequences[:20]}
    assert len(shapes) <= 3
    assert len({len(s) for s in data.sequences[:20]}) > 3


def test_simulated_chromosomes_look_like_the_real_ones(shared_data):
    real, made = load_chromosomes(shared_data / "chromosomes.csv"), simulate_chromosomes(4400)
    lengths = [np.array([len(s) for s in data.sequences]) for data in (real, made)]
    assert abs(lengths[0].mean() - lengths[1].mean()) < 3
    assert abs(lengths[0].max() - lengths[1].max()) < 12
    assert abs(lengths[0].min() - lengths[1].min()) < 6
    shares = [
        [sum(s.count(c) for s in d.sequences) / sum(map(len, d.sequences)) for c in ALPHABET] for d in (real, made)
    ]
    assert np.abs(np.subtract(*shares)).max() < 0.03


def test_the_same_seed_gives_the_same_chromosomes(monkeypatch):
    assert simulate_chromosomes(100).sequences == simulate_chromosomes(100).sequences
    assert simulate_chromosomes(100).sequences != simulate_chromosomes(100, random_state=1).sequences


def test_a_hundred_thousand_chromosomes():
    assert len(simulate_chromosomes(100_000).sequences) == 100_000


def test_the_users_copy_is_read(shared_data):
    data = load_chromosomes(shared_data / "chromosomes.csv")
    assert len(data.sequences) == 4400
    assert data.class_names == [str(c) for c in range(1, 23)]
    assert (np.bincount(data.y) == 200).all()
    assert (data.parts == "a").sum() == 2200
    assert data.ids[0] == "3287"
    assert (data.metaphases[0], data.centromeres[0]) == (21, 52)
    assert sum(sum(GREY[c] for c in s) != 0 for s in data.sequences) == 0


ROW = {"id": "1", "metaphase": "2", "class": "3", "part": "a", "length": "3", "centromere": "1", "string": "A=a"}


def write(path, rows, columns=chromosomes_module.COLUMNS):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_small_copy_plain_and_packed(tmp_path):
    path = write(tmp_path / "c.csv", [ROW, ROW | {"id": "2", "class": "4"}])
    data = load_chromosomes(path)
    assert (data.sequences, data.ids, data.families) == (["A=a", "A=a"], ["1", "2"], ["3", "4"])
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert load_chromosomes(tmp_path / "c.csv.gz").ids == ["1", "2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"string": "A?a"}, "line 2: letter 2 of the string is '\\?'"),
        ({"length": "4"}, "line 2: the string has 3 letters, but its length is given as 4"),
        ({"centromere": "x"}, "line 2: centromere is 'x'; it must be a whole number"),
    ],
)
def test_a_bad_row_is_named(change, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        load_chromosomes(write(tmp_path / "c.csv", [ROW | change]))


def test_bad_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load_chromosomes(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="no column 'part'; its columns are id"):
        load_chromosomes(write(tmp_path / "c.csv", [ROW], [c for c in chromosomes_module.COLUMNS if c != "part"]))
    with pytest.raises(ValueError, match="no chromosomes"):
        load_chromosomes(write(tmp_path / "c.csv", []))
    with pytest.raises(ValueError, match="1 and 2 have the same id '1'"):
        load_chromosomes(write(tmp_path / "c.csv", [ROW, ROW]))
    (tmp_path / "c.csv").write_text("id,metaphase,class,part,length,centromere,string\n1,2,3\n")
    with pytest.raises(ValueError, match="line 2 does not have 7 cells"):
        load_chromosomes(tmp_path / "c.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ValueError, match="no column 'id'"):
        load_chromosomes(tmp_path / "empty.csv")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"id," * 1000)[:-20])
    with pytest.raises(ValueError, match="not a readable"):
        load_chromosomes(tmp_path / "cut.csv.gz")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not a readable"):
        load_chromosomes(tmp_path / "binary.csv")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simulate_protein_families(3), "n_families = 5 exceeds n = 3"),
        (lambda: simulate_protein_families(0), "n is 0"),
        (lambda: simulate_protein_families(9, within=0), "within is 0"),
        (lambda: simulate_protein_families(9, indel_rate=-1), "indel_rate is -1"),
        (lambda: simulate_protein_families(9, random_state=-1), "random_state is -1"),
        (lambda: simulate_chromosomes(2.5), "n is 2.5"),
        (lambda: simulate_chromosomes(9, noise=-1), "noise is -1"),
        (lambda: simulate_chromosomes(9, noise="loud"), "noise is 'loud'"),
    ],
)
def test_mistakes_are_told(call, message):
    with pytest.raises(ValueError, match=message):
        call()
