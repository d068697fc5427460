"""Reads the pages of a split, in any format."""

from __future__ import annotations

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.files import file_uri
from opensearch_winnow.ingest.sources.formats import reader
from opensearch_winnow.ingest.sources.row_fields import ROW_FORMATS
from opensearch_winnow.ingest.sources.source_row import RowChoice
from opensearch_winnow.ingest.sources.split import Damage, Failed, Items, Split


def read(split: Split, page_bytes: int) -> Items:
    """Yield the items of `split`. The content of a page has at most `page_bytes`."""
    return (_read_rows if split.format in ROW_FORMATS else reader(split.format).read)(split, page_bytes)


def _read_rows(split: Split, page_bytes: int) -> Items:
    """Yield a page for each row of `split`. One without an id is at the URL of its file, with the row as fragment."""
    choice = RowChoice(page_bytes, split.fields)
    source = split.base or file_uri(split.path)
    offset = split.start
    try:
        for offset, row in reader(split.format).rows(split, choice):
            item = row if row is None or isinstance(row, Damage) else row.item(f"{source}#{row.fragment}", choice)
            if item is not None or row is None:
                yield offset, item
    except OSError as error:
        yield offset, Failed(Page(source, html=b""), f"cannot be read: {error.strerror}")
        yield split.end or offset, None
