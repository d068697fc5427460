"""The shards of a store, and how to ask each of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import count
from typing import Any

from opensearch_winnow.queries.dsl.frequency import holders, suspected, suspects, with_any
from opensearch_winnow.stores.opensearch.cluster import Cluster, total
from opensearch_winnow.stores.opensearch.errors import told


class Shards:
    """Knows a routing to each shard, until the name leads to another index."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._index = ""
        self._routings: list[str] = []

    def frequent(self, tokens: Mapping[str, Collection[str]], *, over: int) -> dict[tuple[str, str], int]:
        """The tokens, by field, that are on more than so many pages, and on how many."""
        asked = {field: each for field, each in tokens.items() if each}
        if not asked:
            return {}
        checks = [with_any(field, each, up_to=over + 1) for field, each in asked.items()]
        if all(total(answer) <= over for answer in self._cluster.searches(checks)):
            return {}
        answer = self._term_vectors(asked, over)
        named = [(field, token) for field, some in suspected(answer, over=over).items() for token in some]
        counts = map(total, self._cluster.searches([holders(*each) for each in named]))
        return {each: pages for each, pages in zip(named, counts, strict=True) if pages > over}

    def _term_vectors(self, tokens: Mapping[str, Collection[str]], over: int) -> dict[str, Any]:
        cluster = self._cluster
        while True:
            if not self._routings:
                self._find()
            with told(cluster.name, "read"):
                body = suspects(cluster.index, tokens, over=over, routings=self._routings)
                answer: dict[str, Any] = cluster.client.mtermvectors(body=body)
            if all(cluster.sound(document)["_index"] == self._index for document in answer["docs"]):
                return answer
            self._routings = []  # somebody has moved the store: it may have other shards now

    def _find(self) -> None:
        with told(self._cluster.name, "read"):
            shards = self._shards()
            found: dict[int, str] = {}
            for routing in map(str, count()):
                if len(found) == len(shards):
                    break
                found.setdefault(self._shards(routing=routing)[0][0]["shard"], routing)
        self._index = shards[0][0]["index"]
        self._routings = list(found.values())

    def _shards(self, **parameters: str) -> list[list[dict[str, Any]]]:
        """Each with its copies."""
        answer = self._cluster.client.search_shards(index=self._cluster.index, params=parameters)
        shards: list[list[dict[str, Any]]] = answer["shards"]
        return shards
