"""Untrusted text inside a page: JSON that no HTML parser can mistake for markup."""

from __future__ import annotations

import json
import re
from typing import Any

# "<", ">" and "&" end or open markup, the two separators end lines of scripts, lone surrogates have no UTF-8.
_DANGEROUS = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def embedded(value: Any) -> str:
    """value as compact JSON without "<", ">", "&", U+2028, U+2029; `JSON.parse` gives back every character."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _DANGEROUS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def n_bytes(value: Any) -> int:
    """Bytes that value takes in the page."""
    return len(embedded(value).encode())
