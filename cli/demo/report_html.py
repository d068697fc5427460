"""The report of the demo, as one HTML file that needs no server and no script."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.answers.asking.comparison_words import comparison_summary
from opensearch_winnow.answers.searching.search_words import more_like_this
from opensearch_winnow.cli.demo import report_words as words
from opensearch_winnow.cli.demo.report import DemoReport, LicencePair
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.web.pages import InlineStyle, Pages
from opensearch_winnow.web.texts.compared_panes import whole_panes

MAX_HITS = 5


def write_report(path: Path, report: DemoReport, commands: Sequence[str]) -> None:
    style = InlineStyle.of("winnow.css", "texts.css", "clusters.css", "passages.css", "report.css")
    compared = report.pair and _compared(report.pair, report.scheme)
    page = Pages().render(
        "report",
        style=style,
        words=words,
        report=report,
        hits=[
            (hit, more_like_this(hit, report.threshold) if hit.members else "") for hit in report.search.hits[:MAX_HITS]
        ],
        compared=compared,
        heading=report.pair and _heading(report.pair),
        view=compared and whole_panes(compared),
        commands=commands,
        today=f"{datetime.now(UTC):%Y-%m-%d}",
    )
    path.write_bytes(page)


def _compared(pair: LicencePair, scheme: Scheme) -> Compared:
    a, b = (_text(page) for page in (pair.a, pair.b))
    return Compared.of(a, b, pair.comparison, pair.passages, scheme)


def _text(page: Record) -> ComparedText:
    return ComparedText(
        id=page.id, text=page.text, url=page.url, title=words.name(page), site=page.site, fetched_at=page.fetched_at
    )


def _heading(pair: LicencePair) -> str:
    return comparison_summary(pair.a.text, pair.b.text, pair.comparison, pair.passages)
