"""winnow rotate: store other fingerprints of each page, in a store of the selection koala."""

from __future__ import annotations

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import INTERRUPTED, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunAnswerOutput
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.stopped_by_signals import stopped_by_signals
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.index import Index


@click.command("rotate", cls=DescribedCommand, short_help="Store other fingerprints of each page (selection koala).")
@store_option()
@declared_options(RunAnswerOutput, "output")
def command(store: str, output: RunAnswerOutput) -> None:
    """\b
    Examples:
      winnow rotate --store crawl.winnow
      winnow rotate --store http://localhost:9200/pages --json

    In a store of the selection koala, a page has 100 fingerprints, and a question 1,000. An attacker who learns the 100
    can change a letter in each, so that they no longer find the copy. A rotation stores others of the 1,000 instead,
    from the texts in the store. Run it from time to time, such as twice a year, or after suspiciously many questions.

    Searches and index runs go on meanwhile, and pages are found before and after. If you stop it, what is done is kept:
    the next rotation continues.
    """
    with (
        Index.open(store, create=False, patient=True) as index,
        output.progress() as progress,
        stopped_by_signals() as stop,
    ):
        report = index.rotate(progress=progress, stop=stop)
    if not output.prints(report):
        click.echo(f"Rotated {count_of(report.rotated, 'page')} to epoch {report.epoch}.")
        if report.unchanged:
            had = count_of(report.unchanged, "page was", "pages were")
            click.echo(f"{had} left alone: already rotated, or too short to have others.")
    if report.without_text:
        say(f"Not rotated: {count_of(report.without_text, 'page')} without a stored text. Index again, with texts")
    if not report.finished:
        end(INTERRUPTED, "Stopped; run the command again to rotate the other pages")
