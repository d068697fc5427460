"""Turns the text of a program into tokens, as MOSS does: renaming, comments and reformatting hide no copy.

Each token is one canonical character and one word. All names, including those of types, become one symbol, strings
another and numbers a third; each keyword has a symbol of its own, and each sign of an operator stays. Comments,
documentation strings and layout are left out, and so is what formatters add and remove: semicolons, braces, commas
before a closing bracket, and parentheses other than those of a call. Adjacent strings become one. Imports and modifiers
such as public and final are left out too: unrelated programs share them, and a disguised copy changes them freely.
"""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any

from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, Punctuation, String

from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.foundation.code_language import lexer_for

Piece = tuple[str, int, int]  # the kind of a token, and where it starts and ends in the text

# Kinds of tokens; the first three are also their symbols. The symbol of a keyword is a private character of Unicode.
NAME, STRING, NUMBER = "V", "S", "N"
WORD, SIGN, PLAIN_WORD = "word", "sign", "plain word"
# With 200 words in a program, two of them share a symbol in one program of four: no harm.
PRIVATE, PRIVATE_SIZE = 0xF0000, 65_534
MIN_PROSE_WORDS = 3  # in a row: prose, or the command line of a shell; names in a program hardly ever stand so

# The kinds of Pygments' tokens: the first family that fits decides. All others are plain text.
DROPPED, PREPROCESSOR, PLAIN = "dropped", "preprocessor", "plain"
KINDS = (
    (Comment.PreprocFile, STRING),
    (Comment.Preproc, PREPROCESSOR),
    (Comment, DROPPED),
    (String.Doc, DROPPED),
    (String.Symbol, NAME),
    (Number, NUMBER),
    (Literal, STRING),
    (Name, NAME),
    (Keyword.Type, NAME),  # every type in Haskell; elsewhere int, which a disguised copy may change to long
    (Keyword, WORD),
    (Operator, WORD),
    (Punctuation, WORD),
)

# The errors that a lexer may raise. A TimeoutError from an alarm of the caller is not among them, and gets through.
LEXER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    re.error,
)

# The tokens of a text in an unknown language. A string has at most 50 escapes: without a limit, each \" after an open
# quote would be tried as the start of a string that runs to the end of the text.
PLAIN_TEXT = re.compile(
    r"""
    (?P<line>(?<![:\w])//[^\n]*|(?<!\S)\#[ \t!][^\n]*|\\\n)
    |(?P<block>/\*)
    |(?P<string>(?<!\w)[bfruBFRUL]{0,2}(?:"(?:[^"\\\n]++|\\.){0,100}+"|'(?:[^'\\\n]++|\\.){0,100}+'))
    |(?P<number>\d\w*(?:\.\w+)*)
    |(?P<word>\w+)
    |(?P<sign>\S)
    """,
    re.VERBOSE | re.DOTALL,
)
# An import, from the start of a line or statement. The rest of it is up to the first semicolon or line end outside
# brackets. import( and using ( are not imports: the first is a call, the second a block.
IMPORT = re.compile(
    r"(?:(?<=[;\n])|\A)[^\S\n]*+(?:import(?!\()|from\s[^\n;]*?\bimport|package|\#[^\S\n]*+include|using(?!\s*\()|use)(?![\w.=])"
)
IMPORT_PART = re.compile(r"[(\[{]|[)\]}]|[;\n]")
MAX_IMPORT = 2_000  # characters that an import with an unclosed bracket may hide
MODIFIERS = frozenset(
    "abstract final internal override private protected public readonly sealed static synchronized".split()  # noqa: SIM905
)
MIN_HIDDEN_LINES = 2  # line breaks: a missing quotation mark in the last line hides next to nothing
END_MARK = "winnow"
NO_SPAN = (sys.maxsize, sys.maxsize)
PLAIN_KINDS = {"string": STRING, "number": NUMBER, "sign": SIGN}
WORD_OR_SIGN = re.compile(r"(\w+)|\S")

PLAIN_KEYWORDS = frozenset(
    """
    abstract and as assert async await begin break case catch class const continue def default define defined del do
    elif else elsif end endif enum except export extends extern false finally fn for foreach from func function
    global go goto if ifdef ifndef implements import in include inline instanceof interface is lambda let match module
    mut mutable namespace new nil none nonlocal not null operator or override package pass pragma private protected
    public raise register require return sizeof static struct super switch template then this throw throws trait true
    try typedef typename undef union unless until use using var virtual volatile when where while with yield
    """.split()  # noqa: SIM905 (easier to read than a list)
)


def code_text(text: str, name: str | None = None) -> CanonicalText:
    """Return the canonical text of a program. Its `name`, a file or URL, decides the language.

    If Pygments does not know the language, or its lexer fails on this text, one plain rule for all languages is used,
    which keeps runs of words as they are. No text raises an error.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = ("\n" + lines[1:] if lines.startswith("\ufeff") else lines) + "\n"  # some lexers need a final line end
    lexer = lexer_for(name)
    try:
        pieces = list(_significant(_lexed(lexer, lines), lines) if lexer else _plain(lines, 0, len(lines)))
    except LEXER_ERRORS:
        pieces = list(_plain(lines, 0, len(lines)))
    chars, offsets, ends = _symbols(pieces, lines)
    if "\r\n" in text:
        # Each \r\n became one character in `lines`: every offset after it moves back by one.
        line_ends = [match.start() - i for i, match in enumerate(re.finditer("\r\n", text))]
        offsets, ends = (array("I", (at + bisect_left(line_ends, at) for at in each)) for each in (offsets, ends))
    return CanonicalText.from_parts(text, chars, array("I", range(len(chars))), offsets, ends)


def hides_the_rest(program: CanonicalText, name: str | None) -> bool:
    """Return whether a string or comment that is not closed hides the last lines of a program from comparison."""
    chars, text = program.chars, program.text
    last = next((i for i in reversed(range(len(chars))) if chars[i] != STRING), None)
    shown = 0 if last is None else program.span(last, last + 1)[1]
    lexer = lexer_for(name)
    if lexer is None or text[shown:].strip().count("\n") < MIN_HIDDEN_LINES:
        return False
    # A name on a line of its own is a name, unless something before it is still open.
    lines = f"{text}\n{END_MARK}\n"
    try:
        at_end = next(token for _, token, value in reversed(list(lexer.get_tokens_unprocessed(lines))) if value.strip())
    except LEXER_ERRORS:
        return False
    return _kind(at_end) in (DROPPED, STRING)


def _lexed(lexer: Any, text: str) -> Iterator[Piece]:
    at = 0  # counted here: some lexers report offsets in a line, or in a text that they have changed
    for _, token, value in lexer.get_tokens_unprocessed(text):
        before, at = at, at + len(value)
        if text[before:at] != value:
            raise ValueError(f"{lexer} returns a token that is not in the text at {before}")
        kind = _kind(token)
        bare = value.strip()
        if not bare or kind == DROPPED:
            continue
        start = before + value.index(bare)
        end = start + len(bare)
        if kind == WORD and not (bare[0].isalpha() or bare[0] == "_"):
            for match in WORD_OR_SIGN.finditer(text, start, end):
                yield WORD if match[1] else SIGN, *match.span()
        elif kind in (PLAIN, PREPROCESSOR):
            yield from _plain(text, start, end, NAME if kind == PREPROCESSOR else PLAIN_WORD)
        else:
            yield kind, start, end


def _significant(pieces: Iterable[Piece], text: str) -> Iterator[Piece]:
    """Leave out modifiers, and imports of any language that writes them at the start of a line."""
    imports = _imports(text)
    first, last = next(imports, NO_SPAN)
    for piece in pieces:
        kind, start, end = piece
        while start >= last:
            first, last = next(imports, NO_SPAN)
        if start < first and not (kind == WORD and text[start:end] in MODIFIERS):
            yield piece


def _imports(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while match := IMPORT.search(text, at):
        depth, at = 0, match.end()
        for part in IMPORT_PART.finditer(text, at, min(at + MAX_IMPORT, len(text))):
            at = part.end()
            depth += (part[0] in "([{") - (part[0] in ")]}")
            if depth <= 0 and part[0] in ";\n":
                at = part.start()
                break
        yield match.start(), at


@lru_cache(4096)
def _kind(token: Any) -> str:
    return next((kind for family, kind in KINDS if token in family), PLAIN)


def _plain(text: str, start: int, end: int, name: str = PLAIN_WORD) -> Iterator[Piece]:
    last_close = text.rfind("*/", start, end)  # searched once, not from each /* to the end
    while match := PLAIN_TEXT.search(text, start, end):
        (first, start), kind = match.span(), match.lastgroup
        if kind == "word":
            yield WORD if match[0].lower() in PLAIN_KEYWORDS else name, first, start
        elif kind in PLAIN_KINDS:
            yield PLAIN_KINDS[kind], first, start
        elif kind == "block" and start <= last_close:
            start = text.index("*/", start) + 2
        elif kind == "block":
            yield SIGN, first, first + 1
            yield SIGN, first + 1, start


def _symbols(pieces: Iterable[Piece], text: str) -> tuple[str, array[int], array[int]]:
    """Return the canonical characters of the pieces, and the start and end of each in the text."""
    chars: list[str] = []
    offsets, ends = array("I"), array("I")
    can_be_called = True  # whether a parenthesis here would be a call's; unknown at the start of a passage

    def put(char: str, start: int, end: int) -> None:
        chars.append(char)
        offsets.append(start)
        ends.append(end)

    for kind, group in groupby(pieces, key=itemgetter(0)):
        if kind == SIGN:
            for _, start, end in group:
                sign = text[start]
                if sign in ")]}" and chars and chars[-1] == ",":
                    for each in (chars, offsets, ends):
                        each.pop()
                grouping = sign == ")" or (sign == "(" and not can_be_called)
                can_be_called = sign in ")]}"
                if not (grouping or sign in ";{}" or (sign == "\\" and text[end] == "\n")):
                    put(sign, start, end)
            continue
        can_be_called = kind not in (WORD, NUMBER)
        same = list(group)
        if kind == STRING:
            put(STRING, same[0][1], same[-1][2])
        elif kind == WORD or (kind == PLAIN_WORD and len(same) >= MIN_PROSE_WORDS):
            for _, start, end in same:
                put(_symbol(text[start:end]), start, end)
        else:
            for _, start, end in same:
                put(NUMBER if kind == NUMBER else NAME, start, end)
    return "".join(chars), offsets, ends


@lru_cache(65_536)
def _symbol(word: str) -> str:
    """Return the symbol of a keyword. Case does not count, nor does the space inside a keyword of two words."""
    plain = " ".join(word.casefold().split())
    digest = blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=4, person=b"winnow word").digest()
    return chr(PRIVATE + int.from_bytes(digest, "little") % PRIVATE_SIZE)


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
