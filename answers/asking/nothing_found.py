"""Explains why a search or a question found nothing, and which change would find something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from opensearch_winnow.answers.asking.similar_words import unscored_sentence
from opensearch_winnow.answers.asking.too_short import too_short_sentence, words_sentence
from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.operations.asking.nothing_found import NoHit, NoMatch, Offer
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.words import as_typed, typed_term


class NoHitWords(NamedTuple):
    """The reason why a search has no hit. `str` gives a sentence without its full stop."""

    reason: str
    offer: str = ""  # a change that would find something
    words: str | None = None  # the query to run instead
    filters: bool = True  # True if the filters may stay

    def __str__(self) -> str:
        return f"{self.reason}; {self.offer}" if self.offer else self.reason


class NoMatchWords(NamedTuple):
    """The reason why a question of similarity has no match."""

    reason: str  # a sentence without its full stop; empty where the offers suffice
    offers: Sequence[tuple[str, Offer]] = ()  # changes that find something: each a clause without its full stop


def no_hit_words(why: NoHit, *, name: str, filters: str) -> NoHitWords:
    """Explain why a search of the store `name` has no hit. `filters` names its filters as the user knows them."""
    have = f"{count_of(why.pages, 'page has', 'pages have')} them"
    match why.cause:
        case "empty":
            return empty_store(name)
        case "filtered":
            reason = f"No page has these words with {filters}"
            return NoHitWords(reason, f"without {filters}, {have}", why.query, filters=False)
        case "unwanted":
            unwanted = why.words.unwanted if why.words else ()
            reason = f"No page has these words without {' or '.join(map(typed_term, unwanted))}"
            return NoHitWords(reason, f"{have} if nothing is excluded", why.query)
        case "no_word":
            missing = typed_term(why.left_out[0]) if len(why.left_out) == 1 else "any of these words"
            return NoHitWords(f"No page in {name} has {missing}")
        case "apart":
            return NoHitWords(f"No page in {name} has all these words, or all but one of them")
        case "one_too_many":
            offer = f"without {as_typed([why.left_out])} there {_are(why.pages)}"
            return NoHitWords("No page has all these words", offer, why.query)


def no_match_words(why: NoMatch, matches: Matches, *, name: str, scheme: Scheme, filters: str) -> NoMatchWords:
    """Explain why a question to the store `name` has no `matches`. `filters` names them as the user knows them."""
    return NoMatchWords(
        _no_match_reason(why, matches, name, scheme), [(_offer_clause(offer, filters), offer) for offer in why.offers]
    )


def _no_match_reason(why: NoMatch, matches: Matches, name: str, scheme: Scheme) -> str:
    match why.cause:
        case "empty":
            return str(empty_store(name))
        case "no_text":
            return f"It has {why.lack}, so there is nothing to compare"
        case "too_short":
            reason = too_short_sentence(why.text, scheme)
            return reason if why.words is None or why.offers else f"{reason}; {words_sentence(why.words)}"
        case "unscored":
            return unscored_sentence(matches)
        case "below":
            return f"The closest page scores {percent(why.closest)}" if why.closest else ""
        case "several":
            return "No page reaches every threshold"
        case "filtered":
            return ""
        case "passage":
            return _no_shared_passage(why, scheme)


def _offer_clause(offer: Offer, filters: str) -> str:
    match offer.kind:
        case "filters":
            return f"Without {filters} there {_are(offer.pages)}"
        case "threshold":
            (threshold,) = offer.minima.values()
            pages = "at least " * offer.at_least + count_of(offer.pages, "page")
            return f"a threshold of {percent(threshold or 0.0)} finds {pages}"
        case "half":
            return "at least half of it is in other pages"
        case "passage":
            return f"{count_of(offer.pages, 'page shares', 'pages share')} a passage with it"
        case "words":
            return words_sentence(offer.words) if offer.words else ""


def _no_shared_passage(why: NoMatch, scheme: Scheme) -> str:
    if why.is_filtered:
        none = "No page that passes the filters"
    elif why.is_stored:
        if why.pages == 1:
            return "It is the only page in this store"
        none = "No other page in this store"
    else:
        none = f"None of {count_of(why.pages, 'page')}"
    if not scheme.guarantees:
        return f"{none} shares a fingerprint with it"
    unit = "tokens" if scheme.form == "code" else "letters and digits"
    run = f"{why.guarantee or scheme.guarantee:,} {unit}"
    return f"{none} shares a passage with it; a shared run of {run} is always found"


def empty_store(name: str, stale: int | None = None) -> NoHitWords:
    """Explain that a store has no pages, and how to add some. `stale` counts documents of an attached index."""
    if stale is not None:
        none = f"{name} has {count_of(stale, 'document')} without fields, and no other" if stale else f"{name} is empty"
        offer = "add the fields with" if stale else "write documents to it, then run"
        return NoHitWords(none, f"{offer}: winnow attach {name} --update")
    return NoHitWords(f"{name} is empty", f"add pages with: winnow index SOURCE --store {name}")


def _are(count: int) -> str:
    return f"{'is' if count == 1 else 'are'} {count:,}"
