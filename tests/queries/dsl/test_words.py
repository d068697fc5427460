from __future__ import annotations

from typing import Any

from opensearch_winnow.queries.dsl.words import words_query
from opensearch_winnow.queries.words import Words

EVERY_SHARD = [{"term": {"title": ""}}, {"term": {"text": ""}}]


def either(*clauses: dict[str, Any]) -> dict[str, Any]:
    return {"bool": {"should": list(clauses), "minimum_should_match": 1}}


def phrase(typed: str) -> list[dict[str, Any]]:
    return [{"match_phrase": {"title": {"query": typed, "boost": 4.0}}}, {"match_phrase": {"text": {"query": typed}}}]


def prefix(start: str) -> list[dict[str, Any]]:
    return [{"prefix": {"title": {"value": start, "boost": 4.0}}}, {"prefix": {"text": {"value": start}}}]


def test_words_as_a_query() -> None:
    latest = {"term": {"latest": True}}
    assert words_query(Words.of('Apple OR "fruit tree" Mil* -pear -well-kn*'), [latest]) == {
        "bool": {
            "must": [either(*phrase("Apple"), *phrase("fruit tree")), either(*prefix("mil"))],
            "should": EVERY_SHARD,
            "must_not": [*phrase("pear"), {"bool": {"must": [either(*phrase("well-")), either(*prefix("kn"))]}}],
            "filter": [latest],
        }
    }
    assert words_query(Words.of("")) is words_query(Words.of("+ -apple")) is None
    assert words_query(Words.of("a\ud800b")) == {
        "bool": {"must": [either(*phrase("a\ufffdb"))], "should": EVERY_SHARD, "must_not": [], "filter": []}
    }
