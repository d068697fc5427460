"""The tables that a clustering makes."""

from __future__ import annotations

import pyarrow as pa

from opensearch_winnow.mappings.record_columns import TIME

# A row for each page.
CLUSTERS = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("fetched_at", TIME),
        pa.field("capture", pa.string(), nullable=False),  # the id of the record
        pa.field("cluster", pa.string(), nullable=False),  # the id of its representative's
        pa.field("representative", pa.string(), nullable=False),  # the URL of that one
        pa.field("resemblance", pa.float64(), nullable=False),  # to it
        pa.field("error", pa.float64(), nullable=False),  # the standard error of that; 0: exact
    ]
)
# Why pages are in one cluster. Of pages with the same shingles each is an edge to the first of them.
EDGES = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),  # of the earlier page
        pa.field("other_url", pa.string(), nullable=False),
        pa.field("capture", pa.string(), nullable=False),
        pa.field("other_capture", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64(), nullable=False),
        pa.field("error", pa.float64(), nullable=False),
        pa.field("rule", pa.string(), nullable=False),  # content, text, shingles: what is equal; exact or estimate
        pa.field("scheme", pa.string(), nullable=False),
    ]
)
# Which clusters a store is told of.
CHANGES = pa.schema(
    [pa.field("capture", pa.string(), nullable=False), pa.field("cluster", pa.string(), nullable=False)]
)
