"""Defines the methods of Index that find a page, compare pages, and find similar ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.index_base import IndexBase
from opensearch_winnow.operations.pairs import PairOptions, find
from opensearch_winnow.operations.similar import SimilarPages
from opensearch_winnow.operations.similar_batch import AnyQuestion, SimilarBatch, SimilarOptions
from opensearch_winnow.operations.submissions import Submissions
from opensearch_winnow.queries.compare import Comparison, compare
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.frequency_check import DEFAULT_FREQUENT
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.queries.pairs import Document, Measure, Pairs
from opensearch_winnow.queries.question import Question
from opensearch_winnow.queries.thresholds import Thresholds


class QuestionMethods(IndexBase):
    """Finds pages by URL and by what they share with a question."""

    def similar(
        self,
        *,
        url: str | None = None,
        id: str | None = None,  # noqa: A002 (what it is called everywhere else)
        text: str | None = None,
        html: str | bytes | None = None,
        at: datetime | None = None,
        min_resemblance: float | None = None,
        min_containment: float | None = None,
        min_contained: float | None = None,
        exact: bool = True,
        limit: int | None = 100,
        where: Filters = Filters(),
        all_captures: bool = False,
        guarantee: int | None = None,
        frequent: int = DEFAULT_FREQUENT,
        boilerplate: bool = True,
        max_seconds: float | None = None,
    ) -> Matches:
        """Return the pages that are similar to a question, the best first.

        The question is one of these: `url`, a page of the store by its latest capture (with `at`, the latest until
        then); `id`, a capture of the store; `text` or `html`, which need not be in the store.

        A match reaches every threshold that is given, each from 0 to 1: `min_resemblance` (the shared text, as a share
        of the text of both), `min_containment` (the share of the question that is in the page), and `min_contained`
        (the share of the page that is in the question). Matches are ordered by the first of these. Without any, a page
        finds its near-duplicates (`min_resemblance=0.5`), and a text finds the pages with half of it
        (`min_containment=0.5`). With `min_containment=0`, every page that shares a passage is a match.

        - `exact`: compare the texts. With False, or where a text is not stored, scores are estimates, without passages.
        - `limit`: the number of matches to return, None for all; `.total` counts all. Of many pages that share some
          passage, those that share the most are compared; `.uncompared` counts the others. `where` filters the pages.
        - `all_captures`: return every capture. By default, the best match of each URL, and none of the question's URL.
        - `guarantee`: a larger guarantee than the scheme's, which looks up fewer fingerprints: for a quick first look.
        - `frequent`: ignore fingerprints on more pages than this, but never all fingerprints of a passage.
        - `boilerplate`: leave out registered boilerplate. With False, it counts like any text.
        - `max_seconds`: then answer with the pages that were scored so far. `.unscored` counts the others.

        A question shorter than the scheme's guarantee is also searched for by its words. If it has fewer words than a
        shingle, a page with these words in a row contains all of it. If it is shorter than the noise threshold, only
        such pages share a passage with it. `.below_guarantee` tells that a page may be missed, as where texts are not
        stored.
        """
        record = self._pages.find(url=url, id_=id, text=text, html=html, at=at)
        is_stored = url is not None or id is not None
        thresholds = Thresholds.of(
            "resemblance" if is_stored else "containment",
            {"resemblance": min_resemblance, "containment": min_containment, "contained": min_contained},
        )
        exclusions = self._exclusions(boilerplate)
        question = Question.of(record, self.scheme, exclusions, guarantee)
        return SimilarPages(self.store, question, thresholds, exclusions).find(
            exact=exact,
            where=where,
            limit=limit,
            frequent=frequent,
            exclude_url=record.url if is_stored else None,
            all_captures=all_captures,
            max_seconds=max_seconds,
        )

    def similar_batch(
        self,
        questions: Iterable[AnyQuestion],
        *,
        min_resemblance: float | None = None,
        min_containment: float | None = None,
        min_contained: float | None = None,
        exact: bool = True,
        limit: int | None = 100,
        where: Filters = Filters(),
        all_captures: bool = False,
        guarantee: int | None = None,
        frequent: int = DEFAULT_FREQUENT,
        boilerplate: bool = True,
        max_seconds: float | None = None,
    ) -> Iterator[tuple[AnyQuestion, Matches | QuestionError]]:
        """Answer many questions: yield each with the matches that `similar` returns for it, in order.

        A question is a text, a `Page`, or a mapping with one of `text`, `html`, `url` (of a page of the store) and `id`
        (of a capture of the store); a mapping may have other keys. One that cannot be answered, because it is empty or
        its URL is unknown, is yielded with a `QuestionError` that says why, and the others are answered.

        The options are those of `similar`, for every question; `max_seconds` counts for each. Questions are read a few
        at a time and looked up together, which is faster than asking one by one.
        """
        options = SimilarOptions(
            minima={"resemblance": min_resemblance, "containment": min_containment, "contained": min_contained},
            exact=exact,
            limit=limit,
            where=where,
            all_captures=all_captures,
            guarantee=guarantee,
            frequent=frequent,
            max_seconds=max_seconds,
        )
        Thresholds.of("resemblance", options.minima)  # a wrong one is an error of the caller, not of each question
        return SimilarBatch(self.store, lambda: self._exclusions(boilerplate), options).answers(questions)

    def page(self, url: str, at: datetime | None = None) -> Record:
        """Return the latest capture of a URL; with `at`, the latest one until then."""
        return self._pages.latest(url, at)

    def capture(self, id: str) -> Record:  # noqa: A002
        """Return the capture with this id, the `id` of a card."""
        return self._pages.capture(id)

    def compare(self, a: str | Record, b: str | Record, *, boilerplate: bool = True) -> Comparison:
        """Compare two pages exactly, and return their scores and passages.

        `a` and `b` are URLs, which stand for their latest captures, ids of captures, or records that `page` or
        `capture` returned. With `boilerplate=False`, registered boilerplate counts like any text.
        """
        one, other = (self._pages.with_text(each) for each in (a, b))
        return compare(
            one.text,
            other.text,
            self.scheme,
            names=(one.url, other.url),
            boilerplate=self._boilerplate.read() if boilerplate else (),
            sites=(one.site, other.site),
        )

    def pairs(
        self,
        sources: str | Sequence[str] | Sequence[Document] = (),
        *,
        by: Measure = "similarity",
        minimum: float | None = None,
        limit: int | None = None,
        base: Sequence[str] = (),
        owner: str | None = None,
        submissions: Submissions = "auto",
        boilerplate: bool = True,
        progress: Progress | None = None,
    ) -> Pairs:
        """Compare the documents of `sources` with each other and with the pages of the store, and return similar pairs.

        Without `sources`, all pages of the store are compared with each other: the latest capture of each URL. With
        `boilerplate=False`, registered boilerplate counts like any text. All else is as in the function `pairs`.
        """
        options = PairOptions(
            by=by,
            minimum=minimum,
            limit=limit,
            base=base,
            owner=owner,
            submissions=submissions,
            boilerplate=boilerplate,
        )
        names = [sources] if isinstance(sources, str) else sources
        return find(options, names, self.store, progress or no_progress)
