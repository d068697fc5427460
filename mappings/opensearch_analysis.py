"""The analyzer by which OpenSearch splits texts into words, as the embedded store does in cython_core/word_tokens.pyx.

Of 7.8 million words of real pages, none differs. A change here needs one there: `make word-tables`.
"""

from __future__ import annotations

from typing import Any

ANALYZER = "winnow_words"

# Scripts without spaces whose characters the standard tokenizer keeps together: Thai and Lao, Myanmar, Khmer, the
# repeat marks of kana, katakana, its small extensions, and the half-width forms. It already makes each ideograph and
# each hiragana a word. Marks above and below letters are no words.
UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3031, 0x3035),
    (0x30A0, 0x30FF),
    (0x31F0, 0x31FF),
    (0xFF66, 0xFF9D),
)
# Characters at which the standard tokenizer does not split a word or a number: quotes, apostrophes, full stops, colons,
# commas and low lines of all kinds, and invisible ones such as the soft hyphen.
SEPARATORS = (
    "_'\".:,;·\u00ad\u037e\u0387\u055f\u0589\u05f3\u05f4\u060c\u060d\u066c\u07f8\u200b\u200c\u200d\u200e\u200f\u2018\u2019\u2024\u2027"
    "\u202f\u203f\u2040\u2044\u2054\u2060\ufe10\ufe13\ufe14\ufe33\ufe34\ufe4d\ufe4e\ufe4f\ufe50\ufe52\ufe54\ufe55\ufeff"
    "\uff07\uff0c\uff0e\uff1a\uff1b\uff3f"
)
FINAL_SIGMA, SIGMA = 0x03C2, 0x03C3  # the same letter in two small forms
# Characters that are dropped: combining diacritics, behind their letter; the frame of a key, around a digit; and
# variation selectors, which say whether a character is drawn as an emoji.
VANISHING = ((0x0300, 0x0331), (0x20E3, 0x20E3), (0xFE00, 0xFE0F))


def analysis() -> dict[str, Any]:
    """Return the analysis settings of an index, with the analyzer.

    The characters are listed one by one because that is quick: indexing texts takes a third more CPU time than with the
    standard tokenizer alone. A regular expression took two and a half times as much.
    """
    return {
        "char_filter": {"winnow_characters": {"type": "mapping", "mappings": _characters()}},
        "analyzer": {
            ANALYZER: {
                "type": "custom",
                "char_filter": ["winnow_characters"],
                "tokenizer": "standard",
                "filter": ["lowercase", "asciifolding"],
            }
        },
    }


def _characters() -> list[str]:
    space = _escaped(0x20)
    unspaced = [code for first, last in UNSPACED for code in range(first, last + 1)]
    return [
        *(f"{_escaped(ord(character))} => {space}" for character in SEPARATORS),
        f"{_escaped(FINAL_SIGMA)} => {_escaped(SIGMA)}",
        *(f"{_escaped(code)} => " for first, last in VANISHING for code in range(first, last + 1)),
        *(f"{_escaped(code)} => {space}{_escaped(code) + space if chr(code).isalnum() else ''}" for code in unspaced),
    ]


def _escaped(code: int) -> str:
    return f"\\u{code:04x}"
