"""Explains why a search or a question found nothing, and offers what would find something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.answers.similar_words import unscored_sentence
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.index import Index
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.queries.words import Term, Words

MAX_PARTS_TRIED = 8  # parts of a query that are left out one by one
ROUND_THRESHOLDS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)  # the highest that finds a page is offered
MAX_PAGES_TRIED = 100  # pages scored to learn what a lower threshold would find
MAX_SHORT_CHARS = 1_000  # of a text that is certainly longer than most guarantees
HALF = 0.5


class NoHit(NamedTuple):
    """Why a search has no hit. `str` gives a sentence without its full stop."""

    reason: str
    offer: str = ""  # what would find something
    words: str | None = None  # the query to run instead
    filters: bool = True  # whether the filters may stay

    def __str__(self) -> str:
        return f"{self.reason}; {self.offer}" if self.offer else self.reason


class Offer(NamedTuple):
    """A change to a question that finds pages."""

    text: str  # what it finds: a clause without its full stop
    change: dict[str, Any]  # parameters of `Index.similar` with their new values


class NoMatch(NamedTuple):
    """Why a question of similarity has no match. Without offers, nothing in the store is similar."""

    reason: str  # a sentence without its full stop; empty where the offers say it all
    offers: Sequence[Offer] = ()


class LowerThreshold(NamedTuple):
    threshold: float
    pages: int  # pages it finds
    at_least: bool  # whether there may be more, because not all pages were tried


def no_hit(index: Index, typed: str, *, any_word: bool, where: Filters, all_captures: bool, filters: str) -> NoHit:
    """Explain why the search for `typed` has no hit. `filters` names the filters in `where` as the user knows them."""

    def count(words: str) -> int:
        return index.search(words, where=where, all_captures=all_captures, limit=1).total

    if not index.store.count():
        return empty_store(index.name)
    if filters:
        anywhere = index.search(typed, any_word=any_word, limit=1).total
        if anywhere:
            offer = f"without {filters}, {count_of(anywhere, 'page has', 'pages have')} them"
            return NoHit(f"No page has these words with {filters}", offer, typed, filters=False)
    words = Words.of(typed, any_word=any_word)
    if words.unwanted and (pages := count(as_typed(words.wanted))):
        reason = f"No page has these words without {' or '.join(map(_typed, words.unwanted))}"
        offer = f"{count_of(pages, 'page has', 'pages have')} them if nothing is excluded"
        return NoHit(reason, offer, as_typed(words.wanted))
    if len(words.wanted) == 1:
        (terms,) = words.wanted
        missing = _typed(terms[0]) if len(terms) == 1 else "any of these words"
        return NoHit(f"No page in {index.name} has {missing}")
    fewer = {
        part: as_typed([each for each in words.wanted if each is not part]) for part in words.wanted[:MAX_PARTS_TRIED]
    }
    counts = {part: count(rest) for part, rest in fewer.items()}
    part = max(counts, key=lambda each: counts[each])
    if not counts[part]:
        return NoHit(f"No page in {index.name} has all these words, or all but one of them")
    offer = f"without {as_typed([part])} there {_are(counts[part])}"
    return NoHit("No page has all these words", offer, fewer[part])


def no_match(index: Index, question: dict[str, Any], matches: Matches, *, filters: str) -> NoMatch:
    """Explain why the arguments `question` of `Index.similar` gave no `matches`. `filters` names those in `where`."""
    if not index.store.count():
        return NoMatch(str(empty_store(index.name)))
    if matches.unscored:
        return NoMatch(unscored_sentence(matches))
    if question["where"] != Filters():
        anywhere = index.similar(**question | {"where": Filters(), "limit": 1}).total
        if anywhere:
            return NoMatch("", [Offer(f"Without {filters} there {_are(anywhere)}", {"where": Filters()})])
    first = f"min_{matches.score}"
    minima = {name: value for name, value in question.items() if name.startswith("min_")}
    several = any(value is not None for name, value in minima.items() if name != first)
    if not several and (closest := _closest(index, question, matches)):
        return closest
    any_passage = dict.fromkeys(minima) | {"min_containment": 0.0}
    if several or matches.threshold:
        # Estimates count the pages as well as texts do, and faster, unless what is shared may be boilerplate. A short
        # text is found by its words, and then compared.
        is_short = len(question.get("text") or "") in range(1, MAX_SHORT_CHARS)
        exact = question["exact"] and (is_short or bool(index.boilerplate()))
        sharing = index.similar(**question | any_passage | {"exact": exact, "limit": 1}).total
        if sharing:
            offer = f"{count_of(sharing, 'page shares', 'pages share')} a passage with it"
            return NoMatch("No page reaches every threshold" if several else "", [Offer(offer, any_passage)])
    return NoMatch(_no_shared_passage(index, question))


def _closest(index: Index, question: dict[str, Any], matches: Matches) -> NoMatch | None:
    """Offer the highest round threshold that finds a page. Below the lowest of them, a shared passage says more."""
    minimum, lowest = f"min_{matches.score}", ROUND_THRESHOLDS[-1]
    if matches.threshold <= lowest:
        return None
    nearest = index.similar(**question | {minimum: lowest, "limit": MAX_PAGES_TRIED})
    scores = [getattr(match, matches.score) for match in nearest]
    lower = lower_threshold(scores, nearest.total)
    if lower is None:
        return None
    pages = "at least " * lower.at_least + count_of(lower.pages, "page")
    offers = [Offer(f"a threshold of {percent(lower.threshold)} finds {pages}", {minimum: lower.threshold})]
    if matches.score == "resemblance" and any(match.containment >= HALF for match in nearest):
        offers.append(Offer("at least half of it is in other pages", {minimum: None, "min_containment": HALF}))
    return NoMatch(f"The closest page scores {percent(scores[0])}", offers)


def lower_threshold(scores: Sequence[float], total: int) -> LowerThreshold | None:
    """Return the highest round threshold that one of `scores` reaches: the best scores of `total` pages."""
    for threshold in ROUND_THRESHOLDS:
        pages = sum(score >= threshold for score in scores)
        if pages:
            return LowerThreshold(threshold, pages, at_least=pages == len(scores) < total)
    return None


def _no_shared_passage(index: Index, question: dict[str, Any]) -> str:
    pages = index.store.count()
    if question["where"] != Filters():
        none = "No page that passes the filters"
    elif question.get("text") is None and question.get("html") is None:
        if pages == 1:
            return "It is the only page in this store"
        none = "No other page in this store"
    else:
        none = f"None of {count_of(pages, 'page')}"
    text = question.get("text")
    if text is not None and question["exact"] and len(canonical(text, index.scheme).chars) < index.scheme.noise:
        return f"{none} has these words in a row"
    if not index.scheme.guarantees:
        return f"{none} shares a fingerprint with it"
    unit = "tokens" if index.scheme.form == "code" else "letters and digits"
    run = f"{question.get('guarantee') or index.scheme.guarantee:,} {unit}"
    return f"{none} shares a passage with it; a shared run of {run} is always found"


def empty_store(name: str) -> NoHit:
    """Explain that a store has no pages, and how to add some."""
    return NoHit(f"{name} is empty", f"add pages with: winnow index SOURCE --store {name}")


def as_typed(wanted: Sequence[Sequence[Term]]) -> str:
    """Return the query that is parsed into these terms."""
    return " ".join(" OR ".join(map(_typed, alternatives)) for alternatives in wanted)


def _typed(term: Term) -> str:
    """Return a term as it has to be typed: in quotes where it would otherwise be read as something else."""
    if term.prefix:
        return f"{term.text}*"
    return term.text if term.text != "OR" and Words.of(term.text).wanted == ((term,),) else f'"{term.text}"'


def _are(count: int) -> str:
    return f"{'is' if count == 1 else 'are'} {count:,}"
