"""Two compared texts, with the parts of each that are shared, boilerplate, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Literal, Self

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage, numbered_passages
from opensearch_winnow.queries.compare import Comparison
from opensearch_winnow.queries.spans import Span, merged_spans


@dataclass(frozen=True, kw_only=True)
class ComparedText:
    """A capture, or a pasted text, which has no URL."""

    id: str
    text: str
    url: str | None = None
    title: str | None = None
    site: str | None = None
    fetched_at: datetime | None = None
    passages: Sequence[Span] = ()
    boilerplate: Sequence[Span] = ()
    lack: str = ""  # "no text", and why; empty if there is one, stored or not

    @cached_property
    def covered(self) -> float:
        """The share of its characters inside passages."""
        return self._share(merged_spans(self.passages))

    @cached_property
    def greyed(self) -> float:
        """The share of its characters inside boilerplate and no passage."""
        return self._share(self._accounted_for) - self.covered

    @cached_property
    def unshared(self) -> list[Span]:
        """The spans with words that are neither in a passage nor in boilerplate."""
        ends = [0, *(end for _, end in self._accounted_for)]
        starts = [*(start for start, _ in self._accounted_for), len(self.text)]
        return [span for span in zip(ends, starts, strict=True) if has_words(self.text[slice(*span)])]

    @cached_property
    def unshared_words(self) -> int:
        return sum(len(canonical_text(self.text[start:end]).words) for start, end in self.unshared)

    @cached_property
    def _accounted_for(self) -> list[Span]:
        return merged_spans([*self.passages, *self.boilerplate])

    def _share(self, spans: Iterable[Span]) -> float:
        return sum(end - start for start, end in spans) / max(len(self.text), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A comparison of two texts as it is shown."""

    a: ComparedText
    b: ComparedText
    scheme: Scheme
    comparison: Comparison
    passages: Sequence[NumberedPassage] = ()  # those long enough to show, numbered among all
    hidden: int = 0  # passages too short to show
    boilerplate: Sequence[NumberedPassage] = ()  # used for their sizes; the numbers are not shown
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
        min_words: int = 0,
    ) -> Self:
        """Combine two texts with their comparison. Passages of fewer than `min_words` are hidden."""
        long_enough = [each for each in passages if each.words >= min_words]
        runs = comparison.boilerplate
        ours, theirs = [each.passage[:2] for each in long_enough], [each.passage[2:] for each in long_enough]
        return cls(
            a=replace(a, passages=ours, boilerplate=[run[:2] for run in runs]),
            b=replace(b, passages=theirs, boilerplate=[run[2:] for run in runs]),
            scheme=scheme,
            comparison=comparison,
            passages=long_enough,
            hidden=len(passages) - len(long_enough),
            boilerplate=numbered_passages(a.text, runs, scheme, name=a.url or a.title),
        )


def has_words(text: str) -> bool:
    """Return whether a text has letters or digits, the only characters that are compared."""
    return any(map(str.isalnum, text))
