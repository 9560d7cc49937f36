"""What the tests of the report do to a page in a real browser."""

import pytest


def until(page, true):
    """Wait for an expression to hold; the policy of the page forbids the browser's own way to wait for one."""
    for _ in range(300):
        if page.evaluate(true):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {true}")


def first_column(page, table):
    cells = page.locator(f"#panel table.members >> nth={table} >> tbody tr td:first-child")
    return cells.all_text_contents()
