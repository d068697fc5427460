"""Sends requests to the index of one store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any
from urllib.parse import quote

from opensearchpy import OpenSearch

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.mappings.record import storable
from opensearch_winnow.queries.dsl.filters import Clause, all_of
from opensearch_winnow.queries.dsl.pages import BY_ARRIVAL, Search, count, following
from opensearch_winnow.stores.opensearch.requests.client import Engine, engine_of
from opensearch_winnow.stores.opensearch.requests.complete_answers import complete
from opensearch_winnow.stores.opensearch.requests.errors import refusal_error, reporting_engine_errors
from opensearch_winnow.stores.store import StoreError

EngineHit = dict[str, Any]
IdAndSource = tuple[str, dict[str, Any]]  # `_id` and `_source` of a document

SEARCHES_PER_REQUEST = 500
DOCUMENTS_PER_REQUEST = 100  # by id; a whole document has some 10 kB
SMALL_DOCUMENTS_PER_REQUEST = 2_000  # without their texts
# An incomplete answer is an error: a shard that does not answer must not make pages vanish.
NO_PARTIAL_RESULTS = {"allow_partial_search_results": "false"}
DFS = {"search_type": "dfs_query_then_fetch"}  # term statistics of all shards together


class IndexClient:
    """Sends requests to the index of one store: an opensearch-py client, and the name of the index or alias.

    All reads of a store go through here. A subclass may translate them for another kind of index.
    """

    def __init__(self, client: OpenSearch, name: str, index: str, *, alias: bool = True) -> None:
        self.client = client
        self.name = name  # as the user wrote it, without credentials
        self.index_name = index
        self.settings_index = f"{index}.settings"
        self.alias = alias  # whether `index` is an alias: winnow creates one, but a user may name an index itself
        self.has_latest = True  # whether the latest capture of each page is marked
        self._shards = 0  # that answered the last search

    def search(self, search: Search, **parameters: str) -> dict[str, Any]:
        """Run a search. The request for a search at a point in time (`pit`) has no index, because the point has one."""
        check_cancelled()
        index = None if "pit" in search else self.index_name
        return self._answer(self.raw_search(self._request(search), index, **parameters))

    def raw_search(self, search: Search, index: str | None, **parameters: str) -> dict[str, Any]:
        """Run a search that needs no translation, and return the untranslated answer if it is complete."""
        with reporting_engine_errors(self.name, "read"):
            answer = self.client.search(index=index, body=search, params=NO_PARTIAL_RESULTS | parameters)
            return complete(answer)

    def scroll(self, scroll_id: str, keep_alive: str) -> dict[str, Any]:
        """Return the next hits of a search that was run with the parameter `scroll`."""
        with reporting_engine_errors(self.name, "read"):
            answer = complete(self.client.scroll(body={"scroll_id": scroll_id, "scroll": keep_alive}))
        return self._answer(answer)

    def clear_scroll(self, scroll_id: str) -> None:
        with suppress(StoreError), reporting_engine_errors(self.name, "read"):  # otherwise it expires by itself
            self.client.clear_scroll(body={"scroll_id": [scroll_id]})

    def open_point(self, keep_alive: str) -> str:
        """Freeze the index for searches at this point in time, and return the id of the point."""
        with reporting_engine_errors(self.name, "read"):
            if self.engine.product == "elasticsearch":
                path, parameters = f"/{quote(self.index_name)}/_pit", {"keep_alive": keep_alive}
                answer = self.client.transport.perform_request("POST", path, params=parameters)
                return str(complete(answer)["id"])
            parameters = {"keep_alive": keep_alive, "allow_partial_pit_creation": "false"}
            return str(complete(self.client.create_pit(index=self.index_name, params=parameters))["pit_id"])

    def close_point(self, point: str) -> None:
        with suppress(StoreError), reporting_engine_errors(self.name, "read"):  # otherwise it expires by itself
            if self.engine.product == "elasticsearch":
                self.client.transport.perform_request("DELETE", "/_pit", body={"id": point})
            else:
                self.client.delete_pit(body={"pit_id": [point]})

    def dfs_search(self, search: Search) -> dict[str, Any]:
        """Run a search whose scores do not depend on how pages are spread over shards."""
        single = self._shards == 1  # then the extra round for term statistics would be wasted time
        answer = self.search(search) if single else self.search(search, **DFS)
        self._shards = answer["_shards"]["total"]
        return answer if self._shards == 1 or not single else self.dfs_search(search)

    def hits(self, search: Search) -> list[EngineHit]:
        """Return the first hits, up to the `size` of the search."""
        hits: list[EngineHit] = self.search(search)["hits"]["hits"]
        return hits

    def all_hits(self, search: Search | None) -> Iterator[EngineHit]:
        """Yield all hits, with several requests if necessary."""
        while search is not None:
            hits = self.hits(search)
            yield from hits
            search = following(search, hits)

    def count(self, filters: Sequence[Clause]) -> int:
        return total(self.search(count(filters)))

    def searches(self, searches: Sequence[Search]) -> list[dict[str, Any]]:
        """Return the answers to several searches, sent as one request (`_msearch`)."""
        answers: list[dict[str, Any]] = []
        for some in batches(searches, SEARCHES_PER_REQUEST):
            check_cancelled()
            lines: list[dict[str, Any]] = []
            for search in some:
                lines += [{"allow_partial_search_results": False}, self._request(search)]
            with reporting_engine_errors(self.name, "read"):
                responses = complete(self.client.msearch(index=self.index_name, body=lines))["responses"]
            answers += (self._answer(self.checked(answer)) for answer in responses)
        return answers

    def sources(self, ids: Iterable[str], fields: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
        """Return the sources of documents by id, with these fields or all. Ids without a document are left out."""
        distinct = [id_ for id_ in dict.fromkeys(ids) if id_ and id_ == storable(id_)]  # no document has another id
        parameters = {"_source_includes": ",".join(fields)} if fields else {}
        found: dict[str, dict[str, Any]] = {}
        for some in batches(distinct, _documents_per_request(fields)):
            check_cancelled()
            with reporting_engine_errors(self.name, "read"):
                documents = self.client.mget(index=self.index_name, body={"ids": some}, params=parameters)["docs"]
            found.update((each["_id"], each["_source"]) for each in map(self.checked, documents) if each["found"])
        return found

    def documents_at(self, arrivals: Sequence[int], fields: Sequence[str] = ()) -> dict[int, IdAndSource]:
        """Return documents by arrival, with these fields or all. For pages whose id is not known."""
        found: dict[int, IdAndSource] = {}
        for some in batches(arrivals, _documents_per_request(fields)):
            search = {"query": all_of([{"terms": {"arrival": some}}]), "size": len(some), "sort": BY_ARRIVAL}
            hits = self.hits(search | {"_source": list(fields) or True, "track_total_hits": False})
            found |= {hit["sort"][0]: (hit["_id"], hit["_source"]) for hit in hits}
        return found

    def term_vectors(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the documents of an `_mtermvectors` request."""
        with reporting_engine_errors(self.name, "read"):
            documents: list[dict[str, Any]] = self.client.mtermvectors(body=body)["docs"]
        return [self.checked(document) for document in documents]

    def checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return one answer of a response with several, or raise the error that it reports."""
        if "error" in answer:
            raise refusal_error(self.name, answer, "read")
        return answer

    def refresh(self) -> None:
        """Make writes visible to searches."""
        with reporting_engine_errors(self.name):
            complete(self.client.indices.refresh(index=self.index_name))

    def _request(self, search: Search) -> Search:
        """Return the request for a search. A subclass translates it here."""
        return search

    def _answer(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a search. A subclass translates it back here."""
        return answer

    @cached_property
    def engine(self) -> Engine:
        """The engine's product and version, which decide the form of some requests."""
        return engine_of(self.client, self.name)


def _documents_per_request(fields: Sequence[str]) -> int:
    return SMALL_DOCUMENTS_PER_REQUEST if fields and "text" not in fields else DOCUMENTS_PER_REQUEST


def total(answer: Mapping[str, Any]) -> int:
    """Return the number of hits that an answer reports."""
    number: int = answer["hits"]["total"]["value"]
    return number
