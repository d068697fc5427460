"""The changes between two crawls as a table: the counts, then the pages of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from opensearch_winnow.answers.crawls.changes import ChangeDocument, ChangesDocument, kind_names, without_text_clause
from opensearch_winnow.answers.display_text import Span, one_line, shorten
from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.cli.short_urls import ShortUrls, short_urls
from opensearch_winnow.cli.terminal import Terminal, bar

BAR_COLUMNS = 10
GAP = "  "
SCORE_COLUMNS = len("100 %") + 1 + BAR_COLUMNS
MIN_URL_COLUMNS = 30
MAX_RUNS_SHOWN = 5  # of a page: removed, and added


def show_table(screen: Terminal, document: ChangesDocument, *, full: bool = False) -> None:
    """Print the counts, and below them the pages that are listed."""
    for line in table(document, screen.columns, full=full):
        screen.echo(screen.line(line))


def table(document: ChangesDocument, columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of the table; if `full`, URLs are not shortened."""
    counts: dict[str, int] = dict(document["counts"])  # type: ignore[arg-type]
    names = kind_names(document)
    name_columns, count_columns = max(map(len, names.values())), len(f"{max(counts.values()):,}")
    for kind, name in names.items():
        number = f"{counts[kind]:,}".rjust(count_columns)
        line: list[Span] = [(f"{name.ljust(name_columns)}{GAP}{number}", "plain" if counts[kind] else "dim")]
        if kind == "changed" and document["template"]:
            line.append((f"{GAP}({document['template']:,} in the template only)", "dim"))
        if kind == "changed" and document["without_text"]:
            line.append((f"{GAP}({without_text_clause(document)})", "dim"))
        yield line
    for kind, pages in groupby(document["pages"], key=lambda page: page["change"]):
        listed = list(pages)
        yield []
        some = f"{len(listed):,} of " if len(listed) < counts[kind] else ""
        yield from _lines(f"{names[kind]}: {some}{count_of(counts[kind], 'page')}", listed, columns, full=full)


def _lines(head: str, pages: list[ChangeDocument], columns: int, *, full: bool) -> Iterator[list[Span]]:
    scored = any(page["resemblance"] is not None for page in pages)
    notes = list(map(_note, pages))
    room = max(columns - (SCORE_COLUMNS + len(GAP)) * scored - max(map(len, notes)), MIN_URL_COLUMNS)
    targets = [_targets(page) for page in pages]
    urls = [page["url"] for page in pages] + [url for some in targets for url in some]
    short = ShortUrls([one_line(url).strip() for url in urls]) if full else short_urls(urls, room - len("→ "))
    yield [(head, "bold"), *([(f", … is {short.folder}", "dim")] if short.folder else [])]
    shown = iter(short.shown)
    own = [next(shown) for _ in pages]
    indent = " " * (SCORE_COLUMNS + len(GAP)) * scored
    for page, url, some, note in zip(pages, own, targets, notes, strict=True):
        score = _score(page) if scored else ""
        yield [(f"{score}{url}", "plain"), *([(note, "dim")] if note else [])]
        for _ in some:
            yield [(f"{indent}→ {next(shown)}", "plain")]
        for sign, runs in (("−", page["removed"]), ("+", page["added"])):
            yield from _runs(sign, runs or [], indent, columns)


def _targets(page: ChangeDocument) -> list[str]:
    if page["parts"]:
        return page["parts"]
    return [page["to_url"]] if page["to_url"] not in (None, page["url"]) else []


def _note(page: ChangeDocument) -> str:
    if page["change"] in ("merged", "split") and page["containment"] is not None:
        return f" ({compact_percent(page['containment'])} of it there)"
    if page["without_text"]:
        return " (no text to compare)"
    return " (template only)" if page["template"] else ""


def _score(page: ChangeDocument) -> str:
    if page["resemblance"] is None:
        return "–".rjust(len("100 %")).ljust(SCORE_COLUMNS) + GAP
    percentage = compact_percent(page["resemblance"]).rjust(len("100 %"))
    return f"{percentage} {bar(page['resemblance'], BAR_COLUMNS)}{GAP}"


def _runs(sign: str, runs: list[dict[str, Any]], indent: str, columns: int) -> Iterator[list[Span]]:
    for run in runs[:MAX_RUNS_SHOWN]:
        yield [(f"{indent}{sign} {shorten(one_line(run['text']), columns - len(indent) - 2)}", "dim")]
    if len(runs) > MAX_RUNS_SHOWN:
        yield [(f"{indent}{sign} {len(runs) - MAX_RUNS_SHOWN:,} more", "dim")]
