"""The report of the demo, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opensearch_winnow.answers.asking.compared import ComparedText
from opensearch_winnow.answers.searching.search_document import search_document
from opensearch_winnow.cli.demo.report import QUERY, DemoReport
from opensearch_winnow.mappings.record import Record


def report_document(report: DemoReport, store: str, path: Path, commands: Sequence[str]) -> dict[str, Any]:
    crawled, pair = report.crawled, report.pair
    return {
        "store": store,
        "report": str(path),
        "scheme": report.scheme.id,
        "pages": crawled.report.pages,
        "modules": crawled.modules,
        "licences": crawled.licences,
        "left_out": crawled.left_out,
        "indexed": crawled.report.indexed,
        "unchanged": crawled.report.unchanged,
        "skipped": crawled.report.skipped.total(),
        "failed": crawled.report.failed.total(),
        "characters": report.characters,
        "fingerprints": report.fingerprints,
        "clustering": report.clustering.as_document() | {"threshold": report.threshold},
        "clusters": [
            {
                "pages": len(cluster.pages),
                "representative": _page(cluster.pages[0]),
                "lowest": cluster.lowest,
                "others": [
                    _page(page) | {"resemblance": resemblance}
                    for page, resemblance in zip(cluster.pages[1:], cluster.resemblances, strict=True)
                ],
            }
            for cluster in report.clusters
        ],
        "contained": [
            _page(contained.page)
            | {
                "in": [
                    _page(page) | {"share": share}
                    for page, share in zip(contained.inside, contained.shares, strict=True)
                ]
            }
            for contained in report.contained
        ],
        "copied": [
            {
                "site": site,
                "text": copied.text,
                "words": copied.words,
                "pages": len(copied.pages),
                "urls": [page.url for page in copied.pages],
            }
            for site, copied in report.copied.items()
        ],
        "search": {"words": QUERY, **search_document(report.search, report.seconds["search"])},
        "comparison": pair
        and {
            "a": _page(pair.a),
            "b": _page(pair.b),
            "resemblance": pair.comparison.resemblance,
            "containment": pair.comparison.containment,
            "contained": pair.comparison.contained,
            "moved": sum(each.moved for each in pair.passages),
            "passages": [passage._asdict() for passage in pair.comparison.passages],
        },
        "seconds": {part: round(seconds, 3) for part, seconds in report.seconds.items()},
        "next": list(commands),
    }


def _page(page: Record | ComparedText) -> dict[str, str | None]:
    return {"url": page.url, "title": page.title}
