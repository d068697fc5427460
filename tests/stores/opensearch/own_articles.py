"""Makes indices of a stranger: articles with a mapping of their own, in the tests' engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from opensearchpy import OpenSearch, helpers

from opensearch_winnow import Index, Scheme
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.stores.attach_options import AttachOptions
from opensearch_winnow.stores.opensearch.own_index import attach as attaching
from opensearch_winnow.stores.opensearch.own_index.attach_reports import AttachReport, Detached
from opensearch_winnow.stores.opensearch.requests.client import Address

ARTICLES: dict[str, Any] = {
    "dynamic": "strict",
    "_meta": {"owner": "the newsroom"},
    "properties": {
        "headline": {"type": "text"},
        "body": {"type": "text"},
        "author": {"type": "keyword"},
        "published": {"type": "date"},
    },
}
FIELDS = AttachedFields(text=("body",), title="headline")


class OwnIndex:
    """An index of articles by id, and a client for it."""

    def __init__(self, url: str, name: str, client: OpenSearch) -> None:
        self.address = Address.of(f"{url}/{name}")
        self.name = name
        self.client = client

    def create(self, mapping: Mapping[str, Any] = ARTICLES, *, shards: int = 3) -> None:
        settings = {"number_of_shards": shards, "number_of_replicas": 0, "translog.durability": "async"}
        self.client.indices.create(index=self.name, body={"settings": settings, "mappings": mapping})

    def write(self, articles: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Write whole articles, as their owner does: fields of others are gone afterwards."""
        actions = ({"_index": self.name, "_id": id_, "_source": article} for id_, article in articles)
        helpers.bulk(self.client, actions, refresh=True)

    def change(self, id_: str, **fields: Any) -> None:
        """Change some fields of an article, as its owner does."""
        self.client.update(index=self.name, id=id_, body={"doc": fields}, params={"refresh": "true"})

    def sources(self) -> dict[str, Any]:
        hits = helpers.scan(self.client, index=self.name, query={"query": {"match_all": {}}})
        return {hit["_id"]: hit["_source"] for hit in hits}

    def without_ours(self) -> dict[str, Any]:
        """Return all sources without the fields of winnow."""
        return {
            id_: {name: value for name, value in source.items() if not name.startswith("winnow")}
            for id_, source in self.sources().items()
        }

    def mapping(self) -> Any:
        return self.client.indices.get_mapping(index=self.name)[self.name]["mappings"]

    def has_settings(self) -> bool:
        """Return whether winnow keeps settings of it, as it does while it is attached."""
        return bool(self.client.indices.exists(index=f"winnow.{self.name}.settings"))

    def attach(self, fields: AttachedFields | None = None, scheme: Scheme | None = None, **how: Any) -> AttachReport:
        return attach(self.client, self.address, fields, scheme, **how)

    def detach(self) -> Detached:
        return attaching.detach(self.client, self.address)


def attach(
    client: OpenSearch, address: Address, fields: AttachedFields | None = None, scheme: Scheme | None = None, **how: Any
) -> AttachReport:
    return attaching.attach(client, address, _options(fields, scheme, how))


def plan(
    client: OpenSearch, address: Address, fields: AttachedFields | None = None, scheme: Scheme | None = None, **how: Any
) -> attaching.Plan:
    return attaching.plan(client, address, _options(fields, scheme, how))


def _options(fields: AttachedFields | None, scheme: Scheme | None, how: dict[str, Any]) -> AttachOptions:
    return (fields or AttachedFields()).extended(AttachOptions, scheme=scheme, **how)


def text(seed: object, words: int = 300) -> str:
    random = Random(str(seed))
    return " ".join(
        f"{random.choice('bdfgklmnprstvz')}{random.choice('aeiou')}{random.randrange(400)}" for _ in range(words)
    )


def article(number: int) -> dict[str, Any]:
    """Return the article of a number; 0, 1 and 2 are copies with small changes."""
    body = f"{text('story')} The end of edition {number}." if number < 3 else text(number)
    return {"headline": f"Article {number}", "body": body, "author": "ada"}


def opened(own: OwnIndex) -> Index:
    return Index.open(str(own.address), create=False)


def similar(own: OwnIndex, url: str) -> list[str]:
    """Return the addresses of the near-duplicates of a page."""
    with opened(own) as index:
        return sorted(match.url for match in index.similar(url=url))


def sizes(index: Index, words: str, **options: Any) -> list[int]:
    return sorted(1 + len(hit.members) for hit in index.search(words, group=True, **options).hits)
