"""Watches: questions that are kept, and asked again whenever somebody looks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from opensearch_winnow.answers.watches import (
    WatchesDocument,
    WatchReportDocument,
    unanswered_document,
    watch_report_document,
    watch_report_summary,
    watches_summary,
)
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.watches import MAX_MATCHES, MAX_NAME_CHARS, Watch
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.form import FormError
from opensearch_winnow.web.parameters import number, percentage, words
from opensearch_winnow.web.pasted_texts import PastedText
from opensearch_winnow.web.screen import Action, Answered, Cell, NotFoundError, Offer, Screen

AT_A_TIME = 10  # watches on a page of them: each is a question to the store
EXCERPT = 300  # characters of a text that is watched
SHARE = percentage("min_containment", "how much of it a page has", default=30, least=0)


def answer(index: Index, asked: Asked) -> Answered:
    watches = index.watches()
    shown = watches[(asked["page"] - 1) * AT_A_TIME :][:AT_A_TIME]
    if asked["watch"]:
        shown = [_named(index, asked["watch"])]
    document: WatchesDocument = {
        "total": len(watches),
        "watches": [_checked(index, watch, asked["limit"]) for watch in shown],
    }
    return Answered(document, lambda: _shown(index, asked, document))


def _checked(index: Index, watch: Watch, limit: int) -> WatchReportDocument:
    try:
        return watch_report_document(index.check_watch(watch.name), limit=limit)
    except QuestionError as error:  # the page that is watched is there no more
        return unanswered_document(watch, str(error))


def _shown(index: Index, asked: Asked, document: WatchesDocument) -> Mapping[str, Any]:
    urls = [each["url"] for each in document["watches"]]
    latest = [captures(index.store, url, limit=1) if url is not None else [] for url in urls]
    return {
        "heading": watches_summary(document),
        "found": [watch_report_summary(each) for each in document["watches"]],
        "pages": [cards[0].id if cards else None for cards in latest],  # that are watched
        "following": not asked["watch"] and asked["page"] * AT_A_TIME < document["total"],
        "excerpt": EXCERPT,
        "most": MAX_MATCHES,
        "longest_name": MAX_NAME_CHARS,
    }


def table(document: WatchesDocument) -> Iterator[Sequence[Cell]]:
    """A line for each match: `new` is 1 where it is."""
    yield "watch", "new", "containment", "contained", "resemblance", "kind", "fetched_at", "site", "url", "title", "id"
    for watch in document["watches"]:
        for each in watch["matches"]:
            scores = each["containment"], each["contained"], each["resemblance"], each["kind"]
            page = each["fetched_at"], each["site"], each["url"], each["title"], each["id"]
            yield watch["name"], int(each["id"] in watch["new"]), *scores, *page


# --- what forms do ----------------------------------------------------------------------------------------------------


def add(index: Index, asked: Asked) -> str:
    """A page by its `url`, a `text`, or the id of a text that was `pasted`."""
    name = _sent(asked, "name").strip()
    url, text = _sent(asked, "url").strip() or None, _sent(asked, "text") or None
    pasted = _sent(asked, "pasted")
    if pasted:
        kept = asked.kept.pasted.get(pasted)
        if kept is None:
            raise NotFoundError("That pasted text is kept no longer: paste it again.", Offer("/paste", "Paste a text"))
        text = kept.text
    try:
        share = SHARE.read(_sent(asked, "min_containment").strip())
    except ValueError as error:
        raise FormError(f"min_containment {error}") from None
    index.add_watch(name, url=url, text=text, min_containment=share, replace=bool(_sent(asked, "replace")))
    return _address(name)


def remove(index: Index, asked: Asked) -> str:
    index.remove_watch(_named(index, _sent(asked, "name")).name)
    return "/watches"


def mark_seen(index: Index, asked: Asked) -> str:
    """What the visitor has seen: others may have come meanwhile."""
    name = _named(index, _sent(asked, "name")).name
    index.mark_seen(name, _sent(asked, "ids").split()[:MAX_MATCHES])
    return _address(name)


def look_at(index: Index, asked: Asked) -> str:
    """The text that is watched, as if somebody had pasted it."""
    watch = _named(index, _sent(asked, "name"))
    if watch.text is None:
        return _address(watch.name)
    return f"/paste/{asked.kept.pasted.keep(PastedText(watch.text, watch.name))}"


def _named(index: Index, name: str) -> Watch:
    found = next((each for each in index.watches() if each.name == name), None)
    if found is None:
        raise NotFoundError(f"{index.name} has no watch {name}", Offer("/watches", "All watches"))
    return found


def _sent(asked: Asked, name: str) -> str:
    value = asked.form.get(name, "")
    return value if isinstance(value, str) else ""


def _address(name: str) -> str:
    return f"/watches?watch={quote(name)}"


SCREEN = Screen(
    name="watches",
    path="/watches",
    api="/watches",
    about="Questions that are kept, each with the pages that answer it now, and which of them are new",
    answer=answer,
    returns=WatchesDocument,
    table=table,
    parameters=(
        words("watch", "only the watch of this name", most=MAX_NAME_CHARS),
        number("limit", "matches of each watch, new ones first", default=10, least=1, most=MAX_MATCHES),
        number("page", f"which {AT_A_TIME} of the watches", default=1, least=1, most=1_000),
    ),
)
ACTIONS = (
    Action(name="add_watch", path="/watches/add", about="Watch a page or a text", act=add),
    Action(name="remove_watch", path="/watches/remove", about="Watch it no more", act=remove),
    Action(name="mark_seen", path="/watches/seen", about="These are new no more", act=mark_seen),
    Action(
        name="look_at", path="/watches/text", about="See who quotes a text that is watched", act=look_at, writes=False
    ),
)
