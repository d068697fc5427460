"""`filter_path` leaves the same parts of an answer as the engine's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from opensearch_winnow.gateway.filter_path import filtered
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.running_gateway import ask
from tests.stores.opensearch.own_index import OwnIndex

PATHS = [
    "hits.hits._source",
    "hits.hits._id,hits.total",
    "hits.hits, -hits.hits._source",
    "h*.h*._s*ce.body",
    "hits.hits._source.parts.a",
    "hits.hits._source.dotted\\.name",
    "hits.hits._source.dotted.name",
    "hits.hits.",
    "*",
    "*.total.value",
    "*.*._id",
    "**",
    "**._id",
    "hits.**._id",
    "**.**.body",
    "took.**",
    "-**",
    "-**._id",
    "-hits",
    "-hits.hits.*",
    "-hits.hits._source.*",
    "-hits.hits._source.parts.a",
    "-_shards,-hits.total",
    "nothing",
    "timed_out.nothing",
    "hits.[h]its",
    "hits.h?ts",
    "",
    ",",
]


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "took"}


def test_the_same_parts_are_left_as_by_the_engine(engine: Running, plain: OwnIndex) -> None:
    documents = [
        {"body": "No egg.", "parts": [{"a": 1, "b": [2]}, {"a": 3}, {}], "dotted.name": "x", "empty": []},
        {"body": "A hen.", "parts": {"b": {}}},
    ]
    for number, document in enumerate(documents):
        ask(engine.url, "PUT", f"/{plain.name}/_doc/{number}?refresh=true", document)
    whole = ask(engine.url, "GET", f"/{plain.name}/_search").body
    for path in PATHS:
        address = f"/{plain.name}/_search?filter_path={path.replace(' ', '%20')}"
        expected = without_time(ask(engine.url, "GET", address).json())
        assert (path, without_time(json.loads(filtered(whole, path)))) == (path, expected)


def test_numbers_keep_their_digits() -> None:
    assert filtered(b'{"a":{"n":1.000000000000000000010,"m":2}}', "a.n") == b'{"a":{"n":1.000000000000000000010}}'


@pytest.mark.check
def test_no_path_takes_long() -> None:
    content = json.dumps({"a" * 200: {"a" * 200: {"b": 1}}}).encode()
    assert filtered(content, "*a" * 100 + "b") == b"{}"
    assert filtered(content, ".".join(["**"] * 200) + ".c") == b"{}"
