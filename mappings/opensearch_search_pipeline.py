"""The search pipeline: one hit for each cluster, for clients that cannot change what they ask or read.

It works on the hits of one request. More of them are fetched than were asked for, all but the first of each cluster are
taken out, and what is too much is cut off.
"""

from __future__ import annotations

from typing import Any

SEARCH_PIPELINE = "winnow-dedupe"
SAMPLE_FACTOR = 3  # hits that are fetched for each that is asked for: a page stays full if two of three are copies


def search_pipeline() -> dict[str, Any]:
    """The body of `PUT _search/pipeline/winnow-dedupe`, for an index whose pages all have a `cluster`."""
    return {
        "description": "Of the hits of a request, the first of each cluster of a winnow store.",
        "request_processors": [{"oversample": {"sample_factor": SAMPLE_FACTOR}}],
        "response_processors": [
            # It changes nothing, but refuses hits without the field: the next one would make one hit of all of them.
            {"rename_field": {"field": "cluster", "target_field": "cluster"}},
            {"collapse": {"field": "cluster"}},
            {"truncate_hits": {}},
        ],
    }
