"""Tables of pairs in DuckDB, Parquet and CSV: blocks, orders, what is missing, what is wrong."""

import gzip
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from support.extras import optional
from support.pair_tables import pair_rows, write_tables

from medianmap import MedianKMeans, as_dissimilarity
from medianmap.readers import read
from medianmap.sources import PairSource, Source, base
from medianmap.sources.base import ALL, DenseSource, ExpensiveSource, PartlyKeptSource

duckdb = optional("duckdb")
pa = optional("pyarrow")
pq = optional("pyarrow.parquet")

N = 23


@pytest.fixture(scope="module", params=["symmetric", "asymmetric", "triangle"])
def matrix(request):
    rng = np.random.default_rng(5)
    D = squareform(pdist(rng.normal(size=(N, 3)))) if request.param != "asymmetric" else rng.random((N, N))
    keep = np.triu(np.ones((N, N), bool), 1) if request.param == "triangle" else np.ones((N, N), bool)
    return request.param, D, keep


@pytest.mark.parametrize("store", ["duckdb", "parquet", "csv"])
@pytest.mark.parametrize("names", ["text", "numbers"])
def test_blocks_are_those_of_the_matrix_to_the_last_bit(store, names, matrix, tmp_path, rng):
    kind, D, keep = matrix
    ids = [f"p{k:03d}" for k in range(N)] if names == "text" else list(range(N))
    source = PairSource(write_tables(tmp_path, *pair_rows(D, ids, keep))[store])
    assert isinstance(source, Source)
    assert isinstance(source, ExpensiveSource)
    assert source.ids == [str(name) for name in ids]  # 2 before 10, though text would sort otherwise
    assert (source.shape, source.symmetric) == ((N, N), kind != "asymmetric")
    np.testing.assert_array_equal(source.block(ALL, ALL), D)
    np.testing.assert_array_equal(source.block(slice(3, 9), ALL), D[3:9])
    i, l = rng.integers(0, N, 8), rng.integers(0, N, 30)
    np.testing.assert_array_equal(source.block(i, l), D[np.ix_(i, l)])
    np.testing.assert_array_equal(source.block(ALL, l), D[:, l])
    assert source.block(i[:0], ALL).shape == (0, N)
    np.testing.assert_array_equal(source.kept().block(ALL, ALL), D)


def test_the_points_and_their_order_are_the_users(tmp_path):
    D = squareform(np.arange(1.0, 11))
    paths = write_tables(tmp_path, *pair_rows(D, list("abcde")))
    source = PairSource(paths["parquet"], ids=["d", "a", "e"])
    np.testing.assert_array_equal(source.block(ALL, ALL), D[np.ix_([3, 0, 4], [3, 0, 4])])
    assert as_dissimilarity(paths["parquet"], ids=["d", "a", "e"]).ids == ["d", "a", "e"]


class Counting(PairSource):
    queries = 0

    def _batches(self, connection, sql, lists):
        self.queries += 1
        return super()._batches(connection, sql, lists)


@pytest.mark.parametrize("symmetric", [True, False, None])
def test_a_block_is_one_query(symmetric, tmp_path, rng):
    D = squareform(rng.random(N * (N - 1) // 2))
    source = Counting(write_tables(tmp_path, *pair_rows(D, range(N)))["duckdb"], symmetric=symmetric)
    for rows, cols in [(ALL, ALL), (slice(2, 5), ALL), (rng.integers(0, N, 9), rng.integers(0, N, 9))]:
        before = source.queries
        source.block(rows, cols)
        assert source.queries == before + 1


@settings(max_examples=25)
@given(st.data())
def test_any_mixture_of_orders_reads_as_its_rules_say(tmp_path_factory, data):
    n = data.draw(st.integers(2, 6))
    numbers = st.floats(0, 1e300, allow_nan=False)
    D = squareform(data.draw(st.lists(numbers, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)))
    # Of each pair: the one order, the other, or both.
    orders = data.draw(st.lists(st.sampled_from([1, 2, 3]), min_size=len(pdist(D)), max_size=len(pdist(D))))
    keep = np.zeros((n, n), bool)
    for (i, l), order in zip(zip(*np.triu_indices(n, 1), strict=True), orders, strict=True):
        keep[i, l], keep[l, i] = bool(order & 1), bool(order & 2)
    path = tmp_path_factory.mktemp("pairs") / "D.parquet"
    pq.write_table(pa.table(dict(zip("abv", pair_rows(D, range(n), keep), strict=True))), path)
    np.testing.assert_array_equal(PairSource(path, symmetric=True).block(ALL, ALL), D)
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=1))
    np.testing.assert_array_equal(PairSource(path, symmetric=True).block(np.array(rows), ALL), D[rows])
    one_way = all(order != 3 for order in orders)
    assert PairSource(path).symmetric == (one_way or all(order == 3 for order in orders))


def with_gaps(tmp_path, symmetric=True):
    """Four points, the pair (a, c) is not stored; row maxima are a: 2 (3 asymmetric), b: 4, c: 5, d: 5."""
    D = np.array([[0.0, 2, np.nan, 1], [2, 0, 4, 3], [np.nan, 4, 0, 5], [1, 3, 5, 0]])
    if not symmetric:
        D[0, 3] = 3.0
    return write_tables(tmp_path, *pair_rows(D, list("abcd"), ~np.isnan(D)))["parquet"]


def test_missing_pairs_need_a_policy(tmp_path):
    path = with_gaps(tmp_path)
    with pytest.raises(ValueError, match=r"the dissimilarity of \('a', 'c'\) is not stored.*'max'"):
        PairSource(path).block(ALL, ALL)
    np.testing.assert_array_equal(PairSource(path).block(slice(1, 2), ALL), [[2, 0, 4, 3]])  # it has all that it needs
    assert PairSource(path, missing=7.5).block(ALL, ALL)[0, 2] == 7.5
    # The larger of the maxima of the rows a and c, in any block.
    largest = PairSource(path, missing="max")
    assert largest.block(ALL, ALL)[0, 2] == largest.block(np.array([0]), np.array([2]))[0, 0] == 5
    assert largest.block(ALL, ALL)[2, 0] == 5
    # Asymmetric: of its own row.
    own = PairSource(with_gaps(tmp_path, symmetric=False), missing="max")
    assert not own.symmetric
    assert own.block(ALL, ALL)[0, 2] == 3
    assert own.block(ALL, ALL)[2, 0] == 5


@settings(max_examples=30)
@given(st.data())
def test_a_table_of_pairs_means_the_same_read_into_memory(tmp_path_factory, data):
    n = data.draw(st.integers(2, 5))
    S = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n * n, max_size=n * n)), float).reshape(n, n)
    if data.draw(st.booleans()):
        S = np.maximum(S, S.T)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))).reshape(n, n)
    keep = {"any": keep, "both": keep | keep.T, "one": np.triu(keep)}[
        data.draw(st.sampled_from(["any", "both", "one"]))
    ]
    keep[0, n - 1] = True
    path = tmp_path_factory.mktemp("pairs") / "D.csv"
    rows = zip(*pair_rows(S, [f"p{k}" for k in range(n)], keep), strict=True)
    path.write_text("from,to,d\n" + "".join(f"{a},{b},{v}\n" for a, b, v in rows))
    ids = sorted({f"p{k}" for i, l in np.argwhere(keep) for k in (i, l)})
    options = {"ids": ids, "symmetric": data.draw(st.sampled_from([None, True, False])),
               "missing": data.draw(st.sampled_from(["error", "max", 7.5]))}  # fmt: skip

    def outcome(answer):
        try:
            return answer().tolist()
        except ValueError:
            return "refused"

    stored = outcome(lambda: PairSource(path, **options).block(ALL, ALL))
    assert stored == outcome(lambda: read(path, format="pairs", **options).D)


def test_a_table_read_half_is_not_mirrored_without_a_word(tmp_path):
    D = squareform(np.arange(1.0, 4))
    keep = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0]], bool)
    path = write_tables(tmp_path, *pair_rows(D, list("abc"), keep))["parquet"]
    with pytest.raises(ValueError, match=r"\('c', 'a'\) is not stored; add it, set symmetric=True"):
        PairSource(path).block(ALL, ALL)
    np.testing.assert_array_equal(PairSource(path, symmetric=True).block(ALL, ALL), D)


def table(tmp_path, rows, name="bad.csv", header="a,b,value"):
    path = tmp_path / name
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def database(tmp_path, *statements):
    path = tmp_path / "bad.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


FULL = ["p,q,1.5", "q,p,1.5"]

BAD = {
    "no file": (lambda t: PairSource(t / "none.parquet"), "There is no file"),
    "unknown ending": (lambda t: PairSource(table(t, FULL, "bad.xls")), "ending that is not known.*'.parquet'"),
    "not parquet": (lambda t: PairSource(table(t, FULL, "bad.parquet")), "no readable table of pairs"),
    "not a database": (lambda t: PairSource(table(t, FULL, "bad.duckdb")), "no readable DuckDB database"),
    "empty file": (lambda t: PairSource(table(t, [], header="")), "bad.csv"),
    "header alone": (lambda t: PairSource(table(t, [])), "has no rows"),
    "two columns": (lambda t: PairSource(table(t, ["p,q"], header="a,b")), "has the columns 'a', 'b'; name three"),
    "four columns": (
        lambda t: PairSource(table(t, ["p,q,1.5,x"], header="a,b,value,note")),
        "columns 'a', 'b', 'value', 'note'; name three",
    ),
    "no such column": (
        lambda t: PairSource(table(t, FULL), columns=("a", "b", "distance")),
        "has no column 'distance'.*'a', 'b', 'value'",
    ),
    "columns of one word": (lambda t: PairSource(table(t, FULL), columns="abc"), "columns is 'abc'; name three"),
    "a table of a file": (lambda t: PairSource(table(t, FULL), "pairs"), "one table; drop table='pairs'"),
    "no such table": (
        lambda t: PairSource(database(t, "CREATE TABLE x (i INT)", "CREATE TABLE y (i INT)"), "pairs"),
        "no table 'pairs'.*'x', 'y'",
    ),
    "which table": (
        lambda t: PairSource(database(t, "CREATE TABLE x (i INT)", "CREATE TABLE y (i INT)")),
        "has the tables 'x', 'y'.*table=",
    ),
    "text for values": (
        lambda t: PairSource(database(t, "CREATE TABLE x (a INT, b INT, v VARCHAR)")),
        "Column 'v' .* is of type VARCHAR",
    ),
    "not a number": (
        lambda t: PairSource(table(t, ["p,q,1.5", "q,p,far"])).block(ALL, ALL),
        r"the value of \('q', 'p'\) is missing or not a number",
    ),
    "no value": (
        lambda t: PairSource(table(t, ["p,q,1.5", "q,p,"])).block(ALL, ALL),
        r"the value of \('q', 'p'\) is missing",
    ),
    "no id": (
        lambda t: PairSource(database(t, "CREATE TABLE x AS SELECT 'p' AS a, NULL::VARCHAR AS b, 1.0 AS v")),
        "a row without an id",
    ),
    "negative": (lambda t: PairSource(table(t, ["p,q,-2", "q,p,-2"])).block(ALL, ALL), r"\('p', 'q'\) is -2; diss"),
    "NaN": (lambda t: PairSource(table(t, ["p,q,nan", "q,p,1"])).block(ALL, ALL), r"\('p', 'q'\) is nan; diss"),
    "infinite": (lambda t: PairSource(table(t, ["p,q,inf", "q,p,inf"])).block(ALL, ALL), r"is inf; diss"),
    "twice": (
        lambda t: PairSource(table(t, [*FULL, "q,p,1.5"])).block(ALL, ALL),
        r"has 2 rows for the pair \('q', 'p'\); leave one",
    ),
    "two values": (
        lambda t: PairSource(table(t, ["p,q,1", "q,p,2"]), symmetric=True).block(ALL, ALL),
        r"\('p', 'q'\) is 1, but has another value in the other order; set symmetric=False",
    ),
    "unknown id": (lambda t: PairSource(table(t, FULL), ids=["p", "z"]), r"ids\[1\] is 'z', which .* does not have"),
    "id twice": (lambda t: PairSource(table(t, FULL), ids=["p", "p"]), "places 1 and 2 have the same id 'p'"),
    "no policy": (lambda t: PairSource(table(t, FULL), missing="mean"), "missing is 'mean'; choose 'error'"),
    "negative policy": (lambda t: PairSource(table(t, FULL), missing=-1), "missing is -1"),
    "no row maximum": (
        lambda t: PairSource(table(t, ["p,p,0", "q,q,0"]), missing="max").block(ALL, ALL),
        "no row maximum",
    ),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_a_mistake_is_one_sentence(case, tmp_path):
    call, message = BAD[case]
    with pytest.raises((ValueError, FileNotFoundError), match=message) as caught:
        call(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_failed_block_does_not_hold_up_the_next(tmp_path):
    source = PairSource(with_gaps(tmp_path))
    for _ in range(2):
        with pytest.raises(ValueError, match="not stored"):
            source.block(ALL, ALL)
    assert source.block(np.array([1]), np.array([2]))[0, 0] == 4


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_text_files_with_and_without_names_of_columns(tmp_path, ending):
    separator = "\t" if ending == ".tsv" else ","
    for lines in (["001", "002"], ["p", "q"]):
        for header in ([], [["from", "to", "d"]]):
            rows = [*header, [*lines, "0.1"], [*lines[::-1], "0.1"]]
            text = "".join(separator.join(row) + "\n" for row in rows)
            path = tmp_path / f"D{ending}"
            path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
            source = PairSource(path)
            assert source.ids == lines  # leading zeros are part of a name
            np.testing.assert_array_equal(source.block(ALL, ALL), [[0, 0.1], [0.1, 0]])


def test_odd_names_of_files_tables_and_columns(tmp_path):
    path = tmp_path / 'it\'s "here".duckdb'
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA lab")
        connection.execute(
            'CREATE TABLE lab."my ""pairs""" ("from" INT, "to o" VARCHAR, "d\'" DECIMAL(9, 2), note INT)'
        )
        connection.execute('INSERT INTO lab."my ""pairs""" VALUES (1, \'2\', 0.25, 0), (2, \'1\', 0.25, 0)')
    source = PairSource(path, 'lab.my "pairs"', ("from", "to o", "d'"))
    np.testing.assert_array_equal(source.block(ALL, ALL), [[0, 0.25], [0.25, 0]])


def test_a_source_travels_to_another_process_and_opens_its_own_connection(tmp_path, rng):
    D = squareform(rng.random(N * (N - 1) // 2))
    source = PairSource(write_tables(tmp_path, *pair_rows(D, range(N)))["duckdb"])
    (tmp_path / "source").write_bytes(pickle.dumps(source))
    read = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).block(slice(2, 3), slice(5, 6))[0, 0])"
    done = subprocess.run([sys.executable, "-c", read, tmp_path / "source"], capture_output=True, text=True, check=True)
    assert float(done.stdout) == D[2, 5]
    assert repr(source).endswith("D.duckdb, 23 points)")


def test_a_table_too_large_to_keep_is_read_row_by_row(tmp_path, monkeypatch, rng):
    D = squareform(rng.random(N * (N - 1) // 2))
    source = PairSource(write_tables(tmp_path, *pair_rows(D, range(N)))["parquet"])
    assert isinstance(source.kept(), DenseSource)
    expected = MedianKMeans(4, metric="precomputed", random_state=0).fit(source)
    monkeypatch.setattr(base, "KEEP_BYTES", 8 * 8 * N)
    assert isinstance(source.kept(), PartlyKeptSource)
    fitted = MedianKMeans(4, metric="precomputed", random_state=0).fit(source)
    np.testing.assert_array_equal(fitted.medoid_indices_, expected.medoid_indices_)
    assert fitted.prototype_ids_ == [str(k) for k in fitted.medoid_indices_]


def test_a_missing_library_is_one_sentence(tmp_path, monkeypatch):
    path = table(tmp_path, FULL)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(
        ModuleNotFoundError, match=r"bad.csv needs duckdb; install it with: pip install 'medianmap\[db\]'"
    ):
        PairSource(path)


# --- files of strangers, and names that look like patterns


@pytest.mark.parametrize(
    "query",
    [
        "SELECT column0 AS a, column0 AS b, 1.0 AS d FROM read_csv('{}/secret.txt', header = false)",
        "SELECT password AS a, password AS b, 1.0 AS d FROM '{}/secret.csv'",
        "SELECT content AS a, content AS b, 1.0 AS d FROM read_text('{}/secret.txt')",
        "SELECT file AS a, file AS b, 1.0 AS d FROM glob('{}/*')",
        "SELECT a, b, d + (SELECT size FROM read_blob('{}/secret.txt')) AS d FROM pairs",
    ],
)
def test_a_view_of_a_stranger_reads_no_other_file(query, tmp_path):
    """Opened by DuckDB without our settings it does: contents of a local file were seen as ids."""
    for name in ("secret.txt", "secret.csv"):
        (tmp_path / name).write_text("password\nhunter2\n")
    path = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE pairs AS SELECT 'a' AS a, 'b' AS b, 1.0 AS d")
        connection.execute(f"CREATE VIEW leak AS {query.format(tmp_path)}")
        connection.execute("CREATE VIEW own AS SELECT b AS a, a AS b, d FROM pairs")
        assert connection.execute("SELECT * FROM leak").fetchall()
    with pytest.raises(ValueError, match=r"theirs\.duckdb is no readable .*disabled by configuration") as refused:
        PairSource(path, "leak").block(ALL, ALL)
    assert "hunter2" not in str(refused.value)
    assert PairSource(path, "own").ids == ["a", "b"]
    connection = PairSource(path, "pairs")._connect()
    for attack in ("SET enable_external_access = true", "INSERT INTO pairs VALUES (1, 1, 1)", "INSTALL httpfs",
                   f"COPY pairs TO '{tmp_path}/out.csv'", f"ATTACH '{tmp_path}/other.duckdb'"):  # fmt: skip
        with pytest.raises(duckdb.Error):
            connection.execute(attack)
    connection.close()


@pytest.mark.parametrize("ending", ["csv", "parquet", "duckdb"])
@pytest.mark.parametrize("name", ["D[12]", "D*", "D?", "[", "a[!b]c", "{a,b}", "it's"])
def test_a_name_like_a_pattern_is_the_file_of_that_name(name, ending, tmp_path):
    D = squareform(np.arange(1.0, 4))
    folder = tmp_path / "lab=3[1]"
    folder.mkdir()
    for each, factor in ((name, 1.0), ("D1", 2.0), ("D2", 2.0), ("Dx", 2.0), ("a", 2.0), ("aac", 2.0)):
        paths = write_tables(folder, *pair_rows(D * factor, list("xyz")))
        paths[ending].rename(folder / f"{each}.{ending}")
    source = PairSource(folder / f"{name}.{ending}")
    assert source.columns == PairSource(folder / f"D1.{ending}").columns
    np.testing.assert_array_equal(source.block(ALL, ALL), D)
