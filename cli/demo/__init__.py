"""winnow demo: index, cluster, search and compare pages that every machine with Python has."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.options.answer_output import show_lines
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunAnswerOutput
from opensearch_winnow.cli.phase_progress import Stopped
from opensearch_winnow.cli.terminal import Terminal, next_command, say, shell_command
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.option_kinds import number, path
from opensearch_winnow.foundation.options import Options, option


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions(Options):
    """The options of the demo."""

    to: str | None = option(
        None,
        path("DIR", "folder"),
        "Where to put the store (demo.winnow) and the report (report.html).",
        unset="a new temporary folder",
    )
    pages: int | None = option(None, number(20, 1_000_000), "Use only about N pages, for a quick look.", unset="all")


@click.command("demo", cls=DescribedCommand, short_help="Try everything on pages that are already on this machine.")
@declared_options(DemoOptions)
@click.option(
    "--store",
    metavar="S",
    type=click.Path(),
    help="Use another store, created if it does not exist, such as http://host:9200/demo for OpenSearch.",
)
@key_file_option
@declared_options(RunAnswerOutput, "output")
def command(options: DemoOptions, store: str | None, output: RunAnswerOutput) -> None:
    """\b
    Examples:
      winnow demo
      winnow demo --to demo
      winnow demo --to demo --store http://localhost:9200/demo
      winnow demo --pages 100 --json

    Takes pydoc's pages about Python's standard library and the licences of all installed packages, indexes and
    clusters them, and shows what it finds: near-copies, licences contained in others, the most copied passages, search
    results without duplicates, and two texts side by side. Also writes a report for a browser, as a single file.
    Downloads nothing.

    Each module is imported in its own process. A second run adds only what has changed.
    """
    # Imported here so that --help is fast, and so that a missing package is reported before the work starts.
    with extra("cluster"):
        import duckdb  # noqa: F401, PLC0415
        import pyarrow  # noqa: F401, PLC0415
    with extra("web"):
        from opensearch_winnow.web.demo_report import write_report  # noqa: PLC0415
    from opensearch_winnow.answers.demo.report import demo_report, known_captures  # noqa: PLC0415
    from opensearch_winnow.cli.demo.report_screen import report_lines  # noqa: PLC0415
    from opensearch_winnow.foundation.credentials import without_credentials  # noqa: PLC0415
    from opensearch_winnow.index import Index  # noqa: PLC0415
    from opensearch_winnow.operations.demo.crawl import Clock, crawl  # noqa: PLC0415
    from opensearch_winnow.stores.opening import store_exists  # noqa: PLC0415

    folder = Path(options.to or tempfile.mkdtemp(prefix="winnow-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    store = store or str(folder / "demo.winnow")
    name = without_credentials(store)
    clock = Clock()
    try:
        with output.progress() as progress, Index.open(store) as index:
            known = known_captures(index) if store_exists(store) else {}
            crawled = crawl(index.add, known, options.pages, folder / "demo.failed.jsonl", clock, progress)
            html = str(folder / "report.html")
            report = demo_report(index, crawled, clock, progress, store_name=name, report=html, command=next_command)
    except Stopped:
        say(f"Stopped. {name} is kept; to go on: {shell_command('demo', '--to', str(folder))}")
        raise
    write_report(report)
    if not output.prints(report):
        screen = output.screen or Terminal(shutil.get_terminal_size().columns, colour=False)
        show_lines(screen, lambda screen: report_lines(screen, report))
