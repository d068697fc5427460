"""How good answers are: what a store says about every page, beside what is true of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from tests.quality.corpora import Answer, Article, Corpus
from tests.quality.truth import Pairs, Truth

Outcome = Literal["first", "not first", "not found", "cannot be asked", "no main text"]

THRESHOLD = 0.5
LEAST = 0.05  # asked for, where the threshold is looked for
ZONE = (0.45, 0.55)  # where it is a matter of taste
REUSE = ("cut", "light", "heavy", "non")
# For pages of a few lines, and for texts that were reworded, which keep three words in a row and hardly ever ten.
SHORT = Scheme(noise=20, guarantee=40, shingle=3)


class Asked(NamedTuple):
    """Pages in a store, and what is true of them."""

    store: Index
    urls: list[str]
    questions: list[str]  # the URLs of the pages to ask about
    truth: Truth  # from the lower end of the zone on
    corpus: Corpus


class Quality(NamedTuple):
    recall: float
    precision: float

    @property
    def f1(self) -> float:
        return 2 * self.recall * self.precision / ((self.recall + self.precision) or 1.0)


def near_duplicates(index: Index, urls: Iterable[str], least: float = THRESHOLD, *, exact: bool = True) -> Pairs:
    """Every page with each of its matches, and the score."""
    return {
        (url, match.url): match.resemblance
        for url in urls
        for match in index.similar(url=url, min_resemblance=least, exact=exact, limit=None)
    }


def containing(index: Index, urls: Iterable[str], least: float = THRESHOLD) -> Pairs:
    """Every page with each page that contains it, and how much of it."""
    return {
        (url, match.url): match.containment
        for url in urls
        for match in index.similar(url=url, min_containment=least, limit=None)
    }


def beside_truth(found: Pairs, truth: Pairs, questions: Iterable[str]) -> Quality:
    """Of the answers to these questions; pairs in the zone around the threshold do not count."""
    low, high = ZONE
    asked = set(questions)
    wanted = {pair for pair, resemblance in truth.items() if resemblance >= high and pair[0] in asked}
    counted = {pair for pair in found if not low <= truth.get(pair, 0.0) < high}
    return Quality(len(wanted & counted) / len(wanted), len(wanted & counted) / len(counted))


def beside_labels(found: Pairs, labels: Mapping[tuple[str, str], bool], threshold: float) -> Quality:
    """Labels are about pairs in one order; a store is asked about both pages."""
    same = {pair for pair, label in labels.items() if label}
    said = {pair for pair in labels if max(found.get(pair, 0.0), found.get(pair[::-1], 0.0)) >= threshold}
    return Quality(len(same & said) / len(same), len(same & said) / max(len(said), 1))


def best_threshold(found: Pairs, labels: Mapping[tuple[str, str], bool], least: float = LEAST) -> tuple[float, Quality]:
    """The hundredth from `least` on with the highest F1."""
    hundredths = [number / 100 for number in range(round(least * 100), 100)]
    measured = [(threshold, beside_labels(found, labels, threshold)) for threshold in hundredths]
    return max(measured, key=lambda each: each[1].f1)


def main_texts(index: Index, articles: Iterable[Article], least: float) -> Counter[Outcome]:
    """What becomes of each article, when its main text is pasted to find the page that it is on."""
    return Counter(main_text(index, article, least) for article in articles)


def main_text(index: Index, article: Article, least: float) -> Outcome:
    if not article.main_text.strip():
        return "no main text"
    try:
        urls = [match.url for match in index.similar(text=article.main_text, min_containment=least)]
    except QuestionError:
        return "cannot be asked"
    if article.page.url not in urls:
        return "not found"
    return "first" if urls[0] == article.page.url else "not first"


def in_source(index: Index, answer: Answer) -> float:
    """How much of an answer is in its source, as far as the store finds it: 0 below one shingle in a hundred."""
    matches = index.similar(text=answer.text, min_containment=0.01, limit=None)
    return next((match.containment for match in matches if match.url == answer.source.url), 0.0)


def area(higher: Sequence[float], lower: Sequence[float]) -> float:
    """The area under the ROC curve: how often one of the first is above one of the second; 0.5 is chance."""
    wins = sum((a > b) + (a == b) / 2 for a in higher for b in lower)
    return wins / (len(higher) * len(lower))
