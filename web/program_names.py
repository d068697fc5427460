"""Tells programs from other texts by the names of their files."""

from __future__ import annotations

from pathlib import PurePosixPath

SUFFIXES = frozenset(
    """
    ada adb ads asm awk bas bash c cbl cc clj cob coffee cpp cr cs css cu cxx d dart el elm erl ex exs f f77 f90 f95
    fish for fs fsx go gradle groovy h hh hpp hrl hs hxx ino java jl js jsx kt kts less lisp lua m mjs ml mli
    mm nim pas php pl pm pp pro ps1 py pyi pyx r rb rkt rs s sas scala scm scss sh sml sol sql st swift tcl ts tsx v vb
    vhd vhdl vue zig zsh
    """.split()  # noqa: SIM905 (a list of a hundred strings is harder to read)
)


def is_program(name: str) -> bool:
    """Return whether a file is a program, by the suffix of its name. A page at a URL is none, whatever made it."""
    path = PurePosixPath(name.lower().replace("\\", "/"))
    return "://" not in name and path.suffix.removeprefix(".") in SUFFIXES
