"""Wall-clock time of grouped searches through the gateway, compared with the same searches at the engine, on one node.

Queries are two words of a document, and each kind of search takes its turn with each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from opensearchpy import OpenSearch

from benchmarks.corpus import two_words
from benchmarks.engine import local_engine
from benchmarks.own_index import FIELDS, create, load
from benchmarks.table import Run, Table
from benchmarks.timing import WARM_UP, in_turns
from benchmarks.unpacked_data import page_of, real_records
from opensearch_winnow.index import Index
from opensearch_winnow.queries.dsl.deduplicate_search_body import deduplicate_search_body
from opensearch_winnow.stores.opensearch.own_index.attach import attach
from opensearch_winnow.stores.opensearch.requests.client import Address, connect
from tests.gateway.gateway_process import GatewayProcess

QUERIES = 200
PLAIN, COLLAPSED = "the engine alone", "the engine alone, with collapse by cluster"


def tables(run: Run) -> Iterator[Table]:
    with local_engine() as engine, GatewayProcess(engine.url) as gateway:
        yield searches(engine.url, gateway.url, run)


def searches(engine: str, proxy: str, run: Run) -> Table:
    corpus = real_records(run.scale)
    address = Address.of(f"{engine}/manuals")
    with connect(address, timeout=600.0) as client, OpenSearch(proxy, timeout=600) as through:
        create(client, "manuals")
        load(client, "manuals", map(page_of, corpus))
        attach(client, address, FIELDS)
        with Index.open(f"{engine}/manuals") as index:
            index.cluster()
        client.indices.forcemerge(index="manuals", max_num_segments=1)
        found: list[int] = []

        def search(at: OpenSearch, body: dict[str, Any], **parameters: str) -> Any:
            return at.search(index="manuals", body=body, params=parameters)

        def grouped(words: str, **options: str) -> None:
            found.append(search(through, body_of(words), winnow="group", **options)["hits"]["total"]["value"])

        kinds: dict[str, Callable[[str], Any]] = {
            PLAIN: lambda words: search(client, body_of(words)),
            "through the gateway, without groups": lambda words: search(through, body_of(words)),
            "through the gateway, grouped": grouped,
            "the same, page 5": lambda words: search(through, body_of(words) | {"from": 40}, winnow="group"),
            "the same, 1,000 hits examined": lambda words: grouped(words, winnow_examine="1000"),
            COLLAPSED: lambda words: search(client, deduplicate_search_body(body_of(words), field=FIELDS.cluster)),
        }
        queries = two_words([each.text for each in corpus], run.size(QUERIES, least=5) + WARM_UP)
        rows = in_turns(kinds, queries, beside=(PLAIN, COLLAPSED))
    return Table(
        f"{len(corpus):,} real pages: milliseconds, p50 / p95",
        ("", "ms", "of the engine alone", "of collapse"),
        rows,
        f"The first 10 hits or groups, with title and highlights. A search finds {sorted(found)[len(found) // 2]:,}"
        " documents (median), and at least 100 of them are examined.",
    )


def body_of(words: str) -> dict[str, Any]:
    return {
        "query": {"match": {"body": {"query": words, "operator": "and"}}},
        "_source": ["headline"],
        "highlight": {"fields": {"body": {}}},
    }
