"""What somebody types, as a query: nothing of it is syntax."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from opensearch_winnow.mappings.record import storable
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.words import Words

TITLE = 4.0  # times as much as in the text a word counts in the title
MOST_WORDS = 200  # of each kind; nobody types so many, and two fields of them are clauses that engines take


def words_query(words: Words, filters: Sequence[Clause] = ()) -> Clause | None:
    """The pages that have each wanted word or phrase in title or text, and none of the unwanted.

    None if no wanted word has a letter or a digit, which no page answers.
    """
    wanted = [_phrase(word) for word in _different(words.wanted)]
    unwanted = [_phrase(word) for word in _different(words.unwanted)]
    return {"bool": {"must": wanted, "must_not": unwanted, "filter": list(filters)}} if wanted else None


def _phrase(word: str) -> Clause:
    """What stands together is looked for together: a word in a script without spaces is a phrase of its characters."""
    return {
        "bool": {
            "should": [
                {"match_phrase": {"title": {"query": word, "boost": TITLE}}},
                {"match_phrase": {"text": {"query": word}}},
            ],
            "minimum_should_match": 1,
        }
    }


def _different(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(storable(word) for word in words if _has_word(word)))[:MOST_WORDS]


def _has_word(word: str) -> bool:
    return any(unicodedata.category(character) in ("Co", "Nd", "Nl", "No") or character.isalpha() for character in word)
