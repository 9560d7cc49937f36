"""Cluster files of MMseqs2, Foldseek and CD-HIT: what is read, and the line that a mistake is on."""

import gzip
import re

import pytest

from medianmap.readers.clusters import Clusters, read_clusters

TABLE = "a\ta\na\tb\nc\tc\na\td\n"
CLSTR = """>Cluster 0
0\t146aa, >HBB_HUMAN... *
1\t141aa, >sp|P69905|HBA...1... at 43.26%
>Cluster 7
0\t12nt, >read.1... at 1:12:1:12/+/99.10%
1\t13nt, >read.2... *
"""


def test_a_table_of_representatives_and_members(put):
    expected = Clusters(["0", "1"], ["a", "c"], [["a", "b", "d"], ["c"]])
    assert read_clusters(put("c.tsv", TABLE)) == expected
    assert read_clusters(put("c.tsv.gz", gzip.compress(TABLE.encode()))) == expected
    assert read_clusters(put("crlf.tsv", "\ufeff" + TABLE.replace("\n", "\r\n") + "\r\n")) == expected


def test_a_clstr_file_of_cd_hit(put):
    expected = Clusters(["0", "7"], ["HBB_HUMAN", "read.2"], [["HBB_HUMAN", "sp|P69905|HBA...1"], ["read.1", "read.2"]])
    assert read_clusters(put("c.clstr", CLSTR)) == expected
    assert read_clusters(put("any.name", gzip.compress(CLSTR.replace("\n", "\r\n").encode()))) == expected
    assert len(expected) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\ta\na b\n", "line 2 is not two ids with a tab between them"),
        ("a\ta\na\tb\t3\n", "line 2 is not two ids"),
        ("a\ta\n\nb\t\n", "line 3 is not two ids"),
        ("a\ta\na\tb\nb\tb\n", "lines 2 and 3 both have the member 'b'"),
        ("a\ta\na\tb\na\tb\n", "lines 2 and 3 both have the member 'b'"),
        ("a\ta\nb\tc\n", "line 2: the representative 'b' is not a member of its own cluster"),
        (">seq one\nACD\n", "looks like sequences, not clusters"),
        ("", "is empty"),
        (">Cluster 0\n0\t1aa, >a... *\n1\t1aa, >b...\n", "line 3 is neither"),
        (">Cluster 0\n0\t1aa, >a... *\n1\t1aa, >a... at 9%\n", "lines 2 and 3 both have the member 'a'"),
        (">Cluster 0\n0\t1aa, >a... *\n1\t1aa, >b... *\n", "line 3 marks a second representative of cluster 0, 'b'"),
        (">Cluster 0\n0\t1aa, >a... at 9%\n", "line 2: cluster 0 has no representative"),
        (">Cluster 0\n>Cluster 1\n0\t1aa, >a... *\n", "the cluster before line 2 has no members"),
        (">Cluster 0\n0\t1aa, >a... *\n>Cluster 1\n", "ends after the header of cluster 1"),
        (">Cluster 0\n0\t1aa, >a... *\n>Cluster 0\n0\t1aa, >b... *\n", "line 3 opens cluster 0 again"),
        ("a\ta\na\t\xff\n".encode("latin-1"), "line 2 has the byte 0xff"),
        (gzip.compress(TABLE.encode(), mtime=0)[:-9], "truncated"),
    ],
)
def test_a_mistake_names_its_line(put, content, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_clusters(put("c.txt", content))


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_clusters(tmp_path / "none.tsv")
