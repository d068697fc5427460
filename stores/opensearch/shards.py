"""Finds tokens that are on many pages, by asking every shard of a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import count
from typing import Any

from opensearch_winnow.queries.dsl.frequency import holders, suspected, suspects, with_any
from opensearch_winnow.stores.opensearch.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.index_client import IndexClient, total


class Shards:
    """Asks every shard for token frequencies.

    Remembers a routing value that leads to each shard, until the alias points to another index.
    """

    def __init__(self, index: IndexClient) -> None:
        self._index = index
        self._index_name = ""
        self._routings: list[str] = []

    def frequent(self, tokens: Mapping[str, Collection[str]], *, over: int) -> dict[tuple[str, str], int]:
        """Return the tokens that are on more than `over` pages, as (field, token), and on how many pages each is."""
        wanted = {field: each for field, each in tokens.items() if each}
        if not wanted:
            return {}
        checks = [with_any(field, each, up_to=over + 1) for field, each in wanted.items()]
        if all(total(answer) <= over for answer in self._index.searches(checks)):
            return {}
        answer = self._term_vectors(wanted, over)
        candidates = [(field, token) for field, some in suspected(answer, over=over).items() for token in some]
        counts = map(total, self._index.searches([holders(*each) for each in candidates]))
        return {each: pages for each, pages in zip(candidates, counts, strict=True) if pages > over}

    def _term_vectors(self, tokens: Mapping[str, Collection[str]], over: int) -> dict[str, Any]:
        index = self._index
        while True:
            if not self._routings:
                self._find_routings()
            with reporting_engine_errors(index.name, "read"):
                body = suspects(index.index_name, tokens, over=over, routings=self._routings)
                answer: dict[str, Any] = index.client.mtermvectors(body=body)
            if all(index.checked(document)["_index"] == self._index_name for document in answer["docs"]):
                return answer
            self._routings = []  # the store was migrated, and may have other shards now

    def _find_routings(self) -> None:
        with reporting_engine_errors(self._index.name, "read"):
            shards = self._shards()
            found: dict[int, str] = {}
            for routing in map(str, count()):
                if len(found) == len(shards):
                    break
                found.setdefault(self._shards(routing=routing)[0][0]["shard"], routing)
        self._index_name = shards[0][0]["index"]
        self._routings = list(found.values())

    def _shards(self, **parameters: str) -> list[list[dict[str, Any]]]:
        """Return the shards, each with its copies."""
        answer = self._index.client.search_shards(index=self._index.index_name, params=parameters)
        shards: list[list[dict[str, Any]]] = answer["shards"]
        return shards
