"""Modules that only some tests need."""

import importlib
import os

import pytest


def optional(module: str):
    """Import a module that only some tests need; they are skipped without it unless nothing may be skipped."""
    if os.environ.get("MEDIANMAP_REQUIRE_ALL"):
        return importlib.import_module(module)
    return pytest.importorskip(module)
