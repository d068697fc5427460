"""Writes cython_core/word_tables.h: how the analyzer of OpenSearch treats each character.

Run by hand (`make word-tables`) when the analyzer changes. It sends all characters to a real engine, so that the
embedded store splits texts into the same words as OpenSearch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow.mappings.opensearch_mapping import analysis
from opensearch_winnow.mappings.stored_fields import ANALYZER
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port
from tools.unicode_tables import PAGE, PAGE_BITS, array, constants, initialiser, numbers

HEADER = Path(__file__).parent.parent / "cython_core" / "word_tables.h"
CHARACTERS_PER_REQUEST = 4_000
TERMINATOR = "\n~\n"  # ends the text of each character in a request
CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and chr(code) not in TERMINATOR]

# The kinds of characters, by their effect on words.
KINDS = (
    "NOTHING",  # ends a word
    "LETTER",  # letters and digits: a sequence of them is a word
    "EXTENDS",  # continues any word before it, and starts none
    "VANISHES",  # is dropped, and does not end a word
    "ALONE",  # is a word by itself, as an ideograph
    "APART",  # is a word by itself, and no EXTENDS or mark continues it
    "KATAKANA",  # a sequence of them is a word, without letters
    "COMPLEX",  # a sequence of them is a word: scripts of South-East Asia
    "COMPLEX_MARK",  # continues a word, or starts a COMPLEX one
    "EMOJI_MARK",  # continues a word, or is one by itself
    "FLAG",  # two of them are a word
)
MAX_FOLDED_BYTES = 4  # of the folded form of a character

Token = tuple[str, str]  # a word and its type


class Probe:
    """Asks an engine for the words of short texts, one for each character."""

    def __init__(self, client: OpenSearch) -> None:
        self.client = client
        settings = {
            "analysis": analysis(),
            "index.analyze.max_token_count": 4 * CHARACTERS_PER_REQUEST,
            "number_of_replicas": 0,
        }
        client.indices.create(index="probe", body={"settings": settings})

    def words(self, context: Callable[[str], str]) -> dict[str, list[Token]]:
        """Return for each character the words of `context(character)`."""
        tokens_of: dict[str, list[Token]] = {}
        for start in range(0, len(CHARACTERS), CHARACTERS_PER_REQUEST):
            characters = CHARACTERS[start : start + CHARACTERS_PER_REQUEST]
            offsets, offset, texts = [], 0, []
            for character in characters:
                tokens_of[character] = []
                offsets.append(offset)
                texts.append(context(character) + TERMINATOR)
                offset += len(texts[-1].encode("utf-16-le")) // 2
            body = {"analyzer": ANALYZER, "text": "".join(texts)}
            tokens: list[dict[str, Any]] = self.client.indices.analyze(index="probe", body=body)["tokens"]
            for token in tokens:
                character = characters[bisect_right(offsets, token["start_offset"]) - 1]
                tokens_of[character].append((token["token"], token["type"]))
        return tokens_of


def records(probe: Probe) -> list[tuple[str, str]]:
    """Return the kind and the folded form of each character."""
    alone = probe.words(lambda character: character)
    within = probe.words(lambda character: f"a{character}b")
    behind = probe.words(lambda character: f"日{character}")
    twice = probe.words(lambda character: character * 2)
    extended = probe.words(lambda character: f"{character}\U0001f3fb")

    def record(code: int) -> tuple[str, str]:
        character = chr(code)
        if character not in alone or (not alone[character] and len(within[character]) == 2 and not twice[character]):
            return "NOTHING", ""
        if len(within[character]) == 1:
            folded = within[character][0][0][1:-1]
            if not folded:
                return "VANISHES", ""
            if len(behind[character]) == 2:
                return "LETTER", folded
            if not alone[character]:
                return "EXTENDS", folded
            return ("EMOJI_MARK" if alone[character][0][1] == "<EMOJI>" else "COMPLEX_MARK"), folded
        if not alone[character]:
            (pair,) = twice[character]
            return "FLAG", pair[0][: len(pair[0]) // 2]
        ((folded, kind),) = alone[character]
        if len(extended[character]) == 2:
            return "APART", folded
        if len(twice[character]) == 2:
            return "ALONE", folded
        return ("KATAKANA" if kind == "<KATAKANA>" else "COMPLEX"), folded

    return [record(code) for code in range(0x110000)]


def header(probe: Probe) -> str:
    """Return the text of the header."""
    expansions: list[int] = []
    indices: dict[str, int] = {}

    def row(code: int, kind: str, folded: str) -> tuple[int, int, int]:
        """Return (value, kind, number of folded characters).

        The value is the distance to the folded character or, if there are several, their index in `expansions`.
        """
        if len(folded.encode()) > MAX_FOLDED_BYTES:
            raise ValueError(f"U+{code:04X} is folded to {folded!r}, which is longer than {MAX_FOLDED_BYTES} bytes")
        if len(folded) > 1 and folded not in indices:
            indices[folded] = len(expansions)
            expansions.extend(map(ord, folded))
        value = indices[folded] if len(folded) > 1 else ord(folded) - code if folded else 0
        return value, KINDS.index(kind), len(folded)

    rows = [row(code, *record) for code, record in enumerate(records(probe))]
    all_pages = [tuple(rows[start : start + PAGE]) for start in range(0, len(rows), PAGE)]
    # The most common first, so that most numbers in the header are short.
    pages = _by_frequency(all_pages)
    different = _by_frequency(chain.from_iterable(pages))
    return "\n".join(
        [
            "/* Generated by tools/word_tables.py from the analyzer of OpenSearch. Do not edit. */",
            "#include <stdint.h>",
            "",
            "typedef struct { int32_t value; uint8_t kind, characters; } word_record;",
            "",
            constants(**{kind: number for number, kind in enumerate(KINDS)}),
            constants(PAGE_BITS=PAGE_BITS, MAX_FOLDED_BYTES=MAX_FOLDED_BYTES),
            "",
            array("uint16_t word_page_of", numbers(all_pages, pages)),
            array("uint16_t word_record_of", numbers(chain.from_iterable(pages), different)),
            array("word_record word_records", map(initialiser, different)),
            array("uint8_t word_expansions", expansions),
        ]
    )


def _by_frequency(items: Iterable[Any]) -> list[Any]:
    return [item for item, _ in Counter(items).most_common()]


def main() -> None:
    with TemporaryDirectory() as folder:
        engine = LocalEngine(Path(folder))
        try:
            port = engine.start(port=free_port()).nodes[0].port
            HEADER.write_text(header(Probe(OpenSearch(f"http://localhost:{port}", timeout=60))), encoding="ascii")
        finally:
            engine.stop()


if __name__ == "__main__":
    main()
