"""winnow delete: delete pages, and what the store keeps of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
from click.core import ParameterSource

from opensearch_winnow.answers.display_text import one_line, printable, shorten_middle
from opensearch_winnow.answers.formatting import count_of, day, duration, percent, time_stamp
from opensearch_winnow.cli.command_group import INTERRUPTED, NOTHING_FOUND
from opensearch_winnow.cli.options.filter_options import where_options
from opensearch_winnow.cli.options.run_options import quiet_option
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.phase_progress import show_phases
from opensearch_winnow.cli.stopped_by_signals import stopped_by_signals
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, remark, say, terminal
from opensearch_winnow.cli.text_file import read_text, require_piped_stdin
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.crawls.deletion import DeletionReport
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.blocked_pages import SITE

MAX_NAMES_LISTED = 10
MAX_COPIES_LISTED = 10  # JSON has up to 100
COUNTS = ("pages", "captures", "deleted", "reclustered")
FOUND = "found"  # the last key of the JSON of a dry run


@click.command("delete", short_help="Delete pages, and what the store keeps of them.")
@click.argument("url", nargs=-1)
@click.option(
    "--file",
    metavar="LIST",
    type=click.Path(allow_dash=True),
    callback=require_piped_stdin,
    help="Delete the pages with the URLs in this file, one in a line; - reads from a pipe.",
)
@click.option("--id", "ids", metavar="ID", multiple=True, help="Delete the capture with this id. Can be repeated.")
@click.option("--query", metavar="WORDS", help="Delete the captures that a search for WORDS finds.")
@where_options
@store_option()
@click.option("--dry-run", is_flag=True, help="Delete nothing, and list what would be deleted.")
@click.option("--block", is_flag=True, help="Never index these URLs, or this --site, again.")
@click.option(
    "--unblock", metavar="ENTRY", multiple=True, help="Delete nothing; let a URL or site:HOST be indexed again."
)
@click.option("--blocked", is_flag=True, help="Delete nothing; list what is blocked.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask. Needed where nobody can answer, such as in a script.")
@click.option(
    "--erase/--no-erase",
    default=True,
    help="Afterwards, write the files of the store anew, without the bytes of deleted pages. Alone, --erase does this"
    " for pages that were deleted before.  [default: erase]",
)
@quiet_option
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    url: tuple[str, ...],
    file: str | None,
    ids: tuple[str, ...],
    query: str | None,
    where: Filters,
    store: str,
    dry_run: bool,
    block: bool,
    unblock: tuple[str, ...],
    blocked: bool,
    yes: bool,
    erase: bool,
    quiet: bool,
    as_json: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow delete http://example.org/page --store crawl.winnow
      winnow delete 'http://example.org/private/*' --dry-run
      winnow delete --site example.org --until 2023 --yes
      winnow delete --query '"Nobody in the valley"' --dry-run
      winnow delete --file takedown.txt --block --yes --json

    Delete every capture of each URL. A URL that ends with * stands for all URLs that begin so. Or delete captures by
    --id, by the words of a --query, or all that meet --site, --crawl, --since and --until, which also narrow down URLs
    and queries.

    The store then answers as if these captures had never been indexed. Pages whose cluster has lost its representative
    are clustered again, the templates of their sites are learned again, and watches forget them. A page that is indexed
    again comes back, unless you --block it. Other addresses that have the same text are named, and stay. Files outside
    of the store are not touched: web archives, exports, record files, files of failed pages.

    Asks before it deletes, unless you give --yes. If you stop it, the rest is kept: start it again. Exits with 1 if no
    capture is found.
    """
    urls = [*url, *(urls_in(file) if file is not None else ())]
    selection: dict[str, Any] = {"urls": urls, "ids": ids, "words": query, "where": where}
    with Index.open(store, create=False, patient=True) as index:
        if unblock or blocked:
            list_blocked(index, unblock, as_json=as_json)
            return
        if erase_only(ctx, selection):
            index.erase()
            if as_json:
                click.echo(json.dumps(deletion_document(DeletionReport(erased=True))))
            say(f"Erased what deleted pages had left in {index.name}")
            return
        if not (yes or dry_run):
            ask(ctx, index, index.delete(**selection, dry_run=True, block=block))
        with show_phases(quiet=quiet or dry_run, color=color) as progress, stopped_by_signals() as stop:
            report = index.delete(**selection, dry_run=dry_run, block=block, erase=erase, progress=progress, stop=stop)
        screen = None if as_json else terminal(color)
        if screen:
            show_summary(screen, report, dry_run=dry_run)
        elif dry_run:
            list_captures(report, index.cards(ids=report.ids), as_json=as_json)
        elif as_json:
            click.echo(json.dumps(deletion_document(report)))
        else:
            show_rows(report)
        say_what_is_missing(index, report, where)
        if block:
            say(f"{'Would be blocked' if dry_run else 'Blocked'}: {some_of(report.blocked)}")
            say_what_is_not_blocked(index, report, where, dry_run=dry_run)
    say_where_copies_are(ctx, report)
    say_notes(report, dry_run=dry_run)
    if report.stopped:
        ctx.exit(INTERRUPTED)
    ctx.exit(0 if report.captures else NOTHING_FOUND)


def urls_in(file: str) -> list[str]:
    """Return the URLs in a file: one in a line. Empty lines, and lines that start with #, are left out."""
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


def erase_only(ctx: click.Context, selection: dict[str, Any]) -> bool:
    """Return whether the command is `winnow delete --erase`, and names no pages."""
    named = any(selection[name] for name in ("urls", "ids", "words")) or selection["where"] != Filters()
    typed = ctx.get_parameter_source("erase") is ParameterSource.COMMANDLINE and ctx.params["erase"]
    return typed and not named


def ask(ctx: click.Context, index: Index, found: DeletionReport) -> None:
    """Ask whether to delete what was found. Exit if the answer is no, or if nobody can answer."""
    if not found.captures:
        return
    what = amount(found)
    blocked = printable(found.blocked[0]) if len(found.blocked) == 1 else f"{len(found.blocked):,} addresses"
    block = f", and block {blocked}" if found.blocked else ""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"this would delete {what}{block}: add --yes to do it, or --dry-run to list them", ctx)
    for card in found.examples:
        say(f"  {day(card) or 'unknown   '}  {card.url}")
    if found.captures > len(found.examples):
        say(f"  and {found.captures - len(found.examples):,} more")
    if found.copies.total:
        say(f"{copies_left(found, dry_run=True)}; you will be told where")
    if not click.confirm(f"Delete {what} from {index.name}{block}?", err=True):
        say("Nothing was deleted or blocked" if block else "Nothing was deleted")
        ctx.exit(NOTHING_FOUND)


def deletion_document(report: DeletionReport) -> dict[str, Any]:
    return {
        **{name: getattr(report, name) for name in COUNTS},
        "missing": report.missing,
        "known": report.known,
        "blocked": report.blocked,
        "boilerplate": report.boilerplate,
        "watches": report.watches,
        "copies": {
            "total": report.copies.total,
            "near": report.copies.near,
            "listed": [each._asdict() for each in report.copies.listed],
        },
        "examples": list(map(card_document, report.examples)),
        "erased": report.erased,
        "stopped": report.stopped,
        "seconds": report.seconds,
    }


def card_document(card: Card) -> dict[str, Any]:
    return {"id": card.id, "url": card.url, "fetched_at": time_stamp(card), "crawl": card.crawl}


def list_captures(report: DeletionReport, cards: Iterable[Card], *, as_json: bool) -> None:
    """Print all captures that a dry run has found, as they are read: as JSON, or tab-separated values for programs."""
    if not as_json:
        sys.stdout.write("fetched_at\tid\tcrawl\turl\n")
        for card in cards:
            sys.stdout.write(f"{time_stamp(card) or ''}\t{card.id}\t{one_line(card.crawl)}\t{one_line(card.url)}\n")
        say(f"{amount(report)} would be deleted")
        return
    document = {**deletion_document(report), FOUND: []}
    del document["examples"]
    sys.stdout.write(json.dumps(document).removesuffix("]}"))
    for number, card in enumerate(cards):
        sys.stdout.write(", " * (number > 0) + json.dumps(card_document(card)))
    sys.stdout.write("]}\n")


def amount(report: DeletionReport) -> str:
    return f"{count_of(report.captures, 'capture')} of {count_of(report.pages, 'page')}"


def show_summary(screen: Terminal, report: DeletionReport, *, dry_run: bool) -> None:
    if dry_run:
        for card in report.examples:
            url = shorten_middle(printable(card.url), max(screen.columns - 12, 20))
            screen.echo(f"{day(card) or 'unknown   '}  {url}")
        if report.captures > len(report.examples):
            more = report.captures - len(report.examples)
            screen.echo(f"… and {more:,} more; in a pipe, such as | less, all are listed")
        screen.echo(screen.paint(f"{amount(report)} would be deleted", "bold"))
    elif report.stopped:
        screen.echo(screen.paint(f"Deleted {report.deleted:,} of {count_of(report.captures, 'capture')}", "bold"))
    else:
        screen.echo(screen.paint(f"Deleted {amount(report)}", "bold"))


def show_rows(report: DeletionReport) -> None:
    """Print tab-separated values for programs."""
    for name in COUNTS:
        sys.stdout.write(f"{name}\t{getattr(report, name)}\n")
    sys.stdout.write(f"copies\t{report.copies.total}\n")


def say_what_is_missing(index: Index, report: DeletionReport, where: Filters) -> None:
    """Say which URLs, ids, site or crawl the store does not have, and what it has instead."""
    if report.missing:
        named = [f"{each} (there is {report.known[each]})" if each in report.known else each for each in report.missing]
        unless = "" if where == Filters() else ", or not chosen by the filters"
        say(f"Not in the store{unless}: {some_of(named)}")
    if not report.captures:
        for sentence in index.unknown_filters(where):
            say(sentence)


def some_of(names: Sequence[str]) -> str:
    """Return the first of these names, and how many others there are."""
    more = len(names) - MAX_NAMES_LISTED
    others = f" and {count_of(more, 'other')}" if more > 0 else ""
    return f"{', '.join(names[:MAX_NAMES_LISTED])}{others}"


def say_what_is_not_blocked(index: Index, report: DeletionReport, where: Filters, *, dry_run: bool) -> None:
    """Name pages of the store that are probably meant by what was blocked, and are spelled otherwise."""
    others = list(report.known.values())[:MAX_NAMES_LISTED]
    if where.site is not None and not (report.captures or report.missing):
        site = index.known_site(where.site)
        others = [f"{SITE}{site}"] if site else []
    if others:
        verb = "would be" if dry_run else "is"
        say(f"Only the spelling that you gave {verb} blocked, not {', '.join(others)}")


def copies_left(report: DeletionReport, *, dry_run: bool) -> str:
    """Return a sentence about the pages that have the text of deleted pages at other addresses."""
    number = report.copies.total
    pages = "1 page at another address" if number == 1 else f"{number:,} pages at other addresses"
    verb = "would still have" if dry_run else "still has" if number == 1 else "still have"
    return f"{pages} {verb} {'the text' if report.pages == 1 else 'these texts'}"


def say_where_copies_are(ctx: click.Context, report: DeletionReport) -> None:
    """Say where the texts of deleted pages still are, and suggest the command that deletes them there, too."""
    copies, dry_run = report.copies, bool(ctx.params["dry_run"])
    if copies.total:
        say(f"{copies_left(report, dry_run=dry_run)}:")
        listed = copies.listed[:MAX_COPIES_LISTED]
        for each in listed:
            say(f"  {each.url}" + (f"  ({percent(each.resemblance)} the same)" if each.resemblance < 1 else ""))
        if copies.total > len(listed):
            say(f"  and {copies.total - len(listed):,} more, of which you are told when you delete these")
        next_step(ctx, "delete", *(each.url for each in listed), *(["--block"] if ctx.params["block"] else []))
    if report.captures and not copies.near:
        say(
            "Other addresses were searched for the same texts, but not for all near-copies: before you delete a page,"
            " winnow similar finds them"
        )


def say_notes(report: DeletionReport, *, dry_run: bool) -> None:
    """Say what else has changed, and what is left to do."""
    if report.reclustered:
        say(f"{count_of(report.reclustered, 'page')} left by a deleted representative, clustered again")
    if report.boilerplate:
        say(f"Boilerplate learned again or removed: {', '.join(report.boilerplate)}")
    if report.watches:
        say(f"The page of a watch is gone; remove the watch, or index the page again: {', '.join(report.watches)}")
    if report.deleted and not report.erased:
        say("The files of the store still have bytes of deleted pages: winnow delete --erase erases them")
    if not dry_run and report.deleted:
        remark(duration(report.seconds))
