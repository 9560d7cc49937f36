"""The report of 2000 neurons and 100000 points in a real browser: small enough to mail, and to use."""

import os

import numpy as np
import pytest
from support.pages import first_column, page_shows, until

from medianmap import BatchNeuralGas, BatchSOM
from medianmap.explore import two_best

MOST_ELEMENTS = 30_000  # of a page of 2000 neurons: ten to eleven for each


@pytest.fixture(scope="module")
def crowd():
    """100000 points, of which 2000 are prototypes: how well these were trained is nothing to a page."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100_000, 3)) + 4 * rng.integers(3, size=(100_000, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("medianmap.estimators.base.MAX_SETTLING", 0)
        once = {"n_epochs": 1, "sigma_start": 0.01, "sigma_end": 0.01, "init": X[:2000]}
        models = {"lattice": BatchSOM((40, 50), arrange=False, **once), "graph": BatchNeuralGas(2000, **once)}
        for model in models.values():
            model.fit(X[:2000])
    ids = [f"sp|Q{i:06d}|PROT{i % 977:03d}_HUMAN" for i in range(len(X))]
    y = [f"family {k}" for k in rng.integers(6, size=len(X))]
    return models, X, {"ids": ids, "y": y, "points": two_best(models["lattice"], X)}


@pytest.mark.parametrize("kind", ["lattice", "graph"])
def test_two_thousand_neurons_and_a_hundred_thousand_points(kind, crowd, write, visit):
    models, X, names = crowd
    content = page_shows(models[kind], X, **names)
    assert content["kind"] == kind
    assert content["listed"]["n_searchable"] == 100_000
    address = write(content)
    assert os.path.getsize(address.removeprefix("file://")) < 5_000_000
    page = visit(address)
    # Quick enough to use because the page draws neurons and the first members of one, never 100000 points.
    elements = page.evaluate(
        """() => { document.getElementById('n1234').dispatchEvent(new MouseEvent('click', { bubbles: true }));
        return document.getElementsByTagName('*').length; }"""
    )
    assert elements < MOST_ELEMENTS
    assert page.inner_text("#panel h2").startswith("Neuron 1234")
    assert first_column(page, 0) == content["members"][1234]["ids"][:50]
    page.fill("#search", names["ids"][99_999].lower())
    page.wait_for_selector("#found button")
    assert page.locator("#found button").all_text_contents() == [names["ids"][99_999]]
    until(page, "document.querySelectorAll('#table tbody tr').length === 2000")
