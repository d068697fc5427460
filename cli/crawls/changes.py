"""winnow changes: compare two crawls, and list the pages that changed, moved, are new or were not seen again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import click

from opensearch_winnow.answers.crawls.changes import changes_summary, kind_names, without_text_clause
from opensearch_winnow.answers.display_text import Span, one_line, shorten
from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.crawls.export import say_left_out
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunTableOutput
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.short_urls import ShortUrls, short_urls
from opensearch_winnow.cli.terminal import Terminal, remark, say
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined, share_column
from opensearch_winnow.foundation.option_kinds import FLAG
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.capture_row import entry_row
from opensearch_winnow.operations.crawls.changes import KINDS, Change, Changes, ChangesQuestion
from opensearch_winnow.operations.crawls.export_rows import write_cdxj
from opensearch_winnow.queries.compare import TextRun

PAGES_ON_A_TERMINAL = 20  # of each kind: the counts should not scroll away
PERCENT_COLUMNS = len("100 %")
MIN_URL_COLUMNS = 30
MAX_RUNS_SHOWN = 5  # of a page: removed, and added


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesOutput(RunTableOutput):
    """The options for the output of changes. --to names the later crawl, not a file."""

    to: None = None
    overwrite: bool = False
    cdxj: bool = option(False, FLAG, "Print the listed captures of the later crawl as CDXJ, an index of archives.")

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        if self.csv + self.cdxj + self.json > 1:
            raise click.UsageError("give one of --csv, --cdxj and --json")

    @property
    def screen(self) -> Terminal | None:
        return None if self.cdxj else super(ChangesOutput, self).screen


@click.command("changes", cls=DescribedCommand, short_help="Compare two crawls: which pages changed, moved or are new.")
@store_option()
@declared_options(ChangesQuestion, "question")
@declared_options(ChangesOutput, "output")
def command(store: str, question: ChangesQuestion, output: ChangesOutput) -> None:
    """\b
    Examples:
      winnow changes --from spring --to autumn --store crawl.winnow
      winnow changes --from 2024-03 --to 2024-09 --change moved --change merged
      winnow changes --from spring --to autumn --site example.org --passages
      winnow changes --from spring --to autumn --near-revisits --cdxj > not-to-keep.cdxj
      winnow changes --json | jq .counts

    Compare two crawls, or the captures until one date with those after it until another; without --from and --to,
    compare the two latest crawls that have URLs in common. Every page of the earlier crawl is one of these:

    \b
      unchanged  its URL has the same text
      changed    its URL has another text, or only another template
      moved      its text is at another URL: the page that resembles it most
      split      its text is in several pages with new URLs
      merged     half of its text or more is part of another page
      not_seen   neither URL nor text was seen again: no proof of a deletion

    and new are pages of the later crawl with a new URL that no page moved to. Resemblance is exact, computed from both
    texts. Of several captures of a URL in a crawl, the latest counts.

    Prints a table on a terminal, where unchanged pages are only counted, and tab-separated values in a pipe. Exits with
    1 if there is nothing to list, or if all pages are unchanged.
    """
    screen = output.screen
    if question.passages and not (screen or output.json):
        raise click.UsageError("only a table on a terminal and --json have room for --passages")
    chosen = bool(question.change or question.near_revisits)
    if screen and not chosen:
        question = replace(question, change=[kind for kind in KINDS if kind != "unchanged"])
    if screen and question.limit is None and not question.near_revisits:
        question = replace(question, limit=PAGES_ON_A_TERMINAL)
    with Index.open(store, create=False, patient=True) as index:
        with output.progress() as progress:
            changes = index.changes(replace(question, progress=progress))
        if output.cdxj:
            ids = [each.to_id for each in changes if each.to_id is not None]
            say_left_out(write_cdxj(None, map(entry_row, index.entries(ids=ids))))
        else:
            output.show(changes, lambda screen: table(changes, screen.columns, full=output.full))
    remark(f"{changes_summary(changes)}: from {changes.before} to {changes.after}")
    if changes.without_text and not (screen or output.json):
        say(f"Of the changed pages, {without_text_clause(changes)} and may be unchanged")
    limit, listed_of = question.limit, Counter(each.change for each in changes)
    if question.near_revisits and limit is None:
        remark(f"{count_of(len(changes), 'capture')} need not be kept")
    if limit is not None and any(listed_of[kind] == limit < changes.counts[kind] for kind in question.kinds):
        say(f"showing at most {count_of(limit, 'page')} of each kind; --limit shows more")
    listed = [each for each in changes if chosen or each.change != "unchanged"]
    if not listed:
        if not screen:
            say("No page is of this kind" if chosen else "No page changed")
        end(NOTHING_FOUND)
    suggest_next(listed[0])


def suggest_next(first: Change) -> None:
    is_history = first.change == "unchanged" or first.without_text
    if first.id is not None and first.to_id is not None and not is_history:
        next_step("compare", first.id, first.to_id, "--differences")
    else:
        next_step("history" if is_history else "similar", first.url)


def table(changes: Changes, columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of the table: the counts, then the pages of each kind. If `full`, URLs are not shortened."""
    names = kind_names(changes)
    _, lines = joined(
        [
            TextColumn("", [*names.values()]),
            TextColumn("", [f"{changes.counts[kind]:,}" for kind in names], right=True),
        ]
    )
    for kind, line in zip(names, lines, strict=True):
        notes = []
        if kind == "changed" and changes.template:
            notes.append(f"{GAP}({changes.template:,} in the template only)")
        if kind == "changed" and changes.without_text:
            notes.append(f"{GAP}({without_text_clause(changes)})")
        yield [(line, "plain" if changes.counts[kind] else "dim"), *((note, "dim") for note in notes)]
    for kind, pages in groupby(changes, key=lambda page: page.change):
        listed = list(pages)
        yield []
        some = f"{len(listed):,} of " if len(listed) < changes.counts[kind] else ""
        head = f"{names[kind]}: {some}{count_of(changes.counts[kind], 'page')}"
        yield from _pages_of_kind(head, listed, columns, full=full)


def _pages_of_kind(head: str, pages: Sequence[Change], columns: int, *, full: bool) -> Iterator[list[Span]]:
    shares = [page.resemblance for page in pages]
    scores = [""] * len(pages)
    if any(share is not None for share in shares):
        texts = [("–" if share is None else compact_percent(share)).rjust(PERCENT_COLUMNS) for share in shares]
        scores = [f"{cell}{GAP}" for cell in share_column("", shares, texts).padded()[1:]]
    notes = list(map(_note, pages))
    indent = " " * len(scores[0])
    room = max(columns - len(indent) - max(map(len, notes)), MIN_URL_COLUMNS)
    targets = [_targets(page) for page in pages]
    urls = [
        one_line(url).strip() for url in [*(page.url for page in pages), *(url for some in targets for url in some)]
    ]
    short = ShortUrls(urls) if full else short_urls(urls, room - len("→ "))
    yield [(head, "bold"), *([(f", … is {short.folder}", "dim")] if short.folder else [])]
    shown = iter(short.shown)
    own = [next(shown) for _ in pages]
    for page, score, url, some, note in zip(pages, scores, own, targets, notes, strict=True):
        yield [(f"{score}{url}", "plain"), *([(note, "dim")] if note else [])]
        for _ in some:
            yield [(f"{indent}→ {next(shown)}", "plain")]
        for sign, runs in (("−", page.removed), ("+", page.added)):
            yield from _runs(sign, runs or (), indent, columns)


def _targets(page: Change) -> Sequence[str]:
    return page.parts or ([page.to_url] if page.to_url not in (None, page.url) else [])


def _note(page: Change) -> str:
    if page.change in ("merged", "split") and page.containment is not None:
        return f" ({compact_percent(page.containment)} of it there)"
    if page.without_text:
        return " (no text to compare)"
    return " (template only)" if page.template else ""


def _runs(sign: str, runs: Sequence[TextRun], indent: str, columns: int) -> Iterator[list[Span]]:
    for run in runs[:MAX_RUNS_SHOWN]:
        yield [(f"{indent}{sign} {shorten(one_line(run.text), columns - len(indent) - 2)}", "dim")]
    if len(runs) > MAX_RUNS_SHOWN:
        yield [(f"{indent}{sign} {len(runs) - MAX_RUNS_SHOWN:,} more", "dim")]
