"""What the recipe of docs/curl.md for near-duplicates finds, beside `winnow similar`, on real pages.

The truth is what `similar` finds: a resemblance of 50 % or more, computed from the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from opensearchpy import OpenSearch

from benchmarks.engine import local_engine
from benchmarks.own_index import FIELDS, create, load
from benchmarks.table import Run, Table, percent
from benchmarks.unpacked_data import page_of, real_records
from opensearch_winnow.index import Index
from opensearch_winnow.stores.opensearch.own_index.attach import attach
from opensearch_winnow.stores.opensearch.requests.client import Address

QUESTIONS = 400
THRESHOLD = 0.5
HITS = 1_000
SHARDS = (1, 3)
COUNT = "sketch_count"


def tables(run: Run) -> Iterator[Table]:
    with local_engine() as engine:
        yield recipes(engine.url, run)


def recipes(engine: str, run: Run) -> Table:
    pages = {record.url: page_of(record) for record in real_records(run.scale)}
    subjects = Random(4).sample(sorted(pages), min(len(pages), run.size(QUESTIONS, least=5)))
    rows = []
    for shards in SHARDS:
        with OpenSearch(engine, timeout=120) as client:
            address = Address.of(f"{engine}/manuals-{shards}")
            create(client, address.index, shards=shards)
            load(client, address.index, pages.values())
            attach(client, address, FIELDS)
            with Index.open(str(address), create=False) as index:
                truth = {url: {match.url for match in index.similar(url=url, limit=None)} for url in subjects}
            for name, found in answers(client, address.index, subjects).items():
                rows.append((f"{name}, {shards} shard{'s' * (shards > 1)}", *shares(truth, found)))
    title = f"Near-duplicates of {len(subjects):,} of {len(pages):,} pages of manuals and licences"
    return Table(title, ("recipe", "of all pairs, found", "of those found, right"), rows)


def answers(client: OpenSearch, index: str, subjects: list[str]) -> dict[str, dict[str, set[str]]]:
    """Return what each form of the recipe finds for each page."""
    found: dict[str, dict[str, set[str]]] = {name: {} for name in ("minimum_should_match", "min_score", "resemblance")}
    for url in subjects:
        page = client.get(index=index, id=url, params={"_source_includes": f"winnow.{COUNT}"})
        own: int = page["_source"]["winnow"][COUNT]
        like = {
            "fields": ["winnow.sketch"],
            "like": [{"_id": url}],
            "min_term_freq": 1,
            "min_doc_freq": 1,
            "max_query_terms": 1000,
            "minimum_should_match": "50%",
        }
        body = {
            "query": {"more_like_this": like},
            "size": HITS,
            "docvalue_fields": [f"winnow.{COUNT}"],
            "_source": False,
        }
        hits = client.search(index=index, body=body)["hits"]["hits"]
        shared = {hit["_id"]: (hit["_score"], hit["fields"][f"winnow.{COUNT}"][0]) for hit in hits}
        found["minimum_should_match"][url] = set(shared)
        found["min_score"][url] = {each for each, (score, _) in shared.items() if score >= own / 2}
        found["resemblance"][url] = {
            each for each, (score, count) in shared.items() if score / (own + count - score) >= THRESHOLD
        }
    return found


def shares(truth: dict[str, set[str]], found: dict[str, set[str]]) -> tuple[str, str]:
    """Return recall and precision over all pairs."""
    right = sum(len(truth[url] & found[url]) for url in truth)
    all_true, all_found = (sum(map(len, each.values())) for each in (truth, found))
    return percent(right / max(all_true, 1), 1), percent(right / max(all_found, 1), 1)
