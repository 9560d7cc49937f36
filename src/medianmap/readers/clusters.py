"""Cluster files of MMseqs2, Foldseek and CD-HIT: the members of each cluster and its representative."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike

from .columns import guess_delimiter, is_id_name, split_rows
from .records import Opened, opening

# "12  141aa, >HBA_HUMAN... *" and "13  141nt, >x... at +/99.10%": the name ends at the last three dots before the sign.
_CLSTR_MEMBER = re.compile(r"\d+\s+\d+(?:aa|nt), >(?P<name>.+)\.\.\.\s+(?P<sign>\*|at\s.+)")
_CLSTR_HEADER = re.compile(r">Cluster\s+(?P<name>\S+)")


@dataclass(frozen=True)
class Clusters:
    """K clusters: their names, the ids that represent them (K of each), and the ids of their members in file order.

    Every id is a member of one cluster only, and every representative is a member of its own.
    """

    names: list[str]
    representatives: list[str]
    members: list[list[str]]

    def __len__(self) -> int:
        return len(self.names)


# Number of the line, the cluster (by any key), its member there, and whether the member represents it.
Line = tuple[int, str, str, bool]


def read_clusters(path: str | PathLike[str]) -> Clusters:
    """Read a two-column table (representative, member) by tabs, or a CD-HIT .clstr file; plain, .gz or "-".

    The contents say which of the two it is. Clusters of a table are called "0", "1", .. in the order in which they
    first occur, those of a .clstr file as the file calls them.

    path : the file.
    """
    with opening(path) as opened:
        first = next((line for line in opened.sample() if line.strip()), "")
        if _CLSTR_HEADER.match(first):
            return _gathered(opened.name, _clstr_lines(opened), numbered=False)
        if first.startswith(">"):
            raise ValueError(f"{opened.name} looks like sequences, not clusters; give a .tsv or .clstr file.")
        return _gathered(opened.name, _table_lines(opened), numbered=True)


def read_ids(path: str | PathLike[str], among: Sequence[str] | None = None) -> list[str]:
    """The ids in a file, each once: of a table by tabs, commas or semicolons a column, of other text the lines, of
    sequences the first word of every header, of a .clstr file the representatives.

    The column is the one called "id" or the like, or the first, which of a table of MMseqs2 or Foldseek has the
    representatives; where that has none of the ids `among`, the first that has some.

    path : the file.
    among : ids of the data, which say what in the file is an id and what is the name of a column; None knows none.
    """
    with opening(path) as opened:
        first = next((line for line in opened.sample() if line.strip()), "")
        if _CLSTR_HEADER.match(first):
            return _gathered(opened.name, _clstr_lines(opened), numbered=False).representatives
        if first.startswith(">"):
            return list(
                dict.fromkeys(line[1:].split()[0] for line in opened.lines() if line[:1] == ">" and line[1:].strip())
            )
        known = set(among or ())
        lines = [line.strip() for line in opened.sample() if line.strip()]
        whole = any(line in known for line in lines)  # an id may have a comma in it
        delimiter = "" if whole or not lines else guess_delimiter(lines, opened.extension).strip(" ")
        rows = [cells for _, cells in split_rows(opened.lines(), delimiter, opened.name)]
    columns = [[row[k].strip() for row in rows if k < len(row)] for k in range(max(map(len, rows), default=0))]
    columns.sort(key=lambda cells: not _names_ids(cells[0]))  # one that is called so comes first
    ids = next((cells for cells in columns if not known.isdisjoint(cells)), columns[0] if columns else [])
    if (
        len(ids) > 1
        and ids[0] not in known
        and (_names_ids(ids[0]) or (len(columns) > 1 and known.issuperset(ids[1:])))
    ):
        ids = ids[1:]  # the name of the column
    if not any(ids):
        raise ValueError(f"{opened.name} is empty; write one id per line.")
    return list(dict.fromkeys(filter(None, ids)))


def _names_ids(title: str) -> bool:
    """Whether a column has the ids of the exemplars, as exemplars.tsv of a map calls them or others do."""
    return is_id_name(title) or title.lower() in ("exemplar", "exemplar_id", "medoid", "representative")


def _table_lines(opened: Opened) -> Iterator[Line]:
    for number, line in enumerate(opened.lines(), 1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise ValueError(
                f"{opened.name}: line {number} is not two ids with a tab between them, representative and member: "
                f"{line.strip()[:60]!r}; write one such pair per line."
            )
        yield number, cells[0], cells[1], cells[0] == cells[1]


def _clstr_lines(opened: Opened) -> Iterator[Line]:
    cluster = None
    began: dict[str, int] = {}
    for number, line in enumerate(opened.lines(), 1):
        text = line.strip()
        if header := _CLSTR_HEADER.fullmatch(text):
            if cluster is not None and cluster not in began:
                raise ValueError(f"{opened.name}: the cluster before line {number} has no members; remove its header.")
            cluster = header["name"]
            if cluster in began:
                raise ValueError(
                    f"{opened.name}: line {number} opens cluster {cluster} again, which has its members from line "
                    f"{began[cluster]} on; give every cluster a name of its own."
                )
        elif text:
            member = _CLSTR_MEMBER.fullmatch(text)
            if member is None or cluster is None:
                raise ValueError(
                    f"{opened.name}: line {number} is neither a '>Cluster' header nor a member of CD-HIT's form "
                    f"'0  141aa, >id... *': {text[:60]!r}; check that the file is whole."
                )
            began.setdefault(cluster, number)
            yield number, cluster, member["name"], member["sign"] == "*"
    if cluster not in began:
        raise ValueError(f"{opened.name} ends after the header of cluster {cluster}; check that the file is whole.")


def _gathered(name: str, lines: Iterator[Line], numbered: bool) -> Clusters:
    """The lines by cluster; ValueError for an id that occurs twice, or a cluster without exactly one representative."""
    seen: dict[str, int] = {}
    members: dict[str, list[str]] = {}
    chosen: dict[str, str] = {}
    opened_at: dict[str, int] = {}
    for number, cluster, member, represents in lines:
        if member in seen:
            raise ValueError(f"{name}: lines {seen[member]} and {number} both have the member {member!r}; drop one.")
        seen[member] = number
        members.setdefault(cluster, []).append(member)
        opened_at.setdefault(cluster, number)
        if represents:
            if cluster in chosen:
                raise ValueError(
                    f"{name}: line {number} marks a second representative of cluster {cluster}, "
                    f"{member!r} after {chosen[cluster]!r}; mark one with '*'."
                )
            chosen[cluster] = member
    bare = next((cluster for cluster in members if cluster not in chosen), None)
    if bare is not None:
        lack = f"cluster {bare} has no representative; mark one of its members with '*'"
        if numbered:
            lack = f"the representative {bare!r} is not a member of its own cluster; add a line with it in both columns"
        raise ValueError(f"{name}: line {opened_at[bare]}: {lack}.")
    keys = list(members)
    names = [str(k) for k in range(len(keys))] if numbered else keys
    return Clusters(names, [chosen[key] for key in keys], [members[key] for key in keys])
