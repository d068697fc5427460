"""docs/python.md matches the code. `make docs` writes it again."""

from __future__ import annotations

import pytest

import opensearch_winnow
from opensearch_winnow.foundation.stub_names import names_in_stub
from tools.python_reference import PAGE, SECTIONS, updated


def test_every_name_of_the_top_module_is_listed() -> None:
    """All names of the other modules are listed in alphabetical order."""
    listed = [name for module, names in SECTIONS.values() for name in names if not module]
    assert sorted(listed) == sorted(names_in_stub(str(opensearch_winnow.__file__)))


@pytest.mark.check  # needs the packages of all public functions, Spark's too
def test_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == updated(page), "run make docs to write it again"
