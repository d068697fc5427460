"""The Arrow schemas of the tables that a clustering writes."""

from __future__ import annotations

import pyarrow as pa

from opensearch_winnow.mappings.record_columns import TIME

# A row for each page.
CLUSTERS = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("fetched_at", TIME),
        pa.field("capture", pa.string(), nullable=False),  # id of the page's record
        pa.field("cluster", pa.string(), nullable=False),  # id of the representative's record
        pa.field("representative", pa.string(), nullable=False),  # URL of the representative
        pa.field("resemblance", pa.float64(), nullable=False),  # to the representative
        pa.field("error", pa.float64(), nullable=False),  # standard error of the resemblance; 0 if it is exact
    ]
)
# The evidence: a row for each pair of similar pages. Pages with the same shingles are paired with the first of them.
EDGES = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),  # of the earlier page
        pa.field("other_url", pa.string(), nullable=False),
        pa.field("capture", pa.string(), nullable=False),
        pa.field("other_capture", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64(), nullable=False),
        pa.field("error", pa.float64(), nullable=False),
        # The equal part (content, text or shingles), or the kind of the resemblance (exact or estimate).
        pa.field("rule", pa.string(), nullable=False),
        pa.field("scheme", pa.string(), nullable=False),
    ]
)
# A row for each page whose record has another cluster than the one found.
CHANGES = pa.schema(
    [pa.field("capture", pa.string(), nullable=False), pa.field("cluster", pa.string(), nullable=False)]
)
