"""Fixtures that several tests use. Real data lies beside a developer's checkout and is absent from a user's clone."""

import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from support.extras import optional

# Everywhere the same examples where a build must repeat itself; new ones on a developer's machine.
settings.register_profile(
    "medianmap", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("medianmap")


# A shell ignores Ctrl-C for what it starts in the background, and so would the programs that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Dask's workers fork from a process that has the libraries loaded, as far as Dask's own configuration allows it.
if hasattr(os, "fork"):
    os.environ.setdefault("DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD", "forkserver")


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


# --- pages in a real browser ----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def browser():
    api = optional("playwright.sync_api")
    program = os.environ.get("MEDIANMAP_CHROMIUM") or shutil.which("chromium")
    if program is None:
        if os.environ.get("MEDIANMAP_REQUIRE_ALL"):
            pytest.fail("chromium is missing; install it, or name it in MEDIANMAP_CHROMIUM.")
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def write(tmp_path_factory):
    """write(content) -> the address of its page."""
    from medianmap.report.html import render

    def to_file(content) -> str:
        path = tmp_path_factory.mktemp("page") / "report.html"
        path.write_text(render(content), encoding="utf-8")
        return path.as_uri()

    return to_file


@pytest.fixture
def visit(browser):
    """visit(address) -> the page, offline; at the end nothing was logged, nothing failed, nothing was asked for."""
    opened, heard, requests = [], [], []

    def open_page(address, **options):
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 860}, "color_scheme": "light", "offline": True, **options}
        )
        opened.append(context)
        context.set_default_timeout(120_000)  # on a busy machine a page takes its time
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    for context in opened:
        context.close()
    assert heard == []
    asked = [url for url in requests if not url.startswith("blob:")]
    assert len(asked) == len(opened)
    assert all(url.startswith("file:") for url in asked)
