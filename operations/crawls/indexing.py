"""Indexes sources or pages into a store or into record files.

`Index.index`, `Index.add`, the command `winnow index` and the Scrapy pipeline all call these functions.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from opensearch_winnow.foundation import option_kinds as kinds
from opensearch_winnow.foundation.option_kinds import FLAG, SECONDS, SIZE, number, path
from opensearch_winnow.foundation.options import option, option_of
from opensearch_winnow.foundation.path_names import path_names
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import RecipeOptions, RecordMaker
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.runs.index_splits import MAX_PAGE_SECONDS, index
from opensearch_winnow.ingest.runs.page_intake import PageIntake
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.ingest.runs.worker_pool import available_processors
from opensearch_winnow.ingest.sources import FOLLOW_LINKS, MAX_PIPED, MAX_PIPED_BYTES, Sources
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.ingest.sources.splits import splits
from opensearch_winnow.operations.asking.page_watcher import OnFindings, RunFindings
from opensearch_winnow.operations.crawls.destinations import Destination
from opensearch_winnow.operations.sets.preset_by_names import scheme_for_sources
from opensearch_winnow.stores.opening import default_failed_pages_path

# Bytes of a source that a worker reads at a time: one or two seconds of work on compressed HTML, which yields some
# 10 MB of records.
MAX_SPLIT_BYTES = 16_000_000
MIN_SPLIT_BYTES = 500_000
MIN_SPLITS_PER_WORKER = 4  # so that the last split does not keep one worker busy while the others are idle

SourceName = str | os.PathLike[str]
FileName = str | os.PathLike[str]

CPU_SECONDS = replace(SECONDS, what="a number of seconds, at least 0.01", allows=lambda value: value >= 0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingOptions(RecipeOptions):
    """The options of `Index.index`.

    A store remembers the `extractor`, `alt`, `title` and `text` of its first run as the defaults of later runs.
    """

    workers: int | None = option(
        None,
        number(1, 1024),
        "Number of processes that read and parse. It does not change the records.",
        unset="one for each processor",
        advanced=True,
    )
    id_field: str | None = option_of(FieldNames, "id")
    text_field: str | None = option_of(FieldNames, "text")
    html_field: str | None = option_of(FieldNames, "html")
    title_field: str | None = option_of(FieldNames, "title")
    url_field: str | None = option_of(FieldNames, "url")
    base_url: str = option(
        "",
        kinds.text("URL", 2_000),
        "Put this URL before the names of files in a folder.",
        unset="file://",
        advanced=True,
    )
    follow_symlinks: bool = option(
        False,
        FLAG,
        "Read what symbolic links in a folder lead to, also outside of it. Without this, they are skipped.",
        flag=FOLLOW_LINKS,
        advanced=True,
    )
    max_stdin: int = option(
        MAX_PIPED_BYTES,
        SIZE,
        "Read no more than this from standard input or a named pipe, which is kept in a temporary file.",
        flag=MAX_PIPED,
        unset="4G",
        advanced=True,
    )
    max_page_seconds: float = option(
        MAX_PAGE_SECONDS, CPU_SECONDS, "Pages that take more CPU time than this fail.", advanced=True
    )
    failed: FileName | None = option(
        None,
        path("FILE", "file"),
        "The file for failed pages: JSON lines, which can be indexed again.",
        unset="S.failed.jsonl, or RECORDS.failed.jsonl",
    )
    progress: Callable[[Report], object] | None = None  # called with the report so far, several times a second
    stop: Callable[[], bool] | None = None  # called several times a second; the run stops when it returns true
    on_findings: OnFindings | None = None  # called with what watches find

    @property
    def fields(self) -> FieldNames:
        """The fields that hold the values of rows."""
        return FieldNames(
            id=self.id_field,
            text=self.text_field,
            html=self.html_field,
            title=self.title_field,
            url=self.url_field,
        )


def index_sources(
    destination: Destination, sources: SourceName | Iterable[SourceName], options: IndexingOptions
) -> Report:
    """Index every page of `sources` in worker processes and return what became of the pages.

    If the destination is new and nobody has chosen its scheme, a collection of programs gets the preset programs.
    Sources, recipe and destination are checked before anything is written.
    """
    workers = options.workers or available_processors()
    names = path_names(sources)
    is_chosen_here = destination.has_default_scheme
    if is_chosen_here:
        destination.choose_scheme(scheme_for_sources(names))
    recipe = destination.recipe(options.part(RecipeOptions))
    RecordMaker(recipe)  # complains about a missing extractor here, rather than in every worker
    failed_file = failed_pages_file(destination, options.failed)
    findings = RunFindings(options.on_findings)
    with (
        Sources(
            names,
            base=options.base_url,
            every_text=recipe.scheme.form == "code",
            except_for=[*map(str, destination.files), str(failed_file)],
            follow_links=options.follow_symlinks,
            max_piped=options.max_stdin,
            fields=options.fields,
            zips=True,
        ) as crawled,
        destination.open(recipe, findings) as writer,
        FailedPages(failed_file) as failures,
        writer,
    ):
        start = time.monotonic()
        report = index(
            splits(crawled, split_size(crawled.size, workers)),
            writer,
            failures,
            recipe,
            workers=workers,
            cpu_seconds=options.max_page_seconds,
            total_bytes=crawled.size,
            progress=options.progress or (lambda _: None),
            stop=options.stop or (lambda: False),
        )
        writer.close()  # before the file of failed pages is written: if that goes wrong, the records are safe
        report.seconds = time.monotonic() - start
        report.example_url = writer.example_url()
        report.unfilled_revisits = writer.unfilled_revisits()
        findings.put_into(report)
    report.preset = ("programs" if recipe.scheme.form == "code" else "pages") if is_chosen_here else ""
    return report


def add_pages(
    destination: Destination,
    pages: Iterable[Page],
    *,
    crawl: str = "",
    failed: FileName | None = None,
    on_findings: OnFindings | None = None,
) -> Report:
    """Index `pages` in this process and return what became of them."""
    with open_intake(destination, crawl=crawl, failed=failed, on_findings=on_findings) as intake:
        intake.add_all(pages)
    return intake.report


@contextmanager
def open_intake(
    destination: Destination, *, crawl: str = "", failed: FileName | None = None, on_findings: OnFindings | None = None
) -> Iterator[PageIntake]:
    """Open a destination for pages that are added one by one. All of them are written when the context is left."""
    recipe = destination.recipe(RecipeOptions(crawl=crawl))
    RecordMaker(recipe)
    findings = RunFindings(on_findings)
    with (
        destination.open(recipe, findings) as writer,
        FailedPages(failed_pages_file(destination, failed)) as failures,
        writer,
        PageIntake(writer, failures, recipe) as intake,
    ):
        yield intake
        writer.close()  # as in `index_sources`
        intake.report.unfilled_revisits = writer.unfilled_revisits()
        findings.put_into(intake.report)
        failures.incomplete = False


def failed_pages_file(destination: Destination, failed: FileName | None = None) -> Path:
    """Return the file for failed pages: `failed`, or by default the destination's name with .failed.jsonl."""
    return default_failed_pages_path(destination.name) if failed is None else Path(failed)


def split_size(total: int | None, workers: int) -> int:
    """Return the size of splits for sources of `total` bytes: several splits per worker, but none of a trivial size."""
    if total is None:
        return MAX_SPLIT_BYTES
    return min(max(total // (MIN_SPLITS_PER_WORKER * workers), MIN_SPLIT_BYTES), MAX_SPLIT_BYTES)
