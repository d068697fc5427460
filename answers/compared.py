"""Two texts that were compared, and what a reader wants to know of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Literal, Self

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Comparison
from opensearch_winnow.queries.numbered_passages import NumberedPassage, numbered_passages

Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class ComparedText:
    """A capture, or a text that was pasted: then there is no URL."""

    id: str
    text: str
    url: str | None = None
    title: str | None = None
    site: str | None = None
    fetched_at: datetime | None = None
    passages: Sequence[Span] = ()
    boilerplate: Sequence[Span] = ()

    @cached_property
    def covered(self) -> float:
        """The share of its characters that is in passages."""
        return self._share(united(self.passages))

    @cached_property
    def greyed(self) -> float:
        """The share that is in boilerplate and in no passage."""
        return self._share(self._explained) - self.covered

    @cached_property
    def unshared(self) -> list[Span]:
        """Where it has words that are in none of them."""
        ends = [0, *(end for _, end in self._explained)]
        starts = [*(start for start, _ in self._explained), len(self.text)]
        return [span for span in zip(ends, starts, strict=True) if has_words(self.text[slice(*span)])]

    @cached_property
    def unshared_words(self) -> int:
        return sum(len(canonical_text(self.text[start:end]).words) for start, end in self.unshared)

    @cached_property
    def _explained(self) -> list[Span]:
        return united([*self.passages, *self.boilerplate])

    def _share(self, spans: Iterable[Span]) -> float:
        return sum(end - start for start, end in spans) / max(len(self.text), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    a: ComparedText
    b: ComparedText
    scheme: Scheme
    comparison: Comparison
    passages: Sequence[NumberedPassage] = ()  # that are long enough to be shown; their numbers are those of all
    hidden: int = 0  # that are not
    boilerplate: Sequence[NumberedPassage] = ()  # for their sizes: nobody sees their numbers
    kind: Literal["exact", "estimate"] = "exact"
    error: float = 0.0  # the standard error of an estimated resemblance

    @classmethod
    def of(
        cls,
        a: ComparedText,
        b: ComparedText,
        comparison: Comparison,
        passages: Sequence[NumberedPassage],
        scheme: Scheme,
        *,
        least: int = 0,
    ) -> Self:
        """Of the passages those of so many words at least are shown."""
        long_enough = [each for each in passages if each.words >= least]
        runs = comparison.boilerplate
        ours, theirs = [each.passage[:2] for each in long_enough], [each.passage[2:] for each in long_enough]
        return cls(
            a=replace(a, passages=ours, boilerplate=[run[:2] for run in runs]),
            b=replace(b, passages=theirs, boilerplate=[run[2:] for run in runs]),
            scheme=scheme,
            comparison=comparison,
            passages=long_enough,
            hidden=len(passages) - len(long_enough),
            boilerplate=numbered_passages(a.text, runs),
        )


def united(spans: Iterable[Span]) -> list[Span]:
    """The same places, apart and in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def has_words(text: str) -> bool:
    """Or anything else that is compared: white space and punctuation are not."""
    return any(map(str.isalnum, text))
