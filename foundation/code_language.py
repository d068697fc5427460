"""From the name of a file to the lexer of its language: Pygments' own ones only, and always the same."""

from __future__ import annotations

import re
from collections import defaultdict
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Any

from pygments import lexers
from pygments.lexers import LEXERS

# Pygments looks at the text where several languages share an ending, and takes the last by the alphabet where it has
# none. A line added to a file must not change its language, so the commonest is named here; the rest stays with the
# alphabet. C is read as C++: then a copy from .c to .h or .cc has the same tokens.
PREFERRED = {
    "*.as": "ActionScript3Lexer",
    "*.asax": "CSharpAspxLexer",
    "*.ascx": "CSharpAspxLexer",
    "*.ashx": "CSharpAspxLexer",
    "*.asmx": "CSharpAspxLexer",
    "*.aspx": "CSharpAspxLexer",
    "*.c": "CppLexer",
    "*.cl": "CommonLispLexer",
    "*.def": "Modula2Lexer",
    "*.fs": "FSharpLexer",
    "*.h": "CppLexer",
    "*.inc": "PhpLexer",
    "*.pl": "PerlLexer",
    "*.pm": "PerlLexer",
    "*.r": "SLexer",
    "*.S": "GasLexer",
    "*.sql": "SqlLexer",
    "*.t": "PerlLexer",
    "*.toc": "TexLexer",
}


def lexer_for(name: str | None) -> Any:
    """A new lexer for a file or URL of this name, by the name alone; None if it tells no language.

    `pygments.lexers.get_lexer_for_filename` would ask what else is installed too: plugins, which are not on every
    machine.
    """
    found = language(name) if name else None
    return found and getattr(lexers, found)()


def language(name: str) -> str | None:
    """The name of Pygments' lexer class for a file or URL of this name."""
    if "://" in name:  # the name of a host is no file: docs.rs is not written in Rust
        name = re.split("[?#]", name.split("://", 1)[1])[0].partition("/")[2]
    file = re.split(r"[/\\]", name)[-1]
    return _language(file) or _language(file.lower())


@lru_cache(4096)
def _language(file: str) -> str | None:
    by_pattern, wild = _patterns()
    endings = ("*" + file[dot:] for dot, char in enumerate(file) if char == ".")  # the longest first
    for pattern in (file, *endings, *(each for each in wild if fnmatchcase(file, each))):
        if pattern in by_pattern:
            return PREFERRED.get(pattern) or max(by_pattern[pattern], key=_rank)
    return None


def _rank(lexer: str) -> tuple[float, str]:
    return getattr(lexers, lexer).priority, lexer


@cache
def _patterns() -> tuple[dict[str, list[str]], list[str]]:
    """The lexers for each pattern of file names, and those patterns that are neither a name nor an ending."""
    by_pattern = defaultdict(list)
    for lexer, (_, _, _, patterns, _) in LEXERS.items():
        for pattern in patterns:
            by_pattern[pattern].append(lexer)
    return dict(by_pattern), sorted(each for each in by_pattern if re.search(r"[*?[]", each.removeprefix("*.")))
