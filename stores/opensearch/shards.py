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

    Remembers a routing value that leads to each shard, until the alias points to other indices.
    """

    def __init__(self, index: IndexClient) -> None:
        self._index = index
        self._routings: dict[tuple[str, int], str] = {}  # by index and number of the shard

    def frequent(self, tokens: Mapping[str, Collection[str]], *, over: int) -> dict[tuple[str, str], int]:
        """Return the tokens that are on more than `over` pages, as (field, token), and on how many pages each is."""
        wanted = {field: each for field, each in tokens.items() if each}
        if not wanted:
            return {}
        checks = [with_any(field, each, up_to=over + 1) for field, each in wanted.items()]
        if all(total(answer) <= over for answer in self._index.searches(checks)):
            return {}
        documents = self._term_vectors(wanted, over)
        candidates = [(field, token) for field, some in suspected(documents, over=over).items() for token in some]
        counts = map(total, self._index.searches([holders(*each) for each in candidates]))
        return {each: pages for each, pages in zip(candidates, counts, strict=True) if pages > over}

    def _term_vectors(self, tokens: Mapping[str, Collection[str]], over: int) -> list[dict[str, Any]]:
        while True:
            if not self._routings:
                self._find_routings()
            indices = [index for index, _ in self._routings]
            # By the alias if there is one index behind it: it may point to another one at any time.
            names = indices if len(set(indices)) > 1 else [self._index.index_name] * len(indices)
            shards = list(zip(names, self._routings.values(), strict=True))
            documents = self._index.term_vectors(suspects(tokens, over=over, shards=shards))
            if [document["_index"] for document in documents] == indices:
                return documents
            self._routings = {}  # the store was migrated, and may have other shards now

    def _find_routings(self) -> None:
        with reporting_engine_errors(self._index.name, "read"):
            shards = len(self._shards())
            for routing in map(str, count()):
                if len(self._routings) >= shards:
                    break
                for each in self._shards(routing=routing):
                    self._routings.setdefault((each[0]["index"], each[0]["shard"]), routing)

    def _shards(self, **parameters: str) -> list[list[dict[str, Any]]]:
        """Return the shards, each with its copies."""
        answer = self._index.client.search_shards(index=self._index.index_name, params=parameters)
        shards: list[list[dict[str, Any]]] = answer["shards"]
        return shards
