"""winnow dedup --passages: cut repeated passages out of texts, or list them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from opensearch_winnow.answers.display_text import one_line, shorten
from opensearch_winnow.answers.formatting import compact_percent, count_of, duration
from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED
from opensearch_winnow.cli.output_files import check_names
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.sets.dedup_summary import (
    MIN_COLUMNS,
    Line,
    failed_file,
    say_failed,
    say_other_texts,
    show_outcomes,
    show_rows,
)
from opensearch_winnow.cli.terminal import Terminal, remark, say, terminal
from opensearch_winnow.operations.sets.passage_run import PassagesResult, repeated_passages
from opensearch_winnow.operations.sets.repeated_passages import PassageOptions

DEFAULTS = PassageOptions()
OWN = ("words", "documents", "occurrences", "spans", "attributes")
# Options of winnow dedup that also count with --passages; the others are refused.
SHARED = {
    *("sources", "to", "overwrite", "dry_run", "failed", "max_row_size", "work", "quiet", "as_json", "color"),
    *("id_field", "text_field", "html_field", "title_field", "url_field"),
}


def passage_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give winnow dedup the option --passages and those that belong to it. With it, `function` is not called."""

    @wraps(function)
    def with_passages(**arguments: Any) -> Any:
        ctx = click.get_current_context()
        own = {name: arguments.pop(name) for name in OWN}
        typed = [name for name in ctx.params if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
        if not arguments.pop("passages"):
            for name in (name for name in typed if name in OWN):
                raise click.UsageError(f"{_option(ctx, name)} needs --passages", ctx)
            return function(**arguments)
        for name in (name for name in typed if name not in {*SHARED, *OWN, "passages"}):
            raise click.UsageError(f"{_option(ctx, name)} has no effect with --passages: leave one of them out", ctx)
        shared = {name: arguments[name] for name in arguments if name in SHARED}
        return _find_passages(ctx, **shared, **own, fields=arguments["fields"])

    decorated: Any = with_passages
    for option in reversed(
        (
            click.option(
                "--passages",
                is_flag=True,
                help="Instead of whole rows, cut passages that several rows have out of the texts.",
            ),
            click.option(
                "--words",
                metavar="N",
                type=click.IntRange(1, 1_000_000),
                default=DEFAULTS.words,
                show_default=True,
                help="With --passages: minimum words of a passage.",
            ),
            click.option(
                "--documents",
                metavar="M",
                type=click.IntRange(2),
                default=DEFAULTS.documents,
                show_default=True,
                help="With --passages: minimum number of rows that have it.",
            ),
            click.option(
                "--occurrences",
                type=click.Choice(["later", "every"]),
                default=DEFAULTS.occurrences,
                show_default=True,
                help="With --passages: cut all occurrences but the first, or every one.",
            ),
            click.option(
                "--spans",
                metavar="OUT",
                type=click.Path(dir_okay=False),
                help="With --passages: write where the passages are, to this file: .jsonl, .csv or .parquet.",
            ),
            click.option(
                "--attributes",
                metavar="FOLDER",
                type=click.Path(file_okay=False),
                help="With --passages: write the same as attributes in the format of Dolma, a file for each source.",
            ),
        )
    ):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _option(ctx: click.Context, name: str) -> str:
    return next(param.opts[0] for param in ctx.command.params if param.name == name)


def _find_passages(
    ctx: click.Context,
    *,
    sources: Sequence[str],
    to: str | None,
    dry_run: bool,
    failed: Path | None,
    quiet: bool,
    as_json: bool,
    color: str,
    **options: Any,  # of repeated_passages()
) -> None:
    outputs = (to, options["spans"], options["attributes"])
    check_names(dict(zip(("--to", "--spans", "--attributes", "--failed"), (*outputs, failed), strict=True)))
    if dry_run:
        to = options["spans"] = options["attributes"] = None
    elif not any(outputs):
        raise click.UsageError("say what to write: add --to OUT, --spans OUT, --attributes FOLDER or --dry-run", ctx)
    failed = failed_file(failed, to)
    try:
        with show_phases(quiet=quiet, color=color) as progress:
            result = repeated_passages(sources, to, failed=failed, progress=progress, **options)
    except Stopped:
        say("Stopped: nothing was written.")
        raise
    if as_json:
        click.echo(json.dumps(result.as_document()))
    elif screen := terminal(color):
        _show_table(screen, result)
    else:
        show_rows(_lines(result))
    say_other_texts(result.other_texts)
    say_failed(result.failed, failed)
    names = "Nothing was written" if dry_run else ", ".join(filter(None, outputs))
    remark(f"{names}: {duration(result.seconds)}")
    if not result.rows:
        say(f"No rows in {', '.join(sources)}")
        ctx.exit(NOTHING_FOUND)
    if result.failed:
        ctx.exit(SOME_FAILED)


def _show_table(screen: Terminal, result: PassagesResult) -> None:
    notes = {"kept": f"{result.rows_with_passages - result.dropped:,} with a shorter text"}
    if result.dropped:
        notes["dropped"] = "no words were left"
    show_outcomes(screen, result.as_document(), notes, result.failed)
    screen.echo()
    share = compact_percent(result.characters_in_passages / max(result.characters, 1))
    screen.echo(
        f"{count_of(result.passages, 'repeated passage')} in {count_of(result.rows_with_passages, 'row')}: {share} of "
        "all text"
    )
    if result.most_frequent:
        screen.echo()
        screen.echo(screen.paint("Most frequent: rows that have it, and how it begins", "bold"))
        columns = max(len(f"{each.count:,}") for each in result.most_frequent)
        for each in result.most_frequent:
            room = max(screen.columns - columns - 2, MIN_COLUMNS)
            more = "…" if each.end - each.start > len(each.beginning) else ""
            screen.echo(f"{each.count:>{columns},}  {shorten(one_line(each.beginning) + more, room)}")


def _lines(result: PassagesResult) -> Iterator[Line]:
    document = result.as_document()
    for name in ("rows", "kept", "dropped", "failed"):
        yield "count", name, document[name]
    for name in ("passages", "rows_with_passages", "characters", "characters_in_passages"):
        yield "passages", name, document[name]
    for reason, rows in result.failed.most_common():
        yield "failed", reason, rows
    for each in result.most_frequent:
        yield "most frequent", each.beginning, each.count
