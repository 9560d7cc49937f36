"""Tables of pairs on a PostgreSQL server that the tests start themselves."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from support.extras import optional
from support.pair_tables import pair_rows, write_postgres
from support.postgres_server import PASSWORD, binaries, postgres

from medianmap.sources import PostgresSource
from medianmap.sources.base import ALL

dbapi = optional("adbc_driver_postgresql.dbapi")
optional("pyarrow")
N = 23


@pytest.fixture(scope="module")
def server():
    if binaries() is None and not os.environ.get("MEDIANMAP_REQUIRE_ALL"):
        pytest.skip("PostgreSQL is not installed")
    with postgres() as uri:
        yield uri


@pytest.fixture
def execute(server):
    def run(sql):
        with dbapi.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in sql.split(";"):
                cursor.execute(statement)

    return run


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric", "triangle"])
@pytest.mark.parametrize("names", ["text", "numbers"])
def test_blocks_are_those_of_the_matrix_to_the_last_bit(server, kind, names, rng):
    D = rng.random((N, N)) if kind == "asymmetric" else squareform(pdist(rng.normal(size=(N, 3))))
    keep = np.triu(np.ones((N, N), bool), 1) if kind == "triangle" else None
    ids = [f"p{k:03d}" for k in range(N)] if names == "text" else list(range(N))
    write_postgres(server, *pair_rows(D, ids, keep))
    source = PostgresSource(server, "pairs")
    assert source.ids == [str(name) for name in ids]
    assert source.symmetric == (kind != "asymmetric")
    np.testing.assert_array_equal(source.block(ALL, ALL), D)
    i, l = rng.integers(0, N, 8), rng.integers(0, N, 30)
    np.testing.assert_array_equal(source.block(i, l), D[np.ix_(i, l)])
    np.testing.assert_array_equal(source.block(slice(3, 9), ALL), D[3:9])
    assert source.block(i[:0], ALL).shape == (0, N)
    np.testing.assert_array_equal(source.kept().block(ALL, ALL), D)


class Counting(PostgresSource):
    queries = 0

    def _batches(self, connection, sql, lists):
        self.queries += 1
        return super()._batches(connection, sql, lists)


@pytest.mark.parametrize("symmetric", [True, False, None])
def test_a_block_is_one_query(server, symmetric, rng):
    write_postgres(server, *pair_rows(squareform(rng.random(N * (N - 1) // 2)), range(N)))
    source = Counting(server, "pairs", symmetric=symmetric)
    for rows, cols in [(ALL, ALL), (slice(2, 5), ALL), (rng.integers(0, N, 9), rng.integers(0, N, 9))]:
        before = source.queries
        source.block(rows, cols)
        assert source.queries == before + 1


@pytest.mark.parametrize(
    ("a", "value"), [("uuid", "real"), ("varchar(40)", "numeric(8, 3)"), ("bigint", "integer"), ("char(4)", "float8")]
)
def test_columns_of_many_types(execute, server, a, value):
    ids = {"uuid": ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"],
           "bigint": ["7", "12"]}.get(a, ["left", "rght"])  # fmt: skip
    execute(f'CREATE SCHEMA IF NOT EXISTS lab; DROP TABLE IF EXISTS lab."My Pairs"; '
            f'CREATE TABLE lab."My Pairs" ("From" {a}, "to" {a}, d {value}, note text)')  # fmt: skip
    execute(f"""INSERT INTO lab."My Pairs" VALUES ('{ids[0]}', '{ids[1]}', 3, 'x')""")
    source = PostgresSource(server, "lab.My Pairs", ("From", "to", "d"))
    assert source.ids == ids
    np.testing.assert_array_equal(source.block(ALL, ALL), [[0, 3], [3, 0]])


def test_missing_pairs_need_a_policy(execute, server):
    execute("DROP TABLE IF EXISTS gaps; CREATE TABLE gaps (a text, b text, v float8)")
    execute("INSERT INTO gaps VALUES ('a', 'b', 2), ('a', 'd', 1), ('b', 'c', 4), ('b', 'd', 3), ('c', 'd', 5)")
    with pytest.raises(ValueError, match=r"The table 'gaps': the dissimilarity of \('a', 'c'\) is not stored"):
        PostgresSource(server, "gaps").block(ALL, ALL)
    assert PostgresSource(server, "gaps", missing=9).block(ALL, ALL)[2, 0] == 9
    assert PostgresSource(server, "gaps", missing="max").block(ALL, ALL)[0, 2] == 5


def refused(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert PASSWORD not in str(caught.value)


def test_a_mistake_is_one_sentence(execute, server):
    execute("DROP TABLE IF EXISTS bad; CREATE TABLE bad (a text, b text, v float8, note text)")
    columns = ("a", "b", "v")
    refused(lambda: PostgresSource(server, "none"), "The table 'none' is not in the database")
    refused(lambda: PostgresSource(server, "bad"), "has the columns 'a', 'b', 'v', 'note'; name three")
    refused(lambda: PostgresSource(server, "bad", ("a", "b", "d")), "no column 'd'.*'a', 'b', 'v', 'note'")
    refused(lambda: PostgresSource(server, "bad", ("a", "b", "note")), "Column 'note' .* is of type text")
    refused(lambda: PostgresSource(server, "bad", columns), "has no rows")
    execute("INSERT INTO bad VALUES ('p', 'q', 1), ('q', 'p', NULL)")
    refused(lambda: PostgresSource(server, "bad", columns).block(ALL, ALL), r"\('q', 'p'\) is missing")
    execute("UPDATE bad SET v = -1")
    refused(lambda: PostgresSource(server, "bad", columns).block(ALL, ALL), r"\('p', 'q'\) is -1; diss")
    execute("UPDATE bad SET v = 1; INSERT INTO bad VALUES ('q', 'p', 1)")
    refused(lambda: PostgresSource(server, "bad", columns).block(ALL, ALL), r"has 2 rows for the pair \('q', 'p'\)")
    execute("INSERT INTO bad VALUES ('q', NULL, 1)")
    refused(lambda: PostgresSource(server, "bad", columns), "a row without an id")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda uri: uri.replace(PASSWORD, "wrong-" + PASSWORD), "password authentication failed"),
        (lambda uri: uri.replace("/postgres", "/nowhere"), "database .nowhere. does not exist"),
        (lambda uri: uri.rsplit(":", 1)[0] + ":1/postgres", "cannot be used .*refused"),
        (lambda uri: f"postgresql://tester:{PASSWORD}@[bad", "its address cannot be understood"),
        (lambda uri: f"host=127.0.0.1 password=a {PASSWORD}", "its address cannot be understood"),
    ],
    ids=["password", "database", "port", "address", "words"],
)
def test_a_server_that_cannot_be_used_is_one_sentence_without_the_password(server, change, message):
    refused(lambda: PostgresSource(change(server), "pairs"), message)


def test_a_source_travels_without_its_connection_and_hides_its_password(server, tmp_path, rng):
    D = squareform(rng.random(N * (N - 1) // 2))
    write_postgres(server, *pair_rows(D, range(N)), table="travels")
    source = PostgresSource(server, "travels")
    assert PASSWORD not in repr(source)
    (tmp_path / "source").write_bytes(pickle.dumps(source))
    read = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).block(slice(2, 3), slice(5, 6))[0, 0])"
    done = subprocess.run([sys.executable, "-c", read, tmp_path / "source"], capture_output=True, text=True, check=True)
    assert float(done.stdout) == D[2, 5]


def test_a_missing_library_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    monkeypatch.delitem(sys.modules, "adbc_driver_postgresql.dbapi")
    with pytest.raises(ModuleNotFoundError, match=r"needs adbc_driver_postgresql; .*pip install 'medianmap\[db\]'"):
        PostgresSource("postgresql://nobody@nowhere/none", "pairs")


# --- a server that stops in the middle of a read


@pytest.mark.parametrize("moment", ["between two blocks", "in the middle of an answer"])
def test_a_server_that_stops_is_one_sentence_and_no_half_block(server, execute, moment, rng):
    """Every connection is ended as a server that shuts down ends it; the time-out is there for a hang alone."""
    n = 900
    D = squareform(pdist(rng.normal(size=(n, 3))))
    write_postgres(server, *pair_rows(D, list(range(n))), table="large")

    def stop():
        execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")  # fmt: skip

    class Stopped(PostgresSource):
        def _batches(self, connection, sql, lists):
            for k, batch in enumerate(super()._batches(connection, sql, lists)):
                if stops and k == 0:
                    stop()
                yield batch

    stops = False
    source = Stopped(server, "large", symmetric=True)
    assert source.block(slice(0, 2), ALL).shape == (2, n)
    stops = moment == "in the middle of an answer"
    if not stops:
        stop()
    with ThreadPoolExecutor(1) as other:
        reading = other.submit(source.block, ALL, ALL)
        failed = reading.exception(timeout=300)
    if failed is None:  # the whole answer was there already
        np.testing.assert_array_equal(reading.result(), D)
    else:
        assert isinstance(failed, ValueError)
        assert "The table 'large' is no readable table of pairs" in str(failed)
        assert PASSWORD not in str(failed)
    stops = False
    if moment != "between two blocks":  # the broken connection is found by the next query
        with suppress(ValueError):
            source.block(slice(0, 1), ALL)
    np.testing.assert_array_equal(source.block(ALL, ALL), D)  # a new connection
