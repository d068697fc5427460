"""Makes cells of CSV harmless to spreadsheets."""

from __future__ import annotations

FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four are wide forms of the first four


def escape_formula(cell: str | float | None) -> str | float | None:
    """Put an apostrophe before text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell
