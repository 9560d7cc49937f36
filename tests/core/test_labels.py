"""Labels of every type and form become the same label vectors, and what is missing stays missing."""

import datetime
from collections import deque

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import Bunch

from medianmap.core.labels import (
    UNSEEN,
    LabelVectors,
    as_label_vectors,
    class_numbers,
    is_unlabelled,
    training_labels,
    without_marks,
)

GAP = [0, 1, -1, 1]  # the class numbers of four points, the third without label

HARD = {
    "masked numbers": np.ma.array([3, 5, 4, 5], mask=[0, 0, 1, 0]),
    "masked strings": np.ma.array(["a", "b", "c", "b"], mask=[0, 0, 1, 0]),
    "a masked entry in a list": [3, 5, np.ma.masked, 5],
    "bytes": [b"a", b"b", None, b"b"],
    "pandas whole numbers": pd.Series([2**60, 2**60 + 1, None, 2**60 + 1], dtype="Int64"),
    "pandas truth values": pd.array([False, True, None, True], dtype="boolean"),
    "pandas strings": pd.Series(["a", "b", None, "b"], dtype="string"),
    "pandas categories": pd.Categorical(["a", "b", None, "b"]),
    "dates": np.array(["2020-01-01", "2021-01-01", "NaT", "2021-01-01"], "M8[ns]"),
    "dates in a list": [np.datetime64("2020"), np.datetime64("2021"), np.datetime64("NaT", "Y"), np.datetime64("2021")],
    "dates in a series": pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", None, "2021-01-01"])),
    "a deque": deque([3, 5, None, 5]),
}
FUZZY = {
    "masked rows": np.ma.array([[3, 1], [1, 3], [1, 1], [1, 3]], mask=[[0, 0], [0, 0], [1, 1], [0, 0]]),
    "None in the place of a row": [[3, 1], [1, 3], None, [1, 3]],
    "NaN in the place of a row": [np.array([3, 1]), (1, 3), np.nan, [1, 3]],
    "pandas numbers with gaps": pd.DataFrame({c: pd.array([*v], dtype="Float64") for c, v in
                                              {"a": [3, 1, None, 1], "b": [1, 3, None, 3]}.items()}),
    "huge": np.array([[1.5e308, 0.5e308], [0.5e308, 1.5e308], [np.nan, np.nan], [0.5e308, 1.5e308]]),
}  # fmt: skip

if hasattr(np.dtypes, "StringDType"):  # NumPy 2
    HARD["NumPy strings with gaps"] = np.array(["a", "b", np.nan, "b"], np.dtypes.StringDType(na_object=np.nan))


@pytest.mark.parametrize("kind", HARD)
def test_hard_labels_of_every_type(kind):
    labels = as_label_vectors(HARD[kind], 4)
    assert labels.numbers.tolist() == GAP
    assert len(labels.classes) == 2
    assert labels.known.tolist() == [True, True, False, True]


def test_what_classes_are_called():
    assert as_label_vectors(range(3, 6), 3).classes.tolist() == [3, 4, 5]
    assert as_label_vectors(HARD["pandas whole numbers"], 4).classes.tolist() == [2**60, 2**60 + 1]  # no float between
    assert as_label_vectors(HARD["bytes"], 4).classes.tolist() == [b"a", b"b"]
    text = getattr(np.dtypes, "StringDType", lambda: str)()
    assert as_label_vectors(np.array(["x", "y"], text), 2).classes.tolist() == ["x", "y"]


@pytest.mark.parametrize("kind", FUZZY)
def test_fuzzy_labels_of_every_form(kind):
    labels = as_label_vectors(FUZZY[kind], 4)
    assert labels.numbers.tolist() == GAP
    np.testing.assert_allclose(labels.y, [[0.75, 0.25], [0.25, 0.75], [0, 0], [0.25, 0.75]])


@given(st.lists(st.lists(st.floats(0, 1e300), min_size=3, max_size=3).filter(any), min_size=1, max_size=8))
def test_shares_are_the_rows_divided_by_their_sums(rows):
    y = as_label_vectors(rows, len(rows)).y
    shares = np.array(rows)
    np.testing.assert_allclose(y, shares / shares.sum(axis=1, keepdims=True), rtol=0, atol=1e-300)


REFUSED = {
    "tuples": (pd.Series([("a", 1), ("b", 2)]), r"y\[0\] is a tuple; labels are strings"),
    "lists in a series": (pd.Series([[1, 2], [3]]), r"y\[0\] is a list; labels are"),
    "sets": ([{1}, {2}], r"y\[0\] is a set; labels are"),
    "date objects": (["a", datetime.date(2020, 1, 1)], r"y\[1\] is a date; labels are"),
    "anything": ([None, Bunch()], r"y\[1\] is a Bunch; labels are"),
    "complex": (np.array([1j, 2]), "y is complex"),
    "complex shares": (np.ones((2, 2), complex), "y is complex"),
    "complex in a list": ([1j, 2], r"y\[0\] is a complex"),
    "too large a number": ([2**70, 1], "numbers of at most 64 bits"),
    "records": (np.zeros(2, [("a", int)]), "y holds values of type"),
    "durations": (np.array([1, 2], "m8[s]"), "y holds values of type timedelta64"),
    "bytes and strings": (["a", b"a"], r"y mixes strings \(y\[0\]\) with bytes \(y\[1\]\)"),
    "rows of two lengths": ([[1, 2], [1]], r"y\[0\] has 2 shares, but y\[1\] has 1"),
    "a word among rows": ([[1, 2], "a"], r"y\[0\] is a row of shares, but y\[1\] is a str"),
    "a partly masked row": (np.ma.array(np.ones((2, 2)), mask=[[0, 0], [0, 1]]), r"y\[1, 1\] is nan"),
    "two columns of one name": (pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), "Two columns of y are named 'a'"),
    "a set of labels": ({1, 2}, "y is a set"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_one_clear_sentence(case):
    y, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence) as raised:
        as_label_vectors(y, 2)
    assert len(str(raised.value)) < 150
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("missing", ["nan", "None", "<NA>"])
def test_a_missing_label_that_became_text_is_warned_about_where_the_caller_is(missing):
    with pytest.warns(UserWarning, match=f"'{missing}' is taken as the name of a class") as caught:
        training_labels(np.array(["a", missing]), np.ones(2), stacklevel=2)
    assert caught[0].filename == __file__
    training_labels(
        ["a", missing], np.ones(2), stacklevel=2
    )  # text of the user's own, and pytest makes warnings errors
    training_labels(np.array(["1", "-1"]), np.ones(2), stacklevel=2)


def test_numbers_of_known_and_unknown_classes_in_any_order():
    # Columns are matched by name: the frame has them in another order, and one more.
    frame = pd.DataFrame({"c": [0.1, 0.9, 0.2], "b": [0.6, 0.0, 0.1], "a": [0.3, 0.1, 0.7]})
    with pytest.warns(UserWarning, match=r"y\[1\] is c, a class that no training point had.*1 such"):
        numbers, labels = class_numbers(frame, 3, np.array(["a", "b"]))
    assert numbers.tolist() == [1, UNSEEN, 0]
    assert labels.classes[labels.numbers].tolist() == ["b", "c", "a"]
    assert class_numbers([None, None], 2, np.array(["a"]))[0].tolist() == [-1, -1]
    dates = np.array(["2020", "2021"], "M8[Y]")
    assert class_numbers(dates.astype("M8[ns]"), 2, dates)[0].tolist() == [0, 1]


def test_a_single_value_is_missing_or_not():
    missing = [None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "D"), np.ma.masked]
    assert all(map(is_unlabelled, missing))
    assert not any(map(is_unlabelled, ["", "-1", -1, -1.0, np.int8(-1), 0, False, b"", np.datetime64("2020"), 1.5]))


def test_no_class_at_all_has_no_numbers():
    nothing = LabelVectors(np.empty(0), np.zeros((2, 0)), np.zeros(2, bool))
    assert nothing.numbers.tolist() == [-1, -1]


@pytest.mark.parametrize("kind", HARD)
def test_marks_become_missing_labels_whatever_holds_them(kind):
    y = HARD[kind]
    assert without_marks(y, None) is y
    labels = as_label_vectors(without_marks(y, "no such label"), 4)
    assert labels.numbers.tolist() == GAP
    mark = labels.classes[0]
    if labels.classes.dtype.kind != "M":
        assert as_label_vectors(without_marks(y, mark), 4).known.tolist() == [False, True, False, True]


def test_marked_rows_of_shares_are_missing():
    rows = [[3, 1], [-1, -1], None, [1, 3]]
    frame = pd.DataFrame([[3, 1], [-1, -1], [np.nan, np.nan], [1, 3]], columns=["a", "b"])
    for y in (rows, frame, frame.to_numpy(), np.ma.masked_invalid(frame.to_numpy())):
        labels = as_label_vectors(without_marks(y, -1), 4)
        assert labels.known.tolist() == [True, False, False, True]
        np.testing.assert_allclose(labels.y[[0, 3]], [[0.75, 0.25], [0.25, 0.75]])
        with pytest.raises(ValueError, match=r"y\[1, 0\] is -1"):
            as_label_vectors(y, 4)
    assert as_label_vectors(without_marks(frame, -1), 4).classes.tolist() == ["a", "b"]
