"""Alignment scores against Biopython, identities against all alignments, rules by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.extras import optional

from medianmap import MedianKMeans, as_dissimilarity
from medianmap.metrics import alignment as simd
from medianmap.metrics import bind
from medianmap.metrics.alignment import alignment_scores, best_scores, identities, kimura, own_scores
from medianmap.metrics.letters import coded
from medianmap.sources.base import ALL

AMINO = "ARNDCQEGHILKMFPSTWYV"


def random_sequences(rng, lengths, letters=AMINO):
    return ["".join(rng.choice(list(letters), n)) for n in lengths]


def biopython_score(s, t, mode, matrix, gap_open, gap_extend):
    Align = optional("Bio.Align")
    if not s or not t:  # the library refuses empty sequences; the definition does not
        k = len(s) + len(t)
        return -(gap_open + (k - 1) * gap_extend) if k and mode == "global" else 0.0
    aligner = Align.PairwiseAligner()
    aligner.mode = mode
    aligner.substitution_matrix = Align.substitution_matrices.load(matrix)
    aligner.open_gap_score, aligner.extend_gap_score = -gap_open, -gap_extend
    return aligner.score(s, t)


@pytest.mark.parametrize("backend", ["stringzillas", "numba"])
@pytest.mark.parametrize(
    ("mode", "matrix", "gap_open", "gap_extend"),
    [
        ("global", "BLOSUM62", 11, 1),
        ("local", "BLOSUM62", 11, 1),
        ("global", "PAM250", 5, 5),
        ("local", "BLOSUM45", 3, 0),
        ("global", "BLOSUM80", 0, 0),
    ],
)
def test_scores_equal_biopythons(backend, mode, matrix, gap_open, gap_extend, rng, monkeypatch):
    """625 pairs each, of lengths 0, 1 and up to 5000."""
    optional("stringzillas")
    monkeypatch.setattr(simd, "available", lambda: backend == "stringzillas")
    lengths = [0, 0, 1, 1, 1, 2, *rng.integers(3, 90, 19)]
    a, b = random_sequences(rng, lengths, AMINO + "X"), random_sequences(rng, lengths)
    rules = {"mode": mode, "matrix": matrix, "gap_open": gap_open, "gap_extend": gap_extend}
    expected = [[biopython_score(s, t, **rules) for t in b] for s in a]
    np.testing.assert_array_equal(alignment_scores(a, b, **rules), expected)
    long = random_sequences(rng, [5000])
    some = [*random_sequences(rng, [0, 1, 300]), long[0][1000:1400]]
    if backend == "stringzillas":
        some.append(random_sequences(rng, [5000])[0])
    np.testing.assert_array_equal(
        alignment_scores(long, some, **rules), [[biopython_score(long[0], t, **rules) for t in some]]
    )


def test_fractional_matrices_are_summed_exactly(rng):
    optional("Bio")
    a = random_sequences(rng, rng.integers(1, 40, 12))
    for matrix in ("GONNET1992", "JOHNSON"):
        rules = {"mode": "global", "matrix": matrix, "gap_open": 2.5, "gap_extend": 0.5}
        expected = [[biopython_score(s, t, **rules) for t in a] for s in a]
        np.testing.assert_allclose(alignment_scores(a, a, **rules), expected, rtol=0, atol=1e-9)


def all_alignments(s, t):
    """Every way to pair letters of s and t in order, as lists of pairs of positions."""
    if not s or not t:
        yield []
        return
    yield from all_alignments(s[:-1], t)  # the last letter of s in a gap, or of t, or both paired
    for k in range(len(t)):
        for rest in all_alignments(s[:-1], t[:k]):
            yield [*rest, (len(s) - 1, k)]


def gaps_cost(n, m, pairs, gap_open, gap_extend):
    ends = [(-1, -1), *pairs, (n, m)]
    runs = [after[side] - before[side] - 1 for before, after in pairwise(ends) for side in (0, 1)]
    return sum(gap_open + (k - 1) * gap_extend for k in runs if k)


def best_by_brute_force(s, t, W, gap_open, gap_extend, local):
    """(score, equal, -pairs), the largest in that order, over all alignments (of all substrings if local)."""
    found = [(0, 0, 0)] if local else []
    parts = (
        [(s[i:j], t[k:l]) for i in range(len(s)) for j in range(i + 1, len(s) + 1)
         for k in range(len(t)) for l in range(k + 1, len(t) + 1)] if local else [(s, t)]
    )  # fmt: skip
    for u, v in parts:
        for pairs in all_alignments(u, v):
            score = sum(W[u[i]][v[k]] for i, k in pairs) - gaps_cost(len(u), len(v), pairs, gap_open, gap_extend)
            found.append((score, sum(u[i] == v[k] for i, k in pairs), -len(pairs)))
    return max(found)


@given(
    s=st.lists(st.integers(0, 2), max_size=4),
    t=st.lists(st.integers(0, 2), max_size=4),
    upper=st.lists(st.integers(-3, 5), min_size=6, max_size=6),
    gaps=st.sampled_from([(3, 1), (2, 2), (0, 0), (4, 0)]),
    local=st.booleans(),
)
@settings(max_examples=120)
def test_identities_are_those_of_the_best_of_all_alignments(s, t, upper, gaps, local):
    W = np.zeros((3, 3), np.int64)
    W[np.triu_indices(3)] = upper
    W = np.maximum(W, W.T) if W.any() else W
    a, b, _ = coded([tuple(s)], [tuple(t)], (0, 1, 2))
    score, equal, minus_pairs = best_by_brute_force(s, t, W.tolist(), *gaps, local)
    assert best_scores(a, b, W, *gaps, local, 1)[0, 0] == score
    ours = identities(a, b, W, *gaps, local, 1)
    assert (ours[0][0, 0], -ours[1][0, 0]) == (equal, minus_pairs)
    back = identities(b, a, W, *gaps, local, 1)
    assert (back[0][0, 0], back[1][0, 0]) == (ours[0][0, 0], ours[1][0, 0])
    assert own_scores(a, W, *gaps, local)[0] == best_scores(a, a, W, *gaps, local, 1)[0, 0]


def test_rules_by_hand():
    """HEAG with HEAG, HDAG: BLOSUM62 H 8, E 5, A 4, G 6, E-D 2: 23 with itself; HDAG scores 8 + 6 + 4 + 6 = 24."""
    optional("Bio")
    a, b = ["HEAG"], ["HEAG", "HDAG"]
    assert alignment_scores(a, b).tolist() == [[23, 20]]
    np.testing.assert_allclose(bind("alignment").between(a, b), [[0, 1 - 20 / np.sqrt(23 * 24)]])
    assert bind("alignment", {"rule": "p-distance"}).between(a, b).tolist() == [[0, 0.25]]
    p = 0.25
    np.testing.assert_allclose(bind("alignment", {"rule": "kimura"}).between(a, b), [[0, -np.log(1 - p - p * p / 5)]])
    assert kimura(np.array([1.0, 0.85]))[0] == kimura(np.array([0.85]))[0]


def test_gaps_are_left_out_of_the_p_distance():
    """HEAGHEAG with HEAG + WEAG: HEAG----, one gap of four; the letters that stay paired are compared."""
    optional("Bio")
    metric = bind("alignment", {"rule": "p-distance"})
    assert metric.between(["HEAGWWWWHEAG"], ["HEAGHEAG"]).tolist() == [[0.0]]
    aligned = bind("alignment", {"rule": "p-distance", "mode": "aligned"})
    assert aligned.between(["HE-GW"], ["HDA-W"]).tolist() == [[1 / 3]]


def test_letters_that_the_matrix_lacks_can_be_replaced():
    optional("Bio")
    given_x = alignment_scores(["HEXG"], ["HEAG"])
    np.testing.assert_array_equal(alignment_scores(["HEUG"], ["HEAG"], unknown="X"), given_x)


def test_a_matrix_of_ones_own_needs_no_extra():
    params = {"matrix": [[2, -1], [-1, 2]], "alphabet": "ab", "gap_open": 2, "gap_extend": 1, "mode": "local"}
    assert alignment_scores(["aab"], ["bab"], **params).tolist() == [[4]]
    assert bind("alignment", params).symmetric
    assert not bind("alignment", {**params, "matrix": [[2, -1], [0, 2]]}).symmetric


@pytest.mark.parametrize(
    ("objects", "params", "message"),
    [
        (["HEAG", "HEUG"], {"spelling": "exact"}, r"X\[1\] has 'U' at position 2.*unknown='X'"),
        (["HEAG", "heag"], {"spelling": "exact"}, r"X\[1\] has 'h' at position 0"),
        (["HEAG", "HE?G"], {}, r"X\[1\] has '\?' at position 2.*unknown='X'"),
        (["HEAG", "-.-"], {}, r"X\[1\] is an empty sequence"),
        (["HEAG"], {"spelling": "loose"}, "spelling is 'loose'; choose one of 'auto', 'exact'"),
        (["HEAG", ""], {}, r"X\[1\] is an empty sequence"),
        (["HEAG", "XX"], {}, r"X\[1\] scores -2 with itself"),
        (["HEAG", "HE"], {"mode": "aligned", "rule": "kimura"}, r"X\[1\] has 2 columns but X\[0\] has 4"),
        (["H-", "-E"], {"mode": "aligned", "rule": "kimura"}, r"NaN for the pair \(0, 1\)"),
        (["H"], {"mode": "aligned"}, "no scores"),
        (["H"], {"mode": "glocal"}, "mode is 'glocal'"),
        (["H"], {"rule": "jc"}, "rule is 'jc'"),
        (["H"], {"matrix": "BLOSUM63"}, "no substitution matrix 'BLOSUM63'; choose BLOSUM62"),
        (["H"], {"matrix": [[1]]}, "needs alphabet"),
        (["H"], {"gap_open": 1, "gap_extend": 2}, "gap_extend is 2, more than gap_open = 1"),
        (["H"], {"gap_open": np.pi}, "multiples of 0.001"),
        (["H"], {"unknown": "?"}, r"unknown is '\?'"),
        (["H"], {"open": 3}, r"\['open'\]; its parameters are mode"),
    ],
)
def test_mistakes_are_named(objects, params, message):
    optional("Bio")
    with pytest.raises(ValueError, match=message):
        as_dissimilarity(objects, "alignment", metric_params=params).block(ALL, ALL)


def test_the_missing_extra_is_one_sentence(monkeypatch):
    from medianmap.utils import loading as extras

    def nothing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(extras, "import_module", nothing)
    monkeypatch.setattr(simd, "available", lambda: False)
    simd.named_matrix.cache_clear()
    MedianKMeans(1, metric="alignment").fit(["HEAG"])  # BLOSUM62 and a compiled loop need no extra
    with pytest.raises(ModuleNotFoundError, match=r"'PAM30' needs Bio; .* pip install 'medianmap\[bio\]'"):
        MedianKMeans(1, metric="alignment", metric_params={"matrix": "PAM30"}).fit(["HEAG"])


def test_blosum62_is_biopythons():
    theirs = optional("Bio.Align.substitution_matrices").load("BLOSUM62")
    letters, ours = simd._blosum62()
    assert "".join(letters) == theirs.alphabet
    np.testing.assert_array_equal(ours, np.array(theirs, float))


@pytest.mark.parametrize(
    ("written", "read_as"),
    [("heAG", "HEAG"), ("HE--AG..", "HEAG"), ("HEUG", "HECG"), ("uHOJ", "CHKL"), ("HEAG*", "HEAG"), ("XBZ*A", "XBZ*A")],
)
def test_letters_of_databases_are_read_as_their_usual_ones(written, read_as):
    others = ["HEAGAWGHEE", "PAWHEAE", "MKV"]
    given = as_dissimilarity([written, *others], "alignment").block(slice(None), slice(None))
    plain = as_dissimilarity([read_as, *others], "alignment", metric_params={"spelling": "exact"})
    np.testing.assert_array_equal(given, plain.block(slice(None), slice(None)))
    fitted = MedianKMeans(4, metric="alignment", init=[0, 1, 2, 3]).fit([written, *others])
    assert fitted.cluster_centers_[0] == written  # exemplars stay as they are


def test_columns_of_an_alignment_may_have_their_gaps_as_dots():
    rows = ["ACD.FG", "ac--FG", "AUD~EG"]
    params = {"mode": "aligned", "rule": "p-distance"}
    D = as_dissimilarity(rows, "alignment", metric_params=params).block(slice(None), slice(None))
    np.testing.assert_allclose(D, [[0, 0, 1 / 5], [0, 0, 1 / 4], [1 / 5, 1 / 4, 0]])


def test_globins_nearest_neighbours(shared_data):
    optional("Bio"), optional("stringzillas")
    records = (shared_data / "globins.fasta").read_text().split(">")[1:]
    y = np.array([record.split()[1] for record in records])
    sequences = ["".join(record.splitlines()[1:]) for record in records]
    D = as_dissimilarity(sequences, "alignment").kept().D
    np.fill_diagonal(D, np.inf)
    assert abs(np.mean(y[D.argmin(axis=1)] == y) - 0.989) <= 0.003
