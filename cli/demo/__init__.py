"""winnow demo: the whole job, on pages that every machine with Python has."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import click

from opensearch_winnow.cli.phase_progress import Stopped, shown_phases
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, say, shell_command, terminal
from opensearch_winnow.foundation.extras import extra


@click.command("demo", short_help="The whole job on pages that are already on this machine.")
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
    help="Another store, made if there is none: http://host:9200/demo puts the pages into an OpenSearch.",
)
@click.option(
    "--pages", metavar="N", type=click.IntRange(20), help="About so many pages, for a quick look.  [default: all]"
)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@json_option
@color_option
def command(to: Path | None, store: str | None, pages: int | None, quiet: bool, as_json: bool, color: str) -> None:
    """\b
    Examples:
      winnow demo
      winnow demo --to demo
      winnow demo --to demo --store http://localhost:9200/demo
      winnow demo --pages 100 --json

    Takes the pages that pydoc renders of Python's standard library, and the licences of all packages that are
    installed; indexes and clusters them; and tells what it found: near-copies, licences that are contained in others,
    the passages that are copied most, a search without duplicates, and two texts side by side. Writes a report for
    a browser, too, as one file. Downloads nothing.

    Each module is imported in a process of its own. A second run adds only what has changed since.
    """
    # --help does not wait for Arrow and all stores. A package that is missing is missed before the work, not after it.
    with extra("cluster"):
        import duckdb  # noqa: F401, PLC0415
        import pyarrow  # noqa: F401, PLC0415
    with extra("web"):
        from opensearch_winnow.cli.demo.findings_html import write_report  # noqa: PLC0415
    from opensearch_winnow.cli.demo.clock import Clock  # noqa: PLC0415
    from opensearch_winnow.cli.demo.crawl import crawl, pages_before  # noqa: PLC0415
    from opensearch_winnow.cli.demo.findings import find  # noqa: PLC0415
    from opensearch_winnow.cli.demo.findings_document import findings_document  # noqa: PLC0415
    from opensearch_winnow.cli.demo.findings_screen import show  # noqa: PLC0415
    from opensearch_winnow.cli.demo.next_commands import next_commands  # noqa: PLC0415
    from opensearch_winnow.index import Index  # noqa: PLC0415
    from opensearch_winnow.stores.opening import printable, store_exists  # noqa: PLC0415

    folder = to or Path(tempfile.mkdtemp(prefix="winnow-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    store = store or str(folder / "demo.winnow")
    clock = Clock()
    try:
        with shown_phases(quiet=quiet, color=color) as progress, Index.open(store) as index:
            known = pages_before(index) if store_exists(store) else {}
            crawled = crawl(index, known, pages, folder / "demo.failed.jsonl", clock, progress)
            findings = find(index, crawled, clock, progress)
    except Stopped:
        say(f"Stopped; what is in {printable(store)} stays there: {shell_command('demo', '--to', str(folder))} goes on")
        raise
    report = folder / "report.html"
    commands = next_commands(findings, printable(store))
    write_report(report, findings, commands)
    if as_json:
        click.echo(json.dumps(findings_document(findings, printable(store), report, commands)))
    else:
        columns = shutil.get_terminal_size().columns
        show(terminal(color) or Terminal(columns, colour=False), findings, report, commands)
