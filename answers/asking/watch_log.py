"""A summary of the findings of watches."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.mappings.finding import Findings


def watch_log_summary(log: Findings, watch: str) -> str:
    """Sum up a log: "12 findings of all watches"."""
    if not log.total:
        return f"The watch {watch} has found nothing yet" if watch else "No watch has found anything yet"
    return f"{count_of(log.total, 'finding')} of {f'the watch {watch}' if watch else 'all watches'}"
