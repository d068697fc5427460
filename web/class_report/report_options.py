"""The options of a report with the pairs of a set side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from opensearch_winnow.foundation.atomic_file import already_there, check_parent
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.option_kinds import FLAG, path
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.queries.sets.pairs import Pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions(Options):
    """The options for the target of a report, and for the names in it."""

    report: str | None = option(
        None,
        path("R"),
        "Write a report with the pairs side by side: one file if R ends in .html, otherwise a folder.",
    )
    anonymise: bool = option(
        False, FLAG, "Replace the names of documents, files and owners in the report.", advanced=True
    )

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        if self.anonymise and self.report is None:
            raise self.error("anonymise is for a report: name the report, too")

    def check(self, *, overwrite: bool) -> None:
        """Check that the report can be written, before the work starts."""
        if self.report is not None:
            report = Path(self.report)
            check_parent(report)
            if report.exists() and not (report.is_dir() and not any(report.iterdir())) and not overwrite:
                raise already_there(report)

    def write(self, found: Pairs, progress: Progress) -> None:
        """Write the report, if one is wanted."""
        if self.report is not None:
            with extra("web"):
                from opensearch_winnow.web.class_report.report import write_report  # noqa: PLC0415 (an extra)

            write_report(found, Path(self.report), anonymise=self.anonymise, progress=progress)
