"""Answers many questions of similarity: their candidates are looked up together, and their texts prepared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from opensearch_winnow.foundation.batches import batches_by_size
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.tables import refuse_table
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record, storable
from opensearch_winnow.operations.asking.page_finder import PASTED_URL, PageFinder
from opensearch_winnow.operations.asking.short_questions import are_texts_stored
from opensearch_winnow.operations.asking.side_cache import SideCache
from opensearch_winnow.operations.asking.similar import SimilarPages
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.captures import captures_of_urls
from opensearch_winnow.stores.store import Store

BATCH_SIZE = 32  # questions that are looked up together
MAX_BATCH_CHARS = 2_000_000  # of the texts of these

QUESTION_FIELDS = ("text", "html", "url", "id")  # of a mapping: the first that it has is the question


class _ByUrl(NamedTuple):
    """A page of the store."""

    url: str


class _ById(NamedTuple):
    """A capture of the store."""

    id: str


_Posed = Page | _ByUrl | _ById | QuestionError
AnyQuestion = TypeVar("AnyQuestion", bound=str | Page | Mapping[str, Any])
Answer = Matches | QuestionError


class SimilarBatch:
    """Answers questions as they come, each as if it were the only one.

    >>> for question, answer in SimilarBatch(store, exclusions, options).answers(["a text", {"url": "http://a.org/"}]):
    """

    def __init__(self, store: Store, exclusions: Callable[[], Exclusions], options: SimilarOptions) -> None:
        """`exclusions` is called for every batch: boilerplate may be added meanwhile."""
        self._store = store
        self._exclusions = exclusions
        self._options = options
        self._pages = PageFinder(store)
        self._sides = SideCache(store.scheme)

    def answers(self, questions: Iterable[AnyQuestion]) -> Iterator[tuple[AnyQuestion, Answer]]:
        """Yield each question with its matches, or with the reason why it cannot be answered, in order."""
        refuse_table(questions, "a text, a Page or a mapping for each question")
        for some in batches_by_size(questions, _size, MAX_BATCH_CHARS, BATCH_SIZE):
            yield from zip(some, self._answers([_posed(each) for each in some]), strict=True)

    def _answers(self, posed: Sequence[_Posed]) -> Iterator[Answer]:
        options = self._options
        exclusions = self._exclusions()
        texts_stored = are_texts_stored(self._store)
        prepared: list[SimilarPages | QuestionError] = []
        for one, record in zip(posed, self._records(posed), strict=True):
            try:
                if isinstance(record, QuestionError):
                    raise record
                is_stored = isinstance(one, _ByUrl | _ById)
                finder = SimilarPages(
                    self._store,
                    record,
                    options,
                    exclusions,
                    is_stored=is_stored,
                    texts_stored=texts_stored,
                    sides=self._sides,
                )
                prepared.append(finder)
            except QuestionError as error:
                prepared.append(error)
        lookups = [each.first_lookups() for each in prepared if not isinstance(each, QuestionError)]
        check = FrequencyCheck.of(self._store.scheme, options.frequent)
        found = iter(self._store.candidates(lookups, options.where, check) if lookups else ())
        for each in prepared:
            yield each if isinstance(each, QuestionError) else each.find(looked_up=next(found))

    def _records(self, posed: Sequence[_Posed]) -> Iterator[Record | QuestionError]:
        """Yield the record of each question. Records of texts are made; records of pages are read together."""
        texts = self._pages.text_records(each for each in posed if isinstance(each, Page))
        latest: dict[str, str] = {}
        for card in captures_of_urls(self._store, {storable(each.url) for each in posed if isinstance(each, _ByUrl)}):
            latest.setdefault(card.url, card.id)  # the newest comes first
        records = self._store.read(latest.values(), Record) if latest else {}
        for each in posed:
            if isinstance(each, QuestionError):
                yield each
            elif isinstance(each, Page):
                yield next(texts)
            elif isinstance(each, _ByUrl) and (known := records.get(latest.get(storable(each.url), ""))):
                yield known
            else:
                try:
                    yield self._pages.named(each.url) if isinstance(each, _ByUrl) else self._pages.capture(each.id)
                except QuestionError as error:
                    yield error


def _size(question: object) -> int:
    posed = _posed(question)
    return len(posed.text or posed.html or "") if isinstance(posed, Page) else 0


def _posed(question: object) -> _Posed:
    """Return the page or text of a question, or the error if it has neither."""
    if isinstance(question, str):
        return Page(PASTED_URL, text=question)
    if isinstance(question, Page):
        return replace(question, url=PASTED_URL, fetched_at=None)
    if not isinstance(question, Mapping):
        return QuestionError(f"a question is a text, a Page or a mapping, not {type(question).__name__}")
    name = next((name for name in QUESTION_FIELDS if question.get(name) is not None), None)
    if name is None:
        return QuestionError(f"a question has one of {', '.join(QUESTION_FIELDS)}")
    value: Any = question[name]
    if not isinstance(value, str) and not (name == "html" and isinstance(value, bytes)):
        return QuestionError(f"the {name} of a question is a text, not {type(value).__name__}")
    if name in ("url", "id"):
        return _ByUrl(str(value)) if name == "url" else _ById(str(value))
    return Page(PASTED_URL, html=value) if name == "html" else Page(PASTED_URL, text=str(value))
