"""docs/python.md says what the code says. `make docs` writes it anew."""

from __future__ import annotations

import opensearch_winnow
from tools.python_reference import PAGE, SECTIONS, written


def test_every_public_name_is_in_the_page() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(opensearch_winnow.__all__)


def test_the_page_is_as_the_code_is() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "write it anew: make docs"
