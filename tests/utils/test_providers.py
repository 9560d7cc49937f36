"""Names that lower folders ask of higher ones."""

from __future__ import annotations

import pytest

import medianmap
from medianmap.utils.loading import provide, provided


def test_every_public_name_is_provided_and_loaded_when_asked_for():
    for name in set(medianmap.__all__) - {"__version__"}:
        assert provided(name) is getattr(medianmap, name)
    assert callable(provided("summary_html"))
    assert callable(provided("plot_model"))
    asked = []
    provide("a name of this test", lambda: asked.append(1) or "found")
    assert not asked
    assert provided("a name of this test") == "found"
    with pytest.raises(KeyError, match="nobody"):
        provided("nobody")
