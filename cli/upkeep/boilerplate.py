"""winnow boilerplate: manage the text that is no evidence of copying."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from opensearch_winnow.answers.display_text import Span, one_line, printable, shorten, shorten_middle, width
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import AnswerOutput, JsonOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.options.stored_names import stored_names
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.cli.text_columns import GAP, MIN_TEXT_COLUMNS, TextColumn, joined
from opensearch_winnow.cli.text_file import STDIN, require_piped_stdin, visible_text
from opensearch_winnow.index import Index
from opensearch_winnow.operations.upkeep.boilerplate import BoilerplateOptions, LearningOptions
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, BoilerplateError, BoilerplateList, BoilerplateText

ALL_SITES = "(all)"
MAX_NAME_COLUMNS = 30  # of a name or site
COMPLETE = stored_names(lambda index: [each.name for each in index.boilerplate()])


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

    A site's template is ignored only between two pages of that site. If a page of another site has the same
    text, it counts as shared.
    """


@command.command("add", cls=DescribedCommand, short_help="Register a text as boilerplate.")
@click.argument("source", type=click.Path(allow_dash=True), callback=require_piped_stdin)
@declared_options(BoilerplateOptions, "options")
@store_option()
@declared_options(JsonOutput, "output")
def add(source: str, options: BoilerplateOptions, store: str, output: JsonOutput) -> None:
    """\b
    Examples:
      winnow boilerplate add LICENSE --store crawl.winnow
      winnow boilerplate add footer.html --site example.org
      winnow boilerplate add http://example.org/imprint --name imprint

    Register SOURCE as boilerplate: a UTF-8 text file, an HTML file, - to read from a pipe, or the URL of a page in the
    store.
    """
    name = options.name
    if source == STDIN and name is None:
        raise click.UsageError("piped input has no name: add --name")
    with Index.open(store, create=False) as index:
        if source == STDIN or Path(source).exists():
            written, name, url = visible_text(source, index.prepare), name or Path(source).name, None
        else:
            page = index.find(source, with_text=True)
            written, name, url = page.text, name or source, page.url
        names = {each.name for each in index.boilerplate()}
        if name in names and not options.replace:
            raise BoilerplateError(f"there is already boilerplate {name!r}: use --replace, or choose another --name")
        added = index.add_boilerplate(name, written, options.site, url=url)
    if not output.prints(added):
        scope = f"pages of {added.site}" if added.site else "all pages"
        say(f"{'Replaced' if name in names else 'Added'} {name}: {added.words:,} words, for {scope}")
    next_step("boilerplate", "list")


@command.command("list", cls=DescribedCommand, short_help="List boilerplate, registered and learned.")
@store_option()
@declared_options(AnswerOutput, "output")
def list_(store: str, output: AnswerOutput) -> None:
    """\b
    Examples:
      winnow boilerplate list --store crawl.winnow
      winnow boilerplate list --json

    List the boilerplate of a store: name, site, number of words, and the beginning of the text. Exits with 1 if
    there is none.
    """
    with Index.open(store, create=False) as index:
        registered = index.boilerplate()
    output.show(BoilerplateList(registered), lambda screen: table(registered, screen.columns))
    if not registered:
        end(
            NOTHING_FOUND,
            f"No boilerplate in {index.name}; winnow boilerplate add registers a text, and learn finds site templates",
        )
    next_step("boilerplate", "show", registered[0].name)


@command.command("show", cls=DescribedCommand, short_help="Print the text of boilerplate.")
@click.argument("name", shell_complete=COMPLETE)
@store_option()
@declared_options(JsonOutput, "output")
def show(name: str, store: str, output: JsonOutput) -> None:
    """\b
    Examples:
      winnow boilerplate show LICENSE --store crawl.winnow

    Print the text of the boilerplate NAME.
    """
    with Index.open(store, create=False) as index:
        boilerplate = find(index, name)
    if not output.prints(
        BoilerplateText(boilerplate, boilerplate.text)
    ):  # to a terminal without control characters, to a program unchanged
        # Not click.echo, which takes escape sequences out of a text in a pipe.
        sys.stdout.write(f"{printable(boilerplate.text) if sys.stdout.isatty() else boilerplate.text}\n")


@command.command("remove", cls=DescribedCommand, short_help="Delete boilerplate, so that its text counts again.")
@click.argument("name", shell_complete=COMPLETE)
@store_option()
@declared_options(JsonOutput, "output")
def remove(name: str, store: str, output: JsonOutput) -> None:
    """\b
    Examples:
      winnow boilerplate remove LICENSE --store crawl.winnow

    Delete the boilerplate NAME, so that its text counts again.
    """
    with Index.open(store, create=False) as index:
        removed = find(index, name)
        index.remove_boilerplate(name)
    if not output.prints(removed):
        say(f"Removed {name}: {removed.words:,} words")
    next_step("boilerplate", "list")


@command.command("learn", cls=DescribedCommand, short_help="Find the templates of sites, and register them.")
@declared_options(LearningOptions, "options")
@store_option()
@declared_options(AnswerOutput, "output")
def learn(options: LearningOptions, store: str, output: AnswerOutput) -> None:
    """\b
    Examples:
      winnow boilerplate learn --store crawl.winnow
      winnow boilerplate learn --site example.org --min-share 0.8

    Find the template of each site, the text that many of its pages share, and register it as boilerplate of that site.
    This replaces the template learned before. Exits with 1 if no template is found.
    """
    with Index.open(store, create=False, patient=True) as index:
        learned = index.learn_boilerplate(options)
    output.show(BoilerplateList(learned), lambda screen: table(learned, screen.columns))
    if not learned:
        where = f"{options.site} does not have" if options.site else "no site has"
        end(NOTHING_FOUND, f"Nothing learned: {where} enough different pages with text in common")
    next_step("boilerplate", "show", learned[0].name)


def find(index: Index, name: str) -> Boilerplate:
    """Return the boilerplate of this name; raise BoilerplateError, with the known names, if it is unknown."""
    registered = {each.name: each for each in index.boilerplate()}
    if name not in registered:
        known = f"; there is {', '.join(registered)}" if registered else ", or any other"
        raise BoilerplateError(f"{index.name} has no boilerplate {name!r}{known}")
    return registered[name]


def table(boilerplate: Sequence[Boilerplate], columns: int) -> Iterator[list[Span]]:
    if not boilerplate:
        return
    shown = [
        TextColumn("name", [shorten_middle(one_line(each.name).strip(), MAX_NAME_COLUMNS) for each in boilerplate]),
        TextColumn(
            "site", [shorten_middle(one_line(each.site or ALL_SITES), MAX_NAME_COLUMNS) for each in boilerplate]
        ),
        TextColumn("words", [f"{each.words:,}" for each in boilerplate], right=True),
    ]
    if any(each.learned for each in boilerplate):
        shown.append(TextColumn("", ["learned" if each.learned else "" for each in boilerplate]))
    head, lines = joined(shown)
    room = max(columns - width(head) - len(GAP), MIN_TEXT_COLUMNS)
    yield [(f"{head}{GAP}begins with", "bold")]
    for line, each in zip(lines, boilerplate, strict=True):
        yield [(line + GAP, "plain"), (shorten(one_line(each.text[: 4 * room]).strip(), room), "dim")]
