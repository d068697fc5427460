"""Functions that turn results of the library into recorded values, without times of the run, ids and paths.

When an attribute gets another name, only the function here changes, and no recorded answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opensearch_winnow.batch import PassagesResult
    from opensearch_winnow.clients import HitGroups
    from opensearch_winnow.clusters.result import ClusteringResult
    from opensearch_winnow.ingest.runs.report import Report
    from opensearch_winnow.mappings.card import Card
    from opensearch_winnow.mappings.finding import Finding
    from opensearch_winnow.operations.asking.history import History
    from opensearch_winnow.operations.asking.locate import Located
    from opensearch_winnow.operations.asking.versions import Versions
    from opensearch_winnow.operations.crawls.changes import Changes
    from opensearch_winnow.operations.crawls.deletion import DeletedCapture, DeletionReport
    from opensearch_winnow.queries.searching.hit_groups import HitGroup, HitMember
    from opensearch_winnow.queries.searching.results import Member
    from opensearch_winnow.stores.store import Statistics
    from opensearch_winnow.types import (
        Comparison,
        Contamination,
        Deduplication,
        Matches,
        Pairs,
        Passage,
        Relationship,
        SearchResults,
    )


def day(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d}"


def capture(card: Card | DeletedCapture) -> str:
    return f"{card.url} {day(card.fetched_at)}".strip()


def passages(found: Iterable[Passage]) -> list[list[int]]:
    return [[each.start, each.end, each.other_start, each.other_end] for each in found]


def relationship(found: Relationship | None) -> str:
    return "" if found is None else f"{found.kind}: {found.reason}"


def attributes(found: object, *names: str) -> dict[str, Any]:
    """Return the attributes that still have the names under which they are recorded."""
    return {name: getattr(found, name) for name in names}


def scores(found: Any) -> list[float]:
    return [found.resemblance, found.containment, found.contained]


def matches(found: Matches) -> dict[str, Any]:
    return {
        **attributes(found, "total", "score"),
        "threshold": found.min_score,
        **attributes(found, "candidates", "tokens", "ignored", "uncompared"),
        "short": [found.below_guarantee, found.too_short],
        "matches": [
            {
                "page": capture(each.card),
                "scores": scores(each),
                **attributes(each, "kind", "error"),
                "passages": passages(each.passages),
                "boilerplate": passages(each.boilerplate),
                "relationship": relationship(each.relationship),
            }
            for each in found
        ],
    }


def comparison(found: Comparison) -> dict[str, Any]:
    return {
        "scores": scores(found),
        "passages": passages(found.passages),
        "boilerplate": passages(found.boilerplate),
        "left_out": list(found.left_out),
        "relationship": relationship(found.relationship),
    }


def search_results(found: SearchResults) -> dict[str, Any]:
    return {
        "total": found.total,
        "groups": [found.groups, found.at_least, found.at_most],
        "examined": found.examined,
        "hits": [
            {
                "page": capture(each.card),
                **attributes(each, "title", "score", "snippet"),
                "marks": [list(mark) for mark in each.marks],
                "title_marks": [list(mark) for mark in each.title_marks],
                "members": [member(other) for other in each.members],
            }
            for each in found.hits
        ],
        "folded": [{"url": each.url, "member": member(each.member)} for each in found.folded],
        "facets": {
            name: [[each.value, each.pages, each.groups] for each in counts] for name, counts in found.facets.items()
        },
        "more": found.cursor is not None,
    }


def outline(found: SearchResults) -> dict[str, Any]:
    """Return which pages are in which group, on one page of many."""
    return {
        "total": found.total,
        "groups": [found.groups, found.at_least, found.at_most],
        "examined": found.examined,
        "hits": [[each.url, [other.url for other in each.members]] for each in found.hits],
        "folded": [[each.url, each.member.url] for each in found.folded],
    }


def member(found: Member) -> dict[str, Any]:
    page = f"{found.url} {day(found.fetched_at)}".strip()
    return {"page": page, **attributes(found, "score", "resemblance", "kind", "error")}


def report(found: Report) -> dict[str, Any]:
    return {
        **attributes(found, "indexed", "unchanged"),
        "skipped": dict(found.skipped),
        "failed": dict(found.failed),
        "duplicates": dict(sorted(found.duplicates.items())),
        "findings": findings(found.findings),
    }


def statistics(found: Statistics) -> dict[str, Any]:
    return {
        "counts": [found.pages, found.urls, found.sites],
        "frequencies": {name: sorted(counts.items()) for name, counts in found.frequencies.items()},
    }


def clustering(found: ClusteringResult) -> dict[str, Any]:
    return {
        **attributes(found, "pages", "clusters", "clustered_pages"),
        "identical": [found.identical_clusters, found.identical_pages],
        "edges": found.edges,
        "largest": [[each.pages, each.url] for each in found.largest_clusters],
    }


def history(found: History) -> list[list[Any]]:
    return [[capture(each.card), each.card.crawl, each.resemblance] for each in found]


def versions(found: Versions) -> list[dict[str, Any]]:
    return [
        {
            "captures": [capture(card) for card in each.captures],
            "first_seen": day(each.first_seen),
            **attributes(each, "resemblance", "same", "current"),
            "stale": each.stale_pages,
        }
        for each in found
    ]


def located(found: Located) -> dict[str, Any]:
    pages = [
        {"page": capture(each.card), "change": each.change, "scores": scores(each), "kind": each.kind}
        | {"first_seen": day(each.first_seen)}
        for each in found
    ]
    return {"last_seen": day(found.last_seen), "total": found.total, "undated": found.undated, "found": pages}


def changes(found: Changes) -> dict[str, Any]:
    return {
        "crawls": [found.before, found.after],
        "counts": dict(found.counts),
        **attributes(found, "template", "common", "without_text"),
        "pages": [
            {
                **attributes(each, "change", "url", "to_url"),
                "scores": [each.resemblance, each.containment],
                "template": each.template,
                "days": [day(each.fetched_at), day(each.to_fetched_at)],
                "parts": list(each.parts),
            }
            for each in found.pages
        ],
    }


def pairs(found: Pairs) -> dict[str, Any]:
    return {
        "documents": len(found.documents),
        **attributes(found, "compared", "total", "groups"),
        "threshold": found.min_score,
        **attributes(found, "measure", "histogram"),
        "pairs": [
            {
                **attributes(each, "a", "b"),
                "scores": [each.similarity, *scores(each), each.coverage],
                "longest": each.longest,
                "passages": [
                    [p.file_number, p.start, p.end, p.other_file_number, p.other_start, p.other_end, p.words]
                    for p in each.passages
                ],
            }
            for each in found
        ],
    }


def deduplication(found: Deduplication) -> dict[str, Any]:
    return {
        "rows": [found.rows, found.kept, found.dropped, found.failed],
        "dropped_for_earlier_set": found.against,
        "other_symbols": found.other_symbols,
        "largest": [[each.rows, each.id] for each in found.largest_clusters],
        "dropped": [
            [number, found.outcome(number), found.representatives[number], found.similarities[number]]
            for number in range(found.rows)
            if not found.is_kept(number)
        ],
    }


def contamination(found: Contamination) -> dict[str, Any]:
    return {
        "rows": [found.rows, found.contaminated, found.below_containment, found.kept, found.cut],
        "found": [
            {
                **attributes(each, "id", "row", "passages"),
                "spans": [list(span) for span in each.spans],
                **attributes(each, "words", "share"),
                "evaluation": [[other.id, other.containment] for other in each.evaluation_rows],
            }
            for each in found.found
        ],
    }


def repeated(found: PassagesResult) -> dict[str, Any]:
    return {
        "rows": [found.rows, found.kept, found.dropped],
        "passages": [found.passages, found.rows_with_passages],
        "characters": [found.characters, found.characters_in_passages],
        "most_frequent": [[each.count, each.id, each.start, each.end] for each in found.most_frequent],
    }


def findings(found: Iterable[Finding]) -> list[list[Any]]:
    return sorted([each.watch, each.url, day(each.fetched_at), each.containment, each.longest] for each in found)


def deletion(found: DeletionReport) -> dict[str, Any]:
    return {
        "pages": found.pages,
        "captures": [found.captures, found.deleted],
        "examples": [capture(card) for card in found.examples],
        **attributes(found, "missing", "blocked", "reclustered", "boilerplate", "watches"),
    }


def hit_groups(found: HitGroups) -> dict[str, Any]:
    """Return the groups among the hits of a response."""
    counts = attributes(found, "total", "count", "about", "left_out", "without_fields")
    return {**counts, "groups": [hit_group(each) for each in found]}


def group_page(found: HitGroups) -> dict[str, Any]:
    """Return one page of a search in groups."""
    return {
        "total": found.total,
        "groups": [found.count, found.at_least, found.at_most],
        **attributes(found, "examined", "without_fields", "stale"),
        "aggregations": dict(found.aggregations),
        "hits": [hit_group(each) for each in found],
        "folded": [[each.hit["_id"], hit_member(each.member)] for each in found.folded],
        "more": found.cursor is not None,
    }


def hit_group(found: HitGroup) -> list[Any]:
    return [found.hit["_id"], found.hit["_score"], found.size, [hit_member(each) for each in found.members]]


def hit_member(found: HitMember) -> list[Any]:
    return [found.hit["_id"], found.resemblance, found.kind, found.error]


def gateway_page(found: Any) -> dict[str, Any]:
    """Return one page of a grouped search through the gateway, in outline."""
    return {
        "total": found["hits"]["total"],
        "max_score": found["hits"]["max_score"],
        "groups": engine_document(found["ext"]["winnow"]),
        "hits": [
            [hit["_id"], hit["_score"], hit["inner_hits"]["winnow"]["hits"]["total"]["value"], _members(hit)]
            for hit in found["hits"]["hits"]
        ],
    }


def _members(hit: Any) -> list[Any]:
    members = hit["inner_hits"]["winnow"]["hits"]["hits"]
    return [[each["_id"], each["_score"], dict(sorted(each["fields"].items()))] for each in members]


def engine_document(found: Any) -> Any:
    """Return JSON of an engine without what differs from run to run, and without the name of the index."""
    if isinstance(found, Mapping):
        return {key: engine_document(value) for key, value in json_document(found).items() if key != "_index"}
    return [engine_document(each) for each in found] if isinstance(found, list) else found


# What differs from run to run, or from machine to machine, wherever it is in a document of JSON.
VOLATILE = frozenset({"seconds", "took", "at", "store", "_shards", "bytes", "sizes", "cursor", "version", "scheme"})


def json_document(found: Any) -> Any:
    """Return JSON without what differs from run to run."""
    if isinstance(found, Mapping):
        return {key: json_document(value) for key, value in found.items() if key not in VOLATILE}
    return [json_document(each) for each in found] if isinstance(found, list) else found
