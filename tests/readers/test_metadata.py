"""Files of labels: which column has the ids, which the labels, and what is said of points that are missing."""

import sys

import numpy as np
import pandas as pd
import pytest
from support.extras import optional

import medianmap
from medianmap import MedianKMeans, as_dissimilarity
from medianmap.readers import read
from medianmap.readers.labels import from_file

IDS = ["a", "b", "c", "d"]


def test_ids_are_where_most_of_them_are(put):
    path = put("m.csv", "age,site,subject\n1,gut,a\n2,gut,b\n1,skin,c\n2,skin,d\n")
    found = from_file(f"{path}:site", IDS, "D")
    assert (found.labels, found.columns, found.notes) == (
        ["gut", "gut", "skin", "skin"], {"age": ["1", "2", "1", "2"]}, ()
    )  # fmt: skip
    assert from_file(f"{path}:Site", IDS, "D").labels == found.labels
    path = put("m.csv", "id,subject,site\n1,a,x\n2,b,y\n")  # its own numbers are not the ids of the data
    assert from_file(f"{path}:site", IDS[:2], "D").labels == ["x", "y"]


def test_quoted_cells_and_missing_values(put):
    path = put("m.csv", 'id,site,"what, else"\na,"gut, left",1\nb,NA,\nc,"say ""x""",3\nd,-1,4\n')
    found = from_file(f"{path}:site", IDS, "D")
    assert found.labels == ["gut, left", None, 'say "x"', "-1"]
    assert found.columns == {"what, else": ["1", None, "3", "4"]}


def test_two_columns_need_no_names(put):
    assert from_file(str(put("m.tsv", "a\tx\nb\ty\n")), IDS[:2], "D").labels == ["x", "y"]
    assert from_file(str(put("m.txt", "# mine\na x\nb y\n")), IDS[:2], "D").labels == ["x", "y"]
    assert from_file(str(put("m.txt", "x\ny\n")), IDS[:2], "D").labels == ["x", "y"]
    assert from_file(str(put("m.tsv", "a\tx\tu\nb\ty\tv\n")), IDS[:2], "D").columns == {"column 2": ["u", "v"]}


def test_a_workbook_that_is_none_and_one_without_its_reader(put, monkeypatch):
    optional("python_calamine")
    with pytest.raises(ValueError, match=r"x\.xlsx is no whole Excel workbook"):
        read(put("x.xlsx", "a,b\n1,2\n"))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ModuleNotFoundError, match=r"x.xlsx is an Excel workbook.*pip install 'medianmap\[excel\]'"):
        read(put("x.xlsx", "a,b\n1,2\n"))


def test_the_index_of_a_frame_or_series_is_the_ids():
    words = pd.Series(["heron", "herons", "quark", "quarks"], index=IDS)
    fitted = MedianKMeans(2, metric="edit", init=[0, 2]).fit(words)
    assert fitted.prototype_ids_ == ["a", "c"]
    assert as_dissimilarity(words, "edit").ids == IDS
    X = pd.DataFrame(np.arange(8.0).reshape(4, 2), index=IDS)
    assert as_dissimilarity(X, "euclidean").ids == IDS
    assert as_dissimilarity(X.reset_index(drop=True), "euclidean").ids is None
    assert as_dissimilarity(X.set_axis(["a", "a", "b", "c"]), "euclidean").ids is None
    y = pd.Series(["q", "q", "h", "h"], index=["c", "d", "a", "b"])
    meta = pd.DataFrame({"year": [3, 4, 1, 2]}, index=["c", "d", "a", "b"])
    page = medianmap.report(fitted, words, y=y, metadata=meta)
    assert [neuron["majority"] for neuron in page.summary["neurons"]] == ["h", "q"]
    assert page.summary["columns"] == [{"name": "year", "values": ["1", "2", "3", "4"]}]
    assert [members["columns"] for members in page.summary["members"]] == [[[0, 1]], [[2, 3]]]
    with pytest.raises(ValueError, match="index of y lacks 1 of 4 points, first 'd'"):
        medianmap.report(fitted, words, y=y.drop("d"))
