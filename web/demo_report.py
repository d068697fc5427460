"""The report of the demo, as one HTML file that needs no server and no script."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from opensearch_winnow.answers.demo import report_words as words
from opensearch_winnow.answers.demo.report import DemoReport
from opensearch_winnow.answers.searching.search_words import more_like_this
from opensearch_winnow.web.pages import InlineStyle, Pages
from opensearch_winnow.web.texts.compared_panes import whole_panes

MAX_HITS = 5


def write_report(report: DemoReport) -> None:
    hits = report.search.hits[:MAX_HITS]
    page = Pages().render(
        "report",
        style=InlineStyle.of("winnow.css", "texts.css", "clusters.css", "passages.css", "report.css"),
        words=words,
        report=report,
        hits=[(hit, more_like_this(hit, report.threshold) if hit.members else "") for hit in hits],
        view=report.comparison is not None and whole_panes(report.comparison),
        today=f"{datetime.now(UTC):%Y-%m-%d}",
    )
    Path(report.report).write_bytes(page)
