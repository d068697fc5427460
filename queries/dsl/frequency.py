"""Builds requests that find the tokens that are on many pages.

Usually no token is, and one search shows it: if few pages have any of the tokens (`with_any`), few pages have each of
them. Otherwise a second request finds the tokens that may be on many pages (`suspects`), and a third one counts their
pages (`holders`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from opensearch_winnow.queries.dsl.filters import all_of


def with_any(field: str, tokens: Collection[str], *, up_to: int) -> dict[str, Any]:
    """Return a search whose total is the number of pages with any of these tokens, counted up to `up_to`.

    Engines accept up to 65,536 tokens.
    """
    return {"query": all_of([{"terms": {field: list(tokens)}}]), "size": 0, "track_total_hits": up_to}


def suspects(tokens: Mapping[str, Collection[str]], *, over: int, shards: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the body of an `_mtermvectors` request for the tokens, by field, that may be on more than `over` pages.

    An engine counts the pages of one shard only, including deleted ones. So every shard gets a request, by its index
    and a routing that leads to it (`_search_shards?routing=…` tells where), for the tokens on more than its share of
    `over`. A token on more than `over` pages exceeds that share in at least one shard.
    """
    document = {field: list(each) for field, each in tokens.items()}
    request = {
        "doc": document,
        "fields": list(document),
        "positions": False,
        "offsets": False,
        "payloads": False,
        "field_statistics": False,
        "term_statistics": True,
        "filter": {
            "min_doc_freq": over // len(shards) + 1,
            "max_num_terms": max(map(len, document.values()), default=1),
        },
    }
    return {"docs": [request | {"_index": index, "routing": routing} for index, routing in shards]}


def suspected(documents: Sequence[Mapping[str, Any]], *, over: int) -> dict[str, set[str]]:
    """Return the tokens that the `docs` in the response to a `suspects` request name, by field."""
    min_doc_freq = over // len(documents) + 1
    found: dict[str, set[str]] = {}
    for document in documents:
        for field, vector in document.get("term_vectors", {}).items():
            # A token that is on no page may be listed, without a frequency.
            tokens = {token for token, term in vector["terms"].items() if term.get("doc_freq", 0) >= min_doc_freq}
            found.setdefault(field, set()).update(tokens)
    return found


def holders(field: str, token: str) -> dict[str, Any]:
    """Return a search whose total is the exact number of pages with a token."""
    return {"query": all_of([{"term": {field: token}}]), "size": 0, "track_total_hits": True}
