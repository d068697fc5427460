"""Gives the text of a row: as its field has it, or the visible text of its HTML."""

from __future__ import annotations

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES, Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record


class RowTexts:
    """Returns the text of a page; None if it has HTML that cannot be read, or none that is visible."""

    def __init__(self, max_size: int = MAX_PAGE_BYTES) -> None:
        self._recipe = Recipe(max_page_size=max_size)
        self._maker: RecordMaker | None = None

    def __call__(self, page: Page) -> str | None:
        if page.text is not None:
            return page.text
        self._maker = self._maker or RecordMaker(self._recipe)
        made = self._maker.make(page)
        return made.text if isinstance(made, Record) else None
