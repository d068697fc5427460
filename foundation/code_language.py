"""Chooses the lexer for a file by its name alone: one of Pygments' own, and always the same."""

from __future__ import annotations

import re
from collections import defaultdict
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Any

from pygments import lexers
from pygments.lexers import LEXERS

# Where several languages share an ending, Pygments looks at the text, and without a text it takes the last by the
# alphabet. A line added to a file must not change its language, so the commonest language is set here; for all other
# endings the alphabet decides. C is read as C++, so that a copy from .c to .h or .cc has the same tokens.
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

# Lexers of texts, data and build files, which are not programs.
NO_PROGRAMS = frozenset(
    """
    TextLexer MarkdownLexer RstLexer TexLexer BibTeXLexer GroffLexer MoinWikiLexer WikitextLexer TiddlyWiki5Lexer
    OrgLexer HtmlLexer XmlLexer DtdLexer JsonLexer JsonLdLexer YamlLexer TOMLLexer IniLexer PropertiesLexer DesktopLexer
    UnixConfigLexer DiffLexer DarcsPatchLexer GettextLexer NotmuchLexer IrcLogsLexer HttpLexer EmailLexer SrcinfoLexer
    KernelLogLexer PythonTracebackLexer VCTreeStatusLexer RegeditLexer CssLexer MakefileLexer BaseMakefileLexer
    CMakeLexer
    """.split()  # noqa: SIM905 (easier to read than a list)
)


def is_program(name: str) -> bool:
    """Return whether a file or URL is a program by its name."""
    return (language(name) or "TextLexer") not in NO_PROGRAMS


def lexer_for(name: str | None) -> Any:
    """Return a new lexer for a file or URL, chosen by its name alone; None if the name implies no language.

    `pygments.lexers.get_lexer_for_filename` would also use plugins, which differ between machines.
    """
    lexer = language(name) if name else None
    return lexer and getattr(lexers, lexer)()


def language(name: str) -> str | None:
    """Return the name of the Pygments lexer class for a file or URL; None if the name implies no language."""
    if "://" in name:  # a host is not a file: docs.rs is not written in Rust
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
    """Return the lexers of each file name pattern, and the patterns that are neither a whole name nor an ending."""
    by_pattern = defaultdict(list)
    for lexer, (_, _, _, patterns, _) in LEXERS.items():
        for pattern in patterns:
            by_pattern[pattern].append(lexer)
    return dict(by_pattern), sorted(each for each in by_pattern if re.search(r"[*?[]", each.removeprefix("*.")))
