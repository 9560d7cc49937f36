"""Shared fixtures. Real data lies beside a developer's checkout and is absent from a user's clone."""

import importlib
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Everywhere the same examples where a build must repeat itself; new ones on a developer's machine.
settings.register_profile(
    "medianmap", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("medianmap")


def optional(module: str):
    """Import a module that only some tests need; they are skipped without it unless nothing may be skipped."""
    if os.environ.get("MEDIANMAP_REQUIRE_ALL"):
        return importlib.import_module(module)
    return pytest.importorskip(module)


@pytest.fixture
def shared_data() -> Path:
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared data are not beside this checkout")
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261115)


@pytest.fixture
def put(tmp_path):
    """put(name, content) -> path of a new file with these bytes or this text."""

    def write(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
