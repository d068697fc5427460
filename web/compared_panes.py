"""Both texts beside each other with their passages marked: what the templates of a comparison show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from opensearch_winnow.answers.compared import Compared, ComparedText, Span
from opensearch_winnow.queries.numbered_passages import NumberedPassage
from opensearch_winnow.web.marked_text import Marking, marked_text
from opensearch_winnow.web.passage_windows import LONGEST, Window, shown
from opensearch_winnow.web.ribbons import Ribbon, ribbons

CHIPS = 40  # passages that the head of the page lists; the rest is folded
OWN, PARTNER = "p", "b"  # of the ids: the passage is named by its place in A


class Pane(NamedTuple):
    letter: str
    side: ComparedText
    text: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Panes:
    panes: Sequence[Pane]
    chips: Sequence[NumberedPassage]
    more_chips: Sequence[NumberedPassage]
    ribbons: Sequence[Ribbon]
    grey_ribbons: Sequence[Ribbon]


def whole_panes(compared: Compared) -> Panes:
    """All of both, however much it is."""
    return _panes(compared, compared.passages, lambda _side, _spans: None, lambda _number: None, None)


def window_panes(compared: Compared, window: Window, elsewhere: Callable[[int], str]) -> Panes:
    """What a window shows; `elsewhere` is the address of a passage that is in another one."""
    here = {each.number for each in window.passages}
    return _panes(
        compared,
        window.passages,
        lambda side, spans: shown(side.text, spans, alone=window.alone),
        lambda number: None if number in here else elsewhere(number),
        LONGEST,
    )


def _panes(
    compared: Compared,
    passages: Sequence[NumberedPassage],
    shown_of: Callable[[ComparedText, Sequence[Span]], Sequence[Span] | None],
    elsewhere: Callable[[int], str | None],
    longest: int | None,
) -> Panes:
    numbers = [each.number for each in compared.passages]

    def pane(letter: str, side: ComparedText, own: str, partner: str) -> Pane:
        every = dict(zip(numbers, side.passages, strict=True))
        shown = shown_of(side, [every[each.number] for each in passages])
        marking = Marking(own=own, partner=partner, elsewhere=elsewhere, shown=shown, longest=longest)
        return Pane(letter, side, Markup("".join(marked_text(side.text, every, marking, side.boilerplate))))

    lengths = len(compared.a.text), len(compared.b.text)
    return Panes(
        panes=(pane("A", compared.a, OWN, PARTNER), pane("B", compared.b, PARTNER, OWN)),
        chips=passages[:CHIPS],
        more_chips=passages[CHIPS:],
        ribbons=ribbons(passages, *lengths),
        grey_ribbons=ribbons(compared.boilerplate, *lengths),
    )
