"""Full-text search in SQLite: texts as they are indexed, and questions as FTS5 takes them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from opensearch_winnow.mappings.record import storable
from opensearch_winnow.queries.words import Words

# Scripts that are written without spaces: kana, ideographs, and those of South-East Asia. Each character is indexed as
# a word, and a word of them is looked for as the phrase of its characters.
UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3031-\u3035\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003fffd])"
)
# FTS5 nests an expression for each word, and refuses deep ones. Nobody types so many.
MOST_WORDS = 200


def indexed(text: str) -> str:
    """The text as it goes into the index, and comes out of it when the page is deleted."""
    return text if text.isascii() else UNSPACED.sub(r" \1 ", text)


def expression(words: Words) -> str | None:
    """What FTS5 is asked for; None if no wanted word has a letter or a digit, which no page answers."""
    wanted, unwanted = _phrases(words.wanted), _phrases(words.unwanted)
    if not wanted:
        return None
    asked = " AND ".join(wanted)
    return f"({asked}) NOT ({' OR '.join(unwanted)})" if unwanted else asked


def _phrases(words: Sequence[str]) -> list[str]:
    """Each in quotes: nothing that is typed is syntax. A NUL would end the whole expression."""
    cleaned = dict.fromkeys(
        indexed(storable(word)).translate({0: " ", ord('"'): " "}) for word in words if _has_word(word)
    )
    return [f'"{word}"' for word in cleaned][:MOST_WORDS]


def _has_word(word: str) -> bool:
    return any(unicodedata.category(character) in ("Co", "Nd", "Nl", "No") or character.isalpha() for character in word)
