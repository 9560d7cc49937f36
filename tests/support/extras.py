"""Modules that only some tests need."""

import importlib
import os

import pytest


def optional(module: str):
    """Import a module that only some tests need; they are skipped without it unless nothing may be skipped."""
    required = os.environ.get("MEDIANMAP_REQUIRE_ALL")
    found = importlib.import_module(module) if required else pytest.importorskip(module)
    if module == "torch":
        found.set_num_threads(1)  # threads that wait for small tensors take long where tests run beside each other
    return found
