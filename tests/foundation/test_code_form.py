"""Tests the form code: changes that hide a copy of a text do not hide a copy of a program."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
import textwrap
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pygments.lexers import CppLexer, PythonLexer

from opensearch_winnow import Scheme, compare, fingerprint
from opensearch_winnow.cython_core.canonical_text import CanonicalText
from opensearch_winnow.foundation.code_language import PREFERRED, language
from opensearch_winnow.foundation.code_tokens import code_text
from tests.refused import refused

CODE = Scheme.preset("code")
WORDS = {*keyword.kwlist, *keyword.softkwlist}
identifiers = st.from_regex(r"[a-zA-Z_éß漢][a-zA-Z_éß漢0-9]{0,9}", fullmatch=True)
identifiers = identifiers.filter(str.isidentifier).filter(lambda it: it not in WORDS)

# --- small programs, in Python: names are §0 to §5 until somebody gives them ------------------------------------------

name = st.integers(0, 5).map("§{}".format)
atoms = st.one_of(
    name, st.sampled_from(["0", "1.5e3", "0xff", "'one'", 'f"a {§0!r} b"', "rb'\\d'", "None", "[]", "..."])
)
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "//", "==", "is not", "and", "in", "@", "<<"]), inner).map(" ".join),
        st.tuples(name, inner, inner).map(lambda it: f"{it[0]}({it[1]}, §1={it[2]})"),
        st.tuples(inner, inner).map(lambda it: f"[{it[0]} for §2 in {it[1]}]"),
        st.tuples(inner, inner).map(lambda it: f"{{{it[0]}: {it[1]}}}"),
        st.tuples(name, name).map(".".join),
        inner.map("(lambda §3: {})".format),
    ),
    max_leaves=6,
)
simple = st.one_of(
    st.tuples(name, expressions).map(" = ".join),
    expressions.map("return {}".format),
    st.tuples(name, name).map(lambda it: f"from {it[0]} import {it[1]} as §4"),
    st.sampled_from(["pass", "del §0", "global §5"]),
)
heads = st.one_of(
    expressions.map("if {}:".format),
    st.tuples(name, expressions).map(lambda it: f"for {it[0]} in {it[1]}:"),
    st.tuples(name, name).map(lambda it: f"def {it[0]}(self, *{it[1]}) -> int:"),
    st.tuples(name, name).map(lambda it: f"class {it[0]}({it[1]}):"),
)
Block = list[tuple[int, str]]  # the indentation of a line, and the line
blocks: st.SearchStrategy[Block] = st.recursive(
    simple.map(lambda line: [(0, line)]),
    lambda inner: st.one_of(
        st.tuples(heads, inner).map(lambda it: [(0, it[0]), *((depth + 1, line) for depth, line in it[1])]),
        st.tuples(inner, inner).map(lambda it: it[0] + it[1]),
    ),
    max_leaves=8,
)
Renaming = list[str]
namings = st.lists(identifiers, min_size=6, max_size=6)


def written(block: Block, names: Renaming, indent: str = "    ", end: str = "\n") -> str:
    text = "".join(f"{indent * depth}{line}{end}" for depth, line in block)
    return re.sub(r"§(\d)", lambda found: names[int(found[1])], text)


@given(blocks, namings)
def test_the_programs_are_programs(block: Block, names: Renaming) -> None:
    compile(written(block, names), "", "exec", ast.PyCF_ONLY_AST)


# --- what does not count ----------------------------------------------------------------------------------------------


@pytest.mark.check
@given(blocks, namings, namings)
def test_names_do_not_count(block: Block, names: Renaming, others: Renaming) -> None:
    a, b = (code_text(written(block, each), "a.py") for each in (names, others))
    assert a.chars == b.chars
    assert a.chars or all("import" in line for _, line in block)


@given(blocks, namings, st.sampled_from(["  ", "\t", " " * 8]), st.data())
def test_comments_and_layout_do_not_count(block: Block, names: Renaming, indent: str, data: st.DataObject) -> None:
    """Comments with code, blank lines, indentation, semicolons and line ends of two characters change nothing."""
    comments = st.sampled_from(["", ";", "  # return 0", " \\\n", "\n\n# don't \"stop\n", "\n    # é漢\n\n", "#"])
    noisy = [(depth, line + data.draw(comments)) for depth, line in block]
    plain = code_text(written(block, names), "a.py").chars
    for end in ("\n", "\r\n", "\r"):
        assert code_text(written(noisy, names, indent, end), "a.py").chars == plain
    assert code_text("\ufeff" + written(noisy, names, indent), "a.py").chars == plain


@pytest.mark.parametrize(
    ("file", "one", "other"),
    [
        ("a.py", "return x", "return (x)"),
        ("a.py", "f(a, b)", "f(\n    a,\n    b,\n)"),
        ("a.py", "x = 'it is one string'", 'x = ("it is "\n     r"one string")'),
        ("a.py", "def f(a):\n    return a", 'def f(a):\n    """Returns a."""\n    return a'),
        ("a.py", "from a import b, c", "from a import (b, c)"),
        ("a.js", "f = x => x + 1", "g = (y) => y + 2;"),
        ("a.js", "let a = [1, 2]\nf(a)", "let b = [3, 4,]; /* c */ g(b); // d"),
        ("a.c", "int f(int a) { return a; }", "long sum (size_t n)\n{\n  /* why */ return (n);\n}"),
        ("a.c", "#define MAX(a, b) ((a) > (b) ? (a) : (b))", "#define most(x,y) (x > y ? x : y) // of two"),
        ("a.hs", "data Tree = Leaf Int", "data Rose = Thorn Word -- renamed"),
        ("a.sql", "SELECT a FROM b", "select x\nfrom y; -- renamed"),
        ("a.py", "import os\nfrom a import (\n    b,\n    c,\n)\nf(x)", "f(y)"),
        ("a.java", "package a;\nimport b.*;\nclass A { public static final int b = 1; }", "class C { long d = 2; }"),
        ("a.js", "import { a,\n  b } from 'c'\nf(a)", "f(b);"),
        ("a.go", 'import (\n\t"fmt"\n\t"os"\n)\nvar a = b', "var c = d"),
        ("a.c", '#include <stdio.h>\n# include "a.h"\nint a;', "long b;"),
        ("a.cpp", "using namespace std;\nint a;", "int b;"),
        ("a.rs", "use std::io::{self, Read};\nlet a = b;", "let c = d"),
        ("a.js", "if (a) { b() }", "if (a) b()"),
        ("a.f", "      INTEGER X\n      X = 1", "      integer y\nC a comment\n      Y = 2"),
    ],
)
def test_two_ways_to_write(file: str, one: str, other: str) -> None:
    assert code_text(one, file).chars == code_text(other, file).chars


@pytest.mark.parametrize(
    ("file", "one", "other"),
    [
        *[("a.py", "a + b", "a - b"), ("a.py", "a < b", "a <= b"), ("a.py", "if a: b", "while a: b")],
        *[("a.py", "f(a)", "f[a]"), ("a.py", "f(a)", "f + a"), ("a.py", "a = 1", "a = 'one'")],
        *[("a.py", "a = None", "a = b"), ("a.py", "imported = 1", "pass"), ("a.py", "use = 1", "pass")],
        ("a.c", "#ifdef A", "#ifndef A"),
        ("a.js", "import('a').then(b)", "then(b)"),
        ("a.cs", "using (var a = b()) { c(a); }", "c(a);"),
    ],
)
def test_what_the_program_does_counts(file: str, one: str, other: str) -> None:
    assert code_text(one, file).chars != code_text(other, file).chars


def test_a_renamed_and_reformatted_copy() -> None:
    """A module of the standard library is compared; as text it hardly resembles its copy."""
    source = inspect.getsource(textwrap)
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "arg"):
            if isinstance(getattr(node, field, None), str):
                setattr(node, field, "n" + getattr(node, field)[::-1])
    copy = ast.unparse(tree)
    both = compare(source, copy, CODE, names=("textwrap.py", "copy.py"))
    assert both.resemblance > 0.98
    covered = sum(passage.end - passage.start for passage in both.passages)
    first, last = code_text(source, "textwrap.py").span(0, len(code_text(source, "textwrap.py").chars))
    assert covered > 0.98 * (last - first)
    assert compare(source, copy).resemblance < 0.5
    assert compare(source, inspect.getsource(keyword), CODE, names=("textwrap.py", "keyword.py")).resemblance < 0.05


# --- the map back -----------------------------------------------------------------------------------------------------


def is_in_order(canonical: CanonicalText) -> bool:
    size = len(canonical.chars)
    spans = canonical.spans(range(size), 1)
    assert list(canonical.words) == list(range(size))
    assert [start for start, _ in spans] == list(canonical.offsets)
    return all(0 <= start < end <= len(canonical.text) for start, end in spans) and all(
        end <= start for (_, end), (start, _) in pairwise(spans)
    )


@given(blocks, namings, st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 12))
def test_a_span_read_by_itself_has_the_same_tokens(block: Block, names: Renaming, end: str, k: int) -> None:
    canonical = code_text(written(block, names, end=end), "a.py")
    assert is_in_order(canonical)
    for start in range(len(canonical.chars) - k + 1):
        first, last = canonical.span(start, start + k)
        if 'f"' not in canonical.text:  # a part of an f-string may look like code
            assert code_text(canonical.text[first:last], "a.py").chars == canonical.chars[start : start + k]


def test_tokens_of_two_line_ends() -> None:
    canonical = code_text("\ufeffif a_b:\r\n  # no\r\n  f('x'\r\n    'y', 0x1F )\rdel é\r\n", "a.py")
    pieces = [canonical.text[start:end] for start, end in canonical.spans(range(len(canonical.chars)), 1)]
    assert pieces == ["if", "a_b", ":", "f", "(", "'x'\r\n    'y'", ",", "0x1F", "del", "é"]
    assert canonical.chars[1] + canonical.chars[3:8] + canonical.chars[9] == "VV(S,NV"


def test_fingerprints_and_passages_are_whole_tokens() -> None:
    source = inspect.getsource(textwrap)
    prints = fingerprint(source, CODE, name="textwrap.py")
    canonical = prints.canonical
    assert canonical.chars == code_text(source, "textwrap.py").chars
    assert len(prints) > 20
    starts, ends = set(canonical.offsets), {end for _, end in canonical.spans(range(len(canonical.chars)), 1)}
    assert all(start in starts and end in ends for start, end in prints.spans)
    both = compare(source, source.replace("self", "this").replace("chunks", "c"), CODE, names=("a.py", "b.py"))
    assert both.passages
    assert all(passage.start in starts and passage.end in ends for passage in both.passages)


def test_a_text_without_a_name_is_in_the_language_of_the_other() -> None:
    source, copy = "def f(x):\n    return x  # comment\n", "def g(longer):\n    return longer\n"
    small = Scheme(form="code", noise=3, guarantee=6)
    for names in (("a.py", None), (None, "b.py")):
        assert compare(source, copy, small, names=names).resemblance == 1


# --- any text ---------------------------------------------------------------------------------------------------------

FILES = ("a.py", "a.c", "a.js", "a.html", "a.php", "a.sh", "a.pl", "a.md", "a.f", "a.rb", "Makefile", "a.json", None)
SNIPPETS = (*"'\"`#{}\\\r\ufeff\x00", "/*", "*/", "//", "<?php ", "<script>", "((", "\r\n")


@given(st.lists(st.one_of(st.text(max_size=5), st.sampled_from(SNIPPETS))).map("".join), st.sampled_from(FILES))
def test_any_text_of_any_name(text: str, file: str | None) -> None:
    canonical = code_text(text, file)
    assert is_in_order(canonical)
    assert canonical.text == text
    assert code_text(text, file).chars == canonical.chars


@given(st.text(), st.text())
def test_any_name(text: str, name: str) -> None:
    assert code_text(text, name).text == text


@pytest.mark.parametrize("unit", ["/*", '\\"', "'", '"', "*/", "/*/", "a ", "(", "0.", "\r\n", "# ", "é"])
def test_a_hostile_text_without_a_name_takes_linear_time(unit: str) -> None:
    assert is_in_order(code_text(unit * (100_000 // len(unit))))


# --- without a language -----------------------------------------------------------------------------------------------


def test_the_plain_rule() -> None:
    one = "while (count < 10) { total += price[i] * 2; /* add */ } // next"
    other = "while (n<99)\n{\n  sum += cost[j]*3;\n}\n"
    assert code_text(one).chars == code_text(other).chars
    assert code_text(one).chars == code_text(one, "a.c").chars


def test_prose_stays_as_it_is() -> None:
    """Otherwise any two texts would be the same run of names."""
    one = "The miller takes what the wind leaves; grain falls."
    assert code_text(one).chars == code_text(one.upper()).chars
    assert code_text(one).chars != code_text(one.replace("wind", "rain")).chars
    assert set(code_text(one).chars) & {"V", "S", "N"} == {"V"}  # grain falls: two can be a type and its name


def failing(error: Exception) -> Callable[..., Iterator[Any]]:
    def get_tokens_unprocessed(*_: object) -> Iterator[Any]:
        yield 0, None, ""
        raise error

    return get_tokens_unprocessed


def test_where_a_lexer_fails_the_plain_rule_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(x): return x"
    for error in (RecursionError(), IndexError(), AssertionError()):
        monkeypatch.setattr(PythonLexer, "get_tokens_unprocessed", failing(error))
        assert code_text(text, "a.py").chars == code_text(text).chars
    monkeypatch.setattr(PythonLexer, "get_tokens_unprocessed", lambda *_: [(0, None, "something else")])
    assert code_text(text, "a.py").chars == code_text(text).chars


def test_an_alarm_gets_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PythonLexer, "get_tokens_unprocessed", failing(TimeoutError()))
    refused(TimeoutError, "", code_text, "def f(x): return x", "a.py")


# --- languages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *[("a.py", "PythonLexer"), ("folder.c/a.PY", "PythonLexer"), ("*.py", "PythonLexer")],
        *[("C:\\folder\\a.js", "JavascriptLexer"), ("https://example.org/raw/a.go?at=main#L3", "GoLexer")],
        *[
            ("a.c", "CppLexer"),
            ("a.h", "CppLexer"),
            ("a.pl", "PerlLexer"),
            ("a.m", "ObjectiveCLexer"),
            ("a.R", "SLexer"),
        ],
        *[("Makefile", "MakefileLexer"), ("Makefile.am", "MakefileLexer"), ("CMakeLists.txt", "CMakeLexer")],
        ("page.html.twig", "TwigHtmlLexer"),
        *[(f"https://{name}", None) for name in ("docs.rs", "example.pl/", "example.org/page")],
        *[("a", None), ("a.", None), ("", None)],
    ],
)
def test_language_of(name: str, expected: str | None) -> None:
    assert language(name) == expected


def test_only_the_lexers_of_pygments_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the hashes would depend on what else is installed."""

    def plugins() -> Iterator[object]:
        raise AssertionError("looked for plugins")

    monkeypatch.setattr("pygments.lexers.find_plugin_lexers", plugins)
    assert language("a.unheard-of") is None
    assert code_text("int a;", "new.cpp").chars == "VV"


def test_what_is_preferred_is_there() -> None:
    assert {language(pattern.replace("*", "a")) for pattern in PREFERRED} == set(PREFERRED.values())
    assert CppLexer.__name__ in PREFERRED.values()
