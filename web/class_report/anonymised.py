"""Replaces the names of documents, files and owners, so that a report can be shown to others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from unicodedata import combining, normalize

from opensearch_winnow.operations.sets.submissions import without_moodle
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile, Pairs

MIN_NAME_LETTERS = 3  # a shorter name is in too many formulas and abbreviations
MAX_CHARS_BETWEEN = 3  # between two parts of a name: a space, or a comma and a space
MASK = "█"
# Letters and digits, with the accents behind them: macOS writes é as e and an accent in the names of files.
WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f\u0653-\u0655\u3099\u309a])*")

Words = tuple[str, ...]


def pseudonyms(pairs: Pairs, numbers: Mapping[str, int]) -> dict[str, str]:
    """Return a new name for each document, made from its number."""
    noun, width = "Submission" if pairs.folders else "Document", max(len(str(len(numbers))), 2)
    return {name: f"{noun} {number:0{width}}" for name, number in numbers.items()}


def anonymised(pairs: Pairs, names: Mapping[str, str]) -> Pairs:
    """Return the pairs with documents called by their new `names`, and without the names of files and owners.

    The name of any document or owner that stands in a text is masked, letter by letter: all offsets remain right.
    """
    masks = NameMasks(pairs)

    def document(each: Document) -> Document:
        files = tuple(
            DocumentFile(f"File {number}{_suffix(file.name)}", masks.masked(file.text))
            for number, file in enumerate(each.files, 1)
        )
        return replace(each, id=names[each.id], files=files, owner="", site=None)

    return replace(
        pairs,
        documents=[document(each) for each in pairs.documents],
        unread=[each._replace(name="", document=names.get(each.document, "")) for each in pairs.unread],
        pairs=[
            replace(
                each,
                a=names[each.a],
                b=names[each.b],
                passages=[passage._replace(file="", other_file="") for passage in each.passages],
            )
            for each in pairs
        ],
    )


class NameMasks:
    """Masks the names of documents and owners in texts: whole words, in any case, with anything short between them.

    Accents do not count: Zoe Muller is Zoë Müller. Documents that were not compared have names, too.
    """

    def __init__(self, pairs: Pairs) -> None:
        ids = [*(each.id for each in pairs.documents), *(each.name for each in pairs.not_compared)]
        owners = [each.owner for each in pairs.documents]
        names = {words for name in (*(n for id_ in ids for n in _names(id_)), *owners) if (words := _words(name))}
        # smith_john is John Smith, and Anna Maria Smith is Smith, Anna Maria
        names |= {words[at:] + words[:at] for words in names if len(words) < 5 for at in (1, -1)}
        self._by_first: dict[str, list[Words]] = defaultdict(list)
        for words in sorted(names, key=lambda each: (-len(each), each)):
            if sum(map(str.isalpha, "".join(words))) >= MIN_NAME_LETTERS:
                self._by_first[words[0]].append(words)

    def masked(self, text: str) -> str:
        """Return a text of the same length in which the letters and digits of names are masked."""
        found = list(WORD.finditer(text))
        pieces, end = [], 0
        for i, first in enumerate(found):
            for name in self._by_first.get(_folded(first[0]), ()):
                words = found[i : i + len(name)]
                if first.start() >= end and _is_name(words, name):
                    pieces += [text[end : first.start()], WORD.sub(_mask, text[first.start() : words[-1].end()])]
                    end = words[-1].end()
        return "".join((*pieces, text[end:]))


def _is_name(words: list[re.Match[str]], name: Words) -> bool:
    between = (after.start() - before.end() for before, after in pairwise(words))
    return tuple(_folded(each[0]) for each in words) == name and all(chars <= MAX_CHARS_BETWEEN for chars in between)


def _mask(word: re.Match[str]) -> str:
    return MASK * len(word[0])


def _names(document: str) -> Iterator[str]:
    """Yield the id of a document, and without its suffix; of a path, the first folder and the name of the file."""
    for name in dict.fromkeys((document, without_moodle(document))):
        path = PurePosixPath(name)
        yield from (name, path.stem)
        if len(path.parts) > 1:
            yield from (path.parts[0], PurePosixPath(path.parts[0]).stem)


def _words(name: str) -> Words:
    return tuple(map(_folded, WORD.findall(name)))


@lru_cache(65_536)
def _folded(word: str) -> str:
    """Return a word without case and accents."""
    letters = "".join(each for each in normalize("NFKD", word) if not combining(each))
    return normalize("NFC", letters).casefold()


def _suffix(name: str) -> str:
    """Return the suffix of a file, which tells its language."""
    return "".join(re.findall(r"\.[A-Za-z0-9]{1,8}$", name))
