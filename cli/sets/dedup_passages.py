"""winnow dedup --passages: cut repeated passages out of texts, or list them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

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
from opensearch_winnow.operations.sets.deduplication import FileDeduplication
from opensearch_winnow.operations.sets.passage_run import PassageOutputs, PassagesResult, repeated_passages

OWN = {each.name for each in PassageOutputs.options()}
# Options of winnow dedup that also count with --passages; the others are refused.
SHARED = {
    *("sources", "to", "overwrite", "dry_run", "failed", "max_row_size", "work", "quiet", "as_json", "color"),
    *("id_field", "text_field", "html_field", "title_field", "url_field"),
}


def refuse_others(ctx: click.Context, *, by_passages: bool) -> None:
    """Refuse options that only count with --passages, or only without it."""
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if name in OWN and not by_passages:
            raise click.UsageError(f"{parameter.opts[0]} needs --passages", ctx)
        if by_passages and name not in {*SHARED, *OWN, "by_passages"}:
            raise click.UsageError(f"{parameter.opts[0]} has no effect with --passages: leave one of them out", ctx)


def find_passages(
    ctx: click.Context,
    sources: Sequence[str],
    options: FileDeduplication,
    passages: PassageOutputs,
    *,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    color: str,
) -> None:
    """Cut repeated passages out of texts, or list them, and print what was found."""
    to, outputs = options.to, (options.to, passages.spans, passages.attributes)
    check_names(dict(zip(("--to", "--spans", "--attributes", "--failed"), (*outputs, options.failed), strict=True)))
    if dry_run:
        to, passages = None, replace(passages, spans=None, attributes=None)
    elif not any(outputs):
        raise click.UsageError("say what to write: add --to OUT, --spans OUT, --attributes FOLDER or --dry-run", ctx)
    failed = failed_file(options.failed, to)
    try:
        with show_phases(quiet=quiet, color=color) as progress:
            result = repeated_passages(
                sources,
                to,
                **passages.keywords(),
                fields=options.fields,
                overwrite=options.overwrite,
                failed=failed,
                max_row_size=options.max_row_size,
                work=options.work,
                progress=progress,
            )
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
    names = "Nothing was written" if dry_run else ", ".join(os.fspath(name) for name in outputs if name)
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
