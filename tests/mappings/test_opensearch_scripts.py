"""Scores computed by the engine's scripts."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.mappings.opensearch_mapping import mapping_fragment
from opensearch_winnow.mappings.opensearch_scripts import CONTAINED, CONTAINMENT, RESEMBLANCE, SOURCES, stored_script
from opensearch_winnow.stores.engine.running import Running

TOKENS = [f"{letter * 11}" for letter in "ABCDEFGH"]


@pytest.fixture(params=["", "winnow"])
def parent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def client(engine: Running, parent: str) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        for id_ in SOURCES:
            made.put_script(id=id_, body=stored_script(id_), context="score")
        index = f"scripts-{parent}-{os.getpid()}"  # shared by all tests of a process
        if not made.indices.exists(index=index):
            made.indices.create(index=index, body={"mappings": mapping_fragment(parent)})
        for count in range(1, 7):
            fields = {"sketch": " ".join(TOKENS[:count]), "sketch_count": count}
            made.index(index=index, id=str(count), body={parent: fields} if parent else fields)
        every = " ".join(TOKENS)
        made.index(index=index, id="none", body={parent: {"sketch": every}} if parent else {"sketch": every})
        made.indices.refresh(index=index)
        yield made


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("id_", [RESEMBLANCE, CONTAINMENT, CONTAINED])
def test_the_score_is_the_share_of_common_tokens(client: OpenSearch, parent: str, id_: str, inline: bool) -> None:
    question = TOKENS[2:6]
    path = f"{parent}." if parent else ""
    params = {"count": len(question)} | ({"field": f"{path}sketch_count"} if parent else {})
    script = {"source": SOURCES[id_], "lang": "painless"} if inline else {"id": id_}
    should = [{"term": {f"{path}sketch": token}} for token in question]
    query = {"script_score": {"query": {"bool": {"should": should}}, "script": script | {"params": params}}}
    hits = client.search(index=f"scripts-{parent}-{os.getpid()}", body={"query": query})["hits"]["hits"]
    shares = {}
    for count in range(3, 7):
        shared = count - 2
        all_ = {RESEMBLANCE: count + 4 - shared, CONTAINMENT: 4, CONTAINED: count}[id_]
        shares[str(count)] = shared / all_
    shares["none"] = 1.0 if id_ == CONTAINMENT else 0.0  # a page without sketch_count
    assert {hit["_id"]: hit["_score"] for hit in hits} == pytest.approx(shares)
