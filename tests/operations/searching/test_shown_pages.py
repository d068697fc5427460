"""The page shown for a group of hits is chosen by a rule, on both kinds of store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.compare import compare
from opensearch_winnow.queries.searching.search_request import SearchRequest
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Boilerplate, Exclusions
from opensearch_winnow.stores.store import Store
from tests.operations.searching.test_searches import DAY, record, searches, text, urls

RULES = {
    "best": "b.org/newest",
    "earliest": "c.org/earliest",
    "newest": "b.org/newest",
    "longest": "a.org/longest",
    "site:d.org,c.org": "c.org/earliest",
    "site:A.org": "a.org/longest",
    "site:d.org": "b.org/newest",
    "canonical": "c.org/undated",
}


@pytest.mark.check
@pytest.mark.parametrize("by", ["signature", "cluster", "both"])
@pytest.mark.parametrize("licensed", [False, True])
def test_the_page_shown_for_a_group_is_chosen(store: Store, by: Any, licensed: bool) -> None:
    licence = Boilerplate("licence", text("licence", words=30, found=""))
    pages = [
        record("b.org/newest", text("a", words=90), title="mill", fetched_at=DAY + timedelta(3)),
        record("c.org/earliest", text("a", words=80, changed=5), fetched_at=DAY, canonical="https://c.org/earliest"),
        record("a.org/longest", text("a", words=110), fetched_at=DAY + timedelta(2), canonical="//c.org/undated"),
        record("c.org/undated", text("a", words=80), canonical="undated#top"),
        record("b.org/other", text("other"), fetched_at=DAY + timedelta(9)),
    ]
    store.write(pages)
    store.set_clusters(dict.fromkeys((page.id for page in pages[:4]), pages[0].id))
    texts = {page.url: page.text for page in pages}
    for rule, shown in RULES.items():
        request = SearchRequest(words="mill", group=True, by=by, representative=rule, exact=True)
        found = searches(store, Exclusions([licence]) if licensed else NO_EXCLUSIONS).results(request, 0)
        assert sorted(map(len, urls(found))) == [1, 4]
        (group,) = (hit for hit in found.hits if hit.members)
        assert group.url == f"https://{shown}"
        assert sorted([group.url, *(member.url for member in group.members)]) == sorted(page.url for page in pages[:4])
        for member in group.members:
            assert member.resemblance == compare(texts[group.url], texts[member.url]).resemblance
        by_estimate = searches(store).results(replace(request, exact=False), 0)
        assert by_estimate.hits[0].url == found.hits[0].url
        for member in by_estimate.hits[0].members:
            exact = compare(texts[group.url], texts[member.url]).resemblance
            assert abs(member.resemblance - exact) <= 5 * member.error


def test_a_rule_that_does_not_exist_is_refused() -> None:
    for rule in ("", "oldest", "site:", "site:a b", "site:a'", "Canonical"):
        with pytest.raises(QuestionError, match="by best, earliest, newest, longest, canonical or site:HOST"):
            SearchRequest(words="mill", representative=rule)
