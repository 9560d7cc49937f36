"""
The map of a PostgreSQL table
=============================

A laboratory stores measured dissimilarities as rows (from, to, value). ``PostgresSource`` reads the blocks that a fit
needs, and the map keeps the ids of the table.

Set ``MEDIANMAP_POSTGRES`` to the address of your database (postgresql://user:password@host:5432/lab), in which the
example may create and drop a table ``measured``. Otherwise it reads the same table from DuckDB, which needs no server.

Data: simulated here: 80 samples at places along a ring, measured with noise.
"""

import os
import tempfile
from pathlib import Path

import duckdb
import numpy as np
from adbc_driver_postgresql import dbapi

from medianmap import MedianSOM, as_dissimilarity
from medianmap.sources import PairSource, PostgresSource

rng = np.random.default_rng(0)
angle = np.sort(rng.uniform(0, 2 * np.pi, 80))
ids = [f"sample{k:02d}" for k in range(80)]
place = np.column_stack([np.cos(angle), np.sin(angle)])
D = np.linalg.norm(place[:, None] - place[None], axis=2) * rng.lognormal(0, 0.05, (80, 80))
rows = [(ids[i], ids[l], float(D[i, l])) for i in range(80) for l in range(i)]  # each pair once

som = MedianSOM(grid=(4, 5), metric="precomputed", random_state=0)

# %%
# The table on the server, with an index that makes blocks quick; or in DuckDB.
address = os.environ.get("MEDIANMAP_POSTGRES")
if address:
    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS measured")
        cursor.execute("CREATE TABLE measured (a TEXT, b TEXT, d DOUBLE PRECISION)")
        cursor.executemany("INSERT INTO measured VALUES ($1, $2, $3)", rows)
        cursor.execute("CREATE INDEX ON measured (a, b)")
        connection.commit()
    source = PostgresSource(address, "measured", ("a", "b", "d"))
else:
    file = Path(tempfile.mkdtemp()) / "lab.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE measured (a TEXT, b TEXT, d DOUBLE)")
        connection.executemany("INSERT INTO measured VALUES (?, ?, ?)", rows)
    source = PairSource(str(file), "measured", ("a", "b", "d"))
print(type(source).__name__, "of", source.shape[0], "points, symmetric:", source.symmetric)
som.fit(source)
print("exemplars:", som.prototype_ids_[:6])

# %%
# The same map from the same numbers in memory. The ring stays a ring: neighbours in the table are neighbours here.
lower = np.tril(D, -1)
matrix = as_dissimilarity(lower + lower.T, ids=ids)
assert som.prototype_ids_ == MedianSOM((4, 5), metric="precomputed", random_state=0).fit(matrix).prototype_ids_
som.plot("u-matrix", matrix)
