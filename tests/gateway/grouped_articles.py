"""An attached index of articles that resemble each other, and their groups by brute force."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.queries.compare import Comparer, Side, side
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.stores.opensearch.own_articles import attach

WORDS = [f"word{number}" for number in range(5_000)]
FAMILIES = [Random(seed).choices(WORDS, k=200) for seed in range(9)]
ARTICLES = 90
MILL = {"match": {"title": "mill"}}
PROPERTIES: dict[str, Any] = {
    "title": {"type": "text"},
    "headline": {"type": "text", "index": False},
    "parts": {"properties": {"text": {"type": "text"}}},
    "remarks": {"type": "nested", "properties": {"by": {"type": "keyword"}}},
    "author": {"type": "keyword"},
    "n": {"type": "long"},
    "day": {"type": "date"},
}
Found = list[tuple[str, list[str]]]  # the id of each hit shown, and those of its members


def article(number: int) -> dict[str, Any]:
    """Return an article that resembles others of its family by .3 to 1."""
    random = Random(number)
    family = FAMILIES[number * number % len(FAMILIES)]
    kept = 200 - random.choice([0, 5, 40, 62, 66, 70, 110])
    words = [*family[:kept], *(f"own{number}x{place}" for place in range(200 - kept))]
    return {
        "title": "mill " * random.randint(1, 3),
        "headline": " ".join(words[:20]),
        "parts": [{"text": " ".join(words[20:90])}, {"text": [" ".join(words[90:])]}],
        "remarks": [{"by": random.choice(["ada", "ben"])}],
        "n": random.randint(0, 9),
        "day": f"2024-0{random.randint(1, 3)}-{random.randint(10, 28)}",
    } | ({"author": random.choice(["ada", "ben", "cleo"])} if number % 5 else {})


def new_index(client: OpenSearch, engine: str, name: str, articles: int = ARTICLES, shards: int = 3) -> str:
    """Make an index of articles, attach it, and then add those articles that are to have no fields."""
    settings = {"number_of_shards": shards, "number_of_replicas": 0}
    client.indices.create(index=name, body={"settings": settings, "mappings": {"properties": PROPERTIES}})
    write(client, name, {str(number): article(number) for number in range(articles) if number % 13})
    attach(client, Address.of(f"{engine}/{name}"), AttachedFields(text=("headline", "parts.text")))
    write(client, name, {str(number): article(number) for number in range(articles) if not number % 13})
    return name


def write(client: OpenSearch, index: str, articles: Mapping[str, Mapping[str, Any]]) -> None:
    """Write articles directly, past the gateway."""
    lines: list[Any] = []
    for id_, each in articles.items():
        lines += [{"index": {"_index": index, "_id": id_}}, each]
    assert not client.bulk(body=lines, refresh=True)["errors"]


COMPARER = Comparer(Scheme())


@cache
def prepared(text: str) -> Side:
    return side(text, Scheme())


def in_groups(client: OpenSearch, index: str | None, body: Mapping[str, Any], threshold: float = 0.5) -> Found:
    """Group all hits of a search by brute force, with their texts."""
    sort = body.get("sort") or [{"_score": "desc"}]
    order = [*(sort if isinstance(sort, list) else [sort]), {"_seq_no": "asc"}]
    search = {**body, "sort": order, "size": 1_000, "_source": True}
    groups: list[tuple[str, Side | None, list[str]]] = []
    for hit in client.search(index=index, body=search)["hits"]["hits"]:
        source = hit["_source"]
        made = prepared(_text(source)) if "winnow" in source else None
        for _, shown, members in groups:
            if made and shown and COMPARER.scores(shown, made).resemblance >= threshold:
                members.append(hit["_id"])
                break
        else:
            groups.append((hit["_id"], made, []))
    return [(id_, members) for id_, _, members in groups]


def true_resemblance(one: str, other: str) -> float:
    return float(COMPARER.scores(prepared(_text(article(int(one)))), prepared(_text(article(int(other))))).resemblance)


def _text(source: Mapping[str, Any]) -> str:
    texts = [each["text"] for each in source["parts"]]
    return "\n".join([source["headline"], *(each if isinstance(each, str) else each[0] for each in texts)])


def all_pages(
    client: OpenSearch, searched: str | None, body: Mapping[str, Any], size: int, **options: Any
) -> list[dict[str, Any]]:
    """Read all pages of a grouped search, until one has no hits and nothing was folded."""
    pages: list[dict[str, Any]] = []
    ext = {"winnow": {"group": True, "members": 1_000, **options}}
    while not pages or pages[-1]["hits"]["hits"] or pages[-1]["ext"]["winnow"]["folded"]:
        paged = {**body, "from": len(pages) * size, "size": size, "ext": ext}
        pages.append(client.search(index=searched, body=paged))
    return pages


def put_together(pages: list[dict[str, Any]]) -> Found:
    found: dict[str, list[str]] = {}
    for page in pages:
        for hit in page["hits"]["hits"]:
            assert hit["_id"] not in found
            found[hit["_id"]] = [member["_id"] for member in hit["inner_hits"]["winnow"]["hits"]["hits"]]
        for folded in page["ext"]["winnow"]["folded"]:
            found[folded["hit"]["_id"]].append(folded["member"]["_id"])
    return list(found.items())
