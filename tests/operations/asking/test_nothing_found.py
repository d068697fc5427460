"""Why nothing was found, as the library tells it."""

from __future__ import annotations

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.operations.asking.nothing_found import Offer
from opensearch_winnow.queries.asking.similar_options import SimilarQuestion
from opensearch_winnow.queries.searching.search_request import SearchQuestion
from tests.web.known_crawl_fixture import paragraph, paragraphs

URL = "https://example.org/"


def test_a_question_may_name_a_capture_by_its_id(index: Index) -> None:
    text = " ".join(paragraphs("mill", 3))
    index.add([Page(URL, text=text), Page(f"{URL}more", text=f"{text} {paragraph('harbour')}")])
    id_ = index.page(URL).id
    matches = index.similar(url=id_, min_resemblance=1.0)
    why = index.why_no_match(matches, SimilarQuestion(url=id_, min_resemblance=1.0))
    (closest,) = index.similar(url=id_)
    assert not matches
    assert (why.cause, why.closest) == ("below", closest.resemblance)
    assert why.offers[0] == Offer("threshold", 1, minima={"resemblance": int(10 * closest.resemblance) / 10})


def test_words_that_no_page_has_all_of(index: Index) -> None:
    index.add([Page(URL, text="the mill at the harbour"), Page(f"{URL}more", text="the mill")])
    why = index.why_no_hit(SearchQuestion("mill harbour fog"))
    assert (why.cause, why.query, why.pages) == ("one_too_many", "mill harbour", 1)
    assert [term.text for term in why.left_out] == ["fog"]
