"""Sorting more lines than fit into memory."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opensearch_winnow.operations.crawls import export_rows as module
from opensearch_winnow.operations.crawls.export_rows import sorted_lines


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text("ab\u00e9\U0001f33e", max_size=3).map(lambda text: f"{text}\n"), max_size=20), st.integers(1, 7)
)
def test_lines_are_sorted_whatever_fits_into_memory(
    monkeypatch: pytest.MonkeyPatch, lines: list[str], in_memory: int
) -> None:
    monkeypatch.setattr(module, "LINES_IN_MEMORY", in_memory)
    assert list(sorted_lines(lines)) == sorted(lines)
