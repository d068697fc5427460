"""Words in a snippet, marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from opensearch_winnow.cli.display_width import Span

# Scripts that are written without spaces: there a word is found in the middle of what looks like one.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")


def marked_words(text: str, words: Sequence[str]) -> list[Span]:
    """The text as plain and bold spans: a word is found in any case, and with or without its accents."""
    patterns = [_pattern(word) for word in words]
    alternatives = "|".join(sorted(filter(None, patterns), key=len, reverse=True))
    if not alternatives:
        return [(text, "plain")]
    folded, origins = _folded(text)
    spans: list[Span] = []
    end = 0
    for found in re.finditer(alternatives, folded):
        start = origins[found.start()]
        after = max(origins[found.end()], origins[found.end() - 1] + 1)  # with the accents of its last letter
        if start >= end:
            spans += [(text[end:start], "plain"), (text[start:after], "bold")]
            end = after
    return [*spans, (text[end:], "plain")]


def _pattern(word: str) -> str:
    """Of the letters and digits in it, whatever stands between them."""
    parts = re.findall(r"\w+", _folded(word)[0])
    if not parts:
        return ""
    inner = r"\W+".join(map(re.escape, parts))
    return inner if UNSPACED.search(inner) else rf"(?<!\w){inner}(?!\w)"


def _folded(text: str) -> tuple[str, list[int]]:
    """In one case and without accents; and where each of its characters, and its end, comes from."""
    characters, origins = [], []
    for index, char in enumerate(text):
        for each in unicodedata.normalize("NFKD", char).casefold():
            if not unicodedata.combining(each):
                characters.append(each)
                origins.append(index)
    return "".join(characters), [*origins, len(text)]
