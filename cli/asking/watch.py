"""winnow watch: save questions in a store, and list the new pages that match them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NoReturn

import click

from opensearch_winnow.answers.asking.watches import checked_watch
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.asking.watch_log import log
from opensearch_winnow.cli.asking.watch_table import new_lines, watch_condition, watch_lines
from opensearch_winnow.cli.command_group import CANNOT_BE_DONE, NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import JsonOutput, TableOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.options.stored_names import stored_names
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.cli.text_file import file_option, visible_text
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.watch_lines import watches_of
from opensearch_winnow.operations.asking.watches import (
    AddedWatches,
    AddingOptions,
    CheckedWatches,
    NewWatch,
    Watch,
    WatchError,
    WatchOptions,
)

COMPLETE = stored_names(Index.watch_names)


@click.group("watch", short_help="Save a question, and list new pages that match it.")
def command() -> None:
    """\b
    Examples:
      winnow watch add press --file press-release.txt --store crawl.winnow
      winnow watch add mill http://example.org/mill --min-containment 0.5
      winnow watch add --from watches.jsonl --unseen
      winnow watch check
      winnow watch check press --json
      winnow watch log
      winnow watch list
      winnow watch remove press

    A watch is a question saved in the store: which pages contain part of this page or text? winnow index asks it of
    every new page, and keeps what it finds in a log. Checking a watch lists the pages that were added since the last
    check. A new capture of a known page does not count as new.
    """


@command.command("add", cls=DescribedCommand, short_help="Save a question.")
@click.argument("name", required=False)
@click.argument("url", required=False)
@file_option("--file", help="Watch the text of a UTF-8 or HTML file; - reads from a pipe.")
@click.option("--text", metavar="T", help="Watch this text.")
@file_option(
    "--from",
    "from_file",
    metavar="FILE",
    help="Add many watches: JSON lines with name, text or url, and min_containment if it is not X.",
)
@declared_options(WatchOptions)
@store_option()
@declared_options(JsonOutput, "output")
def add(
    name: str | None,
    url: str | None,
    file: str | None,
    text: str | None,
    from_file: str | None,
    options: WatchOptions,
    store: str,
    output: JsonOutput,
) -> None:
    """\b
    Examples:
      winnow watch add mill http://example.org/mill --store crawl.winnow
      winnow watch add press --file press-release.txt --min-containment 0.5
      winnow watch add motto --text "Nobody in the valley has ever seen him weigh a sack of flour on the scales"
      winnow watch add --from watches.jsonl --unseen

    Save a question under NAME: which pages contain part of the page URL, of the file F, or of the text T? The text is
    saved with the watch. A URL stands for its latest capture at the time of each check.

    With --from, all watches of FILE are added, or none. Pages that they find now do not count as new; with --unseen
    they do, and thousands of watches are added in seconds.
    """
    if from_file is not None:
        if any(each is not None for each in (name, url, file, text)):
            raise click.UsageError("--from FILE names the watches and what they watch: give nothing else")
        with Index.open(store, create=False) as index:
            watches = read_watches(from_file, options.min_containment)
            count = index.add_watches(watches, **options.part(AddingOptions).keywords())
        if not output.prints(AddedWatches(count)):
            say(f"Added {count_of(count, 'watch', 'watches')}")
        next_step("watch", "list")
        return
    if name is None:
        raise click.UsageError("give the watch a name: winnow watch add NAME")
    if sum(each is not None for each in (url, file, text)) != 1:
        raise click.UsageError("give exactly one thing to watch: the URL of a page in the store, --file, or --text")
    with Index.open(store, create=False) as index:
        if file is not None:
            text = visible_text(file, index.prepare)
        exists = name in index.watch_names()
        if exists and not options.replace:
            raise WatchError(f"there is already a watch {name!r}: use --replace, or choose another name")
        watch = index.add_watch(options.extended(NewWatch, name=name, url=url, text=text))
    if not output.prints(watch):
        say(f"{'Replaced' if exists else 'Added'} {name}: pages with {watch_condition(watch)}")
    if not index.scheme.guarantees:
        say(f"Copies may be missed: the selection {index.scheme.selection} does not promise to find any")
    elif text is not None and (length := len(canonical(text, index.scheme).chars)) < index.scheme.t:
        units = "tokens" if index.scheme.form == "code" else "letters and digits"
        say(f"The text has {length:,} {units}; copies of fewer than {index.scheme.t:,} may be missed")
    next_step("watch", "check", name)


@command.command("list", cls=DescribedCommand, short_help="List the watches of a store.")
@store_option()
@declared_options(TableOutput, "output")
def list_(store: str, output: TableOutput) -> None:
    """\b
    Examples:
      winnow watch list --store crawl.winnow
      winnow watch list --json

    List the watches of a store. Exits with 1 if there are none.
    """
    with Index.open(store, create=False) as index:
        watches = index.watches()
    output.show(watches, lambda screen: watch_lines(watches, screen.columns, full=output.full))
    if not watches:
        exit_without_watches(index)
    next_step("watch", "check")


@command.command("check", cls=DescribedCommand, short_help="List the pages that are new since the last check.")
@click.argument("name", nargs=-1, shell_complete=COMPLETE)
@click.option("--keep", is_flag=True, help="Report the same pages as new again next time.")
@store_option()
@declared_options(TableOutput, "output")
def check(name: tuple[str, ...], keep: bool, store: str, output: TableOutput) -> None:
    """\b
    Examples:
      winnow watch check --store crawl.winnow
      winnow watch check press mill --keep
      winnow watch check --json | jq '.watches[] | select(.new != [])'

    Check the watches with these NAMEs, or all, and list the pages that are new since the last check. Each check looks
    at the 1,000 best matches of a watch. A page is listed once, unless you --keep it.

    Exits with 0 if there are new pages, with 1 if there are none, and with 2 if a watch cannot be checked.
    """
    with Index.open(store, create=False, patient=True) as index:
        names = list(name or index.watch_names())
        reports = [checked_watch(index, each) for each in dict.fromkeys(names)]
        output.show(
            CheckedWatches(len(reports), reports, only_new=True),
            lambda screen: new_lines(reports, screen.columns, full=output.full),
        )
        sys.stdout.flush()
        for report in reports:
            if report.new and not keep:
                index.mark_seen(report.watch.name, report.new)
    failed = [report for report in reports if report.error is not None]
    for report in failed:
        say(f"{report.watch.name}: {report.error}")
    if not names:
        exit_without_watches(index)
    new = next((report for report in reports if report.new), None)
    if failed:
        end(CANNOT_BE_DONE)
    if new is None:
        end(NOTHING_FOUND, f"No new pages for {count_of(len(reports), 'watch', 'watches')}")
    best = new.new_matches[0].url
    next_step(*(("similar", best) if new.watch.url is None else ("compare", new.watch.url, best)))


@command.command("remove", cls=DescribedCommand, short_help="Delete a watch.")
@click.argument("name", shell_complete=COMPLETE)
@store_option()
@declared_options(JsonOutput, "output")
def remove(name: str, store: str, output: JsonOutput) -> None:
    """\b
    Examples:
      winnow watch remove press --store crawl.winnow

    Delete the watch NAME.
    """
    with Index.open(store, create=False) as index:
        watch = index.watch(name)
        index.remove_watch(name)
    if not output.prints(watch):
        say(f"Removed {name}")
    next_step("watch", "list")


command.add_command(log)


def exit_without_watches(index: Index) -> NoReturn:
    end(NOTHING_FOUND, f"No watches in {index.name}; add one with: winnow watch add NAME")


def read_watches(path: str, min_containment: float) -> Iterator[Watch]:
    """Yield the watches of a file, or of standard input for "-"; `min_containment` is for lines without one."""
    try:
        with click.open_file(path, encoding="utf-8") as lines:
            yield from watches_of(lines, path, min_containment)
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
