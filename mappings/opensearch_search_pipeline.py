"""The search pipeline: one hit for each cluster, for clients whose requests cannot be changed.

It works on the hits of one request: it fetches more than requested, keeps the first hit of each cluster, and cuts off
the rest.
"""

from __future__ import annotations

from typing import Any

VERSION = 1
SEARCH_PIPELINE = "winnow-dedupe"  # of stores
SAMPLE_FACTOR = 3  # hits fetched for each one requested: a result page stays full if two of three are copies


def search_pipeline_name(field: str) -> str:
    """Return the name of the search pipeline for an index of your own whose clusters are in `field`."""
    return f"{SEARCH_PIPELINE}-{VERSION}-{field}"


def search_pipeline(field: str = "cluster") -> dict[str, Any]:
    """Return the body of `PUT _search/pipeline/NAME`, for an index whose pages all have a cluster in `field`."""
    return {
        "description": "Keeps the first hit of each cluster that winnow has found.",
        "request_processors": [{"oversample": {"sample_factor": SAMPLE_FACTOR}}],
        "response_processors": [
            # It changes nothing, but refuses hits without the field: the next processor would collapse them into one.
            {"rename_field": {"field": field, "target_field": field}},
            {"collapse": {"field": field}},
            {"truncate_hits": {}},
        ],
    }
