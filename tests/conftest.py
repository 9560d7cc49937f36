"""Shared fixtures. Real data lies beside a developer's checkout and is absent from a user's clone."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("medianmap", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("medianmap")


@pytest.fixture
def shared_data() -> Path:
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared data are not beside this checkout")
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261115)
