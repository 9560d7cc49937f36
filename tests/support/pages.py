"""What the tests of the report do to a page in a real browser."""

import pytest

from medianmap.report import report


def until(page, true):
    """Wait for an expression to hold; the policy of the page forbids the browser's own way to wait for one."""
    for _ in range(2400):
        if page.evaluate(true):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {true}")


def first_column(page, table):
    cells = page.locator(f"#panel table.members >> nth={table} >> tbody tr td:first-child")
    return cells.all_text_contents()


def page_shows(model, X, **params):
    """What the page of a model shows, as the dictionary that its scripts draw."""
    return report(model, X, **params).content
