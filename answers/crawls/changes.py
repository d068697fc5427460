"""The changes between two crawls: as JSON values, as rows, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.foundation.answers import json_values
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.time_period import TimePeriod
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.index import Index
from opensearch_winnow.operations.crawls.changes import KINDS, Change, ChangeKind, Changes
from opensearch_winnow.queries.asking.changed_passages import changed_passages

PAIRS_PER_BATCH = 32  # whose texts are in memory at a time
KIND_NAMES: dict[ChangeKind, str] = {kind: kind.replace("not_seen", "not seen again") for kind in KINDS}
ELSEWHERE_OR_GONE: tuple[ChangeKind, ...] = ("moved", "split", "merged", "not_seen")  # in this order in a summary
# Crawls without a URL in common may be of other sites: then a page has not moved, but was copied.
APART_NAMES: dict[ChangeKind, str] = {"moved": "moved or copied", "merged": "merged or copied"}
COLUMNS = (
    *("change", "url", "to_url", "resemblance", "containment", "template"),
    *("id", "to_id", "fetched_at", "to_fetched_at", "parts"),
)


class ChangeDocument(TypedDict):
    """The change of a page. `id` is its earlier capture, `to_id` its later one, and `resemblance` that of the two.

    `template`: only the template of the site changed. `parts`: the URLs that it was split into. `removed` and `added`
    are runs of text that only one of the captures has; null unless they were requested. `without_text`: a capture has
    no text, so nobody can tell whether the page changed.
    """

    change: ChangeKind
    url: str
    to_url: str | None
    resemblance: float | None
    containment: float | None
    template: bool
    id: str | None
    to_id: str | None
    fetched_at: str | None
    to_fetched_at: str | None
    parts: list[str]
    without_text: bool
    removed: list[dict[str, Any]] | None
    added: list[dict[str, Any]] | None


class CountsDocument(TypedDict):
    """The number of pages by what became of them. All but the new ones are pages of the earlier crawl."""

    unchanged: int
    changed: int
    moved: int
    split: int
    merged: int
    new: int
    not_seen: int


# The names of two fields are no identifiers.
ChangesDocument = TypedDict(
    "ChangesDocument",
    {
        "from": str,
        "to": str,
        "counts": CountsDocument,
        "template": int,  # of the changed pages, those that changed by the template of their site alone
        "without_text": int,  # of the changed pages, those of which nobody can tell, because a capture has no text
        "earlier": int,  # pages of the earlier crawl
        "different": int,  # of these, all but the unchanged
        "common": int,  # URLs that both crawls have
        "pages": list[ChangeDocument],
    },
)


def crawls_or_dates(index: Index, before: str, after: str) -> tuple[str, str] | tuple[datetime, datetime]:
    """Return what was typed as the names of two crawls, or else as the ends of two dates."""
    crawls = {crawl.name for crawl in index.crawls()}
    unknown = [each for each in (before, after) if each not in crawls]
    dates = [date for date in map(_last_moment, unknown) if date is not None]
    if len(dates) == 2:
        return dates[0], dates[1]
    if dates and len(unknown) == 1:
        raise QuestionError(f"name two crawls or two dates, not one of each: there is no crawl {unknown[0]!r}")
    return before, after


def _last_moment(typed: str) -> datetime | None:
    """Return the end of a date; None if it is none."""
    try:
        return TimePeriod.of(typed.strip()).end - timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None


def changes_document(index: Index, changes: Changes, *, passages: bool = False) -> ChangesDocument:
    """Return changes as JSON values; with `passages`, what was removed from and added to each page that changed."""
    pages = list(map(change_document, changes.pages))
    if passages:
        add_passages(index, pages)
    counts: Any = dict(changes.counts)
    earlier = sum(changes.counts.values()) - changes.counts["new"]
    return {
        "from": changes.before,
        "to": changes.after,
        "counts": counts,
        "template": changes.template,
        "without_text": changes.without_text,
        "earlier": earlier,
        "different": earlier - changes.counts["unchanged"],
        "common": changes.common,
        "pages": pages,
    }


def change_document(change: Change) -> ChangeDocument:
    return {
        "change": change.change,
        "url": change.url,
        "to_url": change.to_url,
        "resemblance": change.resemblance,
        "containment": change.containment,
        "template": change.template,
        "id": change.id,
        "to_id": change.to_id,
        "fetched_at": _time(change.fetched_at),
        "to_fetched_at": _time(change.to_fetched_at),
        "parts": list(change.parts),
        "without_text": change.without_text,
        "removed": None,
        "added": None,
    }


def add_passages(index: Index, pages: Sequence[ChangeDocument]) -> None:
    """Fill in `removed` and `added` of the pages whose text is not the same."""
    differing = [page for page in pages if page["resemblance"] is not None and page["change"] != "unchanged"]
    for start in range(0, len(differing), PAIRS_PER_BATCH):
        some = differing[start : start + PAIRS_PER_BATCH]
        texts = index.texts([id_ for page in some for id_ in (page["id"], page["to_id"]) if id_])
        for page in some:
            before, after = (texts.get(id_ or "", "") for id_ in (page["id"], page["to_id"]))
            found = changed_passages(before, after, index.scheme, name=page["url"])
            page["removed"], page["added"] = (json_values(runs) for runs in found)


def change_rows(pages: Sequence[ChangeDocument]) -> Iterator[tuple[str | int | float | None, ...]]:
    """Yield the rows of a table with COLUMNS. The parts of a page are separated by spaces."""
    for page in pages:
        row: dict[str, Any] = {**page, "template": int(page["template"]), "parts": " ".join(page["parts"])}
        yield tuple(row[column] for column in COLUMNS)


def are_apart(document: ChangesDocument) -> bool:
    """Return whether two crawls have no URL in common."""
    return document["earlier"] > 0 and not document["common"]


def kind_names(document: ChangesDocument) -> dict[ChangeKind, str]:
    """Return how the kinds of changes are called."""
    return KIND_NAMES | (APART_NAMES if are_apart(document) else {})


def changes_summary(document: ChangesDocument) -> str:
    """Sum up changes: "12 of 340 pages changed, 2 moved, 3 are new".

    Without a URL in common, no page can be said to change. Pages that have no text to compare are named beside those
    that changed.
    """
    counts: Any = document["counts"]
    new, without_text = counts["new"], document["without_text"]
    news = f", {new:,} {'is' if new == 1 else 'are'} new" if new else ""
    if are_apart(document):
        return f"No URL in common, {elsewhere_clause(document)}{news}"
    changed = f"{counts['changed']:,}" if counts["changed"] else "None"
    unknown = f" or may have changed ({without_text_clause(document)})" if without_text else ""
    others = "".join(f", {counts[kind]:,} {KIND_NAMES[kind]}" for kind in ELSEWHERE_OR_GONE if counts[kind])
    return f"{changed} of {count_of(document['earlier'], 'page')} changed{unknown}{others}{news}"


def without_text_clause(document: ChangesDocument) -> str:
    """Say how many pages cannot be compared: "2 have no text to compare"."""
    return f"{count_of(document['without_text'], 'has', 'have')} no text to compare"


def elsewhere_clause(document: ChangesDocument) -> str:
    """Say how many earlier pages have their text at another URL: "2 of 8 pages have their text at another URL"."""
    counts = document["counts"]
    found = counts["moved"] + counts["split"] + counts["merged"]
    if document["earlier"] == 1:
        return f"the text of the only page is at {'another' if found else 'no other'} URL"
    have = "have their" if found > 1 else "has its"
    return f"{f'{found:,}' if found else 'none'} of {document['earlier']:,} pages {have} text at another URL"


def _time(time: datetime | None) -> str | None:
    return None if time is None else written_time(time)
