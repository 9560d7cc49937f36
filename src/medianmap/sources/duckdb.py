"""`PairSource`: dissimilarities read from a table of pairs by DuckDB: a DuckDB database, Parquet or CSV file."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from ..utils.loading import require
from .pair_table import PairTable, listing, quoted, quoted_table
from .stored import DATABASES, PARQUET

TEXT = (".csv", ".tsv", ".txt")
ENDINGS = DATABASES + PARQUET + TEXT

BATCH = 1 << 20

# Nothing is fetched or loaded that the user did not install for this.
CLOSED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
          "allow_community_extensions": "false", "allow_persistent_secrets": "false"}  # fmt: skip


class PairSource(PairTable):
    """D[i, l] = the value of the row (ids[i], ids[l]) of a table in a file.

    Parameters
    ----------
    path : a DuckDB database (.duckdb, .ddb, .db), Parquet (.parquet, .pq) or text (.csv, .tsv, .txt, also .gz).
    table : name of the table in a database; not needed if there is only one.
    columns : names of the columns (row, column, value); not needed if there are only three, in this order.
    ids : the points in the order wanted; by default all that the table names, sorted as numbers if all are whole
        numbers, as text otherwise.
    missing : the value of a pair that is not stored: "error", a number, or "max", the largest stored dissimilarity
        of its row (of a symmetric table the larger of its two rows). A diagonal that is not stored is always 0.
    symmetric : True: a pair may be stored in either order; False: both orders are needed; None finds out by one
        query: a table is symmetric if every pair is stored in both orders with one value, or every pair in one order.

    Values are taken as doubles exactly as stored. The file is only read. It may come from a stranger: a view in a
    database cannot read other files, load extensions or use the network.
    """

    def __init__(
        self, path: str | PathLike[str], table: str | None = None, columns: Sequence[str] | None = None, *,
        ids: Sequence[str] | None = None, missing: float | str = "error", symmetric: bool | None = None,
    ) -> None:  # fmt: skip
        self.path = Path(path).resolve()
        if not self.path.exists():
            raise FileNotFoundError(f"There is no file {path}; give the path of a table of pairs.")
        suffixes = [suffix.lower() for suffix in self.path.suffixes if suffix.lower() != ".gz"]
        self.kind = suffixes[-1] if suffixes else ""
        if self.kind not in ENDINGS:
            raise ValueError(f"{path} has an ending that is not known; a table of pairs has one of {listing(ENDINGS)}.")
        if table is not None and self.kind not in DATABASES:
            raise ValueError(f"{path} is one table; drop table={table!r}.")
        self.table = table
        self.where = str(path)
        self.values_are_text = self.kind in TEXT
        self.relation = self._file_relation()
        super().__init__(columns, ids, missing, symmetric)

    def _file_relation(self) -> str:
        """SQL for the table; that of a database is found later, among its tables."""
        # The file of that name, not all that the name would match, and no column from a folder called 'a=1'.
        literal = "'" + glob.escape(str(self.path)).replace("'", "''") + "', hive_partitioning = false"
        if self.kind in PARQUET:
            return f"read_parquet({literal})"
        # All as text: an id 007 stays 007, and a cell that is not a number can be named.
        return f"read_csv({literal}, all_varchar = true)" if self.kind in TEXT else ""

    def _connect(self) -> Any:
        duckdb = require("duckdb", "db", f"The pair table {self.path.name}")
        require("pyarrow", "db", f"The pair table {self.path.name}")
        try:
            connection = duckdb.connect(config=CLOSED)
            if self.kind in DATABASES:
                literal = "'" + str(self.path).replace("'", "''") + "'"
                connection.execute(f"ATTACH {literal} AS pairs (READ_ONLY, TYPE duckdb)")
                connection.execute("USE pairs")
                # It may hold views, queries of whoever made it: they see this database and nothing else of the user.
                connection.execute("SET enable_external_access = false")
            # Of queries that take seconds it would draw a bar on stdout, where data go.
            connection.execute("SET enable_progress_bar = false")
            connection.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            raise ValueError(f"{self.where} is no readable DuckDB database ({first_line(error)}); check it.") from None
        return connection

    def _batches(self, connection: Any, sql: str, lists: list[list[str]]) -> Iterator[Any]:
        duckdb = require("duckdb", "db", f"The pair table {self.path.name}")
        try:
            answer = connection.sql(sql, params=lists or None)
            # The name of the method depends on DuckDB's version.
            reader = getattr(answer, "to_arrow_reader", None) or answer.fetch_arrow_reader
            yield from reader(BATCH)
        except duckdb.Error as error:
            raise ValueError(f"{self.where} is no readable table of pairs ({first_line(error)}); check it.") from None

    def _column_types(self) -> dict[str, str]:
        if self.kind in DATABASES:
            self.relation = quoted_table(self._only_table())
        return self._pairs_of(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {self.relation})", [])

    def _only_table(self) -> str:
        """The table asked for, or the only one."""
        sql = (
            "SELECT CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END "
            "FROM information_schema.tables WHERE table_catalog = 'pairs' ORDER BY 1"
        )
        names = [name for (column,) in self._query(sql, []) for name in column.to_pylist()]
        if self.table is None and len(names) == 1:
            return str(names[0])
        if self.table is None:
            raise ValueError(f"{self.where} has the tables {listing(names)}; pass one as table=NAME.")
        if self.table.removeprefix("main.") not in names:
            raise ValueError(f"{self.where} has no table {self.table!r}; choose from {listing(names)}.")
        return self.table

    def _listed(self, parameter: str, column: int) -> str:
        ids = f"unnest(CAST({parameter} AS {self.types[column]}[]))"
        return f"(SELECT {ids} AS id, unnest(range(len({parameter}))) AS pos)"

    def _number(self) -> str:
        value = f"p.{quoted(self.columns[2])}"
        return f"TRY_CAST({value} AS DOUBLE)" if self.kind in TEXT else f"CAST({value} AS DOUBLE)"


def first_line(error: Exception) -> str:
    """The first line of a database's message, without the query it quotes."""
    return str(error).strip().splitlines()[0].rstrip(".")
