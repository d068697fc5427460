"""winnow boilerplate: manage the text that is no evidence of copying."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from opensearch_winnow.answers.display_text import one_line, printable, shorten, shorten_middle, width
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, say, terminal
from opensearch_winnow.cli.text_file import STDIN, require_piped_stdin, visible_text
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, BoilerplateError

ALL_SITES = "(all)"
MAX_NAME_COLUMNS = 30  # of a name or site
MIN_TEXT_COLUMNS = 20  # of the beginning of a text
MAX_BEGINNING_CHARS = 100  # of a text, in JSON and tab-separated values; `boilerplate show` prints the whole


def complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    """Return the names of boilerplate that start with `incomplete`, for shell completion."""
    store = ctx.params.get("store") or ""
    try:
        with Index.open(store, create=False) as index:
            return [CompletionItem(each.name) for each in index.boilerplate() if each.name.startswith(incomplete)]
    except (WinnowError, OSError):
        return []


@click.group("boilerplate", short_help="Manage text to ignore: licences, site templates.")
def command() -> None:
    """\b
    Examples:
      winnow boilerplate add LICENSE --store crawl.winnow
      winnow boilerplate add http://example.org/imprint --site example.org
      winnow boilerplate learn
      winnow boilerplate list
      winnow boilerplate remove LICENSE

    Boilerplate is text that is no evidence of copying: licences, templates, navigation. Boilerplate registered in a
    store does not count when pages are compared. It is still shown, marked as boilerplate.

    A site's template counts for nothing only between two pages of that site. If a page of another site has the same
    text, it counts as shared.
    """


@command.command("add", short_help="Register a text as boilerplate.")
@click.argument("source", type=click.Path(allow_dash=True), callback=require_piped_stdin)
@click.option("--name", metavar="N", help="Name of the boilerplate.  [default: the file name or URL]")
@click.option(
    "--site", metavar="HOST", help="Register it as the template of this site: ignore it only between its pages."
)
@click.option("--replace", is_flag=True, help="Replace the boilerplate of this name, if there is any.")
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

    Register SOURCE as boilerplate: a UTF-8 text file, an HTML file, - to read from a pipe, or the URL of a page in the
    store.
    """
    if source == STDIN and name is None:
        raise click.UsageError("piped input has no name: add --name", ctx)
    with Index.open(store, create=False) as index:
        if source == STDIN or Path(source).exists():
            text, name, url = visible_text(source, index.prepare), name or Path(source).name, None
        else:
            page = index.find(source, with_text=True)
            text, name, url = page.text, name or source, page.url
        names = {each.name for each in index.boilerplate()}
        if name in names and not replace:
            raise BoilerplateError(f"there is already boilerplate {name!r}: use --replace, or choose another --name")
        added = index.add_boilerplate(name, text, None if site is None else site.lower(), url=url)
    if as_json:
        click.echo(json.dumps(as_object(added)))
    else:
        scope = f"pages of {added.site}" if added.site else "all pages"
        say(f"{'Replaced' if name in names else 'Added'} {name}: {word_count(added):,} words, for {scope}")
    next_step(ctx, "boilerplate", "list")


@command.command("list", short_help="List boilerplate, registered and learned.")
@store_option()
@json_option
@color_option
@click.pass_context
def list_(ctx: click.Context, store: str, as_json: bool, color: str) -> None:
    """\b
    Examples:
      winnow boilerplate list --store crawl.winnow
      winnow boilerplate list --json

    List the boilerplate of a store: name, site, number of words, and how the text begins. Exits with 1 if there is
    none.
    """
    with Index.open(store, create=False) as index:
        registered = index.boilerplate()
    show_list(registered, as_json, color)
    if not registered:
        say(f"No boilerplate in {index.name}; winnow boilerplate add registers a text, and learn finds site templates")
        ctx.exit(NOTHING_FOUND)
    next_step(ctx, "boilerplate", "show", registered[0].name)


@command.command("show", short_help="Print the text of boilerplate.")
@click.argument("name", shell_complete=complete_name)
@store_option()
@json_option
def show(name: str, store: str, as_json: bool) -> None:
    """\b
    Examples:
      winnow boilerplate show LICENSE --store crawl.winnow

    Print the text of the boilerplate NAME.
    """
    with Index.open(store, create=False) as index:
        boilerplate = find(index, name)
    if as_json:
        click.echo(json.dumps(as_object(boilerplate) | {"text": boilerplate.text}))
    else:  # to a terminal without control characters, to a program unchanged
        # Not click.echo, which takes escape sequences out of a text in a pipe.
        sys.stdout.write(f"{printable(boilerplate.text) if sys.stdout.isatty() else boilerplate.text}\n")


@command.command("remove", short_help="Delete boilerplate, so that its text counts again.")
@click.argument("name", shell_complete=complete_name)
@store_option()
@json_option
@click.pass_context
def remove(ctx: click.Context, name: str, store: str, as_json: bool) -> None:
    """\b
    Examples:
      winnow boilerplate remove LICENSE --store crawl.winnow

    Delete the boilerplate NAME, so that its text counts again.
    """
    with Index.open(store, create=False) as index:
        removed = find(index, name)
        index.remove_boilerplate(name)
    if as_json:
        click.echo(json.dumps(as_object(removed)))
    else:
        say(f"Removed {name}: {word_count(removed):,} words")
    next_step(ctx, "boilerplate", "list")


@command.command("learn", short_help="Find the templates of sites, and register them.")
@click.option("--site", metavar="HOST", help="Learn from this site only.  [default: every site with enough pages]")
@click.option(
    "--share",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="Text on at least X of a site's pages is its template.",
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

    Find the template of each site, the text that many of its pages share, and register it as boilerplate of that site.
    This replaces what was learned from the site before. Exits with 1 if no template is found.
    """
    with Index.open(store, create=False, patient=True) as index:
        learned = index.learn_boilerplate(None if site is None else site.lower(), share=share)
    show_list(learned, as_json, color)
    if not learned:
        where = f"{site} does not have" if site else "no site has"
        say(f"Nothing learned: {where} enough different pages with text in common")
        ctx.exit(NOTHING_FOUND)
    next_step(ctx, "boilerplate", "show", learned[0].name)


def find(index: Index, name: str) -> Boilerplate:
    """Return the boilerplate of this name; raise BoilerplateError, with the known names, if there is none."""
    registered = {each.name: each for each in index.boilerplate()}
    if name not in registered:
        known = f"; there is {', '.join(registered)}" if registered else ", or any other"
        raise BoilerplateError(f"{index.name} has no boilerplate {name!r}{known}")
    return registered[name]


def as_object(each: Boilerplate) -> dict[str, Any]:
    return {"name": each.name, "site": each.site, "learned": each.learned, "words": word_count(each)}


def word_count(each: Boilerplate) -> int:
    return len(canonical_text(each.text).words)


def beginning(each: Boilerplate) -> str:
    return one_line(each.text[:MAX_BEGINNING_CHARS]).strip()


def show_list(boilerplate: list[Boilerplate], as_json: bool, color: str) -> None:
    if as_json:
        objects = [as_object(each) | {"beginning": beginning(each)} for each in boilerplate]
        click.echo(json.dumps({"boilerplate": objects}))
    elif not (screen := terminal(color)):
        sys.stdout.write("name\tsite\tlearned\twords\ttext\n")
        for each in boilerplate:
            learned = "learned" if each.learned else ""
            row = (one_line(each.name), each.site or "", learned, str(word_count(each)), beginning(each))
            sys.stdout.write("\t".join(row) + "\n")
    elif boilerplate:
        show_table(screen, boilerplate)


def show_table(screen: Terminal, boilerplate: list[Boilerplate]) -> None:
    rows = [
        (
            shorten_middle(one_line(each.name).strip(), MAX_NAME_COLUMNS),
            shorten_middle(one_line(each.site or ALL_SITES), MAX_NAME_COLUMNS),
            f"{word_count(each):,}",
            "learned" if each.learned else "",
        )
        for each in boilerplate
    ]
    heads = ("name", "site", "words", "")
    widths = [max(map(width, column)) for column in zip(heads, *rows, strict=True)]
    room = max(screen.columns - sum(widths) - 2 * len(widths), MIN_TEXT_COLUMNS)

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
