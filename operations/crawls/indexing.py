"""Indexes sources or pages into a store or into record files.

`Index.index`, `Index.add`, the command `winnow index` and the Scrapy pipeline all call these functions.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from opensearch_winnow.foundation import option_kinds as kinds
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.option_kinds import FLAG, SECONDS, SIZE, number, path
from opensearch_winnow.foundation.options import option, option_of
from opensearch_winnow.foundation.path_names import path_names
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecipeOptions, RecordMaker
from opensearch_winnow.ingest.runs.destination import Destination
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.runs.index_splits import MAX_PAGE_SECONDS, index
from opensearch_winnow.ingest.runs.page_intake import PageIntake
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.ingest.runs.worker_pool import available_processors
from opensearch_winnow.ingest.sources import FOLLOW_LINKS, MAX_PIPED, MAX_PIPED_BYTES, Sources
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.operations.asking.page_watcher import OnFindings, RunFindings
from opensearch_winnow.operations.crawls.lazy_store import LazyStore
from opensearch_winnow.operations.sets.preset_by_names import scheme_for_sources
from opensearch_winnow.stores.opening import default_failed_pages_path
from opensearch_winnow.stores.saved_recipe import recipe_for_run

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


class Target(Protocol):
    """A store or record files by name, before a run opens them as its destination."""

    @property
    def name(self) -> str:
        """The name as it may be shown, without credentials."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that a run writes, which are never its sources."""

    @property
    def has_default_scheme(self) -> bool:
        """Return whether it is still to be created, and nobody has chosen its scheme."""

    def choose_scheme(self, scheme: Scheme) -> None:
        """Set the scheme that it will be created with."""

    def recipe(self, choices: RecipeOptions) -> Recipe:
        """Return the recipe for a run. A choice that is None is taken from the target, or is the default."""

    def open_destination(self, recipe: Recipe, findings: RunFindings) -> AbstractContextManager[Destination]:
        """Open the destination, and create it if it does not exist. It is released when this context is left.

        Its watches, if it has any, tell their `findings`.
        """


class RecordFilesTarget:
    """One Parquet file of records, or a folder of them if `name` ends with / or is a folder."""

    def __init__(self, name: FileName, scheme: Scheme | None = None, key: str | None = None) -> None:
        self._path = os.fspath(name)
        self.name = self._path.rstrip("/")
        self.has_default_scheme = scheme is None and not Path(self.name).exists()
        self._key = key
        self.choose_scheme(scheme or Scheme())

    def choose_scheme(self, scheme: Scheme) -> None:
        self._scheme = with_key(scheme, self._key)

    @property
    def files(self) -> list[Path]:
        return [Path(self.name)]

    def recipe(self, choices: RecipeOptions) -> Recipe:
        return recipe_for_run(None, scheme=self._scheme, **choices.keywords())

    @contextmanager
    def open_destination(self, recipe: Recipe, findings: RunFindings) -> Iterator[Destination]:  # noqa: ARG002
        with extra("parquet"):
            from opensearch_winnow.record_files.record_writer import RecordWriter  # noqa: PLC0415 (an extra)

        with RecordWriter(self._path, recipe.scheme) as records:
            yield records


@contextmanager
def open_target(
    *,
    store: FileName | None = None,
    to: FileName | None = None,
    scheme: Scheme | None = None,
    key: str | None = None,
) -> Iterator[Target]:
    """Open the store `store`, or the record files `to`, by name. Nothing is created before a run starts to write.

    If the store or file exists with another scheme than `scheme`, or another `key`, it is refused.
    """
    if (store is None) == (to is None):
        raise ValueError("name either a store or record files")
    if to is not None:
        yield RecordFilesTarget(to, scheme, key)
    elif store is not None:
        with LazyStore(os.fspath(store), scheme, key=key, patient=True) as opened:
            yield opened


def index_sources(target: Target, sources: SourceName | Iterable[SourceName], options: IndexingOptions) -> Report:
    """Index every page of `sources` in worker processes and return what became of the pages.

    If the target is new and nobody has chosen its scheme, a collection of programs gets the preset programs. Sources,
    recipe and target are checked before anything is written.
    """
    workers = options.workers or available_processors()
    names = path_names(sources)
    is_chosen_here = target.has_default_scheme
    if is_chosen_here:
        target.choose_scheme(scheme_for_sources(names))
    recipe = target.recipe(options.part(RecipeOptions))
    RecordMaker(recipe)  # complains about a missing extractor here, rather than in every worker
    failed_file = failed_pages_file(target, options.failed)
    findings = RunFindings(options.on_findings)
    with (
        Sources(
            names,
            base=options.base_url,
            every_text=recipe.scheme.form == "code",
            except_for=[*map(str, target.files), str(failed_file)],
            follow_links=options.follow_symlinks,
            max_piped=options.max_stdin,
            fields=options.fields,
            zips=True,
        ) as crawled,
        target.open_destination(recipe, findings) as destination,
        FailedPages(failed_file) as failures,
        destination,
    ):
        start = time.monotonic()
        report = index(
            crawled.splits(split_size(crawled.size, workers)),
            destination,
            failures,
            recipe,
            workers=workers,
            cpu_seconds=options.max_page_seconds,
            total_bytes=crawled.size,
            progress=options.progress or (lambda _: None),
            stop=options.stop or (lambda: False),
        )
        destination.close()  # before the file of failed pages is written: if that goes wrong, the records are safe
        report.seconds = time.monotonic() - start
        report.example_url = destination.example_url()
        report.unfilled_revisits = destination.unfilled_revisits()
        findings.put_into(report)
    report.preset = ("programs" if recipe.scheme.form == "code" else "pages") if is_chosen_here else ""
    return report


def add_pages(
    target: Target,
    pages: Iterable[Page],
    *,
    crawl: str = "",
    failed: FileName | None = None,
    on_findings: OnFindings | None = None,
) -> Report:
    """Index `pages` in this process and return what became of them."""
    with open_intake(target, crawl=crawl, failed=failed, on_findings=on_findings) as intake:
        intake.add_all(pages)
    return intake.report


@contextmanager
def open_intake(
    target: Target, *, crawl: str = "", failed: FileName | None = None, on_findings: OnFindings | None = None
) -> Iterator[PageIntake]:
    """Open `target` for pages that are added one by one. All of them are written when the context is left."""
    recipe = target.recipe(RecipeOptions(crawl=crawl))
    RecordMaker(recipe)
    findings = RunFindings(on_findings)
    with (
        target.open_destination(recipe, findings) as destination,
        FailedPages(failed_pages_file(target, failed)) as failures,
        destination,
        PageIntake(destination, failures, recipe) as intake,
    ):
        yield intake
        destination.close()  # as in `index_sources`
        intake.report.unfilled_revisits = destination.unfilled_revisits()
        findings.put_into(intake.report)
        failures.incomplete = False


def failed_pages_file(target: Target, failed: FileName | None = None) -> Path:
    """Return the file for failed pages: `failed`, or by default the target's name with .failed.jsonl."""
    return default_failed_pages_path(target.name) if failed is None else Path(failed)


def split_size(total: int | None, workers: int) -> int:
    """Return the size of splits for sources of `total` bytes: several splits per worker, but none of a trivial size."""
    if total is None:
        return MAX_SPLIT_BYTES
    return min(max(total // (MIN_SPLITS_PER_WORKER * workers), MIN_SPLIT_BYTES), MAX_SPLIT_BYTES)
