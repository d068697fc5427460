"""Measures the quality of a store's answers: recall, precision and F1 against exact scores or hand labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from tests.quality.corpora import Answer, Article, Corpus
from tests.quality.truth import Pairs, Truth

Outcome = Literal["first", "not first", "not found", "not searchable", "no main text"]

THRESHOLD = 0.5
MIN_RESEMBLANCE = 0.05  # the lowest threshold tried when the best one is sought
BORDERLINE = (0.45, 0.55)  # resemblances so close to the threshold that either answer is right
REUSE_CLASSES = ("cut", "light", "heavy", "non")
# For pages of a few lines and for reworded texts, which still share three words in a row but hardly ever ten.
SHORT_TEXT_SCHEME = Scheme(noise=20, guarantee=40, shingle=3)


@dataclass(frozen=True)
class CorpusStore:
    """A corpus in a store, with the exact scores of its pairs."""

    index: Index
    urls: list[str]
    questions: list[str]  # the URLs of the pages used as questions
    truth: Truth  # scores from the lower end of BORDERLINE upwards
    corpus: Corpus


class Quality(NamedTuple):
    recall: float
    precision: float

    @property
    def f1(self) -> float:
        return 2 * self.recall * self.precision / ((self.recall + self.precision) or 1.0)


def near_duplicates(
    index: Index, urls: Iterable[str], min_resemblance: float = THRESHOLD, *, exact: bool = True
) -> Pairs:
    """Return the resemblance of each page in `urls` to each of its matches."""
    options: dict[str, Any] = {"min_resemblance": min_resemblance, "exact": exact, "limit": None}
    found = ((url, match) for url in urls for match in index.similar(url=url, **options))
    return {(url, match.url): match.resemblance for url, match in found}


def pages_containing(index: Index, urls: Iterable[str], min_containment: float = THRESHOLD) -> Pairs:
    """Return the containment of each page in `urls` in each of its matches."""
    options: dict[str, Any] = {"min_containment": min_containment, "limit": None}
    found = ((url, match) for url in urls for match in index.similar(url=url, **options))
    return {(url, match.url): match.containment for url, match in found}


def quality_by_truth(found: Pairs, truth: Pairs, questions: Iterable[str]) -> Quality:
    """Return the quality of the answers to `questions`. Borderline pairs do not count."""
    low, high = BORDERLINE
    urls = set(questions)
    wanted = {pair for pair, score in truth.items() if score >= high and pair[0] in urls}
    counted = {pair for pair in found if not low <= truth.get(pair, 0.0) < high}
    return Quality(len(wanted & counted) / len(wanted), len(wanted & counted) / len(counted))


def quality_by_labels(found: Pairs, labels: Mapping[tuple[str, str], bool], threshold: float) -> Quality:
    """Return the quality of `found` at `threshold`. A labelled pair has one order; it counts if found in either."""
    same = {pair for pair, label in labels.items() if label}
    matched = {pair for pair in labels if max(found.get(pair, 0.0), found.get(pair[::-1], 0.0)) >= threshold}
    return Quality(len(same & matched) / len(same), len(same & matched) / max(len(matched), 1))


def best_threshold(
    found: Pairs, labels: Mapping[tuple[str, str], bool], lowest: float = MIN_RESEMBLANCE
) -> tuple[float, Quality]:
    """Return the threshold with the highest F1, and its quality. Try `lowest` to 0.99 in steps of 0.01."""
    hundredths = [number / 100 for number in range(round(lowest * 100), 100)]
    measured = [(threshold, quality_by_labels(found, labels, threshold)) for threshold in hundredths]
    return max(measured, key=lambda each: each[1].f1)


def count_outcomes(index: Index, articles: Iterable[Article], min_containment: float) -> Counter[Outcome]:
    """Search for each article's page by its main text, and count the outcomes."""
    return Counter(search_outcome(index, article, min_containment) for article in articles)


def search_outcome(index: Index, article: Article, min_containment: float) -> Outcome:
    if not article.main_text.strip():
        return "no main text"
    try:
        urls = [match.url for match in index.similar(text=article.main_text, min_containment=min_containment)]
    except QuestionError:
        return "not searchable"
    if article.page.url not in urls:
        return "not found"
    return "first" if urls[0] == article.page.url else "not first"


def containment_in_source(index: Index, answer: Answer) -> float:
    """Return the containment of an answer in its source, or 0 if it is below 0.01."""
    matches = index.similar(text=answer.text, min_containment=0.01, limit=None)
    return next((match.containment for match in matches if match.url == answer.source.url), 0.0)


def roc_auc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return the area under the ROC curve: P(a value of `higher` > a value of `lower`), ties half. 0.5 is chance."""
    wins = sum((a > b) + (a == b) / 2 for a in higher for b in lower)
    return wins / (len(higher) * len(lower))
