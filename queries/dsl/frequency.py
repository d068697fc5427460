"""Which tokens are on many pages.

Mostly none is, and one search says so: if all pages `with_any` of the tokens are few, then so are those with one. Else
those that may be on many pages are found by another request, and counted by a third.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from opensearch_winnow.queries.dsl.filters import all_of


def with_any(field: str, tokens: Collection[str], *, up_to: int) -> dict[str, Any]:
    """A search that counts the pages with any of these tokens, as far as that: its total. Up to 65,536 tokens."""
    return {"query": all_of([{"terms": {field: list(tokens)}}]), "size": 0, "track_total_hits": up_to}


def suspects(
    index: str, tokens: Mapping[str, Collection[str]], *, over: int, routings: Sequence[str]
) -> dict[str, Any]:
    """The body of `_mtermvectors` that asks for the tokens which may be on more than `over` pages, by field.

    An engine counts in one shard, and counts deleted pages too. So each shard is asked, by a `routing` that leads there
    (`_search_shards?routing=…` tells where), for the tokens on more than its part of `over`: a token on more pages than
    that in all is among them.
    """
    document = {field: list(each) for field, each in tokens.items()}
    asked = {
        "_index": index,
        "doc": document,
        "fields": list(document),
        "positions": False,
        "offsets": False,
        "payloads": False,
        "field_statistics": False,
        "term_statistics": True,
        "filter": {
            "min_doc_freq": over // len(routings) + 1,
            "max_num_terms": max(map(len, document.values()), default=1),
        },
    }
    return {"docs": [asked | {"routing": routing} for routing in routings]}


def suspected(response: Mapping[str, Any], *, over: int) -> dict[str, set[str]]:
    """The tokens that the answer to `suspects` names, by field."""
    documents = response["docs"]
    enough = over // len(documents) + 1
    found: dict[str, set[str]] = {}
    for document in documents:
        for field, vector in document.get("term_vectors", {}).items():
            # A token that is on no page may be named, with no number.
            named = {token for token, told in vector["terms"].items() if told.get("doc_freq", 0) >= enough}
            found.setdefault(field, set()).update(named)
    return found


def holders(field: str, token: str) -> dict[str, Any]:
    """A search that counts the pages with a token, exactly: its total."""
    return {"query": all_of([{"term": {field: token}}]), "size": 0, "track_total_hits": True}
