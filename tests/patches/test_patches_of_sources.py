"""A pass over a source of objects, with or without their matrix, is the pass over the objects."""

import numpy as np
import pytest

from medianmap import (
    BatchKMeans,
    MedianKMeans,
    PatchClusterer,
    PrototypeClassifier,
    RelationalKMeans,
    as_dissimilarity,
)
from medianmap.patches.one_pass import RunOptions, run_with
from medianmap.sources.all_pairs import all_pairs


@pytest.fixture
def words(rng):
    return ["".join(rng.choice(list("ACGT"), 5 + k % 4)) for k in range(120)]


def passes(make=MedianKMeans, metric="edit", **params):
    return PatchClusterer(make(4, metric=metric, random_state=0), 40, **params)


def sources(words):
    ids = [f"w{k}" for k in range(len(words))]
    yield as_dissimilarity(words, "edit", ids=ids), ids
    yield as_dissimilarity(words, "edit", ids=ids, matrix=all_pairs(words, "edit")), ids


@pytest.mark.parametrize("merge", ["sequential", "tree"])
@pytest.mark.parametrize("make", [MedianKMeans, RelationalKMeans])
def test_a_pass_is_that_over_the_objects(make, merge, words):
    plain = passes(make, merge=merge, shuffle=True).fit(words)
    places = plain.medoid_indices_ if make is MedianKMeans else plain.exemplar_indices_
    for source, ids in sources(words):
        fitted = passes(make, merge=merge, shuffle=True).fit(source)
        assert fitted.labels_.tolist() == plain.labels_.tolist()
        assert fitted.multiplicities_.tolist() == plain.multiplicities_.tolist()
        assert fitted.inertia_ == plain.inertia_
        assert fitted.map_.metric_params_ == plain.map_.metric_params_
        assert fitted.prototype_ids_ == [ids[i] for i in places]
        assert fitted.cluster_centers_ == plain.cluster_centers_
        assert fitted.transform(["ACGTA"]).tolist() == plain.transform(["ACGTA"]).tolist()
        assert fitted.predict(source).tolist() == fitted.labels_.tolist()


@pytest.mark.parametrize("make", [MedianKMeans, RelationalKMeans])
def test_later_patches_follow_either(make, words):
    plain = passes(make).fit(words).partial_fit(words[:30])
    for source, _ in sources(words):
        later = as_dissimilarity(words[:30], "edit")
        fitted = passes(make).fit(source).partial_fit(later)
        assert fitted.multiplicities_.tolist() == plain.multiplicities_.tolist()
        assert fitted.transform(words[:9]).tolist() == plain.transform(words[:9]).tolist()
        assert passes(make).partial_fit(later).n_samples_seen_ == 30


def test_the_matrix_is_read_and_nothing_is_computed(rng):
    def fails(a, b):
        raise AssertionError("a metric was called")

    X = rng.normal(size=(60, 2))
    D = np.abs(X[:, None] - X).sum(axis=2)
    fitted = passes(metric=fails).fit(as_dissimilarity(X, fails, matrix=D, symmetric=True))
    assert fitted.cluster_centers_.tolist() == X[fitted.medoid_indices_].tolist()
    assert fitted.labels_.tolist() == D[:, fitted.medoid_indices_].argmin(axis=1).tolist()
    assert fitted.n_features_in_ == 2


def test_names_of_columns_and_parameters_fixed_by_all_points(rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rng.normal(size=(60, 2)), columns=["mass", "charge"])
    fitted = passes(metric="seuclidean").fit(
        as_dissimilarity(frame, "seuclidean", matrix=all_pairs(frame, "seuclidean"))
    )
    assert fitted.feature_names_in_.tolist() == fitted.map_.feature_names_in_.tolist() == ["mass", "charge"]
    np.testing.assert_allclose(fitted.map_.metric_params_["V"], frame.to_numpy().var(axis=0, ddof=1))


def test_a_classifier_over_such_a_pass(words):
    y = ["short" if len(word) < 7 else "long" for word in words]
    plain = PrototypeClassifier(passes(), labeling="majority").fit(words, y)
    for source, _ in sources(words):
        fitted = PrototypeClassifier(passes(), labeling="majority").fit(source, y)
        assert fitted.prototype_labels_.tolist() == plain.prototype_labels_.tolist()


@pytest.mark.parametrize(
    ("make", "facts"),
    {
        "other metric": (lambda s: passes(metric="hamming-strings").fit(s), "'edit'.*'hamming-strings'"),
        "matrix alone": (lambda s: passes().fit(s.matrix), "'edit'.*precomputed"),
        "later patch": (lambda s: passes().partial_fit(s.matrix), "'edit'.*precomputed"),
        "means": (lambda s: PatchClusterer(BatchKMeans(4), 40).fit(s), "vectors"),
    }.values(),
)
def test_what_does_not_belong_together_is_refused(make, facts, words):
    *_, (source, _) = sources(words)
    with pytest.raises((ValueError, TypeError), match=facts):
        make(source)


def test_options_of_the_run_are_not_kept(words, tmp_path):
    told, tables = [], []
    options = RunOptions(tmp_path / "state", on_patch=told.append, on_points=tables.append)
    clusterer = passes()
    before = clusterer.get_params(deep=False)
    with run_with(options):
        clusterer.fit(words)
    assert clusterer.get_params(deep=False) == before
    assert (tmp_path / "state").exists()
    assert len(told) == 3
    assert tables[0]["prototype"].tolist() == clusterer.labels_.tolist()
    assert tables[0]["dissimilarity"].tolist() == clusterer.transform(words).min(axis=1).tolist()
