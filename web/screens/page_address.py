"""The addresses of pages and comparisons, for who knows a URL, or has chosen two captures."""

from __future__ import annotations

from urllib.parse import quote

from opensearch_winnow.answers.time_period import MICROSECOND
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.parameters import period, words
from opensearch_winnow.web.screen import Signpost

URL_AND_TIME = (
    words("url", "the URL of the page, as it is in the store", most=8_000, required=True),
    period("at", "the capture that was the last one then, else the latest"),
)


def asked_page(index: Index, asked: Asked) -> Record:
    at = asked["at"]
    return index.page(asked["url"].strip(), at and at.end - MICROSECOND)


def page_address(index: Index, asked: Asked) -> str:
    return f"/page/{asked_page(index, asked).id}"


def comparison_address(_index: Index, asked: Asked) -> str:
    return f"/compare/{quote(asked['a'], safe='')}/{quote(asked['b'], safe='')}"


PAGE = Signpost(path="/page", leads_to=page_address, parameters=URL_AND_TIME)
COMPARISON = Signpost(
    path="/compare",
    leads_to=comparison_address,
    parameters=tuple(words(name, "the id of a capture, or of a pasted text", most=100, required=True) for name in "ab"),
)
