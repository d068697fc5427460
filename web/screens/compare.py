"""Compare: two texts side by side, and what they share."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from opensearch_winnow.answers.compared import Compared
from opensearch_winnow.answers.comparison_document import ComparedDocument, compared_document
from opensearch_winnow.answers.comparison_words import NoPassage, comparison_summary, differences_summary, no_passage
from opensearch_winnow.answers.formatting import percent
from opensearch_winnow.index import Index
from opensearch_winnow.queries.compare import compare
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.asked_texts import asked_text, compared_texts, finer
from opensearch_winnow.web.compared_panes import window_panes
from opensearch_winnow.web.differences import ROWS, in_whole_words, rows, shown_rows
from opensearch_winnow.web.parameters import ParameterError, choice, number
from opensearch_winnow.web.passage_windows import window
from opensearch_winnow.web.screen import Action, Answered, Cell, Screen

NAMES = 30  # of boilerplate that are listed
LONGEST_NAME = 100


def answer(index: Index, asked: Asked) -> Answered:
    started = time.perf_counter()
    a, b = (asked_text(index, asked, asked[name]) for name in ("a", "b"))
    compared = compared_texts(index, a, b, asked)
    document = compared_document(compared, _heading(compared, asked), time.perf_counter() - started)
    return Answered(document, lambda: _shown(index, asked, compared))


def _heading(compared: Compared, asked: Asked) -> str:
    if compared.kind == "estimate":
        return f"About {percent(compared.comparison.resemblance)} alike"
    if asked["view"] == "differences":
        return differences_summary(compared)
    if compared.hidden and not compared.passages:
        return f"No shared passage of {asked['min']:,} words or more"
    return comparison_summary(compared.a.text, compared.b.text, compared.comparison, compared.passages)


def _shown(index: Index, asked: Asked, compared: Compared) -> dict[str, Any]:
    none = not compared.passages and not compared.hidden and compared.kind == "exact"
    why = _why_none(compared) if none else None
    sites = (None, compared.a.site, compared.b.site)
    view = _differences(asked, compared) if asked["view"] == "differences" else _passages(asked, compared)
    return view | {
        "compared": compared,
        "why": why,
        "finer": _finer_passages(compared, asked) if why and why.cause == "nothing" else 0,
        "registered": [each for each in index.boilerplate() if each.site in sites],
        "names": NAMES,
        "swapped": asked.link(f"/compare/{compared.b.id}/{compared.a.id}", **{"from": None}),
    }


def _passages(asked: Asked, compared: Compared) -> dict[str, Any]:
    def address(number: int | None) -> str:
        return "" if number is None else f"{asked.link(**{'from': number})}#p{number}"

    shown = window(compared.passages, asked["from"])
    numbers = [each.number for each in compared.passages]
    around = {}
    if not shown.alone:  # the passages before and after these, and from the last on to the first
        first, last = numbers.index(shown.passages[0].number), numbers.index(shown.passages[-1].number)
        around = {"before": address(numbers[first - 1]), "after": address(numbers[(last + 1) % len(numbers)])}
    return {
        "window": shown,
        "around": around,
        "position": {number: at for at, number in enumerate(numbers, 1)},
        "panes": window_panes(compared, shown, address),
    }


def _differences(asked: Asked, compared: Compared) -> dict[str, Any]:
    compared = in_whole_words(compared)
    every = rows(compared)
    first = min(asked["from"], max(len(every), 1)) - 1
    some = every[first : first + ROWS]

    def address(number: int) -> str:
        return f"{asked.link(view='passages', **{'from': number})}#p{number}"

    return {
        "first": first + 1,
        "last": first + len(some),
        "row_count": len(every),
        "rows_on_a_page": ROWS,
        "rows": shown_rows(compared, some, address),
    }


def _why_none(compared: Compared) -> NoPassage:
    a, b = compared.a, compared.b
    return no_passage(a.text, b.text, compared.comparison, compared.scheme, (a.url, b.url))


def _finer_passages(compared: Compared, asked: Asked) -> int:
    """How many there would be."""
    closer = finer(compared.scheme)
    if asked["finer"] == "on" or closer == compared.scheme:
        return 0
    a, b = compared.a, compared.b
    return len(compare(a.text, b.text, closer, names=(a.url, b.url)).passages)


def table(document: ComparedDocument) -> Iterator[Sequence[Cell]]:
    yield "passage", "words", "start", "end", "other_start", "other_end", "moved"
    for each in document["passages"]:
        places = each["start"], each["end"], each["other_start"], each["other_end"]
        yield each["number"], each["words"], *places, "moved" * each["moved"]


def add_boilerplate(index: Index, asked: Asked) -> str:
    """A passage of A counts for nothing from now on."""
    name = str(asked.form.get("name", "")).strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise ParameterError(f"boilerplate has a name of at most {LONGEST_NAME} characters, by which it can be removed")
    if any(each.name == name for each in index.boilerplate()):
        raise ParameterError(f"there is boilerplate with the name {name} already: choose another")
    start, _, end = str(asked.form.get("passage", "")).partition("-")
    text = asked_text(index, asked, asked["a"]).text
    if not (start.isdecimal() and end.isdecimal() and int(start) < int(end) <= len(text)):
        raise ParameterError("no passage was chosen: its start and end are those of a passage of A, as 120-480")
    index.add_boilerplate(name, text[int(start) : int(end)])
    return f"/compare/{asked['a']}/{asked['b']}"


def remove_boilerplate(index: Index, asked: Asked) -> str:
    index.remove_boilerplate(str(asked.form.get("name", "")))
    return f"/compare/{asked['a']}/{asked['b']}"


SCREEN = Screen(
    name="compare",
    path="/compare/{a}/{b}",
    api="/compare/{a}/{b}",
    about="What two captures, or texts that were pasted, share, by their ids",
    answer=answer,
    returns=ComparedDocument,
    table=table,
    parameters=(
        number("min", "words that a passage has at least to be shown", default=0, least=0, most=10_000),
        choice("view", "what is the same, or what is not", "passages", "differences"),
        choice("boilerplate", "what is registered as boilerplate is left out, or counts as any text", "on", "off"),
        choice("finer", "find passages that are shorter than those of the store's scheme, too", "off", "on"),
        number("from", "the passage, or row of differences, that a page begins with", default=1, least=1, most=10**9),
    ),
)
ACTIONS = (
    Action(
        name="add_boilerplate",
        path="/compare/{a}/{b}/boilerplate",
        about="A passage counts for nothing from now on",
        act=add_boilerplate,
    ),
    Action(
        name="remove_boilerplate",
        path="/compare/{a}/{b}/boilerplate/remove",
        about="Boilerplate counts as any text again",
        act=remove_boilerplate,
    ),
)
