"""Words and scores of an embedded store equal those of OpenSearch, to the last bit."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from unicodedata import ucd_3_2_0

import pytest
from opensearchpy import OpenSearch, helpers

from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.mappings.opensearch_mapping import analysis
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.mappings.stored_fields import ANALYZER
from opensearch_winnow.queries.dsl.words import words_query
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded import EmbeddedStore
from tests.engine_fixture import VERSION
from tests.stores.conftest import numbered
from tests.stores.store_questions import search

SHARDS = (1, 3)
OWN_SCALE = VERSION.startswith("3")
PAGES = 120
# Characters of every class that word segmentation knows, and separators.
SOME = (
    *"aZ1 _'\".,:;#*-ßÆøéİΣς日ひカーกαЖא한々〇ﬁⓂ㊗０ｶ𝐀😀👍❤©",
    *"\u0301\u0332\u00ad\u200d\ufe0f\ufe0e\u20e3\u3099\u05b0\u1112\u2028\u3030\uff9e\u1a55\u1950\u32d0\x00",
    *"\U0001f3fb\U0001f1e9\U0001f1ea\U000e0067\U000e007f\U0001b164\U00010400",
)

WORDS = ["wind", "mill", "miller", "chaff", "grain", "sieve", "été", "日本", "don't", "fruit-tree"]
QUESTIONS = [
    *("wind", "wind mill", "wind OR grain OR sieve", '"wind mill"', '"wind wind"', '"grain don\'t" OR chaff', "mil*"),
    *("mil* chaff -sieve", "fruit-tr* wind", "fruit-tree OR fruit-tr* OR rare1", "don't 日本", "ete rare*"),
    *('"wind rare*" OR rare2', '"only7 also7"', '"only90 also90" OR wind', '"only30 also30" mill', "nothing"),
    "wind -mil*",
]


@pytest.fixture(scope="module")
def indices(client: OpenSearch) -> Iterator[dict[int, str]]:
    """Indices with texts alone, by the number of shards."""
    made = {shards: f"same-words-{os.getpid()}-{shards}" for shards in SHARDS}
    field = {"type": "text", "analyzer": ANALYZER}
    for shards, name in made.items():
        settings = {"number_of_shards": shards, "number_of_replicas": 0, "analysis": analysis()}
        body = {"settings": settings, "mappings": {"properties": {"title": field, "text": field}}}
        client.indices.create(index=name, body=body)
        texts = ({"title": each.title, "text": each.text, "_index": name, "_id": each.id} for each in records())
        helpers.bulk(client, ({key: value for key, value in each.items() if value} for each in texts), refresh=True)
    yield made
    for name in made.values():
        client.indices.delete(index=name)


def records() -> list[Record]:
    """Return records in which some words are so rare that only one shard has them."""
    source = Random(6)

    def word() -> str:
        return source.choice(WORDS) if source.random() < 0.9 else f"rare{source.randrange(50)}"

    found = []
    for number in range(PAGES):
        title, text = (" ".join(word() for _ in range(source.randrange(most))) for most in (4, 5 + 3 * number))
        found.append(numbered(number, title=title or None, text=f"{text} only{number} also{number}"))
    return found


@pytest.mark.check
def test_words_are_those_of_the_analyzer(client: OpenSearch, indices: dict[int, str]) -> None:
    source = Random(8)
    old = VERSION.startswith("7")  # its Unicode is too old
    characters = [chr(code) for code in (*range(1, 0xD800), *range(0xE000, 0x110000))]
    characters = [each for each in characters if not (old and ucd_3_2_0.category(each) == "Cn")]
    some = [each for each in SOME if each in set(characters)]
    texts = [
        "".join(source.choice(some if source.random() < 0.8 else characters) for _ in range(source.randrange(1, 120)))
        for _ in range(600)
    ]
    texts += [(start + each * 1_000)[:size] for size in (254, 255, 256, 600) for each in some for start in ("", "x")]
    for start in range(0, len(texts), 15):  # at most 10,000 words, because the engine returns no more
        text = " \n".join(texts[start : start + 15])
        found = client.indices.analyze(index=indices[1], body={"analyzer": ANALYZER, "text": text})["tokens"]
        assert word_tokens(text)[0] == [token["token"] for token in found]


@pytest.mark.check
@pytest.mark.parametrize("shards", SHARDS)
def test_relevance_is_that_of_opensearch(
    client: OpenSearch, indices: dict[int, str], shards: int, tmp_path: Path
) -> None:
    with EmbeddedStore.open(tmp_path / "crawl.winnow", create=True) as store:
        pages = records()
        # Some pages are replaced, and others deleted: the old ones must not count.
        store.write([*pages[:50], *(numbered(number) for number in range(PAGES, PAGES + 30))])
        store.write(pages[20:])
        store.delete([numbered(number).id for number in range(PAGES, PAGES + 30)])
        for typed in QUESTIONS:
            for any_word in (False, True):
                words = Words.of(typed, any_word=any_word)
                found = search(store, words, Filters(), limit=PAGES)
                scores = {hit.card.id: hit.score for hit in found.hits}
                assert found.total == len(scores)
                theirs = relevance(client, indices[shards], words)
                assert scores.keys() == theirs.keys()
                if OWN_SCALE:
                    assert scores == theirs, typed
                elif "*" not in typed:  # scores of older engines are larger by a constant factor, except for prefixes
                    assert theirs == pytest.approx({id_: 2.2 * score for id_, score in scores.items()}, rel=1e-5), typed


def relevance(client: OpenSearch, index: str, words: Words) -> dict[str, float]:
    body: dict[str, Any] = {"query": words_query(words), "size": PAGES, "_source": False}
    hits = client.search(index=index, body=body, params={"search_type": "dfs_query_then_fetch"})["hits"]["hits"]
    return {hit["_id"]: single(hit["_score"]) for hit in hits}


def single(value: float) -> float:
    """Round to single precision, which is what an engine's JSON expresses."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded
