"""What somebody types, as a query: nothing of it is syntax."""

from __future__ import annotations

from collections.abc import Sequence

from opensearch_winnow.mappings.record import storable
from opensearch_winnow.queries.dsl.filters import Clause
from opensearch_winnow.queries.phrases import Phrase, phrases
from opensearch_winnow.queries.words import Words

TITLE = 4.0  # times as much as in the text a word counts in the title
# No page has it. But of a field that is asked for a word, every shard tells the lengths: one that has none of the words
# of a phrase would not, and scores would depend on how pages are spread.
NO_WORD = ""


def words_query(words: Words, filters: Sequence[Clause] = ()) -> Clause | None:
    """The pages that have of each alternative one word or phrase in title or text, and none of the unwanted.

    None if no wanted word has a letter or a digit, which no page answers.
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
    """One of them holds where the phrase is."""
    typed = storable(phrase.typed)  # not the words: a folded word, folded again, is not always the same
    words: list[Clause] = [
        {"match_phrase": {"title": {"query": typed, "boost": TITLE}}},
        {"match_phrase": {"text": {"query": typed}}},
    ]
    start: list[Clause] = [
        {"prefix": {"title": {"value": phrase.prefix, "boost": TITLE}}},
        {"prefix": {"text": {"value": phrase.prefix}}},
    ]
    if phrase.words and phrase.prefix:
        return [{"bool": {"must": [_any(words), _any(start)]}}]
    return words if phrase.words else start


def _any(clauses: list[Clause]) -> Clause:
    return {"bool": {"should": clauses, "minimum_should_match": 1}}
