"""docs/python.md matches the code. `make docs` writes it again."""

from __future__ import annotations

import opensearch_winnow
from tools.python_reference import PAGE, SECTIONS, written


def test_every_public_name_is_listed() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(opensearch_winnow.__all__)


def test_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "run make docs to write it again"
