"""Dissimilarities stored as a table of pairs (row id, column id, value) in a database, read with one query per block.

What DuckDB (duckdb.py) and PostgreSQL (postgres.py) share, and the values of pairs that are not stored.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from numbers import Real
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import refuse_duplicate_ids
from .base import ALL, DenseSource, FloatArray, Index, IntArray, OwnSource, Source, fits, partly_kept

Columns: TypeAlias = "tuple[str, str, str]"

# Numbers, as DuckDB and PostgreSQL name their types, in lower case.
NUMBERS = ("tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint",
           "uhugeint", "float", "double", "real", "decimal", "numeric")  # fmt: skip


def check_missing(missing: Any) -> float | str:
    """'error', 'max', or a number >= 0."""
    if isinstance(missing, str) and missing in ("error", "max"):
        return missing
    if isinstance(missing, bool) or not isinstance(missing, Real) or not 0 <= float(missing) < np.inf:
        raise ValueError(f"missing is {missing!r}; choose 'error', 'max' (the row's maximum) or a number >= 0.")
    return float(missing)


def by_row_maxima(of_rows: FloatArray, of_columns: FloatArray, symmetric: bool) -> FloatArray:
    """The value of each missing pair (n, m) under 'max': the largest dissimilarity of its row, of_rows (n,).

    In a symmetric table it is the larger of the maxima of its two rows, so that the table stays symmetric: of_columns
    (m,) are the maxima of the rows that belong to the columns. -inf where there is none.
    """
    most = np.broadcast_to(of_rows[:, None], (len(of_rows), len(of_columns)))
    return np.maximum(most, of_columns[None, :]) if symmetric else most


class PairTable(OwnSource, ABC):
    """D[i, l] = the value of the row (ids[i], ids[l]).

    A diagonal that is not stored is 0. In a symmetric table a pair may be stored in either order, or in both with the
    same value. Every value is checked as it is read. Messages call the table `where`.
    """

    where: str
    relation: str
    columns: Columns
    types: tuple[str, str]  # of the two id columns
    ids: list[str]
    symmetric: bool
    values_are_text = False  # converted to numbers as they are read

    def __init__(
        self, columns: Sequence[str] | None, ids: Sequence[str] | None, missing: float | str, symmetric: bool | None
    ) -> None:
        self.missing = check_missing(missing)
        self._lock = Lock()
        self._connection: Any = None
        self.columns, self.types = self._three_columns(columns)
        self.ids = self._ids_in_order(ids)
        self.mirrored = symmetric is True  # whether a pair may be stored in the other order
        self.symmetric = self._find_symmetry() if symmetric is None else symmetric
        self._maxima = self._row_maxima() if self.missing == "max" else None

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection, which is kept."""

    @abstractmethod
    def _batches(self, connection: Any, sql: str, lists: list[list[str]]) -> Iterator[Any]:
        """The Arrow batches of a query whose parameters $1, $2 are lists of text."""

    @abstractmethod
    def _column_types(self) -> dict[str, str]:
        """Name -> type of the table's columns; ValueError if there is no such table."""

    @abstractmethod
    def _listed(self, parameter: str, column: int) -> str:
        """SQL for a list parameter as a table (id, pos), the ids of the type of column 0 or 1, pos counted from 0."""

    def _number(self) -> str:
        """SQL for the value as a double."""
        return f"CAST(p.{quoted(self.columns[2])} AS DOUBLE PRECISION)"

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.ids), len(self.ids)

    def block(self, rows: Index, cols: Index) -> FloatArray:
        """D[rows, cols], read from the table.

        rows, cols : slices, or arrays of places of points.
        """
        every = np.arange(len(self.ids))
        i, place_of_i = np.unique(every[rows], return_inverse=True)
        l, place_of_l = np.unique(every[cols], return_inverse=True)
        with self._lock:
            part = self._stored(i, l)
        if np.array_equal(i, every[rows]) and np.array_equal(l, every[cols]):
            return part
        return part[np.ix_(place_of_i, place_of_l)]

    def kept(self) -> Source:
        """The whole matrix, read by one query, if it fits in base.KEEP_BYTES; else as many rows as fit."""
        if not fits(len(self.ids)):
            return partly_kept(self)
        return DenseSource(self.block(ALL, ALL), self.symmetric, self.ids)

    def _stored(self, i: IntArray, l: IntArray) -> FloatArray:
        """D[i][:, l] for ascending i and l without repetition."""
        same = np.array_equal(i, l)
        values, seen = self._read(i, l, both_orders=self.mirrored and not same)
        D, have = values[0], seen[0]
        if self.mirrored:
            other, other_have = (D.T, have.T) if same else (values[1], seen[1])
            differ = have & other_have & (D != other)
            what = "is {value:g}, but has another value in the other order; set symmetric=False to keep both."
            self._refuse_where(differ, i, l, D, what)
            fill = other_have & ~have
            D[fill] = other[fill]
            have = have | fill
        absent = ~have & (i[:, None] != l[None, :])
        if absent.any():
            self._fill(D, absent, i, l)
        if D.size and not (D.min() >= 0 and D.max() < np.inf):
            what = "is {value:g}; dissimilarities must be finite numbers >= 0."
            self._refuse_where(~((D >= 0) & (D < np.inf)), i, l, D, what)
        return D

    def _read(self, i: IntArray, l: IntArray, *, both_orders: bool) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Values and whether they are stored, (orders, len(i), len(l)); the second order is that of (l, i), turned."""
        values = np.zeros((2 if both_orders else 1, len(i), len(l)))
        seen = np.zeros(values.shape, bool)
        received = 0
        with closing(self._entries([self.ids[k] for k in i], [self.ids[k] for k in l], both_orders)) as batches:
            for row, column, value, order in batches:
                if value.null_count:
                    k = value.is_null().to_pylist().index(True)
                    pair = self.ids[i[row[k].as_py()]], self.ids[l[column[k].as_py()]]
                    raise ValueError(f"{self.where}: the value of {pair} is missing or not a number; correct it.")
                at = order.to_numpy(), row.to_numpy(), column.to_numpy()
                values[at] = value.to_numpy()
                seen[at] = True
                received += len(value)
        if received > np.count_nonzero(seen):
            self._refuse_duplicates()
        return values, seen

    def _entries(self, rows: list[str], cols: list[str], both_orders: bool) -> Generator[Sequence[Any], None, None]:
        """(position in rows, position in cols, value, 0 or 1 for the other order) of the entries stored, in batches."""
        sql = " UNION ALL ".join(
            f"SELECT r.pos, c.pos, {self._number()}, {int(turned)} {self._joined(turned)}"
            for turned in (False, True)[: 1 + both_orders]
        )
        return self._query(sql, [rows, cols])

    def _joined(self, turned: bool = False) -> str:
        """SQL: the table p joined with the rows r = $1 and columns c = $2 asked for; turned: the other order."""
        a, b = (1, 0) if turned else (0, 1)
        return (
            f"FROM {self.relation} AS p JOIN {self._listed('$1', a)} AS r ON p.{quoted(self.columns[a])} = r.id "
            f"JOIN {self._listed('$2', b)} AS c ON p.{quoted(self.columns[b])} = c.id"
        )

    def _query(self, sql: str, lists: list[list[str]]) -> Generator[Sequence[Any], None, None]:
        """The columns of each batch of a query's answer."""
        if self._connection is None:
            self._connection = self._connect()
            weakref.finalize(self, self._connection.close)
        for batch in self._batches(self._connection, sql, lists):
            if batch.num_rows:
                yield batch.columns

    def _pairs_of(self, sql: str, lists: list[list[str]]) -> dict[str, str]:
        """The answer to a query of two columns of text, as a dictionary."""
        answer = self._query(sql, lists)
        return {key: value for a, b in answer for key, value in zip(a.to_pylist(), b.to_pylist(), strict=True)}

    def _three_columns(self, columns: Sequence[str] | None) -> tuple[Columns, tuple[str, str]]:
        types = self._column_types()
        if columns is None:
            if len(types) != 3:
                raise ValueError(
                    f"{self.where} has the columns {listing(types)}; name three as columns=(row, column, value)."
                )
            columns = list(types)
        if isinstance(columns, str) or len(columns) != 3:
            raise ValueError(f"columns is {columns!r}; name three, (row, column, value).")
        for name in columns:
            if name not in types:
                raise ValueError(f"{self.where} has no column {name!r}; choose from {listing(types)}.")
        a, b, v = columns
        if not self.values_are_text and not types[v].lower().startswith(NUMBERS):
            raise ValueError(f"Column {v!r} of {self.where} is of type {types[v]}; choose a column of numbers.")
        return (a, b, v), (types[a], types[b])

    def _ids_in_order(self, wanted: Sequence[str] | None) -> list[str]:
        """The ids given, or all that the table has: by number if all are whole numbers, as text otherwise."""
        # Grouped before they are converted to text, so that N ids are compared and not N^2.
        each = (f"SELECT CAST({a} AS VARCHAR) FROM {self.relation} GROUP BY {a}" for a in map(quoted, self.columns[:2]))
        sql = " UNION ".join(each)
        found = [name for (column,) in self._query(sql, []) for name in column.to_pylist()]
        if None in found:
            raise ValueError(f"{self.where} has a row without an id; give every pair two.")
        if not found:
            raise ValueError(f"{self.where} has no rows; check that this is the right table.")
        if wanted is None:
            whole = all(name.removeprefix("-").isdecimal() for name in found)
            return sorted(found, key=(lambda name: (int(name), name)) if whole else None)
        ids, known = [str(name) for name in wanted], set(found)
        for k, name in enumerate(ids):
            if name not in known:
                raise ValueError(f"ids[{k}] is {name!r}, which {self.where} does not have; correct or drop it.")
        refuse_duplicate_ids(ids, "ids", "place")
        return ids

    def _find_symmetry(self) -> bool:
        """Whether all pairs are stored in both orders with one value, or none is stored in both orders."""
        pairs = (
            f"SELECT count(*) FILTER (WHERE r.pos < c.pos) AS up, count(*) FILTER (WHERE r.pos > c.pos) AS down, "
            f"min({self._number()}) AS low, max({self._number()}) AS high {self._joined()} "
            f"WHERE r.pos <> c.pos GROUP BY least(r.pos, c.pos), greatest(r.pos, c.pos)"
        )
        sql = (
            "SELECT count(*) FILTER (WHERE up > 0 AND down > 0), count(*) FILTER (WHERE up = 0 OR down = 0), "
            f"count(*) FILTER (WHERE up > 0 AND down > 0 AND low <> high) FROM ({pairs}) AS counted"
        )
        ((both, one, different),) = ([n[0].as_py() for n in row] for row in self._query(sql, [self.ids, self.ids]))
        self.mirrored = both == 0 and one > 0
        return different == 0 and (both == 0 or one == 0)

    def _row_maxima(self) -> FloatArray:
        """The largest stored dissimilarity of each point to another, (N,); -inf where there is none."""
        most = np.full(len(self.ids), -np.inf)
        for turned in (False, True)[: 1 + self.mirrored]:
            sql = f"SELECT r.pos, max({self._number()}) {self._joined(turned)} WHERE r.pos <> c.pos GROUP BY r.pos"
            for row, value in self._query(sql, [self.ids, self.ids]):
                at = row.to_numpy()
                most[at] = np.maximum(most[at], value.to_numpy())
        return most

    def _fill(self, D: FloatArray, absent: NDArray[np.bool_], i: IntArray, l: IntArray) -> None:
        """Give missing pairs their value."""
        if self.missing == "error":
            hint = "" if self.symmetric else ", set symmetric=True if the other order has the same value,"
            what = f"is not stored; add it{hint} or set missing to a number or to 'max'."
            self._refuse_where(absent, i, l, D, what)
        if self._maxima is None:
            D[absent] = self.missing
            return
        most = by_row_maxima(self._maxima[i], self._maxima[l], self.symmetric)
        self._refuse_where(absent & (most == -np.inf), i, l, D, "is not stored and has no row maximum; add it.")
        D[absent] = most[absent]

    def _refuse_where(self, bad: NDArray[np.bool_], i: IntArray, l: IntArray, D: FloatArray, what: str) -> None:
        if bad.any():
            r, c = np.argwhere(bad)[0]
            pair = self.ids[i[r]], self.ids[l[c]]
            raise ValueError(f"{self.where}: the dissimilarity of {pair} {what.format(value=D[r, c])}")

    def _refuse_duplicates(self) -> None:
        a, b = (f"CAST({quoted(name)} AS VARCHAR)" for name in self.columns[:2])
        sql = f"SELECT {a}, {b}, count(*) FROM {self.relation} GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2 LIMIT 1"
        for a, b, count in self._query(sql, []):
            pair = a[0].as_py(), b[0].as_py()
            raise ValueError(f"{self.where} has {count[0].as_py()} rows for the pair {pair}; leave one.")

    def __getstate__(self) -> dict[str, Any]:
        # A connection belongs to its process; another process opens its own when it first needs one.
        return {**vars(self), "_connection": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.where}, {len(self.ids)} points)"


def quoted(name: str) -> str:
    """A name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def quoted_table(name: str) -> str:
    """A table's name, or schema.table."""
    return ".".join(quoted(part) for part in name.split("."))


def listing(names: Any) -> str:
    return ", ".join(repr(name) for name in names) or "none"
