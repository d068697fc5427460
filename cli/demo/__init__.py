"""winnow demo: index, cluster, search and compare pages that every machine with Python has."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import click

from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, say, shell_command, terminal
from opensearch_winnow.foundation.extras import extra


@click.command("demo", short_help="Try everything on pages that are already on this machine.")
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to put the store (demo.winnow) and the report (report.html).  [default: a new temporary folder]",
)
@click.option(
    "--store",
    metavar="S",
    type=click.Path(),
    help="Use another store, created if it does not exist, such as http://host:9200/demo for OpenSearch.",
)
@key_file_option
@click.option(
    "--pages", metavar="N", type=click.IntRange(20), help="Use only about N pages, for a quick look.  [default: all]"
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@json_option
@color_option
def command(to: Path | None, store: str | None, pages: int | None, quiet: bool, as_json: bool, color: str) -> None:
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
        from opensearch_winnow.cli.demo.report_html import write_report  # noqa: PLC0415
    from opensearch_winnow.cli.demo.crawl import Clock, crawl, known_captures  # noqa: PLC0415
    from opensearch_winnow.cli.demo.report import demo_report  # noqa: PLC0415
    from opensearch_winnow.cli.demo.report_document import report_document  # noqa: PLC0415
    from opensearch_winnow.cli.demo.report_screen import show  # noqa: PLC0415
    from opensearch_winnow.cli.demo.report_words import next_commands  # noqa: PLC0415
    from opensearch_winnow.foundation.credentials import without_credentials  # noqa: PLC0415
    from opensearch_winnow.index import Index  # noqa: PLC0415
    from opensearch_winnow.stores.opening import store_exists  # noqa: PLC0415

    folder = to or Path(tempfile.mkdtemp(prefix="winnow-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    store = store or str(folder / "demo.winnow")
    clock = Clock()
    try:
        with show_phases(quiet=quiet, color=color) as progress, Index.open(store) as index:
            known = known_captures(index) if store_exists(store) else {}
            crawled = crawl(index, known, pages, folder / "demo.failed.jsonl", clock, progress)
            report = demo_report(index, crawled, clock, progress)
    except Stopped:
        say(f"Stopped. {without_credentials(store)} is kept; to go on: {shell_command('demo', '--to', str(folder))}")
        raise
    path = folder / "report.html"
    commands = next_commands(report, without_credentials(store))
    write_report(path, report, commands)
    if as_json:
        click.echo(json.dumps(report_document(report, without_credentials(store), path, commands)))
    else:
        columns = shutil.get_terminal_size().columns
        show(terminal(color) or Terminal(columns, colour=False), report, path, commands)
