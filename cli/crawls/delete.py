"""winnow delete: delete pages, and what the store keeps of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import click

from opensearch_winnow.answers.display_text import Span, printable, shorten_middle
from opensearch_winnow.answers.formatting import count_of, day, duration, percent
from opensearch_winnow.answers.tables import write_table
from opensearch_winnow.cli.command_group import INTERRUPTED, NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunAnswerOutput
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.stopped_by_signals import stopped_by_signals
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.cli.text_file import file_option, read_text
from opensearch_winnow.cli.typed_options import typed_options
from opensearch_winnow.foundation.answer_keys import json_values
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.crawls.deletion import (
    DeletedCapture,
    DeletionOptions,
    DeletionReport,
    DeletionRequest,
)
from opensearch_winnow.stores.blocked_pages import SITE

MAX_NAMES_LISTED = 10
MAX_COPIES_LISTED = 10  # JSON has up to 100
COUNTS = ("pages", "captures", "deleted", "reclustered")
FOUND = "found"  # the last key of the JSON of a dry run


@click.command("delete", cls=DescribedCommand, short_help="Delete pages, and what the store keeps of them.")
@click.argument("url", nargs=-1)
@file_option(
    "--file", metavar="LIST", help="Delete the pages with the URLs in this file, one in a line; - reads from a pipe."
)
@declared_options(DeletionOptions)
@store_option()
@click.option(
    "--unblock", metavar="ENTRY", multiple=True, help="Delete nothing; let a URL or site:HOST be indexed again."
)
@click.option("--blocked", is_flag=True, help="Delete nothing; list blocked URLs and sites.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask. Needed without a terminal, such as in a script.")
@declared_options(RunAnswerOutput, "output")
def command(
    url: tuple[str, ...],
    file: str | None,
    options: DeletionOptions,
    store: str,
    unblock: tuple[str, ...],
    blocked: bool,
    yes: bool,
    output: RunAnswerOutput,
) -> None:
    """\b
    Examples:
      winnow delete http://example.org/page --store crawl.winnow
      winnow delete 'http://example.org/private/*' --dry-run
      winnow delete --site example.org --until 2023 --yes
      winnow delete --words '"Nobody in the valley"' --dry-run
      winnow delete --file takedown.txt --block --yes --json

    Delete every capture of each URL. A URL that ends with * stands for all URLs that begin so. Or delete captures by
    --id, by the --words of a search, or all that meet --site, --crawl, --since and --until, which also narrow down URLs
    and words.

    The store then answers as if these captures had never been indexed. Pages whose cluster has lost its representative
    are clustered again, the templates of their sites are learned again, and watches forget the captures. A page that is
    indexed again comes back, unless you --block it. Other addresses that have the same text are named, and stay. Files
    outside of the store are not touched: web archives, exports, record files, files of failed pages.

    Asks before it deletes, unless you give --yes. If you stop it, the rest is kept: start it again. Exits with 1 if no
    capture is found.
    """
    urls = [*url, *(urls_in(file) if file is not None else ())]
    with Index.open(store, create=False, patient=True) as index:
        if unblock or blocked:
            list_blocked(index, unblock, as_json=output.json)
            return
        if erase_only(urls, options):
            index.erase()
            output.prints(DeletionReport(erased=True))
            say(f"Erased what deleted pages had left in {index.name}")
            return
        request = options.extended(DeletionRequest, urls=urls)
        if not (yes or options.dry_run):
            ask(index, index.delete(replace(request, dry_run=True)))
        with output.progress(quiet=options.dry_run) as progress, stopped_by_signals() as stop:
            report = index.delete(replace(request, progress=progress, stop=stop))
        if output.screen or (output.json and not options.dry_run):
            output.show(report, lambda screen: summary(report, screen.columns, options))
        elif options.dry_run:
            list_captures(report, map(DeletedCapture.of, index.cards(ids=report.ids)), as_json=output.json)
        else:
            for name in COUNTS:
                click.echo(f"{name}\t{getattr(report, name)}")
            click.echo(f"copies\t{report.copies.total}")
        say_what_is_missing(index, report, options)
        if options.block:
            say(f"{'Would be blocked' if options.dry_run else 'Blocked'}: {some_of(report.blocked)}")
            say_what_is_not_blocked(index, report, options)
    say_where_copies_are(report, options)
    say_notes(report, options)
    if report.stopped:
        end(INTERRUPTED)
    end(0 if report.captures else NOTHING_FOUND)


def urls_in(file: str) -> list[str]:
    """Return the URLs in a file, one on each line. Empty lines, and lines that start with #, are left out."""
    urls = [line.strip() for line in read_text(file).splitlines()]
    urls = [url for url in urls if url and not url.startswith("#")]
    if not urls:
        raise FileError(f"{file} has no URLs")
    return urls


def list_blocked(index: Index, unblock: tuple[str, ...], *, as_json: bool) -> None:
    """Unblock entries, and print those that are blocked."""
    if unblock:
        index.unblock(unblock)
    entries = index.blocked()
    click.echo(json.dumps({"blocked": entries}) if as_json else "\n".join(entries), nl=as_json or bool(entries))


def erase_only(urls: Sequence[str], options: DeletionOptions) -> bool:
    """Return whether the command is `winnow delete --erase`, and names no pages."""
    named = bool(urls or options.ids or options.words or options.filtered)
    return options.erase and "erase" in typed_options() and not named


def ask(index: Index, found: DeletionReport) -> None:
    """Ask whether to delete the found captures. Exit if the answer is no, or if there is no terminal."""
    if not found.captures:
        return
    what = amount(found)
    blocked = printable(found.blocked[0]) if len(found.blocked) == 1 else f"{len(found.blocked):,} addresses"
    block = f", and block {blocked}" if found.blocked else ""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"this would delete {what}{block}: add --yes to do it, or --dry-run to list them")
    for each in found.examples:
        say(f"  {day(each) or 'unknown   '}  {each.url}")
    if found.captures > len(found.examples):
        say(f"  and {found.captures - len(found.examples):,} more")
    if found.copies.total:
        say(f"{copies_left(found, dry_run=True)}; you will be told where")
    if not click.confirm(f"Delete {what} from {index.name}{block}?", err=True):
        end(NOTHING_FOUND, "Nothing was deleted or blocked" if block else "Nothing was deleted")


def list_captures(report: DeletionReport, found: Iterable[DeletedCapture], *, as_json: bool) -> None:
    """Print all captures that a dry run has found, as they are read: as JSON, or tab-separated values for programs."""
    if not as_json:
        write_table(sys.stdout, DeletedCapture, found)
        say(f"{amount(report)} would be deleted")
        return
    document = {**report.to_dict(), FOUND: []}
    del document["examples"]
    sys.stdout.write(json.dumps(document).removesuffix("]}"))
    for number, each in enumerate(found):
        sys.stdout.write(", " * (number > 0) + json.dumps(json_values(each)))
    sys.stdout.write("]}\n")


def amount(report: DeletionReport) -> str:
    return f"{count_of(report.captures, 'capture')} of {count_of(report.pages, 'page')}"


def summary(report: DeletionReport, columns: int, options: DeletionOptions) -> Iterator[list[Span]]:
    if not options.dry_run:
        deleted = f"{report.deleted:,} of {count_of(report.captures, 'capture')}" if report.stopped else amount(report)
        yield [(f"Deleted {deleted}", "bold")]
        return
    for each in report.examples:
        yield [(f"{day(each) or 'unknown   '}  {shorten_middle(printable(each.url), max(columns - 12, 20))}", "plain")]
    if (more := report.captures - len(report.examples)) > 0:
        yield [(f"… and {more:,} more; in a pipe, such as | less, all are listed", "plain")]
    yield [(f"{amount(report)} would be deleted", "bold")]


def say_what_is_missing(index: Index, report: DeletionReport, options: DeletionOptions) -> None:
    """Name URLs, ids, a site or a crawl that the store does not have, and similar ones that it has."""
    if report.missing:
        named = [f"{each} (there is {report.known[each]})" if each in report.known else each for each in report.missing]
        unless = ", or not chosen by the filters" if options.filtered else ""
        say(f"Not in the store{unless}: {some_of(named)}")
    if not report.captures:
        for sentence in index.unknown_filters(options.where):
            say(sentence)


def some_of(names: Sequence[str]) -> str:
    """Return the first of these names, and the number of the others."""
    more = len(names) - MAX_NAMES_LISTED
    others = f" and {count_of(more, 'other')}" if more > 0 else ""
    return f"{', '.join(names[:MAX_NAMES_LISTED])}{others}"


def say_what_is_not_blocked(index: Index, report: DeletionReport, options: DeletionOptions) -> None:
    """Name pages of the store that a blocked entry probably means, but spells differently."""
    others = list(report.known.values())[:MAX_NAMES_LISTED]
    if options.where.site is not None and not (report.captures or report.missing):
        site = index.known_site(options.where.site)
        others = [f"{SITE}{site}"] if site else []
    if others:
        verb = "would be" if options.dry_run else "is"
        say(f"Only the spelling that you gave {verb} blocked, not {', '.join(others)}")


def copies_left(report: DeletionReport, *, dry_run: bool) -> str:
    """Return a sentence about the pages that have the text of deleted pages at other addresses."""
    number = report.copies.total
    pages = "1 page at another address" if number == 1 else f"{number:,} pages at other addresses"
    verb = "would still have" if dry_run else "still has" if number == 1 else "still have"
    return f"{pages} {verb} {'the text' if report.pages == 1 else 'these texts'}"


def say_where_copies_are(report: DeletionReport, options: DeletionOptions) -> None:
    """Name other addresses with the texts of deleted pages, and suggest the command that deletes these, too."""
    copies = report.copies
    if copies.total:
        say(f"{copies_left(report, dry_run=options.dry_run)}:")
        listed = copies.listed[:MAX_COPIES_LISTED]
        for each in listed:
            say(f"  {each.url}" + (f"  ({percent(each.resemblance)} the same)" if each.resemblance < 1 else ""))
        if copies.total > len(listed):
            say(f"  and {copies.total - len(listed):,} more, of which you are told when you delete these")
        next_step("delete", *(each.url for each in listed), *(["--block"] if options.block else []))
    if report.captures and not copies.near:
        say(
            "Other addresses were searched for the same texts, but not for all near-copies: before you delete a page,"
            " winnow similar finds them"
        )


def say_notes(report: DeletionReport, options: DeletionOptions) -> None:
    """Say which clusters, boilerplate and watches have changed, and what is left to do."""
    if report.reclustered:
        say(f"{count_of(report.reclustered, 'page')} left by a deleted representative, clustered again")
    if report.boilerplate:
        say(f"Boilerplate learned again or removed: {', '.join(report.boilerplate)}")
    if report.watches:
        say(f"The page of a watch is gone; remove the watch, or index the page again: {', '.join(report.watches)}")
    if report.deleted and not report.erased:
        say("The files of the store still have bytes of deleted pages: winnow delete --erase erases them")
    if not options.dry_run and report.deleted:
        remark(duration(report.seconds))
