"""The compare screen: two texts side by side, with their shared passages."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.answers.asking.comparison_words import (
    comparison_summary,
    differences_summary,
    no_passage,
)
from opensearch_winnow.answers.formatting import percent
from opensearch_winnow.foundation.option_kinds import FLAG, LAST_OF_DATE, number, one_of
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.index import Index
from opensearch_winnow.queries.asking.compared_pages import CompareOptions, compare_pages
from opensearch_winnow.web.form import FormError
from opensearch_winnow.web.parameters import Parameter, ParameterError, integer, of_options, string
from opensearch_winnow.web.request_texts import compare_texts, finer_scheme, text_named
from opensearch_winnow.web.screen import Action, Redirect, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.texts.compared_panes import shown_panes
from opensearch_winnow.web.texts.differences import ROWS_PER_PAGE, difference_rows, render_rows
from opensearch_winnow.web.texts.shown_passages import shown_passages
from opensearch_winnow.web.texts.whole_words import trim_to_words

MAX_BOILERPLATE_LISTED = 30
MAX_NAME_CHARS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareView(Options):
    """The options of the screen."""

    min_words: int = option(0, number(0, 10_000), "Show passages of N words or more.")
    view: Literal["passages", "differences"] = option(
        "passages", one_of("passages", "differences"), "Show shared passages, or differences."
    )
    boilerplate: bool = option_of(CompareOptions, "boilerplate")
    finer: bool = option(False, FLAG, "Also find passages that are too short for the store's scheme.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureDates(Options):
    """The dates that choose captures of two URLs."""

    at_a: datetime | None = option(None, LAST_OF_DATE, "Use the last capture of a up to the end of DATE.")
    at_b: datetime | None = option(None, LAST_OF_DATE, "Use the last capture of b up to the end of DATE.")


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    started = time.perf_counter()
    a, b = (_text(index, request, side) for side in ("a", "b"))
    compared = compare_texts(index, a, b, request)
    compared = replace(compared, answer=_heading(compared, request), seconds=time.perf_counter() - started)
    return ScreenAnswer(compared, lambda: _template_values(index, request, compared))


def _text(index: Index, request: ScreenRequest, side: str) -> ComparedText:
    """Return text a or b. Requests with URLs may have a date for each."""
    return text_named(index, request, request[side], request.values.get(f"at_{side}"))


def _heading(compared: Compared, request: ScreenRequest) -> str:
    if compared.a.id == compared.b.id:
        return f"A and B are the same {'text' if compared.a.url is None else 'capture'}"
    lacking = [letter for letter, side in (("A", compared.a), ("B", compared.b)) if side.lack]
    if lacking:
        return f"There is no text to compare: {' and '.join(lacking)} {'have' if len(lacking) > 1 else 'has'} none"
    if compared.kind == "estimate":
        return f"About {percent(compared.comparison.resemblance)} alike"
    if request["view"] == "differences":
        return differences_summary(compared)
    if compared.hidden and not compared.passages:
        return f"No shared passage of {request['min_words']:,} words or more"
    return comparison_summary(compared)


def _template_values(index: Index, request: ScreenRequest, compared: Compared) -> dict[str, Any]:
    none = not compared.passages and not compared.hidden and compared.kind == "exact"
    why = no_passage(compared) if none else None
    sites = (None, compared.a.site, compared.b.site)
    view = _differences(request, compared) if request["view"] == "differences" else _passages(request, compared)
    return view | {
        "why": why,
        "finer": _count_finer_passages(compared, request) if why and why.cause == "nothing" else 0,
        "registered": [each for each in index.boilerplate() if each.site in sites],
        "max_listed": MAX_BOILERPLATE_LISTED,
        "swapped": request.link(f"/compare/{compared.b.id}/{compared.a.id}", **{"from": None}),
    }


def _passages(request: ScreenRequest, compared: Compared) -> dict[str, Any]:
    def address(number: int | None) -> str:
        return "" if number is None else f"{request.link(**{'from': number})}#p{number}"

    shown = shown_passages(compared.passages, request["from"])
    numbers = [each.number for each in compared.passages]
    around = {}
    if not shown.is_only:  # the passages before and after these; the first follows the last
        first, last = numbers.index(shown.passages[0].number), numbers.index(shown.passages[-1].number)
        around = {"before": address(numbers[first - 1]), "after": address(numbers[(last + 1) % len(numbers)])}
    return {
        "shown": shown,
        "around": around,
        "position": {number: at for at, number in enumerate(numbers, 1)},
        "panes": shown_panes(compared, shown, address),
    }


def _differences(request: ScreenRequest, compared: Compared) -> dict[str, Any]:
    compared = trim_to_words(compared)
    rows = difference_rows(compared)
    first = min(request["from"], max(len(rows), 1)) - 1
    on_page = rows[first : first + ROWS_PER_PAGE]

    def address(number: int) -> str:
        return f"{request.link(view='passages', **{'from': number})}#p{number}"

    return {
        "first": first + 1,
        "last": first + len(on_page),
        "row_count": len(rows),
        "rows_per_page": ROWS_PER_PAGE,
        "rows": render_rows(compared, on_page, address),
    }


def _count_finer_passages(compared: Compared, request: ScreenRequest) -> int:
    """Count the passages that a finer scheme finds where the store's finds none."""
    closer = finer_scheme(compared.scheme)
    if request["finer"] or closer == compared.scheme:
        return 0
    return len(compare_pages(compared.a, compared.b, closer).passages)


def add_boilerplate(index: Index, request: ScreenRequest) -> str:
    """Register a passage of A as boilerplate, which no longer counts as evidence of copying."""
    name = str(request.form.get("name", "")).strip()
    if not 0 < len(name) <= MAX_NAME_CHARS:
        raise FormError(f"Give the boilerplate a name of 1 to {MAX_NAME_CHARS} characters.", "name")
    if any(each.name == name for each in index.boilerplate()):
        raise FormError(f"There is already boilerplate named {name}: choose another name.", "name")
    start, _, end = str(request.form.get("passage", "")).partition("-")
    page = text_named(index, request, request["a"])
    text = page.text
    if not (start.isdecimal() and end.isdecimal() and int(start) < int(end) <= len(text)):
        raise FormError("No passage was chosen: give the start and end of a passage of A, such as 120-480.", "passage")
    index.add_boilerplate(name, text[int(start) : int(end)], url=page.url or None)
    return f"/compare/{request['a']}/{request['b']}"


def remove_boilerplate(index: Index, request: ScreenRequest) -> str:
    index.remove_boilerplate(str(request.form.get("name", "")))
    return f"/compare/{request['a']}/{request['b']}"


def comparison_address(index: Index, request: ScreenRequest) -> str:
    """Return the address of the comparison of `a` and `b`, or of two pages that were ticked in a list."""
    if not (request["a"] or request["b"]):
        ticked = request.all("page")
        if len(ticked) != 2:
            number = f"{len(ticked):,}" if ticked else "none"
            raise ParameterError(f"Tick two pages to compare them: you ticked {number}.")
        texts = [text_named(index, request, name) for name in ticked]
    elif not (request["a"] and request["b"]):
        raise ParameterError("Give two pages to compare: a and b, each a URL, or the id of a capture or pasted text.")
    else:
        texts = [_text(index, request, side) for side in ("a", "b")]
    return "/".join(("/compare", *(quote(text.id, safe="") for text in texts)))


def _texts(*, required: bool) -> tuple[Parameter, ...]:
    description = "the URL of a page, or the id of a capture or pasted text"
    return (
        *(string(name, description, max_chars=8_000, required=required) for name in ("a", "b")),
        *of_options(CaptureDates),
    )


PARAMETERS = (
    *of_options(CompareView),
    integer("from", "first passage, or row of differences, on the page", default=1, minimum=1, maximum=10**9),
)
SCREEN = Screen(
    name="compare",
    path="/compare/{a}/{b}",
    api="/compare/{a}/{b}",
    summary="The comparison of two captures or pasted texts, by their ids",
    answer=answer,
    returns=Compared,
    heavy=True,
    parameters=PARAMETERS,
)
BY_URL = Screen(
    name="compare_urls",
    path="",
    api="/compare",
    summary="The comparison of two pages, by their URLs or ids",
    answer=answer,
    returns=Compared,
    heavy=True,
    parameters=(*_texts(required=True), *PARAMETERS),
)
REDIRECT = Redirect(path="/compare", target=comparison_address, parameters=_texts(required=False))
ACTIONS = (
    Action(
        name="add_boilerplate",
        path="/compare/{a}/{b}/boilerplate",
        summary="Register a passage as boilerplate",
        act=add_boilerplate,
        screen=SCREEN,
    ),
    Action(
        name="remove_boilerplate",
        path="/compare/{a}/{b}/boilerplate/remove",
        summary="Remove boilerplate from the register",
        act=remove_boilerplate,
    ),
)
