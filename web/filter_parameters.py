"""The parameters that say which pages a question is about."""

from __future__ import annotations

from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.parameters import choice, period, words

FILTERS = (
    words("site", "only pages of this site", most=300),
    words("crawl", "only pages of this crawl", most=300),
    period("since", "only captures since then"),
    period("until", "only captures until the end of it"),
    choice("captures", "of a URL the latest capture, or every one", "latest", "all"),
)
NAMES = tuple(each.name for each in FILTERS)


def filters(asked: Asked) -> Filters:
    since, until = asked["since"], asked["until"]
    return Filters(
        site=asked["site"].strip().lower() or None,
        crawl=asked["crawl"] or None,
        since=since and since.start,
        until=until and until.end,
    )
