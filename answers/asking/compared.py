"""Two compared texts, with the parts of each that are shared, boilerplate, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, replace
from datetime import datetime
from typing import Literal, Self

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, inlined, key, listed
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage, numbered_passages
from opensearch_winnow.queries.compare import Comparison, TextRun
from opensearch_winnow.queries.spans import Span, merged_spans


@answer
class ComparedText(Answer):
    """A capture, a pasted text, or a file."""

    id: str = key("The id of the capture or pasted text; of a file, its path.")
    text: str
    _: KW_ONLY
    url: str | None = key("The URL of the page, or the path of the file; null for a pasted text.", default=None)
    title: str | None = key("The title of the page, or the name of the text.", default=None)
    site: str | None = key("The site of the page; null if it is not a page.", default=None)
    fetched_at: datetime | None = key("The time of the capture; null if it is unknown.", default=None)
    passages: Sequence[Span] = ()
    boilerplate: Sequence[Span] = ()
    lack: str = ""  # "no text" and the reason; empty if the page has a text, stored or not

    @classmethod
    def of_page(cls, page: Record, title: str | None, lack: str = "") -> Self:
        """Return the text of a capture."""
        time = page.fetched_at
        return cls(page.id, page.text, url=page.url, title=title, site=page.site, fetched_at=time, lack=lack)

    @property
    @derived
    def characters(self) -> int:
        """The length of the text."""
        return len(self.text)

    @property
    @derived
    def covered(self) -> float:
        """The share of its characters inside passages."""
        return self._share(merged_spans(self.passages))

    @property
    @derived
    def greyed(self) -> float:
        """The share of its characters inside boilerplate and outside passages."""
        return self._share(self._accounted_for) - self.covered

    @property
    @derived
    def unshared_words(self) -> int:
        """The number of words that are neither in a passage nor in boilerplate."""
        return sum(len(canonical_text(self.text[start:end]).words) for start, end in self.unshared)

    @property
    @derived
    def unshared_places(self) -> int:
        """The number of places with such words."""
        return len(self.unshared)

    @property
    def unshared(self) -> list[Span]:
        """The spans with words that are neither in a passage nor in boilerplate."""
        ends = [0, *(end for _, end in self._accounted_for)]
        starts = [*(start for start, _ in self._accounted_for), len(self.text)]
        return [span for span in zip(ends, starts, strict=True) if has_words(self.text[slice(*span)])]

    @property
    def _accounted_for(self) -> list[Span]:
        return merged_spans([*self.passages, *self.boilerplate])

    def _share(self, spans: Iterable[Span]) -> float:
        return sum(end - start for start, end in spans) / max(len(self.text), 1)


@answer
class PassageRow(Answer):
    """A passage, or a shared run of boilerplate, in a table."""

    passage: NumberedPassage = inlined()
    boilerplate: bool = key("True if it is boilerplate, which is numbered separately.")
    text: str = key("Its text, as A has it.")


@answer
class DifferenceRow(Answer):
    """A run of words that only one of two texts has, in a table."""

    only_in: Literal["A", "B"] = key("The text that has it.")
    run: TextRun = inlined()


@answer
class Compared(Listing[NumberedPassage]):
    """The shared text of two texts, in words and numbers.

    If a text is not stored, the scores are estimates, there are no passages, and `relationship` is null.
    """

    row = PassageRow

    comparison: Comparison = inlined()
    a: ComparedText = key("Text A.")
    b: ComparedText = key("Text B.")
    scheme: Scheme
    passages: Sequence[NumberedPassage] = listed("The passages that are long enough to show, numbered among all.")
    hidden: int = key("The number of passages that are shorter.", default=0)
    boilerplate: Sequence[NumberedPassage] = ()  # used for their sizes; the numbers are not shown
    kind: Literal["exact", "estimate"] = key(
        "Scores of texts are exact; those of sketches are estimates.", default="exact"
    )
    error: float = key("The standard error of an estimated resemblance; 0 if it is exact.", default=0.0)
    answer: str = key("The answer in words.", default="")
    seconds: float = key("The time it took.", default=0.0)

    @property
    @derived(name="scheme")
    def scheme_id(self) -> str:
        """The id of the scheme."""
        return self.scheme.id

    @classmethod
    def of(
        cls, a: ComparedText, b: ComparedText, comparison: Comparison, scheme: Scheme, *, min_words: int = 0
    ) -> Self:
        """Combine two texts with their comparison. Passages of fewer than `min_words` are hidden."""
        name, runs = a.url or b.url, comparison.boilerplate
        passages = numbered_passages(a.text, comparison.passages, scheme, name=name)
        long_enough = [each for each in passages if each.words >= min_words]
        ours, theirs = [each.passage[:2] for each in long_enough], [each.passage[2:] for each in long_enough]
        return cls(
            comparison=comparison,
            a=replace(a, passages=ours, boilerplate=[run[:2] for run in runs]),
            b=replace(b, passages=theirs, boilerplate=[run[2:] for run in runs]),
            scheme=scheme,
            passages=long_enough,
            hidden=len(passages) - len(long_enough),
            boilerplate=numbered_passages(a.text, runs, scheme, name=name),
        )

    def rows(self) -> Iterator[PassageRow]:
        """Yield the passages, and then the runs of boilerplate."""
        for runs, are_boilerplate in ((self.passages, False), (self.boilerplate, True)):
            for each in runs:
                yield PassageRow(each, are_boilerplate, self.a.text[each.passage.start : each.passage.end])


def has_words(text: str) -> bool:
    """Return whether a text has letters or digits, the only characters that are compared."""
    return any(map(str.isalnum, text))
