"""Questions to an index of one's own that is attached: as a store, with the user's own client, through the gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError

from opensearch_winnow import Filters, Index, attach
from opensearch_winnow.clients import deduplicate_search_body, group_hits, search_groups
from tests.recorded_answers import index_questions as of_store, result_values as values
from tests.recorded_answers.question import NOTHING, Question, question
from tests.recorded_answers.two_crawls import FIRST, SECOND, crawls, licences, plain_text

TYPES = {"body": {"type": "text"}, "headline": {"type": "text"}, "link": {"type": "keyword"}, "time": {"type": "date"}}
BELOW, TEXT = "winnow", "body"
# BM25 counts replaced documents too, as long as the engine keeps them, so that its scores differ from run to run.
SCORE = {"source": "return query.boost * Math.sqrt(doc.freq) / Math.sqrt(doc.length);"}
SIMILARITY = {"default": {"type": "scripted", "script": SCORE}}
SETTINGS = {"number_of_shards": 1, "number_of_replicas": 0, "similarity": SIMILARITY}
STEP = 2  # one page in this number is a document
CHANGED = 5  # documents that are changed behind the gateway
SIMILAR: tuple[dict[str, Any], ...] = ({}, {"min_containment": 0}, {"min_resemblance": 0.2, "exact": False})
TEXTS: tuple[dict[str, Any], ...] = ({}, {"min_containment": 0.05, "limit": 3})
WORDS = ("license", "index reader", "warranty OR 模板")
WAYS = ("signature", "cluster", "both")
GROUPED: tuple[dict[str, Any], ...] = (
    {"min_resemblance": 0.2, "exact": True, "limit": 4},
    {"representative": "longest", "facets": ("site", "year"), "examine": 1_000, "limit": 4, "page": 2},
    {"where": Filters(site="lucene.example"), "by": "both", "limit": 4},
)
LISTED: tuple[dict[str, Any], ...] = ({"min_pages": 2}, {"limit": 3, "offset": 3})
MATCHING: dict[str, Any] = {"match": {"body": "license warranty"}}
EVERYTHING: dict[str, Any] = {"match_all": {}}
QUERIES: tuple[dict[str, Any], ...] = (MATCHING, {"match": {"body": "index reader"}}, EVERYTHING)
IN_ORDER = [{"_score": "desc"}, {"link": "asc"}, {"time": "asc"}]  # so that equal scores come in the same order
BY_LINK = [{"link": "asc"}, {"time": "asc"}]
LIMITS: tuple[dict[str, Any], ...] = (
    {},
    {"min_resemblance": 0.3, "members": 2},
    {"min_resemblance": 0.9, "examine": 7},
)
PAGE_STARTS = (0, 6, 12)


@contextmanager
def attached_index(url: str, name: str) -> Iterator[Index]:
    """Make an index of pages of both crawls, attach it, cluster it, and open it as a store."""
    pages = [(crawl, page) for crawl in (FIRST, SECOND) for page in crawls()[crawl][::STEP]]
    with OpenSearch(url, timeout=60) as client:
        client.indices.create(index=name, body={"settings": SETTINGS, "mappings": {"properties": TYPES}})
        lines: list[Any] = []
        for number, (crawl, page) in enumerate(pages):
            document = {"body": plain_text(page), "headline": page.title or "", "link": page.url}
            assert page.fetched_at is not None
            lines += [{"index": {"_id": f"{crawl}-{number}"}}, document | {"time": page.fetched_at.isoformat()}]
        assert not client.bulk(body=lines, index=name, params={"refresh": "true"})["errors"]
        attach(f"{url}/{name}", text=TEXT, title="headline", url="link", time="time", below=BELOW, slices=1)
        with Index.open(f"{url}/{name}", create=False) as index:
            index.cluster()
            yield index


def questions(url: str, gateway: str, name: str) -> Iterator[Question]:
    """Yield all questions, in order: for the last ones, documents are changed."""
    yield from _of_store()
    with OpenSearch(url, timeout=60) as client, OpenSearch(gateway, timeout=60) as through_gateway:
        yield from _own_searches(client, name)
        yield from _through_gateway(through_gateway, name)
        _change_documents(client, name)
        yield from _of_changed_documents(client, through_gateway, name)


# --- as a store -------------------------------------------------------------------------------------------------------


def _of_store() -> Iterator[Question]:
    for url in [page.url for page in crawls()[SECOND][::STEP]][::17]:
        for options in SIMILAR:
            yield question("similar", of_store.similar, url=url, **options)
    for text in [plain_text(page)[200:1_700] for page in crawls()[FIRST][-40::13]]:
        for options in TEXTS:
            yield question("similar text", of_store.similar, text=text, **options)
    for words in WORDS:
        yield question("search", of_store.search, words=words, limit=5)
        for by in WAYS:
            yield question("grouped search", of_store.search, words=words, group=True, by=by, limit=5)
            yield question(
                "grouped search pages", of_store.search_pages, words=words, group=True, by=by, examine=7, limit=7
            )
        for options in GROUPED:
            yield question("grouped search", of_store.search, words=words, group=True, **options)
    for listed in LISTED:
        yield question("clusters", of_store.cluster_list, **listed)
    yield question("clusters", of_store.clustering, threshold=0.3, linkage="components")
    yield question("cluster members", of_store.cluster_members, limit=10)


# --- with the user's own client ---------------------------------------------------------------------------------------


def _own_searches(client: OpenSearch, name: str) -> Iterator[Question]:
    for query in QUERIES:
        for least in (0.3, 0.5):
            pages = partial(_group_pages, client, name)
            yield question("search groups", pages, query=query, min_resemblance=least)
        for least in (0.2, 0.5):
            yield question("group hits", partial(_group_hits, client, name), query=query, min_resemblance=least)
        for members in (2, 10):
            yield question("collapsed hits", partial(_collapsed, client, name), query=query, members=members)


def _group_pages(client: OpenSearch, name: str, _: object, query: Mapping[str, Any], min_resemblance: float) -> Any:
    """Return up to four pages of groups."""
    body = {"query": query, "sort": IN_ORDER, "_source": False, "aggs": {"links": {"cardinality": {"field": "link"}}}}
    options: dict[str, Any] = {"min_resemblance": min_resemblance, "below": BELOW, "text": TEXT}
    pages = [search_groups(client, name, body, examine=20, limit=5, **options)]
    while (cursor := pages[-1].cursor) and len(pages) < 4:
        pages.append(search_groups(client, cursor=cursor))
    return [values.group_page(page) for page in pages]


def _group_hits(client: OpenSearch, name: str, _: object, query: Mapping[str, Any], min_resemblance: float) -> Any:
    found = client.search(index=name, body={"query": query, "sort": IN_ORDER, "size": 60})
    return values.hit_groups(group_hits(found, min_resemblance, below=BELOW, text=TEXT))


def _collapsed(client: OpenSearch, name: str, _: object, query: Mapping[str, Any], members: int) -> Any:
    body = {"query": query, "sort": IN_ORDER, "size": 30}
    collapsing = deduplicate_search_body(body, field=f"{BELOW}.cluster", members=members)
    return values.hit_groups(group_hits(client.search(index=name, body=collapsing), below=BELOW, text=TEXT))


# --- through the gateway ----------------------------------------------------------------------------------------------


def _through_gateway(client: OpenSearch, name: str) -> Iterator[Question]:
    pages = partial(_pages_of_groups, client, name)
    for query in QUERIES:
        for options in LIMITS:
            yield question("gateway pages", pages, query=query, **options)
    for options in LIMITS:
        yield question("gateway pages by link", partial(pages, sort=BY_LINK), query=EVERYTHING, **options)
    one = partial(_one_page, client, name)
    parts: tuple[dict[str, Any], ...] = (
        {"from": 3, "size": 2, "_source": ["link"]},
        {"from": 40, "size": 5, "track_total_hits": False},
        {"from": 9_000, "size": 5},  # behind the last group
        {"from": 9_999, "size": 5},  # further than engines page
        {"size": 0, "aggs": {"links": {"cardinality": {"field": "link"}}}},
        {"size": 3, "highlight": {"fields": {"body": {"number_of_fragments": 1, "fragment_size": 60}}}},
        {"size": 3, "docvalue_fields": ["link"], "aggs": {"years": {"terms": {"field": "time", "size": 2}}}},
        {"size": 3, "collapse": {"field": "link"}},  # is refused
    )
    for part in parts:
        yield question("gateway search", one, part=part)
    addresses: tuple[dict[str, Any], ...] = (
        {"winnow_min_resemblance": 0.25, "winnow_members": 1, "size": 4},
        {"winnow_examine": 5, "from": 4, "size": 4},
        {"size": 2, "rest_total_hits_as_int": "true"},
        {"size": 2, "filter_path": "hits.hits._id,hits.hits.inner_hits.winnow.hits.hits._id,ext.winnow"},
        {"winnow_min_resemblance": 2},  # is refused
    )
    for parameters in addresses:
        yield question("gateway address", partial(_with_address, client, name), parameters=parameters)
    yield question("gateway msearch", partial(_several, client, name), queries=QUERIES)
    yield question("gateway plain search", partial(_plain, client, name), query=MATCHING)


def _pages_of_groups(client: OpenSearch, name: str, _: object, query: Any, sort: Any = IN_ORDER, **options: Any) -> Any:
    """Return three pages of a grouped search, in outline."""
    ext = {"winnow": {"group": True, **options}}
    body = {"query": query, "size": 6, "_source": False, "sort": sort, "ext": ext}
    return [values.gateway_page(client.search(index=name, body=body | {"from": start})) for start in PAGE_STARTS]


def _one_page(client: OpenSearch, name: str, _: object, part: Mapping[str, Any]) -> Any:
    body = {"query": MATCHING, "sort": IN_ORDER, "_source": False, "ext": {"winnow": {"group": True}}, **part}
    return _answered(client, name, body)


def _with_address(client: OpenSearch, name: str, _: object, parameters: Mapping[str, Any]) -> Any:
    body = {"query": MATCHING, "sort": IN_ORDER, "_source": False}
    return _answered(client, name, body, {"winnow": "group", **parameters})


def _answered(client: OpenSearch, name: str, body: Mapping[str, Any], parameters: Mapping[str, Any] = NOTHING) -> Any:
    """Return an answer, or the reason why there is none."""
    try:
        return values.engine_document(client.search(index=name, body=body, params=dict(parameters)))
    except RequestError as error:
        refused: Any = error.info
        return {"status": error.status_code, "reason": refused["error"]["reason"]}


def _several(client: OpenSearch, name: str, _: object, queries: tuple[Mapping[str, Any], ...]) -> Any:
    """Return the answers of one request with grouped searches and one that is not."""
    lines: list[Any] = []
    for number, query in enumerate(queries):
        ext = {"ext": {"winnow": {"group": True, "min_resemblance": 0.3}}} if number else {}
        lines += [{"index": name}, {"query": query, "sort": IN_ORDER, "size": 3, "_source": False, **ext}]
    found = client.msearch(body="".join(f"{json.dumps(line)}\n" for line in lines))
    return [values.engine_document(each) for each in found["responses"]]


def _plain(client: OpenSearch, name: str, _: object, query: Mapping[str, Any]) -> Any:
    body = {"query": query, "sort": IN_ORDER, "size": 3, "_source": ["link", f"{BELOW}.text_digest"]}
    return values.engine_document(client.search(index=name, body=body))


# --- documents that were changed --------------------------------------------------------------------------------------


def _change_documents(client: OpenSearch, name: str) -> None:
    """Change documents without the gateway: their fields are of their earlier texts. One new document has no fields."""
    copied, other = plain_text(licences()[42]), plain_text(licences()[80])
    found = client.search(index=name, body={"sort": BY_LINK, "size": 3 * CHANGED, "_source": False})["hits"]["hits"]
    for number, hit in enumerate(found[::3]):
        text = f"{copied} In its edition {number}." if number % 2 else f"{other} license warranty index reader {number}"
        client.update(index=name, id=hit["_id"], body={"doc": {"body": text}})
    document = {"body": copied, "headline": "", "link": "https://new.example/", "time": "2025-01-01T00:00:00Z"}
    client.index(index=name, id="new", body=document, params={"refresh": "true"})


def _of_changed_documents(client: OpenSearch, through_gateway: OpenSearch, name: str) -> Iterator[Question]:
    changed = {"of": "changed documents"}
    for query in (MATCHING, EVERYTHING):
        yield question("search groups", partial(_group_pages, client, name), changed, query=query, min_resemblance=0.4)
        yield question("group hits", partial(_group_hits, client, name), changed, query=query, min_resemblance=0.4)
        yield question("gateway pages", partial(_pages_of_groups, through_gateway, name), changed, query=query)
    for words in WORDS[:2]:
        for by in WAYS:
            yield question("grouped search", of_store.search, changed, words=words, group=True, by=by, limit=5)
