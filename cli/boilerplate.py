"""winnow boilerplate: text that is not evidence of copying."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from opensearch_winnow.answers.display_text import one_line, printable, shorten, shorten_middle, width
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.page_with_text import page_with_text
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, say, terminal
from opensearch_winnow.cli.text_file import STDIN, not_waiting_for_a_terminal
from opensearch_winnow.cli.text_or_html import visible_text
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.queries.boilerplate import Boilerplate, BoilerplateError
from opensearch_winnow.stores.kept_recipe import kept_recipe

EVERYWHERE = "(all)"
NAME = 30  # columns of a name or site


def names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    store = ctx.params.get("store") or ""
    try:
        with Index.open(store, create=False) as index:
            return [CompletionItem(each.name) for each in index.boilerplate() if each.name.startswith(incomplete)]
    except (WinnowError, OSError):
        return []


@click.group("boilerplate", short_help="Text that is not evidence of copying: licences, templates.")
def command() -> None:
    """\b
    Examples:
      winnow boilerplate add LICENSE --store crawl.winnow
      winnow boilerplate add http://example.org/imprint --site example.org
      winnow boilerplate learn
      winnow boilerplate list
      winnow boilerplate remove LICENSE

    Text that is not evidence of copying: a licence, a template, a navigation. What is registered is kept in the
    store, and counts for nothing when pages are compared. It is shown as what it is, not hidden.

    What is learned of a site is for that site alone: between two of its pages it counts for nothing, and pages of
    other sites that share it share it.
    """


@command.command("add", short_help="Register a text.")
@click.argument("source", type=click.Path(allow_dash=True), callback=not_waiting_for_a_terminal)
@click.option("--name", metavar="N", help="What to call it.  [default: the name of the file, or the URL]")
@click.option(
    "--site", metavar="HOST", help="As the template of this site: between its pages alone it counts for nothing."
)
@click.option("--replace", is_flag=True, help="Take the place of another text of this name.")
@store_option()
@json_option
@click.pass_context
def add(
    ctx: click.Context, source: str, name: str | None, site: str | None, replace: bool, store: str, as_json: bool
) -> None:
    """\b
    Examples:
      winnow boilerplate add LICENSE --store crawl.winnow
      winnow boilerplate add footer.html --site example.org
      winnow boilerplate add http://example.org/imprint --name imprint

    Registers SOURCE as boilerplate: a file of text (UTF-8) or HTML, - for what is piped in, or the URL of a page in
    the store.
    """
    if source == STDIN and name is None:
        raise click.UsageError("what is piped in has no name: give it one with --name", ctx)
    with Index.open(store, create=False) as index:
        if source == STDIN or Path(source).exists():
            text, name = visible_text(source, kept_recipe(index.store)), name or Path(source).name
        else:
            text, name = page_with_text(index, source).text, name or source
        there = {each.name for each in index.boilerplate()}
        if name in there and not replace:
            raise BoilerplateError(f"there is boilerplate {name!r} already: --replace it, or give another --name")
        added = index.add_boilerplate(name, text, None if site is None else site.lower())
    if as_json:
        click.echo(json.dumps(as_object(added)))
    else:
        scope = f"pages of {added.site}" if added.site else "all pages"
        say(f"{'Replaced' if name in there else 'Added'} {name}: {words_of(added):,} words, for {scope}")
    next_step(ctx, "boilerplate", "list")


@command.command("list", short_help="What is registered, and what was learned.")
@store_option()
@json_option
@color_option
@click.pass_context
def list_(ctx: click.Context, store: str, as_json: bool, color: str) -> None:
    """\b
    Examples:
      winnow boilerplate list --store crawl.winnow
      winnow boilerplate list --json

    The boilerplate of a store. Exit code 1 if there is none.
    """
    with Index.open(store, create=False) as index:
        registered = index.boilerplate()
    show(registered, as_json, color)
    if not registered:
        say(f"No boilerplate in {index.name}: winnow boilerplate add registers a text, and learn finds templates")
        ctx.exit(NOTHING_FOUND)
    next_step(ctx, "boilerplate", "show", registered[0].name)


@command.command("show", short_help="The text of one.")
@click.argument("name", shell_complete=names)
@store_option()
@json_option
def show_one(name: str, store: str, as_json: bool) -> None:
    """\b
    Examples:
      winnow boilerplate show LICENSE --store crawl.winnow

    The text that is registered under NAME.
    """
    with Index.open(store, create=False) as index:
        found = named(index, name)
    click.echo(json.dumps(as_object(found) | {"text": found.text}) if as_json else shown_text(found.text))


@command.command("remove", short_help="Let a text count again.")
@click.argument("name", shell_complete=names)
@store_option()
@json_option
@click.pass_context
def remove(ctx: click.Context, name: str, store: str, as_json: bool) -> None:
    """\b
    Examples:
      winnow boilerplate remove LICENSE --store crawl.winnow

    Takes the text with this NAME out, so that it counts again.
    """
    with Index.open(store, create=False) as index:
        removed = named(index, name)
        index.remove_boilerplate(name)
    if as_json:
        click.echo(json.dumps(as_object(removed)))
    else:
        say(f"Removed {name}: {words_of(removed):,} words")
    next_step(ctx, "boilerplate", "list")


@command.command("learn", short_help="Find the templates of sites.")
@click.option("--site", metavar="HOST", help="Of this site only.  [default: of every site with enough pages]")
@click.option(
    "--share",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="Text on X of a site's pages is its template.",
)
@store_option()
@json_option
@color_option
@click.pass_context
def learn(ctx: click.Context, site: str | None, share: float, store: str, as_json: bool, color: str) -> None:
    """\b
    Examples:
      winnow boilerplate learn --store crawl.winnow
      winnow boilerplate learn --site example.org --share 0.8

    Finds what the pages of a site have in common, its template, and registers it for that site, in the place of what
    was learned before. Exit code 1 if there is nothing to learn.
    """
    with Index.open(store, create=False) as index:
        learned = index.learn_boilerplate(None if site is None else site.lower(), share=share)
    show(learned, as_json, color)
    if not learned:
        where = f"{site} has" if site else "no site has"
        say(f"Nothing learned: {where} {'not ' if site else ''}enough different pages with text in common")
        ctx.exit(NOTHING_FOUND)
    next_step(ctx, "boilerplate", "show", learned[0].name)


def named(index: Index, name: str) -> Boilerplate:
    registered = {each.name: each for each in index.boilerplate()}
    if name not in registered:
        known = f"there is {', '.join(registered)}" if registered else "there is none at all"
        raise BoilerplateError(f"no boilerplate {name!r} in {index.name}: {known}")
    return registered[name]


def as_object(each: Boilerplate) -> dict[str, Any]:
    return {"name": each.name, "site": each.site, "learned": each.learned, "words": words_of(each)}


def words_of(each: Boilerplate) -> int:
    return len(canonical_text(each.text).words)


def show(boilerplate: list[Boilerplate], as_json: bool, color: str) -> None:
    if as_json:
        objects = [as_object(each) | {"beginning": one_line(each.text[:100]).strip()} for each in boilerplate]
        click.echo(json.dumps({"boilerplate": objects}))
    elif not (screen := terminal(color)):
        sys.stdout.write("name\tsite\tlearned\twords\ttext\n")
        for each in boilerplate:
            learned = "learned" if each.learned else ""
            text = one_line(each.text).strip()
            sys.stdout.write(f"{one_line(each.name)}\t{each.site or ''}\t{learned}\t{words_of(each)}\t{text}\n")
    elif boilerplate:
        show_table(screen, boilerplate)


def show_table(screen: Terminal, boilerplate: list[Boilerplate]) -> None:
    rows = [
        (
            shorten_middle(one_line(each.name).strip(), NAME),
            shorten_middle(one_line(each.site or EVERYWHERE), NAME),
            f"{words_of(each):,}",
            "learned" if each.learned else "",
        )
        for each in boilerplate
    ]
    heads = ("name", "site", "words", "")
    widths = [max(map(width, column)) for column in zip(heads, *rows, strict=True)]
    room = max(screen.columns - sum(widths) - 2 * len(widths), 20)

    def line(row: tuple[str, str, str, str]) -> str:
        name, site, words, learned = (
            " " * (columns - width(cell)) + cell if index == 2 else cell + " " * (columns - width(cell))
            for index, (cell, columns) in enumerate(zip(row, widths, strict=True))
        )
        return "  ".join((name, site, words, *([learned] if widths[3] else [])))

    screen.echo(screen.paint(line(heads) + "  begins with", "bold"))
    for row, each in zip(rows, boilerplate, strict=True):
        begins = shorten(one_line(each.text[: 4 * room]).strip(), room)
        screen.echo(f"{line(row)}  {screen.paint(begins, 'dim')}")


def shown_text(text: str) -> str:
    """As it is for a program; on a terminal without what could do something to it."""
    return printable(text) if sys.stdout.isatty() else text
