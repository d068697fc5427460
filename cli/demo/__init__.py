"""winnow demo: index, cluster, search and compare pages that every machine with Python has."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.key_file_option import key_file_option, key_file_words
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunOutput
from opensearch_winnow.cli.phase_progress import Stopped
from opensearch_winnow.cli.terminal import next_command, say, shell_command
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.foundation.answers import Answer, answer, derived, inlined, key
from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.foundation.digests import digest
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.option_kinds import number, path
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.queries.filters import Filters

if TYPE_CHECKING:
    from opensearch_winnow import Index, Page
    from opensearch_winnow.types import Match

CRAWL = "demo"  # the name of the crawl in the store
CAPTURED = Filters(crawl=CRAWL)
USUAL_PASSAGES = 3  # of the comparison that is shown
QUERY = '"permission notice"'  # a phrase in many licences


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions(Options):
    """The options of the demo."""

    to: str | None = option(
        None, path("DIR", "folder"), "Where to put the store, demo.winnow.", unset="a new temporary folder"
    )
    pages: int | None = option(None, number(20, 1_000_000), "Use only about N pages, for a quick look.", unset="all")


@answer
class DemoReport(Answer):
    """The pages that the demo has indexed, and commands that show something in them."""

    _: KW_ONLY
    store_name: str = key("The store.", name="store")
    modules: int = key("The number of pages of Python modules.")
    licences: int = key("The number of pages of licences.")
    left_out: dict[str, str] = key("The modules without a page, with the reason.")
    report: Report = inlined()
    clustering: ClusteringResult = key("The clustering, as `winnow cluster` prints it.")
    shown: list[tuple[str, ...]]  # the words of commands to run

    @property
    @derived(name="next")
    def commands(self) -> list[str]:
        """Commands that show something in the store; the first opens it in a browser."""
        return [next_command(*words) for words in (("serve", "--store", self.store_name), *self.shown)]


@click.command("demo", cls=DescribedCommand, short_help="Try everything on pages that are already on this machine.")
@declared_options(DemoOptions)
@click.option(
    "--store",
    metavar="S",
    type=click.Path(),
    help="Use another store, created if it does not exist, such as http://host:9200/demo for OpenSearch.",
)
@key_file_option
@declared_options(RunOutput, "output")
@click.pass_context
def command(context: click.Context, options: DemoOptions, store: str | None, output: RunOutput) -> None:
    """\b
    Examples:
      winnow demo
      winnow demo --to demo
      winnow demo --to demo --store http://localhost:9200/demo
      winnow demo --pages 100 --json

    Takes pydoc's pages about Python's standard library and the licences of all installed packages, indexes and
    clusters them, and runs commands that show what is in them: a search with copies grouped, the near-duplicates of a
    page, and two texts side by side. Downloads nothing.

    Each module is imported in its own process. A second run adds only what has changed.
    """
    # Imported here so that --help is fast, and so that a missing package is reported before the work starts.
    with extra("cluster"):
        import duckdb  # noqa: F401, PLC0415
        import pyarrow  # noqa: F401, PLC0415
    from opensearch_winnow import Index  # noqa: PLC0415
    from opensearch_winnow.stores.opening import store_exists  # noqa: PLC0415

    folder = Path(options.to or tempfile.mkdtemp(prefix="winnow-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    store = store or str(folder / "demo.winnow")
    name = without_credentials(store)
    try:
        with output.progress() as progress, Index.open(store) as index:
            known = _known_captures(index) if store_exists(store) else {}
            report = _fill(index, name, known, options.pages, folder / "demo.failed.jsonl", progress)
    except Stopped:
        say(f"Stopped. {name} is kept; to go on: {shell_command('demo', '--to', str(folder))}")
        raise
    if output.prints(report):
        return
    for line in _lines(report):
        click.echo(line)
    main = context.find_root().command
    for words in report.shown:
        click.echo(f"\n$ {next_command(*words)}")
        main.main([*words, *key_file_words()], prog_name="winnow", standalone_mode=False)
    click.echo(f"\nTo see all of it in a browser: {report.commands[0]}")


def _fill(
    index: Index,
    name: str,
    known: dict[tuple[str, str], datetime | None],
    max_pages: int | None,
    failed: Path,
    progress: Progress,
) -> DemoReport:
    """Index and cluster the pages, and choose what to show."""
    from opensearch_winnow.cli.demo.licence_pages import licence_pages  # noqa: PLC0415
    from opensearch_winnow.cli.demo.pydoc_pages import pydoc_pages  # noqa: PLC0415
    from opensearch_winnow.ingest.runs.worker_pool import available_processors  # noqa: PLC0415

    licences = licence_pages()
    if max_pages is not None:
        licences = licences[:: -(-len(licences) // (max_pages // 2)) or 1]
        max_pages -= len(licences)
    modules, left_out = pydoc_pages(datetime.now(UTC), available_processors(), max_pages, progress)
    # An unchanged page keeps the time of its capture, so that rendering it again makes no new capture.
    rendered = (replace(page, fetched_at=known.get(_key(page), page.fetched_at)) for page in modules)
    report = index.add(_with_progress([*rendered, *licences], progress), crawl=CRAWL, failed=failed)
    clustering = index.cluster(progress=progress)
    return DemoReport(
        store_name=name,
        modules=len(modules),
        licences=len(licences),
        left_out=left_out,
        report=report,
        clustering=clustering,
        shown=list(_commands(index, name)),
    )


def _known_captures(index: Index) -> dict[tuple[str, str], datetime | None]:
    """Return the times of the captures of the last run. Refuse a store with other pages, which would be clustered."""
    if others := index.count() - index.count(CAPTURED):
        raise WinnowError(
            f"{index.name} has {count_of(others, 'page')} that the demo did not add, and would cluster them too;"
            " name a store that does not exist yet"
        )
    return {(each.url, each.content_digest): each.fetched_at for each in index.records(CAPTURED)}


def _commands(index: Index, store: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of commands that find something in the store."""
    if index.search(QUERY).total:
        yield "search", QUERY, "--limit", "3", "--store", store
    for cluster in index.overview().largest[:1]:
        url = cluster.representative.url
        yield "similar", url, "--limit", "5", "--store", store
        copies = index.similar(url=url, limit=20)
        yield "compare", url, min(copies, key=_difference_from_usual).url, "--store", store


def _difference_from_usual(match: Match) -> int:
    """Return how far a comparison is from one that shows something and fits on a screen."""
    return abs(len(match.passages) - USUAL_PASSAGES)


def _lines(report: DemoReport) -> Iterator[str]:
    indexed = report.report
    yield (
        f"{count_of(report.modules + report.licences, 'page')} that were already on this machine: {report.modules:,}"
        f" about Python's standard library, rendered by pydoc, and {count_of(report.licences, 'licence')} of packages"
    )
    if report.left_out:
        why = "; ".join(f"{reason}: {modules:,}" for reason, modules in Counter(report.left_out.values()).most_common())
        yield f"{count_of(len(report.left_out), 'module')} left out ({why})"
    yield f"indexed {indexed.indexed:,}, unchanged {indexed.unchanged:,}, failed {indexed.failed.total():,}"
    found = report.clustering
    yield f"{count_of(found.clusters, 'cluster')} of near-duplicates, with {count_of(found.clustered_pages, 'page')}"


def _key(page: Page) -> tuple[str, str]:
    """Return the URL and the content digest of a rendered page."""
    assert isinstance(page.html, str)
    return page.url, digest(page.html.encode())


def _with_progress(pages: list[Page], progress: Progress) -> Iterator[Page]:
    for done, page in enumerate(pages):
        progress("indexing", done, len(pages))
        yield page
