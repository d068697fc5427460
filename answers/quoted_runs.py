"""Which runs of a text are on other pages: one that many pages have is one run, and is counted once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.matches import Match

ROUGHLY = 0.9  # of what either of two passages covers, so much is in both: they are the same run
LOOKED_AT = 50  # runs before, to find one that is the same; they are in order


@dataclass(slots=True)
class QuotedRun:
    number: int  # from 1, in the order of the text
    start: int
    end: int
    words: int = 0
    pages: set[int] = field(default_factory=set)  # that have it: the places of the matches in their list


def quoted_runs(text: str, matches: Iterable[Match]) -> list[QuotedRun]:
    passages = sorted(
        (passage.start, -passage.end, page) for page, match in enumerate(matches) for passage in match.passages
    )
    runs: list[QuotedRun] = []
    for start, negative_end, page in passages:
        run = next((each for each in reversed(runs[-LOOKED_AT:]) if _same(each, start, -negative_end)), None)
        if run is None:
            run = QuotedRun(len(runs) + 1, start, -negative_end)
            runs.append(run)
        run.end = max(run.end, -negative_end)
        run.pages.add(page)
    for run in runs:
        run.words = len(canonical_text(text[run.start : run.end]).words)
    return runs


def _same(run: QuotedRun, start: int, end: int) -> bool:
    both = min(run.end, end) - max(run.start, start)
    either = max(run.end, end) - min(run.start, start)
    return both >= ROUGHLY * either
