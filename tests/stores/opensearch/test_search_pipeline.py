"""The search pipeline winnow-dedupe, which `winnow setup` creates."""

from __future__ import annotations

from typing import Any

import pytest
from opensearchpy import OpenSearch, RequestError, helpers

from opensearch_winnow import Page
from opensearch_winnow.clients import actions
from opensearch_winnow.mappings.opensearch_search_pipeline import SAMPLE_FACTOR, SEARCH_PIPELINE
from opensearch_winnow.stores.opensearch.requests.client import engine_of
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up

STORE = "with-search-pipeline"
PAGES = 12  # one cluster of four pages, then clusters of two


@pytest.fixture(scope="module")
def piped(client: OpenSearch) -> OpenSearch:
    """A client of a store with twelve pages. If the engine has no search pipelines, setup reports that."""
    outcomes = {step.what: outcome for step, outcome in set_up(client, STORE)}
    if not engine_of(client).search_pipelines:
        assert outcomes[f"search pipeline {SEARCH_PIPELINE}"] == "refused"
        pytest.skip("this engine has no search pipelines")
    assert outcomes[f"search pipeline {SEARCH_PIPELINE}"] in ("made", "there")
    pages = [Page(f"http://example.org/{n}", text="mill " * (PAGES - n) + "word") for n in range(PAGES)]
    documents = list(actions(pages, STORE))
    for number, document in enumerate(documents):
        document["_source"]["arrival"] = number
        document["_source"]["cluster"] = "first" if number < 4 else f"pair {number // 2}"
    del documents[-1]["_source"]["cluster"], documents[-2]["_source"]["cluster"]
    helpers.bulk(client, documents, require_alias=True, refresh=True)
    return client


def places(client: OpenSearch, **body: Any) -> list[int]:
    search = {"query": {"match": {"text": "mill"}}, "sort": [{"arrival": "asc"}], **body}
    hits = client.search(index=STORE, body=search, params={"search_pipeline": SEARCH_PIPELINE})["hits"]
    assert hits["total"]["value"] == PAGES  # pages, not groups
    return [hit["sort"][0] for hit in hits["hits"]]


def test_the_first_page_of_each_cluster_is_shown(piped: OpenSearch) -> None:
    # The last two were written without a cluster. The ingest pipeline has given each its own.
    assert places(piped, size=PAGES) == [0, 4, 6, 8, 10, 11]
    assert (places(piped, size=3), places(piped, size=0)) == ([0, 4, 6], [])
    # The pipeline sees only the hits that it fetches.
    assert SAMPLE_FACTOR == 3
    assert (places(piped, size=1), places(piped, size=2)) == ([0], [0, 4])
    assert places(piped, size=2, **{"from": 2}) == [2, 4]  # the cluster of the first page again
    body = {"query": {"match": {"text": "mill"}}, "sort": [{"arrival": "asc"}], "size": 1}
    options: list[dict[str, str]] = [{}, {"search_pipeline": SEARCH_PIPELINE}]  # it does not change hits
    usual, same = (piped.search(index=STORE, body=body, params=each) for each in options)
    assert same["hits"]["hits"] == usual["hits"]["hits"]


def test_hits_that_do_not_show_their_cluster_are_refused(piped: OpenSearch) -> None:
    """Otherwise the engine would make one hit of all of them."""
    for source in (False, ["url"], {"excludes": ["cluster"]}):
        with pytest.raises(RequestError, match="missing field cluster"):
            places(piped, _source=source)
    assert places(piped, _source=["cluster"], size=3) == [0, 4, 6]
    assert places(piped, _source=False, docvalue_fields=["cluster"], size=3) == [0, 4, 6]
