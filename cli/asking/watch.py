"""winnow watch: save questions in a store, and list the new pages that match them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

from opensearch_winnow.answers.asking.watches import watch_document, watch_report_document
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.asking.watch_log import log
from opensearch_winnow.cli.asking.watch_table import (
    show_new_rows,
    show_new_tables,
    show_watch_rows,
    show_watch_table,
    watch_condition,
)
from opensearch_winnow.cli.command_group import CANNOT_BE_DONE, NOTHING_FOUND
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import color_option, json_option, say, terminal
from opensearch_winnow.cli.text_file import require_piped_stdin, visible_text
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.errors import FileError, QuestionError, WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.watches import Watch, WatchError, WatchReport

FIELDS: dict[str, tuple[type, ...]] = {"name": (str,), "text": (str,), "url": (str,), "min_containment": (int, float)}


def complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Return the names of watches that start with `incomplete`, for shell completion."""
    store = ctx.params.get("store") or ""
    try:
        with Index.open(store, create=False) as index:
            return [CompletionItem(name) for name in index.watch_names() if name.startswith(incomplete)]
    except (WinnowError, OSError):
        return []


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


@command.command("add", short_help="Save a question.")
@click.argument("name", required=False)
@click.argument("url", required=False)
@click.option(
    "--file",
    metavar="F",
    type=click.Path(allow_dash=True),
    callback=require_piped_stdin,
    help="Watch the text of a UTF-8 or HTML file; - reads from a pipe.",
)
@click.option("--text", metavar="T", help="Watch this text.")
@click.option(
    "--min-containment",
    metavar="X",
    type=click.FloatRange(0, 1),
    default=0.3,
    show_default=True,
    help="Pages that contain at least X of it. 0 finds all that share a passage with it.",
)
@click.option(
    "--from",
    "from_file",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    callback=require_piped_stdin,
    help="Add many watches: JSON lines with name, text or url, and min_containment if it is not X.",
)
@click.option("--unseen", is_flag=True, help="Report the pages that match now as new in the first check.")
@click.option("--replace", is_flag=True, help="Replace the watch of this name, if there is one.")
@store_option()
@json_option
@click.pass_context
def add(
    ctx: click.Context,
    name: str | None,
    url: str | None,
    file: str | None,
    text: str | None,
    min_containment: float,
    from_file: str | None,
    unseen: bool,
    replace: bool,
    store: str,
    as_json: bool,
) -> None:
    """\b
    Examples:
      winnow watch add mill http://example.org/mill --store crawl.winnow
      winnow watch add press --file press-release.txt --min-containment 0.5
      winnow watch add motto --text "Nobody in the valley has ever seen him weigh a sack of flour on the scales"
      winnow watch add --from watches.jsonl --unseen

    Save a question under NAME: which pages contain part of the page URL, of the file F, or of the text T? The text is
    saved with the watch. A URL stands for its latest capture at the time of each check.

    With --from, all watches of FILE are added, or none. What each of them finds now does not count as new; with
    --unseen it does, and thousands of watches are added in seconds.
    """
    if from_file is not None:
        if any(each is not None for each in (name, url, file, text)):
            raise click.UsageError("--from FILE names the watches and what they watch: give nothing else", ctx)
        with Index.open(store, create=False) as index:
            watches = read_watches(from_file, min_containment)
            added = index.add_watches(watches, seen=not unseen, replace=replace)
        if as_json:
            click.echo(json.dumps({"added": added}))
        else:
            say(f"Added {count_of(added, 'watch', 'watches')}")
        next_step(ctx, "watch", "list")
        return
    if name is None:
        raise click.UsageError("give the watch a name: winnow watch add NAME", ctx)
    if sum(each is not None for each in (url, file, text)) != 1:
        raise click.UsageError(
            "give exactly one thing to watch: the URL of a page in the store, --file, or --text", ctx
        )
    with Index.open(store, create=False) as index:
        if file is not None:
            text = visible_text(file, index.prepare)
        exists = name in index.watch_names()
        if exists and not replace:
            raise WatchError(f"there is already a watch {name!r}: use --replace, or choose another name")
        watch = index.add_watch(
            name, url=url, text=text, min_containment=min_containment, seen=not unseen, replace=replace
        )
    if as_json:
        click.echo(json.dumps(watch_document(watch)))
    else:
        say(f"{'Replaced' if exists else 'Added'} {name}: pages with {watch_condition(watch)}")
    if not index.scheme.guarantees:
        say(f"Copies may be missed: the selection {index.scheme.selection} does not promise to find any")
    elif text is not None and (length := len(canonical(text, index.scheme).chars)) < index.scheme.t:
        units = "tokens" if index.scheme.form == "code" else "letters and digits"
        say(f"The text has {length:,} {units}; copies of fewer than {index.scheme.t:,} may be missed")
    next_step(ctx, "watch", "check", name)


@command.command("list", short_help="List the watches of a store.")
@store_option()
@json_option
@color_option
@click.pass_context
def list_(ctx: click.Context, store: str, as_json: bool, color: str) -> None:
    """\b
    Examples:
      winnow watch list --store crawl.winnow
      winnow watch list --json

    List the watches of a store. Exits with 1 if there are none.
    """
    with Index.open(store, create=False) as index:
        watches = index.watches()
    if as_json:
        click.echo(json.dumps({"watches": [watch_document(each) for each in watches]}))
    elif not (screen := terminal(color)):
        show_watch_rows(watches)
    elif watches:
        show_watch_table(screen, watches)
    if not watches:
        exit_without_watches(ctx, index)
    next_step(ctx, "watch", "check")


@command.command("check", short_help="List the pages that are new since the last check.")
@click.argument("name", nargs=-1, shell_complete=complete_name)
@click.option("--keep", is_flag=True, help="Report the same pages as new again next time.")
@store_option()
@json_option
@color_option
@click.pass_context
def check(ctx: click.Context, name: tuple[str, ...], keep: bool, store: str, as_json: bool, color: str) -> None:
    """\b
    Examples:
      winnow watch check --store crawl.winnow
      winnow watch check press mill --keep
      winnow watch check --json | jq '.watches[] | select(.new != [])'

    Check the watches with these NAMEs, or all, and list the pages that are new since the last check. Each check looks
    at the 1,000 best matches of a watch. A page is listed once, unless you --keep it.

    Exits with 0 if there are new pages, with 1 if there are none, and with 2 if a watch cannot be checked.
    """
    reports: list[WatchReport] = []
    failed: list[tuple[Watch, str]] = []
    with Index.open(store, create=False, patient=True) as index:
        names = list(name or index.watch_names())
        for each in dict.fromkeys(names):
            try:
                reports.append(index.check_watch(each))
            except QuestionError as error:  # its page may have been deleted; the other watches still work
                failed.append((index.watch(each), str(error)))
        show_reports(reports, failed, as_json=as_json, color=color)
        sys.stdout.flush()
        for report in reports:
            if report.new and not keep:
                index.mark_seen(report.watch.name, report.new)
    for watch, reason in failed:
        say(f"{watch.name}: {reason}")
    if not names:
        exit_without_watches(ctx, index)
    new = next((report for report in reports if report.new), None)
    if failed:
        ctx.exit(CANNOT_BE_DONE)
    if new is None:
        say(f"No new pages for {'1 watch' if len(reports) == 1 else f'{len(reports):,} watches'}")
        ctx.exit(NOTHING_FOUND)
    best = next(match.url for match in new.matches if match.card.id in new.new)
    next_step(ctx, *(("similar", best) if new.watch.url is None else ("compare", new.watch.url, best)))


@command.command("remove", short_help="Delete a watch.")
@click.argument("name", shell_complete=complete_name)
@store_option()
@json_option
@click.pass_context
def remove(ctx: click.Context, name: str, store: str, as_json: bool) -> None:
    """\b
    Examples:
      winnow watch remove press --store crawl.winnow

    Delete the watch NAME.
    """
    with Index.open(store, create=False) as index:
        watch = index.watch(name)
        index.remove_watch(name)
    if as_json:
        click.echo(json.dumps(watch_document(watch)))
    else:
        say(f"Removed {name}")
    next_step(ctx, "watch", "list")


command.add_command(log)


def exit_without_watches(ctx: click.Context, index: Index) -> None:
    say(f"No watches in {index.name}; add one with: winnow watch add NAME")
    ctx.exit(NOTHING_FOUND)


def show_reports(reports: list[WatchReport], failed: list[tuple[Watch, str]], *, as_json: bool, color: str) -> None:
    if as_json:
        documents: list[Any] = [watch_report_document(report) for report in reports]
        documents += [
            {**watch_document(watch), "total": 0, "new": [], "matches": [], "error": reason} for watch, reason in failed
        ]
        click.echo(json.dumps({"watches": documents}))
    elif screen := terminal(color):
        show_new_tables(screen, reports)
    else:
        show_new_rows(reports)


def read_watches(path: str, min_containment: float) -> Iterator[Watch]:
    """Yield the watches of a file, or of standard input for "-"; `min_containment` is that of lines without one."""
    try:
        with click.open_file(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _watch(line, f"{path}, line {number:,}", min_containment)
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _watch(line: str, where: str, min_containment: float) -> Watch:
    try:
        document: Any = json.loads(line)
    except ValueError as error:
        raise WatchError(f"{where}: not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise WatchError(f"{where}: a watch is a JSON object with a name, and a text or a url")
    given = {name: value for name, value in document.items() if name in FIELDS and value is not None}
    for name, value in given.items():
        if not isinstance(value, FIELDS[name]) or isinstance(value, bool):
            raise WatchError(f"{where}: the {name} of a watch cannot be {json.dumps(value)[:80]}")
    if ("text" in given) == ("url" in given):
        raise WatchError(f"{where}: give watch {given['name']} a text or a url, one of them")
    return Watch(**{"min_containment": min_containment} | given)
