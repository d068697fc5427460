"""Gives the tokens of a program their real names back, which its canonical text has left out."""

from __future__ import annotations

from array import array
from itertools import accumulate

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.foundation.code_tokens import NAME


def with_real_names(program: CanonicalText) -> CanonicalText:
    """Return the canonical text of a program in which the word of each name is the name itself. Case does not count."""
    text = program.text
    spans = program.spans(range(len(program.chars)), 1)
    words = [
        text[start:end].casefold() if char == NAME else char
        for char, (start, end) in zip(program.chars, spans, strict=True)
    ]
    starts, ends = array("I"), array("I")
    for word, (start, end) in zip(words, spans, strict=True):
        starts.extend([start] * len(word))
        ends.extend([end] * len(word))
    word_starts = array("I", [0, *accumulate(map(len, words))][: len(words)])
    return CanonicalText.from_parts(text, "".join(words), word_starts, starts, ends)
