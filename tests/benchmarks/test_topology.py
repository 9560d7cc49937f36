"""The benchmark of order: its figures by hand, its bounds one by one, its records and its processes."""

import json
import sys
from contextlib import closing

import numpy as np
import pytest
import topology
from same_results import ROOT
from scipy.spatial.distance import cdist
from support.extras import optional
from support.maps import blob_distances, blobs
from topology import BATCH, MEDIAN, MINISOM, RELATIONAL, SWAPPED, Verdict, verdicts, wanted
from topology_figures import Bench, Figures, Runs, border_share, digest, figures, rank_correlation
from topology_fits import Fit, Fitted, estimator, minisom
from topology_study import values

import medianmap
from medianmap.core.neighborhood import make_lattice
from medianmap.core.quality import topographic_error

LINE = make_lattice((1, 3))


def test_figures_by_hand():
    x = np.array([0.0, 1.0, 4.0, 10.0])
    D = np.abs(x[:, None] - x)
    # Prototypes at 0, 10, 4 on neurons 0, 1, 2 of a line: points 0 and 1 have neurons 0 and 2 nearest, which do not
    # touch; point 4 has 2 and then 0, torn too; point 10 has 1 and 2. Three of four are on the two ends of the line.
    G = np.abs(x[:, None] - np.array([0.0, 10.0, 4.0]))
    fitted = Fitted(G.argmin(axis=1), G, np.array([0, 3, 2]), LINE.positions, LINE.distances)
    found = figures(D, fitted, (1, 3), 0.5)
    assert (found.loss, found.torn, found.border, found.seconds) == (1.0, 0.75, 9 / 8, 0.5)
    # The loss is that of the exemplars; of vectors, that to the vectors.
    assert figures(D, Fitted(**vars(fitted) | {"exemplars": np.array([0, 0, 0])}), (1, 3), 0.5).loss == 15.0
    nowhere = Fitted(**vars(fitted) | {"exemplars": np.empty(0, np.intp), "G": G + 1})
    assert figures(D, nowhere, (1, 3), 0.5).loss == 5.0


def test_border_share_by_hand():
    # 8 of 9 neurons are on the border; of five points, one is in the middle.
    assert border_share(np.array([1, 1, 0, 0, 1, 0, 0, 0, 2]), make_lattice((3, 3))) == pytest.approx((4 / 5) / (8 / 9))
    assert border_share(np.eye(9)[4], make_lattice((3, 3))) == 0.0
    for shape, inside in (((4, 3), 7), ((3, 4), 6)):
        hits = np.eye(12)[inside] + np.eye(12)[0]
        assert border_share(hits, make_lattice(shape)) == pytest.approx((1 / 2) / (10 / 12))
    assert np.isnan(border_share(np.ones(16), make_lattice((4, 4), periodic=True)))


def test_rank_correlation(rng):
    from scipy.stats import spearmanr

    x = rng.permutation(50)
    D = np.abs(x[:, None] - x).astype(float) ** 2
    line = np.abs(np.arange(50)[:, None] - np.arange(50)).astype(float)
    assert rank_correlation(D, x, line) == pytest.approx(1.0)
    assert rank_correlation(D, x, -line) == pytest.approx(-1.0)
    assert np.isnan(rank_correlation(D, np.zeros(50, int), line))
    assert np.isnan(rank_correlation(np.ones((50, 50)), x, line))
    # By another program, of all pairs: exactly, and of more points about.
    noisy, labels = D + 500 * rng.random((50, 50)), x // 5
    i, l = np.nonzero(~np.eye(50, dtype=bool))
    whole = spearmanr(noisy[i, l], line[labels[i], labels[l]]).statistic
    assert rank_correlation(noisy, labels, line) == pytest.approx(whole)
    many = rng.integers(50, size=400)
    i, l = np.nonzero(~np.eye(400, dtype=bool))
    noisy, labels = noisy[np.ix_(many, many)], labels[many]
    whole = spearmanr(noisy[i, l], line[labels[i], labels[l]]).statistic
    assert rank_correlation(noisy, labels, line) == pytest.approx(whole, abs=0.02)


@pytest.mark.parametrize("grid", [(4, 5), (5, 4), (3, 6)])
def test_minisom_is_measured_on_its_own_lattice(grid, rng):
    module = optional("minisom")
    X = blobs(rng, n=120)
    found, _ = minisom(Fit("", grid, "MiniSom", 3, {"sigma": 2.0}), X, passes=3)
    measured = figures(cdist(X, X), found, grid, 0.0)
    som = module.MiniSom(*grid, X.shape[1], sigma=2.0, topology="hexagonal", random_seed=3)
    som.pca_weights_init(X)
    som.train(X, 360, random_order=True)
    assert measured.torn == pytest.approx(som.topographic_error(X))
    assert measured.loss / 120 == pytest.approx(som.quantization_error(X))
    winners = [som.winner(x)[0] * grid[1] + som.winner(x)[1] for x in X]
    np.testing.assert_array_equal(found.labels, winners)
    degrees = ((found.distances > 0) & (found.distances < 1.2)).sum(axis=1)
    assert degrees.max() == 6
    assert degrees.sum() == make_lattice(grid[::-1]).neighbors.sum()


GOOD = {"quantization": 1.0, "torn": 0.01, "rho": 0.8, "trust": 0.9, "border": 1.0, "seconds": 1.0, "fastest": 1.0}
BEFORE = f"before: {MEDIAN}"


def table_with(name="digits 10x10", **changed):
    """A set that keeps all bounds, but for what `changed` says: a row and its figures."""
    rows = {
        BEFORE: GOOD | {"quantization": 1.1, "torn": 0.5, "rho": 0.7},
        MEDIAN: GOOD,
        SWAPPED: GOOD,
        RELATIONAL: GOOD,
        BATCH: GOOD,
        MINISOM: GOOD | {"quantization": 1.3, "fastest": 2.0},
    }
    return {(name, title): row | changed.get(title, {}) for title, row in rows.items()}


def test_all_bounds_are_kept_by_a_good_table():
    found = list(verdicts(table_with()))
    assert len(found) == 9
    assert all(verdict.kept for verdict in found)


@pytest.mark.parametrize(
    ("name", "row", "figure", "good", "bad"),
    [
        ("digits 10x10", SWAPPED, "quantization", 1.02, 1.021),
        ("chromosomes 10x10", SWAPPED, "torn", 0.30, 0.31),
        ("chromosomes 22x22", SWAPPED, "torn", 0.40, 0.41),
        ("digits 10x10", SWAPPED, "torn", 0.25, 0.26),
        ("breast cancer 8x8", SWAPPED, "torn", 0.25, 0.26),
        ("families 8x10", SWAPPED, "torn", 0.25, 0.26),
        ("iris 6x6", SWAPPED, "torn", 0.20, 0.21),
        ("globins 8x10", SWAPPED, "torn", 0.20, 0.21),
        ("proteins 4x5", SWAPPED, "torn", 0.20, 0.21),
        ("iris 6x6", MEDIAN, "quantization", 1.1, 1.11),
        ("iris 6x6", MEDIAN, "torn", 0.30, 0.31),
        ("iris 6x6", RELATIONAL, "torn", 0.06, 0.07),
        ("chromosomes 22x22", RELATIONAL, "torn", 0.10, 0.11),
        ("iris 6x6", BATCH, "quantization", 1.29, 1.3),
        ("iris 6x6", BATCH, "torn", 0.03, 0.031),
        ("iris 6x6", BATCH, "fastest", 1.99, 2.0),
        ("iris 6x6", SWAPPED, "rho", 0.7, 0.69),
    ],
)
def test_each_bound_fails_beyond_its_figure(name, row, figure, good, bad):
    assert all(verdict.kept for verdict in verdicts(table_with(name=name, **{row: {figure: good}})))
    failed = [verdict.text for verdict in verdicts(table_with(name=name, **{row: {figure: bad}})) if not verdict.kept]
    assert len(failed) == 1
    assert name in failed[0]
    assert row in failed[0]


def test_far_order_on_most_sets():
    lower = {SWAPPED: {"rho": 0.6}}
    tables = [table_with(name=f"set {k}", **(lower if k < 2 else {})) for k in range(5)]
    for count, kept in ((5, True), (4, False)):  # two of five are lower, two of four
        *_, last = verdicts({key: row for table in tables[:count] for key, row in table.items()})
        assert last.kept is kept
        assert "set 0 rho 0.70 -> 0.60" in last.text
        assert "set 2" not in last.text


def test_bounds_need_their_rows():
    both = {("iris 6x6", MEDIAN): GOOD, ("iris 6x6", BEFORE): GOOD}
    assert [verdict.kept for verdict in verdicts(both)] == [True, False]
    assert list(verdicts({("iris 6x6", MEDIAN): GOOD})) == []
    assert [v.text.split(" TE")[0] for v in verdicts({("iris 6x6", RELATIONAL): GOOD})] == [f"iris 6x6: {RELATIONAL}"]


def test_sets_and_settings_are_read():
    assert len(wanted(None)) == 8
    assert wanted("chromosomes,iris") == [("chromosomes", (10, 10)), ("chromosomes", (22, 22)), ("iris", (6, 6))]
    assert wanted("breast_cancer, chromosomes 22x22") == [("chromosomes", (22, 22)), ("breast_cancer", (8, 8))]
    assert values("sigma_end=0.01,1") == ("sigma_end", [0.01, 1])
    assert values("init=random,None") == ("init", ["random", None])


def test_records_are_taken_up(tmp_path):
    path = tmp_path / "runs.jsonl"
    assert Runs(path).once("a", lambda: {"loss": 1.5}) == {"loss": 1.5}
    with path.open("a") as file:
        file.write('{"key": "b", "lo')
    again = Runs(path)
    assert again.once("a", lambda: pytest.fail("done again")) == {"loss": 1.5}
    again.once("b", lambda: {"loss": 2.0})
    assert Runs(path).found == {"a": {"loss": 1.5}, "b": {"loss": 2.0}}


def test_a_digest_is_of_the_code(tmp_path):
    module = tmp_path / "src" / "package" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text("a = 1\n")
    first = digest(tmp_path)
    (tmp_path / "notes.md").write_text("what is no code does not count")
    assert digest(tmp_path) == first
    module.write_text("a = 2\n")
    assert digest(tmp_path) != first


def test_earlier_code_is_not_given_what_it_does_not_have(monkeypatch):
    class Earlier:
        def __init__(self, grid, random_state=None, sigma_end=0.01):
            self.sigma_end = sigma_end

    class Later(Earlier):
        def __init__(self, grid, random_state=None, normalized=True):
            self.normalized = normalized

    monkeypatch.setattr(medianmap, "MedianSOM", Earlier)
    fit = Fit("", (2, 2), "MedianSOM", 0, {"normalized": False, "sigma_end": 0.5})
    assert estimator(fit).sigma_end == 0.5
    for params in ({"normalized": True}, {"other": False}):
        with pytest.raises(TypeError):
            estimator(Fit("", (2, 2), "MedianSOM", 0, params))
    monkeypatch.setattr(medianmap, "MedianSOM", Later)
    assert estimator(Fit("", (2, 2), "MedianSOM", 0, {"normalized": False})).normalized is False


def test_another_process_fits_and_its_figures_are_kept(tmp_path, rng):
    D = blob_distances(rng, n=40)
    np.save(tmp_path / "tiny.npy", D)
    fit = Fit("tiny", (2, 3), "MedianSOM", 5, {"n_epochs": 10})
    with closing(Bench(tmp_path, None, {"now": ROOT})) as bench:
        found = bench.figures("now", fit)
        relational = bench.figures("now", Fit("tiny", (2, 3), "RelationalSOM", 5, {"n_epochs": 10}))
    here = medianmap.MedianSOM((2, 3), metric="precomputed", n_epochs=10, random_state=5).fit(D)
    assert found.loss == pytest.approx(here.inertia_)
    assert found.torn == topographic_error(D[:, here.medoid_indices_], here.lattice_)
    there = medianmap.RelationalSOM((2, 3), metric="precomputed", n_epochs=10, random_state=5).fit(D)
    assert relational.loss == pytest.approx(D[:, there.exemplar_indices_].min(axis=1).sum())
    assert relational.torn == topographic_error(there.transform(D), there.lattice_)
    assert not list(tmp_path.glob("fit-*"))
    again = Bench(tmp_path, None, {"now": ROOT})
    assert again.figures("now", fit) == found
    assert not again.workers


@pytest.mark.parametrize(("torn", "code"), [(0.01, 0), (0.5, 1)])
def test_exit_code_says_whether_bounds_are_kept(torn, code, tmp_path, monkeypatch, capsys):
    path = tmp_path / "figures.json"
    monkeypatch.setattr(sys, "argv", ["topology", "--sets", "iris,proteins", "--seeds", "3", "--json", str(path)])
    monkeypatch.setattr(topology, "measured", lambda *_: {RELATIONAL: GOOD | {"torn": torn}})
    monkeypatch.setattr(topology, "arrangement", lambda _: [Verdict("arrangement", True)])
    with pytest.raises(SystemExit) as ended:
        topology.main()
    assert ended.value.code == code
    said = capsys.readouterr().out
    assert "proteins 4x5: left out" in said
    assert ("FAILED  iris 6x6: RelationalSOM() TE 0.500, at most 0.060" in said) is bool(code)
    assert f"2 bounds, {code} not kept" in said
    assert json.loads(path.read_text()) == [{"set": "iris 6x6", "map": RELATIONAL, **GOOD, "torn": torn}]


def test_vectors_alone_have_rows_of_vectors():
    optional("minisom")
    iris, proteins = (topology.rows_of(data, (4, 6), True) for data in ("iris", "proteins"))
    assert [row.title for row in iris if row not in proteins] == [
        f"before: {BATCH}", BATCH, MINISOM, "MiniSom, sigma 1",
    ]  # fmt: skip
    assert [row.code for row in proteins] == ["before"] * 3 + ["now"] * 4
    assert next(row for row in iris if row.title == MINISOM).params == {"sigma": 2.0}
    assert [row.code for row in topology.rows_of("proteins", (4, 6), False)] == ["now"] * 4


def test_means_are_over_the_seeds():
    runs = [Figures(2.0, 0.1, 0.5, 0.9, 1.0, 4.0), Figures(4.0, 0.3, 0.7, 0.7, 2.0, 2.0)]
    means = topology.mean_figures(runs, 2.0)
    assert means == pytest.approx(
        {"quantization": 1.5, "torn": 0.2, "rho": 0.6, "trust": 0.8, "border": 1.5, "seconds": 3.0, "fastest": 2.0}
    )
