"""The changes between two crawls: as JSON values, as rows, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict

from opensearch_winnow.answers.changed_passages import TextRun, changed_passages
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.answers.time_period import TimePeriod
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.index import Index
from opensearch_winnow.operations.changes import KINDS, Change, ChangeKind, Changes
from opensearch_winnow.stores.store import Text

PAIRS_PER_BATCH = 32  # whose texts are in memory at a time
KIND_NAMES: dict[ChangeKind, str] = {kind: kind.replace("not_seen", "not seen again") for kind in KINDS}
COLUMNS = (
    *("change", "url", "to_url", "resemblance", "containment", "template"),
    *("id", "to_id", "fetched_at", "to_fetched_at", "parts"),
)


class ChangeDocument(TypedDict):
    """What became of a page. `id` is its earlier capture, `to_id` its later one, and `resemblance` that of the two.

    `template`: only the template of the site changed. `parts`: the URLs that it was split into. `removed` and `added`
    are runs of text that only one of the captures has; null unless they were requested.
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
    removed: list[TextRun] | None
    added: list[TextRun] | None


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
        "earlier": int,  # pages of the earlier crawl
        "different": int,  # of these, all but the unchanged
        "pages": list[ChangeDocument],
    },
)


def crawls_or_dates(index: Index, before: str, after: str) -> tuple[str, str] | tuple[datetime, datetime]:
    """Return what was typed as the names of two crawls, or else as the ends of two dates."""
    crawls = {crawl.name for crawl in index.store.crawls()}
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
        "earlier": earlier,
        "different": earlier - changes.counts["unchanged"],
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
        "removed": None,
        "added": None,
    }


def add_passages(index: Index, pages: Sequence[ChangeDocument]) -> None:
    """Fill in `removed` and `added` of the pages whose text is not the same."""
    differing = [page for page in pages if page["resemblance"] is not None and page["change"] != "unchanged"]
    for start in range(0, len(differing), PAIRS_PER_BATCH):
        some = differing[start : start + PAIRS_PER_BATCH]
        texts = index.store.read([id_ for page in some for id_ in (page["id"], page["to_id"]) if id_], Text)
        for page in some:
            before, after = (texts.get(id_ or "", Text("")).text for id_ in (page["id"], page["to_id"]))
            page["removed"], page["added"] = changed_passages(before, after, index.scheme, name=page["url"])


def change_rows(pages: Sequence[ChangeDocument]) -> Iterator[tuple[str | int | float | None, ...]]:
    """Yield the rows of a table with COLUMNS. The parts of a page are separated by spaces."""
    for page in pages:
        row: dict[str, Any] = {**page, "template": int(page["template"]), "parts": " ".join(page["parts"])}
        yield tuple(row[column] for column in COLUMNS)


def changes_summary(document: ChangesDocument) -> str:
    """Sum up changes: "12 of 340 pages changed, 3 are new"."""
    new = document["counts"]["new"]
    news = f", {new:,} {'is' if new == 1 else 'are'} new" if new else ""
    different = f"{document['different']:,}" if document["different"] else "None"
    return f"{different} of {count_of(document['earlier'], 'page')} changed{news}"


def _time(time: datetime | None) -> str | None:
    return None if time is None else written_time(time)
