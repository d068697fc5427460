"""The options of a run over the rows of a data set."""

from __future__ import annotations

from dataclasses import dataclass

from opensearch_winnow.foundation.option_kinds import SIZE
from opensearch_winnow.foundation.options import Options, group, option
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.ingest.rows import FieldNames


@dataclass(frozen=True, kw_only=True)  # without slots, so that a class can derive from this one and from another
class RowOptions(Options):
    """The options for reading rows, and the function that is told the progress."""

    fields: FieldNames = group(FieldNames)
    max_row_size: int = option(MAX_PAGE_BYTES, SIZE, "Rows with a larger text fail.")
    progress: Progress | None = None
