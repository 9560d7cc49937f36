"""The same dissimilarities as a DuckDB database, Parquet, CSV and PostgreSQL table, for tests and benchmarks."""

import numpy as np


def pair_rows(D, ids, keep=None):
    """(row ids, column ids, values) of the entries of D (N, N) that `keep` (N, N) marks; all of them by default."""
    i, l = np.nonzero(np.ones(D.shape, bool) if keep is None else keep)
    return [ids[k] for k in i], [ids[k] for k in l], D[i, l]


def write_tables(folder, a, b, values):
    """name -> path of a DuckDB database, a Parquet and a CSV file with the table pairs(a, b, value)."""
    import duckdb
    import pyarrow as pa

    given = pa.table({"a": a, "b": b, "value": values})
    paths = {"duckdb": folder / "D.duckdb", "parquet": folder / "D.parquet", "csv": folder / "D.csv"}
    for path in paths.values():
        path.unlink(missing_ok=True)
    with duckdb.connect(str(paths["duckdb"])) as connection:
        connection.register("given", given)
        connection.execute("CREATE TABLE pairs AS SELECT * FROM given")
        for name in ("parquet", "csv"):
            connection.execute(f"COPY pairs TO '{paths[name]}'")
    return paths


def write_postgres(uri, a, b, values, table="pairs"):
    """The same as a table on a server, with the index that its documentation asks for."""
    import adbc_driver_postgresql.dbapi as dbapi
    import pyarrow as pa

    with dbapi.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f'DROP TABLE IF EXISTS "{table}"')
        cursor.adbc_ingest(table, pa.table({"a": a, "b": b, "value": values}), mode="create")
        cursor.execute(f'CREATE INDEX ON "{table}" (a, b)')
        cursor.execute(f'ANALYZE "{table}"')
