"""`PostgresSource`: D read from a table of pairs in PostgreSQL, through ADBC; ids are sent as array parameters."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from ..utils.loading import require
from .duckdb import first_line
from .pair_table import PairTable, quoted, quoted_table


class PostgresSource(PairTable):
    """D[i, l] = the value of the row (ids[i], ids[l]) of a table on a PostgreSQL server.

    Parameters
    ----------
    uri : the server and database, for example "postgresql://user:password@host:5432/database".
    table : "table" or "schema.table"; it may be a view.
    columns, ids, missing, symmetric : as in `PairSource`.

    An index on (row, column), and one on (column, row) if pairs are stored in one order, makes small blocks fast.
    A source sent to another process carries the address and its password; messages never show it.
    """

    def __init__(
        self, uri: str, table: str, columns: Sequence[str] | None = None, *, ids: Sequence[str] | None = None,
        missing: float | str = "error", symmetric: bool | None = None,
    ) -> None:  # fmt: skip
        self.uri = uri
        self.where = f"The table {table!r}"
        self.relation = quoted_table(table)
        super().__init__(columns, ids, missing, symmetric)

    def _connect(self) -> Any:
        dbapi = require("adbc_driver_postgresql.dbapi", "db", "A PostgreSQL table")
        require("pyarrow", "db", "A PostgreSQL table")
        try:
            return dbapi.connect(self.uri, autocommit=True)
        except dbapi.Error as error:
            raise ValueError(f"The PostgreSQL server cannot be used ({self._said(error)}); check the URI.") from None

    def _batches(self, connection: Any, sql: str, lists: list[list[str]]) -> Iterator[Any]:
        dbapi = require("adbc_driver_postgresql.dbapi", "db", "A PostgreSQL table")
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql, parameters=_one_row(lists) if lists else None)
                yield from cursor.fetch_record_batch()
        except dbapi.Error as error:
            connection.close()  # it may be broken: the next query gets a new one
            self._connection = None
            raise ValueError(f"{self.where} is no readable table of pairs ({self._said(error)}); check it.") from None

    def _column_types(self) -> dict[str, str]:
        sql = (
            "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute "
            "WHERE attrelid = to_regclass(($1::text[])[1]) AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        )
        types = self._pairs_of(sql, [[self.relation]])
        if not types:
            raise ValueError(f"{self.where} is not in the database, or you may not read it; check its name and schema.")
        return types

    def _listed(self, parameter: str, column: int) -> str:
        ids = f"unnest(CAST({parameter}::text[] AS {self.types[column]}[]))"
        return f"(SELECT id, pos - 1 AS pos FROM {ids} WITH ORDINALITY AS given (id, pos))"

    def _entries(self, rows: list[str], cols: list[str], both_orders: bool) -> Generator[Sequence[Any], None, None]:
        # The server finds the rows and Arrow their positions: joining with the lists takes the server twice as long.
        pyarrow, compute = (require(name, "db", "A PostgreSQL table") for name in ("pyarrow", "pyarrow.compute"))
        sets = pyarrow.array(rows, pyarrow.string()), pyarrow.array(cols, pyarrow.string())
        sql = " UNION ALL ".join(self._asked_for(turned) for turned in (False, True)[: 1 + both_orders])
        for row, column, value, order in self._query(sql, [rows, cols]):
            yield compute.index_in(row, value_set=sets[0]), compute.index_in(column, value_set=sets[1]), value, order

    def _asked_for(self, turned: bool) -> str:
        a, b = (1, 0) if turned else (0, 1)
        names = [f"p.{quoted(self.columns[k])}" for k in (a, b)]
        lists = [f"CAST({parameter}::text[] AS {self.types[k]}[])" for parameter, k in (("$1", a), ("$2", b))]
        return (
            f"SELECT CAST({names[0]} AS VARCHAR), CAST({names[1]} AS VARCHAR), {self._number()}, {int(turned)} "
            f"FROM {self.relation} AS p WHERE {names[0]} = ANY ({lists[0]}) AND {names[1]} = ANY ({lists[1]})"
        )

    def _said(self, error: Exception) -> str:
        """The message of the server or its driver, in one line and without the password."""
        said = first_line(error).removeprefix("IO: ").removeprefix("[libpq] ")
        try:
            password = urlsplit(self.uri).password
        except ValueError:
            return "its address cannot be understood"
        if "connection info string" in said:  # what follows is a part of the address, perhaps of the password
            return "its address cannot be understood"
        for secret in {password, unquote(password)} if password else ():
            said = said.replace(secret, "***")
        return said


def _one_row(lists: list[list[str]]) -> Any:
    """The parameters $1, $2 ... as one Arrow row, each a list of text."""
    pyarrow = require("pyarrow", "db", "A PostgreSQL table")
    columns = [pyarrow.array([each], pyarrow.list_(pyarrow.string())) for each in lists]
    return pyarrow.record_batch(columns, names=[str(k + 1) for k in range(len(lists))])
