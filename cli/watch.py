"""winnow watch: questions that are kept in a store, and asked again as it grows."""

from __future__ import annotations

import json
import sys
from typing import Any

import click
from click.shell_completion import CompletionItem

from opensearch_winnow.answers.watches import watch_document, watch_report_document
from opensearch_winnow.cli.command_group import CANNOT_BE_DONE, NOTHING_FOUND
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import color_option, json_option, say, terminal
from opensearch_winnow.cli.text_file import not_waiting_for_a_terminal
from opensearch_winnow.cli.text_or_html import visible_text
from opensearch_winnow.cli.watch_table import asked, show_new_rows, show_new_tables, show_watch_rows, show_watch_table
from opensearch_winnow.foundation.errors import QuestionError, WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.watches import Watch, WatchError, WatchReport
from opensearch_winnow.stores.kept_recipe import kept_recipe


def names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    store = ctx.params.get("store") or ""
    try:
        with Index.open(store, create=False) as index:
            return [CompletionItem(each.name) for each in index.watches() if each.name.startswith(incomplete)]
    except (WinnowError, OSError):
        return []


@click.group("watch", short_help="Questions that are asked again: who quotes this now?")
def command() -> None:
    """\b
    Examples:
      winnow watch add press --file press-release.txt --store crawl.winnow
      winnow watch add mill http://example.org/mill --min-containment 0.5
      winnow watch check
      winnow watch check press --json
      winnow watch list
      winnow watch remove press

    A watch is a question that is kept in the store: which pages have some of this page, or of this text? Checking
    it tells the pages that have come since. A page that is crawled again is no news.
    """


@command.command("add", short_help="Keep a question.")
@click.argument("name")
@click.argument("url", required=False)
@click.option(
    "--file",
    metavar="F",
    type=click.Path(allow_dash=True),
    callback=not_waiting_for_a_terminal,
    help="Watch the text of a file, UTF-8 or HTML; - for what is piped in.",
)
@click.option("--text", metavar="T", help="Watch this text.")
@click.option(
    "--min-containment",
    metavar="X",
    type=click.FloatRange(0, 1),
    default=0.3,
    show_default=True,
    help="Pages that have X of it in them. 0: all that share a passage.",
)
@click.option("--unseen", is_flag=True, help="What is there now is new, too, when it is first checked.")
@click.option("--replace", is_flag=True, help="Take the place of another watch of this name.")
@store_option()
@json_option
@click.pass_context
def add(
    ctx: click.Context,
    name: str,
    url: str | None,
    file: str | None,
    text: str | None,
    min_containment: float,
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

    Keeps a question under NAME: which pages have some of the page URL of the store, of the file F, or of the text T?
    A text is kept as it is; of URL the latest capture is asked about, each time.
    """
    if sum(each is not None for each in (url, file, text)) != 1:
        raise click.UsageError("name one thing to watch: a URL of the store, --file or --text", ctx)
    with Index.open(store, create=False) as index:
        if file is not None:
            text = visible_text(file, kept_recipe(index.store))
        there = any(each.name == name for each in index.watches())
        if there and not replace:
            raise WatchError(f"there is a watch {name!r} already: --replace it, or give another name")
        watch = index.add_watch(
            name, url=url, text=text, min_containment=min_containment, seen=not unseen, replace=replace
        )
    if as_json:
        click.echo(json.dumps(watch_document(watch)))
    else:
        say(f"{'Replaced' if there else 'Added'} {name}: pages with {asked(watch)}")
    next_step(ctx, "watch", "check", name)


@command.command("list", short_help="What is watched.")
@store_option()
@json_option
@color_option
@click.pass_context
def list_(ctx: click.Context, store: str, as_json: bool, color: str) -> None:
    """\b
    Examples:
      winnow watch list --store crawl.winnow
      winnow watch list --json

    The watches of a store. Exit code 1 if there is none.
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
        nothing_watched(ctx, index)
    next_step(ctx, "watch", "check")


@command.command("check", short_help="What is new?")
@click.argument("name", nargs=-1, shell_complete=names)
@click.option("--keep", is_flag=True, help="Leave what is new as new, for the next time.")
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

    Asks the watches of these NAMEs again, or all, and shows the pages that are new since they were last checked. Of
    each the best 1,000 matches are looked at. What is shown is no longer new, unless you --keep it.

    Exit code 0 if there is something new, 1 if there is nothing, 2 if a watch cannot be asked.
    """
    reports: list[WatchReport] = []
    failed: list[tuple[Watch, str]] = []
    with Index.open(store, create=False) as index:
        watches = {each.name: each for each in index.watches()}
        for each in dict.fromkeys(name or watches):
            try:
                reports.append(index.check_watch(each))
            except QuestionError as error:  # of its page, which may be gone; others can be asked
                failed.append((watches[each], str(error)))
        show_reports(reports, failed, as_json=as_json, color=color)
        sys.stdout.flush()
        for report in reports:
            if report.new and not keep:
                index.mark_seen(report.watch.name, report.new)
    for watch, reason in failed:
        say(f"{watch.name}: {reason}")
    if not watches:
        nothing_watched(ctx, index)
    new = next((report for report in reports if report.new), None)
    if failed:
        ctx.exit(CANNOT_BE_DONE)
    if new is None:
        say(f"Nothing new for {'1 watch' if len(reports) == 1 else f'{len(reports):,} watches'}")
        ctx.exit(NOTHING_FOUND)
    best = next(match.url for match in new.matches if match.card.id in new.new)
    next_step(ctx, *(("similar", best) if new.watch.url is None else ("compare", new.watch.url, best)))


@command.command("remove", short_help="Ask it no longer.")
@click.argument("name", shell_complete=names)
@store_option()
@json_option
@click.pass_context
def remove(ctx: click.Context, name: str, store: str, as_json: bool) -> None:
    """\b
    Examples:
      winnow watch remove press --store crawl.winnow

    Takes out the watch of this NAME.
    """
    with Index.open(store, create=False) as index:
        watch = next((each for each in index.watches() if each.name == name), None)
        index.remove_watch(name)
    if as_json and watch is not None:
        click.echo(json.dumps(watch_document(watch)))
    else:
        say(f"Removed {name}")
    next_step(ctx, "watch", "list")


def nothing_watched(ctx: click.Context, index: Index) -> None:
    say(f"No watches in {index.name}: winnow watch add keeps a question")
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
