from __future__ import annotations

import shlex
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from random import Random
from shutil import which
from typing import TypeVar

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.fingerprints import SELECTIONS, fingerprints
from opensearch_winnow.cython_core.vectors import use_vectors, vector_path

T = TypeVar("T")


def test_vector_loops_can_be_turned_off() -> None:
    use_vectors(False)
    assert vector_path() == "portable"
    use_vectors(True)
    assert vector_path() in ("avx2", "portable")


def on_both_paths(work: Callable[..., T], *arguments: object) -> tuple[T, T]:
    try:
        use_vectors(False)
        portable = work(*arguments)
    finally:
        use_vectors(True)
    return work(*arguments), portable


ascii_characters = st.one_of(st.sampled_from("ab Z9,\x00@[`{/:"), st.characters(max_codepoint=127))


def assert_read_alike(text: str) -> None:
    vectors, portable = on_both_paths(canonical_text, text)
    assert (vectors.chars, vectors.words, vectors.offsets) == (portable.chars, portable.words, portable.offsets)


@given(st.text(ascii_characters, max_size=200), st.integers(0, 30))
def test_both_paths_read_ascii_alike(text: str, at: int) -> None:
    assert_read_alike(text[:at] + "word " * 7 + "a b c d e f g h i j" + text[at:])


LONG = ["Words enough, and 16 letters or more. ", "antidisestablishmentarianism"]
SHORT = ["e\u0301", "か\u3099", *"…“é中\u00ad\u0345\u1100\u1161ﬁ½😀 a7"]
MORE = ["\u0e01\u0e34", "\x00", "\ud800", "\u0301"]
pieces = st.sampled_from([*LONG, *SHORT, *MORE])


@given(st.lists(pieces, max_size=30))
def test_both_paths_read_ascii_between_other_characters_alike(parts: list[str]) -> None:
    assert_read_alike("".join(parts))


@pytest.mark.parametrize("last", ["", "é", "中", "😀"])
def test_both_paths_read_a_long_text_alike(last: str) -> None:
    assert_read_alike("".join(chr(i * i % 127) for i in range(200_000)) + last)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("w", [1, 15, 16, 17, 30, 63, 64, 300])
@pytest.mark.parametrize("alphabet", ["abcdefghijklmnopqrstuvwxyz", "0123", "0", "абвгдежз", "𐌰𐌱𐌲𐌳𐌴𐌵"])
def test_both_paths_keep_the_same_fingerprints(selection: str, w: int, alphabet: str) -> None:
    text = "".join(Random(0).choices(alphabet, k=20_000))
    vectors, portable = on_both_paths(fingerprints, text, 20, w, selection)
    assert vectors == portable


@pytest.mark.parametrize("header", ["window_minima.h", "syncmers.h", "ascii_text.h"])
@pytest.mark.parametrize("processor", [[], ["-DPORTABLE"]], ids=["x86-64", "other"])
def test_headers_compile_with_and_without_vectors(root: Path, header: str, processor: list[str]) -> None:
    compilers = [shlex.split(sysconfig.get_config_var("CC") or "cc"), *[["clang"]] * bool(which("clang"))]
    flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    source = ["-I", str(root / "cython_core"), "-x", "c", "-"]
    for compiler in compilers:
        subprocess.run([*compiler, *processor, *flags, *source], input=f'#include "{header}"\n'.encode(), check=True)
