"""The header of the screens about a page: its facts, and the tabs that link these screens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

from opensearch_winnow.answers.asking.page_answer import PageFacts
from opensearch_winnow.foundation.scheme import Scheme

# The tabs of similar pages: parameter, label, and initial threshold. The first is the default.
SIMILAR_TABS = (
    ("min_resemblance", "Similar", 0.5),
    ("min_containment", "Contains this", 0.5),
    ("min_contained", "Contained in this", 0.5),
    ("min_containment", "Shared passages", 0),
)
SHARED_PASSAGES = 3
HISTORY, VERSIONS, LOCATE = range(len(SIMILAR_TABS), len(SIMILAR_TABS) + 3)
OTHER_TABS = (
    (HISTORY, "History", "history"),
    (VERSIONS, "Versions", "versions"),
    (LOCATE, "Where is it now?", "locate"),
)


class PageSubject(NamedTuple):
    """The facts about a page that its header shows."""

    facts: PageFacts
    unit: str  # of its words
    latest: str  # the id of the latest capture of its URL


class Tab(NamedTuple):
    label: str
    address: str
    current: bool


def page_tabs(id_: str, link: Callable[[dict[str, Any]], str], current: int | None) -> list[Tab]:
    """Return the tabs of a page. `link` returns the address of similar pages with the parameters of a tab."""
    tabs = [
        Tab(label, link({name: at} if number else {}), number == current)
        for number, (name, label, at) in enumerate(SIMILAR_TABS)
    ]
    return [*tabs, *(Tab(label, f"/page/{id_}/{path}", number == current) for number, label, path in OTHER_TABS)]


def other_page_tabs(id_: str, current: int) -> list[Tab]:
    """Return the tabs of a page on a screen that has no parameters of similar pages to keep."""
    address = f"/page/{id_}"
    return page_tabs(id_, lambda change: f"{address}?{urlencode(change)}" if change else address, current)


def page_subject(facts: PageFacts, scheme: Scheme, latest: str) -> PageSubject:
    """Return the facts for the header of a page; `latest` is the id of the latest capture of its URL."""
    return PageSubject(facts, "token" if scheme.form == "code" else "word", latest)
