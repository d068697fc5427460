"""How much is in a store, as JSON values."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.answers.page_counts import PageCounts
from opensearch_winnow.answers.power_law import PowerLaw
from opensearch_winnow.mappings.sqlite_schema import MIGRATIONS
from opensearch_winnow.scheme import Scheme
from opensearch_winnow.stores.store import Statistics


def statistics_document(
    name: str, scheme: Scheme, statistics: Statistics, pages: PageCounts, law: PowerLaw | None
) -> dict[str, Any]:
    """All of it; what is on so many pages as pairs, since the keys of a JSON object are no numbers."""
    return {
        "store": name,
        "format": len(MIGRATIONS),
        "scheme": {
            "id": scheme.id,
            "noise": scheme.noise,
            "guarantee": scheme.guarantee,
            "selection": scheme.selection,
            "form": scheme.form,
            "shingle": scheme.shingle,
        },
        "pages": statistics.pages,
        "urls": statistics.urls,
        "sites": statistics.sites,
        "crawls": dict(pages.crawls.most_common()),
        "top_sites": dict(pages.sites.most_common(pages.TOP)),
        "first": pages.first,
        "last": pages.last,
        "duplicates": dict(pages.duplicates.most_common()),
        "tokens": {
            field: {
                "total": sum(on * tokens for on, tokens in counts.items()),
                "different": sum(counts.values()),
                "frequencies": sorted(counts.items()),
            }
            for field, counts in statistics.frequencies.items()
        },
        "power_law": None if law is None else law._asdict(),
        "sizes": statistics.sizes,
        "bytes": sum(statistics.sizes.values()),
        "bytes_per_page": sum(statistics.sizes.values()) / max(statistics.pages, 1),
    }
