"""Checks that a store has pages of a site that was named."""

from __future__ import annotations

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.store import Store

WWW = "www."


def require_site(store: Store, site: str) -> None:
    """Raise QuestionError if the store has no page of the site; name the one with or without www., if there is one."""
    if store.count(Filters(site=site)):
        return
    other = site.removeprefix(WWW) if site.startswith(WWW) else WWW + site
    there_is = f"; there is {other}" if store.count(Filters(site=other)) else ""
    raise QuestionError(f"{store.name} has no page of the site {site}{there_is}")
