"""Objects and their matrix in one source: a fit reads the matrix and ends with exemplar objects."""

from __future__ import annotations

import numpy as np
import pytest

import medianmap
from medianmap import MedianKMeans, MedianNeuralGas, PrototypeClassifier, as_dissimilarity
from medianmap.estimators.relational import RelationalKMeans
from medianmap.sources.all_pairs import all_pairs

WORDS = ["heron", "herons", "hero", "heroes", "quark", "quarks", "quart", "quartz", "park", "parks"]
IDS = [f"w{i}" for i in range(len(WORDS))]


def compared(tmp_path):
    all_pairs(WORDS, "edit", tmp_path / "d.npy", ids=IDS)
    return as_dissimilarity(WORDS, "edit", ids=IDS, matrix=tmp_path / "d.npy")


@pytest.mark.parametrize("make", [MedianKMeans, MedianNeuralGas])
def test_a_fit_is_that_of_the_objects(make, tmp_path):
    source = compared(tmp_path)
    fitted = make(3, metric="edit", random_state=0).fit(source)
    plain = make(3, metric="edit", random_state=0).fit(WORDS)
    assert fitted.cluster_centers_ == plain.cluster_centers_
    assert fitted.metric_params_ == plain.metric_params_
    assert fitted.prototype_ids_ == [IDS[i] for i in plain.medoid_indices_]
    assert fitted.history_.tolist() == plain.history_.tolist()
    assert not hasattr(fitted, "n_features_in_")
    assert fitted.predict(["quartzes"]) == plain.predict(["quartzes"])
    assert fitted.predict(source).tolist() == fitted.labels_.tolist() == plain.labels_.tolist()


def test_the_matrix_is_read_and_nothing_is_computed():
    def fails(a, b):
        raise AssertionError("a metric was called")

    X = np.arange(6.0)[:, None]
    D = np.abs(X - X.T)
    source = as_dissimilarity(X, fails, matrix=D, symmetric=True)
    fitted = MedianKMeans(2, metric=fails, random_state=0).fit(source)
    assert fitted.cluster_centers_.tolist() == X[fitted.medoid_indices_].tolist()
    assert fitted.n_features_in_ == 1
    assert fitted.n_evaluations_ == 21


def test_relational_maps_and_classifiers_take_it(tmp_path):
    source = compared(tmp_path)
    fitted = RelationalKMeans(2, metric="edit", random_state=0).fit(source)
    plain = RelationalKMeans(2, metric="edit", random_state=0).fit(WORDS)
    assert fitted.transform(["hare"]).tolist() == plain.transform(["hare"]).tolist()
    y = ["bird"] * 4 + ["other"] * 6
    classifier = PrototypeClassifier(MedianKMeans(3, metric="edit", random_state=0)).fit(source, y)
    assert classifier.predict(["herod"]).tolist() == ["bird"]


def test_names_of_columns_are_kept():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"mass": [0.0, 1.0, 5.0], "charge": [1.0, 1.0, 2.0]})
    source = as_dissimilarity(frame, "euclidean", matrix=all_pairs(frame, "euclidean"))
    fitted = MedianKMeans(2, metric="euclidean", random_state=0).fit(source)
    assert fitted.feature_names_in_.tolist() == ["mass", "charge"]


def test_parameters_fixed_by_the_data_stay_those_of_the_matrix():
    X = np.array([[0.0, 0.0], [1.0, 5.0], [2.0, 1.0], [9.0, 9.0]])
    source = as_dissimilarity(X, "seuclidean", matrix=all_pairs(X, "seuclidean"))
    fitted = MedianKMeans(2, metric="seuclidean", random_state=0).fit(source, sample_weight=[1, 2, 3, 4])
    assert fitted.metric_params_["V"].tolist() == source.metric.params["V"].tolist()


@pytest.mark.parametrize(
    ("call", "facts"),
    {
        "other metric": (lambda s: MedianKMeans(2, metric="hamming-strings").fit(s), "'edit'.*'hamming-strings'"),
        "matrix alone": (lambda s: MedianKMeans(2, metric="edit").fit(s.matrix), "'edit'.*precomputed"),
        "too few objects": (lambda s: as_dissimilarity(WORDS[:4], "edit", matrix=s.matrix), "4 objects.*10 x 10"),
        "other order": (
            lambda s: as_dissimilarity(WORDS, "edit", ids=[IDS[1], IDS[0], *IDS[2:]], matrix=s.matrix), "'w1'.*'w0'",
        ),
        "no metric": (lambda s: as_dissimilarity(WORDS, matrix=s.matrix), "matrix was given"),
    }.values(),
)  # fmt: skip
def test_what_does_not_belong_together_is_refused(call, facts, tmp_path):
    with pytest.raises(ValueError, match=facts):
        call(compared(tmp_path))


def test_such_a_source_can_be_reported_and_says_what_it_is(tmp_path):
    source = compared(tmp_path)
    fitted = MedianKMeans(3, metric="edit", random_state=0).fit(source)
    facts, others = medianmap.report(fitted, source).summary, medianmap.report(fitted, WORDS, ids=IDS).summary
    for each in (facts, others):  # outliers are told by all pairs where these are there, else by exemplars
        del each["outliers"], each["n_outliers"], each["scored_by_exemplars"]
        for members in each["members"]:
            del members["outlier_score"]
    assert facts == others
    assert repr(source) == "<ComparedSource of 10 objects compared by 'edit'>"
