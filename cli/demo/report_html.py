"""The report of the demo, as one HTML file that needs no server and no script."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from opensearch_winnow.answers.asking.comparison_words import comparison_summary
from opensearch_winnow.answers.searching.search_words import more_like_this
from opensearch_winnow.cli.demo import report_words as words
from opensearch_winnow.cli.demo.report import DemoReport
from opensearch_winnow.web.pages import InlineStyle, Pages
from opensearch_winnow.web.texts.compared_panes import whole_panes

MAX_HITS = 5


def write_report(path: Path, report: DemoReport, commands: Sequence[str]) -> None:
    style = InlineStyle.of("winnow.css", "texts.css", "clusters.css", "passages.css", "report.css")
    page = Pages().render(
        "report",
        style=style,
        words=words,
        report=report,
        hits=[
            (hit, more_like_this(hit, report.threshold) if hit.members else "") for hit in report.search.hits[:MAX_HITS]
        ],
        compared=report.pair,
        heading=report.pair and comparison_summary(report.pair),
        view=report.pair and whole_panes(report.pair),
        commands=commands,
        today=f"{datetime.now(UTC):%Y-%m-%d}",
    )
    path.write_bytes(page)
