"""Two texts side by side with their passages marked, and the ribbons that connect them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from markupsafe import Markup

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.queries.spans import Span
from opensearch_winnow.web.texts.marked_code import count_lines, line_starts, marked_code
from opensearch_winnow.web.texts.marked_text import Marking, marked_text
from opensearch_winnow.web.texts.shown_passages import MAX_STRETCH_CHARS, ShownPassages, visible_spans
from opensearch_winnow.web.texts.whole_words import trim_to_words, without_edges

UNFOLDED_CHIPS = 20  # passages listed above the texts; the rest is folded
A_PREFIX, B_PREFIX = "p", "b"  # of the HTML ids: passage 3 is #p3 in A and #b3 in B
MAX_RIBBONS = 150  # of the longest passages; more would merge into one grey block
MAP_HEIGHT = 1000  # of the SVG that the ribbons are drawn in; its width is 100
MIN_RIBBON_HEIGHT = 2


class Ribbon(NamedTuple):
    """The connection between the two spans of a passage, drawn between the texts."""

    number: int
    size: str  # of the passage, in words
    path: str  # SVG path data


class Pane(NamedTuple):
    letter: str  # A or B
    side: ComparedText
    text: Markup
    code: bool  # a program: in lines, with their numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Panes:
    panes: Sequence[Pane]
    chips: Sequence[NumberedPassage]
    more_chips: Sequence[NumberedPassage]
    ribbons: Sequence[Ribbon]
    grey_ribbons: Sequence[Ribbon]


def whole_panes(compared: Compared, *, code: bool = False) -> Panes:
    """Return the panes with both texts in full, however long they are. `code`: they are programs."""
    return _panes(compared, compared.passages, lambda _side, _spans: None, lambda _number: None, None, code=code)


def shown_panes(compared: Compared, shown: ShownPassages, elsewhere: Callable[[int], str]) -> Panes:
    """Return the panes of the `shown` passages; `elsewhere` returns the address of a passage that is not among them."""
    here = {each.number for each in shown.passages}
    return _panes(
        compared,
        shown.passages,
        lambda side, spans: visible_spans(side.text, spans, is_only=shown.is_only),
        lambda number: None if number in here else elsewhere(number),
        MAX_STRETCH_CHARS,
        code=compared.scheme.form == "code",
    )


def _panes(
    compared: Compared,
    passages: Sequence[NumberedPassage],
    visible: Callable[[ComparedText, Sequence[Span]], Sequence[Span] | None],
    elsewhere: Callable[[int], str | None],
    max_stretch_chars: int | None,
    *,
    code: bool,
) -> Panes:
    if code:
        passages = with_lines(compared.a.text, passages)
    if compared.scheme.form != "code":  # tokens are whole words
        compared = trim_to_words(compared)
    numbers = [each.number for each in compared.passages]
    marked = marked_code if code else marked_text

    def pane(letter: str, side: ComparedText, own: str, partner: str) -> Pane:
        shown = (span if code else without_edges(side.text, span) for span in side.passages)
        spans = dict(zip(numbers, shown, strict=True))
        marking = Marking(
            own=own,
            partner=partner,
            elsewhere=elsewhere,
            visible=visible(side, [spans[each.number] for each in passages]),
            max_stretch_chars=max_stretch_chars,
        )
        return Pane(letter, side, Markup("".join(marked(side.text, spans, marking, side.boilerplate))), code)

    lengths = len(compared.a.text), len(compared.b.text)
    return Panes(
        panes=(pane("A", compared.a, A_PREFIX, B_PREFIX), pane("B", compared.b, B_PREFIX, A_PREFIX)),
        chips=passages[:UNFOLDED_CHIPS],
        more_chips=passages[UNFOLDED_CHIPS:],
        ribbons=ribbons(passages, *lengths),
        grey_ribbons=ribbons(compared.boilerplate, *lengths),
    )


def with_lines(text: str, passages: Sequence[NumberedPassage]) -> list[NumberedPassage]:
    """Return passages of a program with the number of their lines."""
    starts = line_starts(text)
    return [replace(each, lines=count_lines(text, starts, each.passage[:2])) for each in passages]


def ribbons(passages: Sequence[NumberedPassage], length: int, other_length: int) -> list[Ribbon]:
    """Return the ribbons of the longest passages, longest first so that the short ones are drawn on top."""
    longest = sorted(passages, key=lambda each: each.passage.start - each.passage.end)[:MAX_RIBBONS]
    return [Ribbon(each.number, each.size, _ribbon_path(each.passage, length, other_length)) for each in longest]


def _ribbon_path(passage: Passage, length: int, other_length: int) -> str:
    left, left_bottom = _top_and_bottom(passage.start, passage.end, length)
    right, right_bottom = _top_and_bottom(passage.other_start, passage.other_end, other_length)
    return (
        f"M0 {left:.1f}H15C50 {left:.1f} 50 {right:.1f} 85 {right:.1f}H100V{right_bottom:.1f}"
        f"H85C50 {right_bottom:.1f} 50 {left_bottom:.1f} 15 {left_bottom:.1f}H0Z"
    )


def _top_and_bottom(start: int, end: int, length: int) -> tuple[float, float]:
    """Return the top and bottom of a span of a text on the map, which is as high as the whole text."""
    top = MAP_HEIGHT * start / length
    return top, max(MAP_HEIGHT * end / length, top + MIN_RIBBON_HEIGHT)
