"""The help of a command: a description, usage, examples and the options that most people need, on one screen.

`--help-all` shows the rest: the whole description, and all options by their groups, which are in the same order in
every command.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import click

MAX_LINES = 50  # of help that is shown whole
MAX_EXAMPLES = 4  # of a command in its short help
ALL = "opensearch_winnow.help_all"  # key in click's context: True to show all
# Groups of options that many commands have: by heading, the names of their parameters in order. A command's other
# options come before them.
GROUPS: dict[str, Sequence[str]] = {
    "Which pages": ("site", "crawl", "since", "until", "latest", "cluster", "ids", "all_captures"),
    "Rows": ("id_field", "text_field", "html_field", "title_field", "url_field", "max_row_size"),
    "Fingerprints": ("preset", "noise", "guarantee", "selection", "fold_confusables", "key_file"),
    "Resources": ("workers", "memory", "threads", "work", "spark"),
    "Output": ("to", "format", "failed", "overwrite", "csv", "cdxj", "json", "full", "quiet", "color"),
}
IN_SHORT_HELP = ("to", "json", "preset")  # among the grouped options
ALONE = ("Which pages", "Resources")  # a single option is no group under these headings
ORDER = {name: number for number, name in enumerate(chain.from_iterable(GROUPS.values()), 1)}


class AdvancedOption(click.Option):
    """An option that few people need: the short help leaves it out."""


class DescribedCommand(click.Command):
    """A command whose help fits on one screen, and is whole with --help-all."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters in the order of the help: grouped options last."""
        *params, help_option = super().get_params(ctx)
        headings = self.headings()
        return [*sorted(params, key=lambda each: _order(each, headings)), HELP_ALL, help_option]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the whole help if it is requested, or short; otherwise the part that most people need."""
        whole = click.HelpFormatter(width=formatter.width)
        self._write(ctx, whole, is_whole=True)
        if ctx.meta.get(ALL) or whole.getvalue().count("\n") <= MAX_LINES:
            formatter.write(whole.getvalue())
        else:
            self._write(ctx, formatter, is_whole=False)

    def headings(self) -> dict[str, str]:
        """Return the headings of grouped options by the options' names. Required options are in no group."""
        names = {each.name or "" for each in self.params if not each.required}
        present = {heading: names.intersection(some) for heading, some in GROUPS.items()}
        groups = {heading: some for heading, some in present.items() if len(some) > (heading in ALONE)}
        return {name: heading for heading, some in groups.items() for name in some}

    def _write(self, ctx: click.Context, formatter: click.HelpFormatter, *, is_whole: bool) -> None:
        self.format_usage(ctx, formatter)
        examples, description = _divided(self.help or "")
        paragraphs = description.split("\n\n") if is_whole else description.split("\n\n")[:1]
        shown = examples.splitlines() if is_whole else examples.splitlines()[: MAX_EXAMPLES + 2]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n\n".join([*paragraphs, "\n".join(shown)]).rstrip())
        headings = self.headings()
        params = [each for each in self.get_params(ctx) if is_whole or _is_basic(each, headings)]
        for heading, records in _sections(ctx, params, headings if is_whole else {}):
            with formatter.section(heading):
                formatter.write_dl(records)


def examples_last(text: str) -> str:
    """Return a docstring with the examples from its beginning moved behind the description."""
    examples, description = _divided(text)
    return f"{description}\n\n{examples}"


def _divided(text: str) -> tuple[str, str]:
    """Return the examples at the beginning of a docstring, and its description."""
    examples, _, description = inspect.cleandoc(text).partition("\n\n")
    return (examples, description) if examples.startswith("\b\nExample") else ("", inspect.cleandoc(text))


def _sections(
    ctx: click.Context, params: Sequence[click.Parameter], headings: Mapping[str, str]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the headings of options with their lines."""
    by_heading: dict[str, list[tuple[str, str]]] = {"Options": []}  # this heading comes first
    for each in params:
        if isinstance(each, click.Option) and (record := each.get_help_record(ctx)) is not None:
            by_heading.setdefault(headings.get(each.name or "", "Options"), []).append(record)
    yield from by_heading.items()


def _order(param: click.Parameter, headings: Mapping[str, str]) -> int:
    return ORDER[param.name or ""] if param.name in headings else 0


def _is_basic(param: click.Parameter, headings: Mapping[str, str]) -> bool:
    """Return whether an option belongs to the short help."""
    is_rare = isinstance(param, AdvancedOption) or (param.name in headings and param.name not in IN_SHORT_HELP)
    return param.required or not is_rare


def _show_all(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options, and more about the command.",
)
