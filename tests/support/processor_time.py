"""pytest -p support.processor_time: the twenty tests that take most processor time, with the processes they wait for.

Seconds on the clock depend on what else the machine does; processor seconds hardly do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

SHOWN = 20
SECONDS: dict[str, float] = {}
_begun: dict[str, float] = {}


def _used() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid: str) -> None:
    _begun.setdefault(nodeid, _used())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.when == "teardown":
        item.user_properties.append(("processor", _used() - _begun.pop(item.nodeid, _used())))
        report.user_properties = item.user_properties  # which go to the process that reports
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        SECONDS[report.nodeid] = dict(report.user_properties).get("processor", 0.0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section(f"processor seconds: {sum(SECONDS.values()):.0f}, of which the slowest {SHOWN} tests")
    for test in sorted(SECONDS, key=lambda test: -SECONDS[test])[:SHOWN]:
        terminalreporter.write_line(f"{SECONDS[test]:8.2f} {test}")
