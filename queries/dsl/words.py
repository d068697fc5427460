"""Builds the query for words of a full-text search. Nothing that is typed is query syntax."""

from __future__ import annotations

from collections.abc import Sequence

from opensearch_winnow.mappings.record import storable
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.phrases import Phrase, phrases
from opensearch_winnow.queries.words import TITLE_WEIGHT, Words

# No page has this word. But because of this clause, every shard reports the field lengths that BM25 needs. For a phrase
# alone, a shard with none of its words would not, and scores would depend on how pages are spread over shards.
NO_WORD = ""


def words_query(words: Words, filters: Sequence[Clause] = ()) -> Clause | None:
    """Return a query for the pages with one of each group of alternatives in title or text, and no unwanted phrase.

    Returns None if no wanted word has a letter or a digit: then no page matches.
    """
    wanted, unwanted = phrases(words)
    if not wanted:
        return None
    return {
        "bool": {
            "must": [_any([clause for each in alternatives for clause in _clauses(each)]) for alternatives in wanted],
            "should": [{"term": {field: NO_WORD}} for field in ("title", "text")],
            "must_not": [clause for each in unwanted for clause in _clauses(each)],
            "filter": list(filters),
        }
    }


def _clauses(phrase: Phrase) -> list[Clause]:
    """Return clauses of which at least one matches a page that has the phrase."""
    typed = storable(phrase.typed)  # not the folded words: folding a word twice can change it again
    words: list[Clause] = [
        {"match_phrase": {"title": {"query": typed, "boost": TITLE_WEIGHT}}},
        {"match_phrase": {"text": {"query": typed}}},
    ]
    prefix: list[Clause] = [
        {"prefix": {"title": {"value": phrase.prefix, "boost": TITLE_WEIGHT}}},
        {"prefix": {"text": {"value": phrase.prefix}}},
    ]
    if phrase.words and phrase.prefix:
        return [{"bool": {"must": [_any(words), _any(prefix)]}}]
    return words if phrase.words else prefix


def _any(clauses: list[Clause]) -> Clause:
    return {"bool": {"should": clauses, "minimum_should_match": 1}}
