"""The search pipeline winnow-dedupe, which `winnow setup` creates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opensearchpy import OpenSearch, RequestError, helpers

from opensearch_winnow import Page, actions
from opensearch_winnow.mappings.opensearch_search_pipeline import SAMPLE_FACTOR, SEARCH_PIPELINE
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import engine_of
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up

STORE = "with-search-pipeline"
PAGES = 12  # one cluster of four pages, then clusters of two


@pytest.fixture(scope="module")
def client(engine: Running) -> Iterator[OpenSearch | None]:
    """A client of a store with twelve pages; None if the engine has no search pipelines, which setup reports."""
    with OpenSearch(engine.url, timeout=60) as made:
        outcomes = {step.what: outcome for step, outcome in set_up(made, STORE)}
        if not engine_of(made).search_pipelines:
            assert outcomes[f"search pipeline {SEARCH_PIPELINE}"] == "refused"
            yield None
            return
        assert outcomes[f"search pipeline {SEARCH_PIPELINE}"] in ("made", "there")
        pages = [Page(f"http://example.org/{n}", text="mill " * (PAGES - n) + "word") for n in range(PAGES)]
        documents = list(actions(pages, STORE))
        for number, document in enumerate(documents):
            document["_source"]["place"] = number
            document["_source"]["cluster"] = "first" if number < 4 else f"pair {number // 2}"
        del documents[-1]["_source"]["cluster"], documents[-2]["_source"]["cluster"]
        helpers.bulk(made, documents, require_alias=True, refresh=True)
        yield made


def places(client: OpenSearch, **body: Any) -> list[int]:
    search = {"query": {"match": {"text": "mill"}}, "sort": [{"place": "asc"}], **body}
    hits = client.search(index=STORE, body=search, params={"search_pipeline": SEARCH_PIPELINE})["hits"]
    assert hits["total"]["value"] == PAGES  # pages, not groups
    return [hit["sort"][0] for hit in hits["hits"]]


def test_the_first_page_of_each_cluster_is_shown(client: OpenSearch | None) -> None:
    if client is None:
        return
    # The last two were written without a cluster. The ingest pipeline has given each its own.
    assert places(client, size=PAGES) == [0, 4, 6, 8, 10, 11]
    assert places(client, size=3) == [0, 4, 6]
    assert places(client, size=0) == []


def test_the_pipeline_sees_only_the_hits_it_fetches(client: OpenSearch | None) -> None:
    if client is None:
        return
    assert SAMPLE_FACTOR == 3
    assert places(client, size=1) == [0]
    assert places(client, size=2) == [0, 4]
    assert places(client, size=2, **{"from": 2}) == [2, 4]  # the cluster of the first page again


def test_hits_that_do_not_show_their_cluster_are_refused(client: OpenSearch | None) -> None:
    """Otherwise the engine would make one hit of all of them."""
    if client is None:
        return
    for source in (False, ["url"], {"excludes": ["cluster"]}):
        with pytest.raises(RequestError, match="missing field cluster"):
            places(client, _source=source)
    assert places(client, _source=["cluster"], size=3) == [0, 4, 6]
    assert places(client, _source=False, docvalue_fields=["cluster"], size=3) == [0, 4, 6]


def test_the_pipeline_does_not_change_hits(client: OpenSearch | None) -> None:
    if client is None:
        return
    body = {"query": {"match": {"text": "mill"}}, "sort": [{"place": "asc"}], "size": 1}
    plain, piped = (
        client.search(index=STORE, body=body, params=each) for each in ({}, {"search_pipeline": SEARCH_PIPELINE})
    )
    assert piped["hits"]["hits"] == plain["hits"]["hits"]
