"""The watches screen: saved questions, checked again on every visit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from opensearch_winnow.answers.asking.watches import checked_watch, watch_report_summary, watches_summary
from opensearch_winnow.answers.formatting import more_than_listed
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking.watches import (
    MAX_MATCHES,
    MAX_NAME_CHARS,
    MAX_TEXT_CHARS,
    CheckedWatches,
    Watch,
    WatchError,
    WatchOptions,
)
from opensearch_winnow.web.form import FormError
from opensearch_winnow.web.parameters import integer, of_options, string
from opensearch_winnow.web.pasted_texts import PastedText
from opensearch_winnow.web.screen import Action, NotFoundError, Screen, ScreenAnswer, SuggestedLink
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.screens.asking.watch_log import watched_captures

WATCHES_PER_PAGE = 10  # each takes a query to the store
EXCERPT_CHARS = 300  # of a watched text
LATEST_FINDINGS = 5
(SHARE,) = of_options(WatchOptions, "min_containment")


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    names = index.watch_names()
    on_page = names[(request["page"] - 1) * WATCHES_PER_PAGE :][:WATCHES_PER_PAGE]
    if request["watch"]:
        on_page = [_watch_named(index, request["watch"]).name]
    reports = [checked_watch(index, name) for name in on_page]
    checked = CheckedWatches(len(names), [replace(each, matches=each.matches[: request["limit"]]) for each in reports])
    return ScreenAnswer(checked, lambda: _template_values(index, request, checked))


def _template_values(index: Index, request: ScreenRequest, checked: CheckedWatches) -> Mapping[str, Any]:
    log = index.watch_log(request["watch"] or None, limit=LATEST_FINDINGS)
    urls = [each.watch.url for each in checked]
    latest = index.latest([url for url in urls if url is not None])
    return {
        "heading": watches_summary(checked),
        "summaries": [watch_report_summary(each) for each in checked],
        "pages": [latest[url].id if url in latest else None for url in urls],  # ids of the watched pages
        "following": not request["watch"] and request["page"] * WATCHES_PER_PAGE < checked.total,
        "log": log,
        "watched": watched_captures(index, log),
        "excerpt_chars": EXCERPT_CHARS,
        "max_matches": MAX_MATCHES,
        "max_name_chars": MAX_NAME_CHARS,
    }


def left_out(checked: CheckedWatches) -> str:
    """Say how many watches, or else matches of watches, are missing."""
    matches = sum(each.total - len(each) for each in checked)
    return more_than_listed(checked.total - len(checked), "watch", "watches") or more_than_listed(matches, "page")


# --- actions ----------------------------------------------------------------------------------------------------


def add(index: Index, request: ScreenRequest) -> str:
    """Watch the page with this `url`, a `text`, or the `pasted` text with this id."""
    name = _field(request, "name").strip()
    url, text = _field(request, "url").strip() or None, _field(request, "text") or None
    pasted = _field(request, "pasted")
    if pasted:
        pasted_text = request.state.pasted.get(pasted)
        if pasted_text is None:
            raise NotFoundError("This text has expired: paste it again.", SuggestedLink("/paste", "Paste a text"))
        text = pasted_text.text
    try:
        share = SHARE.parse(_field(request, "min_containment").strip())
    except ValueError as error:
        raise FormError(f"The minimum share {error}.", "min_containment") from None
    if (url is None) == (text is None):
        raise FormError("Give the URL of a page, or a text: one of them.", "url")
    try:
        index.add_watch(name, url=url, text=text, min_containment=share, replace=bool(_field(request, "replace")))
    except WatchError as error:
        raise FormError(f"{error}.", "name" if len(text or "") <= MAX_TEXT_CHARS else "text") from None
    except QuestionError as error:
        raise FormError(f"{error}.", "text" if url is None else "url") from None
    return _address(name)


def remove(index: Index, request: ScreenRequest) -> str:
    index.remove_watch(_watch_named(index, _field(request, "name")).name)
    return "/watches"


def mark_seen(index: Index, request: ScreenRequest) -> str:
    """Mark the matches with these `ids` as seen: newer ones may have come since the visitor loaded the page."""
    name = _watch_named(index, _field(request, "name")).name
    index.mark_seen(name, _field(request, "ids").split()[:MAX_MATCHES])
    return _address(name)


def show_text(index: Index, request: ScreenRequest) -> str:
    """Open the watched text as if it had been pasted."""
    watch = _watch_named(index, _field(request, "name"))
    if watch.text is None:
        return _address(watch.name)
    return f"/paste/{request.state.pasted.add(PastedText(watch.text, watch.name))}"


def _watch_named(index: Index, name: str) -> Watch:
    try:
        return index.watch(name)
    except WatchError:
        raise NotFoundError(f"{index.name} has no watch {name}", SuggestedLink("/watches", "All watches")) from None


def _field(request: ScreenRequest, name: str) -> str:
    value = request.form.get(name, "")
    return value if isinstance(value, str) else ""


def _address(name: str) -> str:
    return f"/watches?watch={quote(name)}"


SCREEN = Screen(
    name="watches",
    path="/watches",
    api="/watches",
    summary="Saved questions, each with the pages that match now, and which of them are new",
    answer=answer,
    returns=CheckedWatches,
    left_out=left_out,
    parameters=(
        string("watch", "only the watch with this name", max_chars=MAX_NAME_CHARS),
        integer("limit", "number of matches of each watch, new ones first", default=10, minimum=1, maximum=MAX_MATCHES),
        integer("page", f"page of {WATCHES_PER_PAGE} watches", default=1, minimum=1, maximum=1_000),
    ),
)
ACTIONS = (
    Action(name="add_watch", path="/watches/add", summary="Watch a page or a text", act=add, screen=SCREEN),
    Action(name="remove_watch", path="/watches/remove", summary="Remove a watch", act=remove),
    Action(name="mark_seen", path="/watches/seen", summary="Mark matches as seen", act=mark_seen),
    Action(
        name="look_at",
        path="/watches/text",
        summary="Show which pages quote a watched text",
        act=show_text,
        writes=False,
    ),
)
