"""The search pipeline: one hit for each cluster, for clients whose requests cannot be changed.

It works on the hits of one request: it fetches more than requested, keeps the first hit of each cluster, and cuts off
the rest.
"""

from __future__ import annotations

from typing import Any

SEARCH_PIPELINE = "winnow-dedupe"
SAMPLE_FACTOR = 3  # hits fetched for each one requested: a result page stays full if two of three are copies


def search_pipeline() -> dict[str, Any]:
    """Return the body of `PUT _search/pipeline/winnow-dedupe`, for an index whose pages all have a `cluster`."""
    return {
        "description": "Of the hits of a request, the first of each cluster of a winnow store.",
        "request_processors": [{"oversample": {"sample_factor": SAMPLE_FACTOR}}],
        "response_processors": [
            # It changes nothing, but refuses hits without the field, which the next one would collapse into one hit.
            {"rename_field": {"field": "cluster", "target_field": "cluster"}},
            {"collapse": {"field": "cluster"}},
            {"truncate_hits": {}},
        ],
    }
