"""Renders a text coloured by its sources: each part with the number and the colour of the source that has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from opensearch_winnow.operations.asking.sources import TextSources
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.web.texts.marked_text import Marking, colour, marked_text
from opensearch_winnow.web.texts.shown_passages import MAX_STRETCH_CHARS, ShownPassages, shown_passages, visible_spans

PART_PREFIX, SOURCE_PREFIX = "p", "s"  # of the HTML ids: the third part of the text is #p3, the second source #s2
STRIP_WIDTH = 1000
MIN_STRIP_PART = 2  # narrower ones would be invisible
MAX_STRIP_PARTS = 1_000  # the longest


class StripPart(NamedTuple):
    """A part of the strip that shows the whole text from left to right."""

    colour: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text with its sources, in batches if there are very many parts."""

    html: Markup
    shown: ShownPassages
    part_count: int
    first_part: Mapping[int, str]  # by the number of a source, the address of its first part
    strip: Sequence[StripPart]


def source_text(
    text: str, found: TextSources, address: Callable[[int], str], *, start: int = 1, max_chars: int | None = None
) -> SourceText:
    """Render the batch with part `start`; `address` returns the address of the batch with a part.

    `max_chars`: show this much of the beginning, in a single batch.
    """
    parts = dict(enumerate(found.parts, 1))
    if max_chars is not None:
        parts = {number: each for number, each in parts.items() if each.start < max_chars}
    numbered = [
        NumberedPassage(number, Passage(each.start, each.end, each.start, each.end), 0, moved=False)
        for number, each in parts.items()
    ]
    shown = shown_passages(numbered, start) if max_chars is None else ShownPassages(numbered)
    here = {each.number for each in shown.passages}

    def link(number: int) -> str:
        return f"#{PART_PREFIX}{number}" if number in here else f"{address(number)}#{PART_PREFIX}{number}"

    spans = {number: (each.start, min(each.end, max_chars or each.end)) for number, each in parts.items()}
    visible = visible_spans(text, [spans[number] for number in sorted(here)], is_only=shown.is_only)
    marking = Marking(
        own=PART_PREFIX,
        partner=SOURCE_PREFIX,
        source=lambda number: parts[number].source,
        fold=False,
        elsewhere=lambda number: None if number in here else link(number),
        visible=visible if max_chars is None else None,
        max_stretch_chars=MAX_STRETCH_CHARS if max_chars is None else None,
    )
    grey = [span for span in found.boilerplate if max_chars is None or span[1] <= max_chars]
    first: dict[int, str] = {}
    for number, each in parts.items():
        first.setdefault(each.source, link(number))
    return SourceText(
        Markup("".join(marked_text(text[:max_chars], spans, marking, grey))),
        shown,
        len(parts),
        first,
        _strip(len(text), found),
    )


def _strip(length: int, found: TextSources) -> list[StripPart]:
    """Return the parts of the strip; text that is on no other page is left blank."""
    parts = [(colour(each.source), each.start, each.end) for each in found.parts]
    parts += [("boilerplate", start, end) for start, end in found.boilerplate]
    longest = sorted(parts, key=lambda part: part[1] - part[2])[:MAX_STRIP_PARTS]
    scale = STRIP_WIDTH / max(length, 1)
    return [StripPart(name, scale * at, max(scale * (end - at), MIN_STRIP_PART)) for name, at, end in longest]
