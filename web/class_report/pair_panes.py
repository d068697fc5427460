"""The documents of a pair side by side, file after file, with their passages marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from markupsafe import Markup

from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage, longest_non_decreasing
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile, Pair, SharedPassage
from opensearch_winnow.queries.spans import Span
from opensearch_winnow.web.texts.compared_panes import UNFOLDED_CHIPS, Ribbon, ribbons
from opensearch_winnow.web.texts.marked_code import count_lines, line_starts, marked_code
from opensearch_winnow.web.texts.marked_text import Marking, marked_text
from opensearch_winnow.web.texts.shown_passages import MAX_STRETCH_CHARS, visible_spans
from opensearch_winnow.web.texts.whole_words import whole_words, without_edges

MAX_PASSAGES = 300  # shown of a pair: the longest
MAX_WHOLE_FILE_CHARS = 200_000  # of a longer file only the surroundings of its passages are shown


class FilePane(NamedTuple):
    name: str
    text: Markup
    code: bool
    passages: int
    lines: int


class DocumentPane(NamedTuple):
    letter: str  # A or B
    document: Document
    files: Sequence[FilePane]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPanes:
    """A pair as it is shown. The HTML ids of passage 3 of pair 12 are x12a3 and x12b3."""

    rank: int
    pair: Pair
    panes: Sequence[DocumentPane]
    chips: Sequence[NumberedPassage]
    more_chips: Sequence[NumberedPassage]
    ribbons: Sequence[Ribbon]
    hidden: int  # passages that are not marked


def pair_panes(rank: int, pair: Pair, a: Document, b: Document, *, code: bool) -> PairPanes:
    """Return both documents with the passages of their pair. `code`: they are programs, whatever their names."""
    longest = sorted(pair.passages, key=lambda each: -each.words)[:MAX_PASSAGES]
    shown = sorted(longest, key=attrgetter("file_number", "start", "end", "other_file_number", "other_start"))
    offsets = [[0, *accumulate(len(file.text) for file in each.files)] for each in (a, b)]
    passages = _numbered(shown, a, offsets, code=code)
    ours: dict[int, dict[int, Span]] = defaultdict(dict)
    theirs: dict[int, dict[int, Span]] = defaultdict(dict)
    for number, each in enumerate(shown, 1):
        ours[each.file_number][number] = each.start, each.end
        theirs[each.other_file_number][number] = each.other_start, each.other_end
    own, partner = f"x{rank}a", f"x{rank}b"
    return PairPanes(
        rank=rank,
        pair=pair,
        panes=(
            DocumentPane("A", a, _files(a, ours, Marking(own=own, partner=partner), code=code)),
            DocumentPane("B", b, _files(b, theirs, Marking(own=partner, partner=own), code=code)),
        ),
        chips=passages[:UNFOLDED_CHIPS],
        more_chips=passages[UNFOLDED_CHIPS:],
        ribbons=ribbons(passages, max(offsets[0][-1], 1), max(offsets[1][-1], 1)),
        hidden=len(pair.passages) - len(shown),
    )


def shown_chars(document: Document) -> int:
    """Estimate the number of characters of a document that are shown."""
    return sum(min(len(file.text), MAX_WHOLE_FILE_CHARS) for file in document.files)


def _numbered(
    shown: Sequence[SharedPassage], a: Document, offsets: Sequence[Sequence[int]], *, code: bool
) -> list[NumberedPassage]:
    """Number the passages. Their offsets are those of all files of a document, one after the other."""
    others = [offsets[1][each.other_file_number] + each.other_start for each in shown]
    unmoved = longest_non_decreasing(others)
    starts: dict[int, list[int]] = {}
    numbered = []
    for i, (each, other) in enumerate(zip(shown, others, strict=True)):
        lines = None
        file = each.file_number
        if code or is_program(a.files[file].name):
            if file not in starts:
                starts[file] = line_starts(a.files[file].text)
            lines = count_lines(a.files[file].text, starts[file], (each.start, each.end))
        before = offsets[0][file]
        span = Passage(before + each.start, before + each.end, other, other + each.other_end - each.other_start)
        numbered.append(NumberedPassage(i + 1, span, each.words, i not in unmoved, lines))
    return numbered


def _files(
    document: Document, spans: Mapping[int, Mapping[int, Span]], marking: Marking, *, code: bool
) -> list[FilePane]:
    grey: dict[int, list[Span]] = defaultdict(list)
    for part in document.left_out:
        grey[part.file].append((part.start, part.end))
    return [_file(file, spans.get(i, {}), grey[i], marking, code=code) for i, file in enumerate(document.files)]


def _file(
    file: DocumentFile, spans: Mapping[int, Span], grey: Sequence[Span], marking: Marking, *, code: bool
) -> FilePane:
    text = file.text
    is_code = code or is_program(file.name)
    if not is_code:
        spans = {number: without_edges(text, whole_words(text, *span)) for number, span in spans.items()}
    visible = None
    if len(text) > MAX_WHOLE_FILE_CHARS:
        visible = visible_spans(text, list(spans.values()), is_only=False)
    shown = Marking(own=marking.own, partner=marking.partner, visible=visible, max_stretch_chars=MAX_STRETCH_CHARS)
    html = Markup("".join((marked_code if is_code else marked_text)(text, spans, shown, grey)))
    return FilePane(file.name, html, is_code, len(spans), len(line_starts(text)))
