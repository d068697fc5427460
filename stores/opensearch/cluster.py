"""Requests to the indices of one store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow.mappings.record import storable
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.dsl.pages import Search, count, following
from opensearch_winnow.stores.opensearch.client import engine_of
from opensearch_winnow.stores.opensearch.errors import refused, told

Hit = dict[str, Any]

SEARCHES = 500  # in a request
DOCUMENTS = 100  # in an answer to a request for documents by id: whole ones are of some 10 kB each
# An answer is whole, or an error: a shard that does not answer must not make pages vanish.
WHOLE = {"allow_partial_search_results": "false"}
GLOBAL = {"search_type": "dfs_query_then_fetch"}  # words are weighed by all shards together


class Cluster:
    """A client, and the name of the store."""

    def __init__(self, client: OpenSearch, name: str, index: str, *, alias: bool = True) -> None:
        self.client = client
        self.name = name  # as its user says it
        self.index = index
        self.alias = alias  # or an index that somebody else has made
        self._shards = 0  # that answered last

    def search(self, search: Search, **parameters: str) -> dict[str, Any]:
        with told(self.name, "read"):
            answer: dict[str, Any] = self.client.search(index=self.index, body=search, params=WHOLE | parameters)
        return answer

    def weighed(self, search: Search) -> dict[str, Any]:
        """A search whose scores do not depend on how pages are spread over shards."""
        alone = self._shards == 1  # then there is nothing to ask the others, which takes time
        answer = self.search(search) if alone else self.search(search, **GLOBAL)
        self._shards = answer["_shards"]["total"]
        return answer if self._shards == 1 or not alone else self.weighed(search)

    def hits(self, search: Search) -> list[Hit]:
        """The first ones, as many as the search says."""
        found: list[Hit] = self.search(search)["hits"]["hits"]
        return found

    def all_hits(self, search: Search | None) -> Iterator[Hit]:
        """However many they are."""
        while search is not None:
            some = self.hits(search)
            yield from some
            search = following(search, some)

    def count(self, filters: Sequence[Clause]) -> int:
        return total(self.search(count(filters)))

    def searches(self, searches: Sequence[Search]) -> list[dict[str, Any]]:
        """The answers to several searches, in one request."""
        answers: list[dict[str, Any]] = []
        for start in range(0, len(searches), SEARCHES):
            lines: list[dict[str, Any]] = []
            for search in searches[start : start + SEARCHES]:
                lines += [{"allow_partial_search_results": False}, search]
            with told(self.name, "read"):
                some = self.client.msearch(index=self.index, body=lines)["responses"]
            answers += map(self.sound, some)
        return answers

    def sources(self, ids: Iterable[str], fields: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
        """What is stored of pages, by id: these fields, or all; those that are not there are left out."""
        different = [id_ for id_ in dict.fromkeys(ids) if id_ and id_ == storable(id_)]  # others are nobody's
        parameters = {"_source_includes": ",".join(fields)} if fields else {}
        found: dict[str, dict[str, Any]] = {}
        for start in range(0, len(different), DOCUMENTS):
            body = {"ids": different[start : start + DOCUMENTS]}
            with told(self.name, "read"):
                documents = self.client.mget(index=self.index, body=body, params=parameters)["docs"]
            found.update((each["_id"], each["_source"]) for each in map(self.sound, documents) if each["found"])
        return found

    def sound(self, answer: dict[str, Any]) -> dict[str, Any]:
        """One of several in a response, unless it tells an error."""
        if "error" in answer:
            raise refused(self.name, answer, "read")
        return answer

    def refresh(self) -> None:
        """Until then searches do not see what was written."""
        with told(self.name):
            self.client.indices.refresh(index=self.index)

    @cached_property
    def has_points_in_time(self) -> bool:
        """Else there is scroll."""
        return engine_of(self.client, self.name).point_in_time


def total(answer: Mapping[str, Any]) -> int:
    number: int = answer["hits"]["total"]["value"]
    return number
