"""Indexes sources or pages into a store or into record files.

`Index.index`, `Index.add`, the command `winnow index` and the Scrapy pipeline all call these functions.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypedDict, Unpack

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.path_names import path_names
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecipeChoices, RecordMaker
from opensearch_winnow.ingest.runs.destination import Destination
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.runs.index_splits import MAX_PAGE_SECONDS, index
from opensearch_winnow.ingest.runs.page_intake import PageIntake
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.ingest.runs.worker_pool import available_processors
from opensearch_winnow.ingest.sources import MAX_PIPED_BYTES, Sources
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.mappings.finding import Finding
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


class IndexingOptions(TypedDict, total=False):
    """The options of `Index.index`. All are optional, and most are those of `winnow index`.

    A store remembers the `extractor`, `alt`, `title` and `text` of its first run as the defaults of later runs.
    """

    crawl: str  # a name for this crawl, to tell it from others
    date: datetime | None  # the time of pages that have none: files in a folder
    workers: int | None  # processes that read and parse; by default one for each processor
    progress: Callable[[Report], object] | None  # called with the report so far, several times a second
    stop: Callable[[], bool] | None  # called several times a second; the run stops when it returns true
    failed: str | os.PathLike[str] | None  # file for failed pages; by default the store's name and .failed.jsonl
    base_url: str  # URL to put before the names of files in a folder; by default file://
    follow_symlinks: bool  # read what symbolic links in a folder lead to, also outside of it
    max_stdin: int  # bytes; the most that is read from standard input or a named pipe. By default 4 GB
    id_field: str | None  # the field of JSONL, CSV and Parquet with the id of a row, which is its address
    text_field: str | None  # the field with its text
    html_field: str | None  # the field with its HTML
    title_field: str | None  # the field with its title
    url_field: str | None  # the field with its URL, which is the address of a row without an id
    max_page_size: int  # bytes; a page that is larger, once decoded, fails. By default 10 MB
    max_page_seconds: float  # CPU time; a page that takes longer fails. By default 10
    extractor: str | None  # finds the text in HTML: "lxml" (the default), "beautifulsoup", "trafilatura", a plug-in
    alt: bool | None  # count the alternative text of images as text
    title: bool | None  # count the title as part of the text
    text: bool | None  # keep the texts; without them, scores are estimates and there is no search
    on_findings: Callable[[Sequence[Finding]], object] | None  # called with what watches find


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

    def recipe(self, **choices: Unpack[RecipeChoices]) -> Recipe:
        """Return the recipe for a run. A choice that is None or missing is taken from the target, or is the default."""

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

    def recipe(self, **choices: Unpack[RecipeChoices]) -> Recipe:
        return recipe_for_run(None, scheme=self._scheme, **choices)

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


def index_sources(
    target: Target,
    sources: SourceName | Iterable[SourceName],
    *,
    workers: int | None = None,
    base_url: str = "",
    follow_symlinks: bool = False,
    max_stdin: int = MAX_PIPED_BYTES,
    id_field: str | None = None,
    text_field: str | None = None,
    html_field: str | None = None,
    title_field: str | None = None,
    url_field: str | None = None,
    max_page_seconds: float = MAX_PAGE_SECONDS,
    failed: FileName | None = None,
    progress: Callable[[Report], object] | None = None,
    stop: Callable[[], bool] | None = None,
    on_findings: OnFindings | None = None,
    **choices: Unpack[RecipeChoices],
) -> Report:
    """Index every page of `sources` in worker processes and return what became of the pages.

    The options are those of `IndexingOptions`. If the target is new and nobody has chosen its scheme, a collection of
    programs gets the preset programs. Sources, recipe and target are checked before anything is written.
    """
    workers = available_processors() if workers is None else workers
    if workers < 1:
        raise WinnowError(f"workers is at least 1, not {workers}")
    names = path_names(sources)
    is_chosen_here = target.has_default_scheme
    if is_chosen_here:
        target.choose_scheme(scheme_for_sources(names))
    recipe = target.recipe(**choices)
    RecordMaker(recipe)  # complains about a missing extractor here, rather than in every worker
    failed_file = failed_pages_file(target, failed)
    findings = RunFindings(on_findings)
    with (
        Sources(
            names,
            base=base_url,
            every_text=recipe.scheme.form == "code",
            except_for=[*map(str, target.files), str(failed_file)],
            follow_links=follow_symlinks,
            max_piped=max_stdin,
            fields=FieldNames(id=id_field, text=text_field, html=html_field, title=title_field, url=url_field),
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
            cpu_seconds=max_page_seconds,
            total_bytes=crawled.size,
            progress=progress or (lambda _: None),
            stop=stop or (lambda: False),
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
    target: Target,
    *,
    failed: FileName | None = None,
    on_findings: OnFindings | None = None,
    **choices: Unpack[RecipeChoices],
) -> Iterator[PageIntake]:
    """Open `target` for pages that are added one by one. All of them are written when the context is left."""
    recipe = target.recipe(**choices)
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
