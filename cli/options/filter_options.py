"""Names the options that choose pages by site, crawl and date."""

from __future__ import annotations

from opensearch_winnow.queries.filters import Filters


def filter_option_names(where: Filters) -> str:
    """Return the names of the filter options that are set, separated by spaces."""
    values = {"--site": where.site, "--crawl": where.crawl, "--since": where.since, "--until": where.until}
    return " ".join(name for name, value in values.items() if value is not None)
