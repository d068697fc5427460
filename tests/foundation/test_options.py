"""Options that are declared once: their checks, the methods that take them, and the commands."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import click
import pytest
from click.shell_completion import CompletionItem
from click.testing import CliRunner
from hypothesis import given, strategies as st

from opensearch_winnow.cli.options.declared_options import declared_option, declared_options
from opensearch_winnow.foundation.errors import FileError, QuestionError, WinnowError
from opensearch_winnow.foundation.keywords import takes, with_options
from opensearch_winnow.foundation.option_kinds import (
    FLAG,
    SECONDS,
    SIZE,
    Kind,
    number,
    one_of,
    path,
    repeated,
    several,
    share,
    text,
)
from opensearch_winnow.foundation.options import Options, group, option, option_of
from tests.refused import refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Colours(Options):
    colour: str | None = option(None, one_of("red", "blue"), "Only shirts of this colour.", unset="any")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shirts(Options):
    min_wool: float = option(0.5, share(), "Shirts with at least X of wool.")
    limit: int | None = option(10, number(1, 99), "Show N shirts.")
    exact: bool = option(True, FLAG, "Guess the wool.", flag="--guess")
    old: bool = option(False, FLAG, "Old shirts, too.")
    where: Colours = group(Colours)
    size: str | None = option(None, text("NAME"), "Shirts of this size.", name="shirt_size")
    seen: int = 0  # for programs only


class Shop:
    @takes(Shirts)
    def shirts(self, options: Shirts) -> Shirts:
        """Return the options."""
        return options

    @with_options(Shirts)
    def shirts_of(self, name: str, options: Shirts) -> tuple[str, Shirts]:
        return name, options


def test_a_method_takes_keywords_or_an_object() -> None:
    expected = Shirts(min_wool=0.7, old=True)
    assert Shop().shirts(min_wool=0.7, old=True) == Shop().shirts(expected) == expected
    assert Shop().shirts_of("a", min_wool=0.7, old=True) == Shop().shirts_of("a", **expected.keywords())
    assert Shop().shirts_of(name="a", old=True) == Shop().shirts_of("a", old=True)  # type: ignore[call-arg]
    refused(TypeError, "there is no parameter wol: there are min_wool, limit, ", Shop().shirts, wol=1)
    names = ["min_wool", "limit", "exact", "old", "where", "size", "seen"]
    assert list(inspect.signature(Shop.shirts).parameters) == ["self", *names]
    assert list(inspect.signature(Shop.shirts_of).parameters)[:3] == ["self", "name", "min_wool"]
    assert Shop.shirts.__doc__ == "Return the options."


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcels(Options):
    error: ClassVar[type[WinnowError]] = FileError

    lists: Sequence[str] = option((), repeated(path("LIST")), "What to pack.")
    limit: int = option(10, number(1, 99), "Pack N things.")


@with_options(Parcels)
def packed(name: str, options: Parcels) -> tuple[str, Parcels]:
    return name, options


def test_a_function_takes_keywords() -> None:
    assert packed("a", limit=3) == ("a", Parcels(limit=3))
    assert list(inspect.signature(packed).parameters) == ["name", "lists", "limit"]
    refused(FileError, r"^limit is a whole number from 1 to 99, not 0$", packed, "a", limit=0)


def said(command: click.Command, *arguments: str, **environment: str) -> str:
    return CliRunner().invoke(command, arguments, env=environment).output


def completed(command: click.Command, name: str, begun: str) -> list[CompletionItem]:
    (option,) = (each for each in command.params if each.name == name)
    return option.type.shell_complete(click.Context(command), option, begun)


def test_an_option_that_is_repeated() -> None:
    @click.command
    @declared_options(Parcels)
    def pack(options: Parcels) -> None:
        print(options.lists)

    assert said(pack) == "()\n"
    assert said(pack, "--lists", "a", "--lists", "b") == "('a', 'b')\n"
    assert [each.type for each in completed(pack, "lists", "r")] == ["file"]


def test_values_are_checked() -> None:
    refused(QuestionError, r"^min_wool is a share from 0 to 1, not 1\.1$", Shirts, min_wool=1.1)
    for limit in (0, 1.5, "many"):
        refused(QuestionError, f"^limit is a whole number from 1 to 99, not {limit!r}$", Shirts, limit=limit)
    assert Shirts(limit=None).limit is None
    refused(QuestionError, "^colour is one of red, blue, not 'green'$", Colours, colour="green")


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes(Options):
    size: int = option(10_000_000, SIZE, "Boxes of this SIZE.", unset="10M", variable="BOX_SIZE")


def test_sizes_and_options_from_the_environment() -> None:
    @click.command
    @declared_options(Boxes)
    def pack(options: Boxes) -> None:
        print(options.size)

    assert said(pack, "--size", "1.5G") == said(pack, BOX_SIZE="1.5G") == "1500000000\n"
    assert said(pack) == "10000000\n"
    assert "[env var: BOX_SIZE]" in said(pack, "--help")
    assert "is not a size such as 500k" in said(pack, "--size", "3X")


@click.command
@declared_options(Shirts, limit=7)
@click.option("--size")
def shirts(options: Shirts, size: str | None) -> None:
    print(options, size)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([], Shirts(limit=7)),
        (["--min-wool", "70%", "--old", "--limit", "3"], Shirts(min_wool=0.7, old=True, limit=3)),
        (["--shirt-size", "L"], Shirts(size="L", limit=7)),
        (["--guess", "--colour", "red"], Shirts(exact=False, limit=7, where=Colours(colour="red"))),
    ],
)
def test_a_command_has_the_options(written: list[str], expected: Shirts) -> None:
    assert said(shirts, *written, "--size", "L") == f"{expected} L\n"


def test_a_command_says_what_is_wrong() -> None:
    assert "'--min-wool': 'many' is not a share from 0 to 1" in said(shirts, "--min-wool", "many")
    assert "'green' is not one of red, blue" in said(shirts, "--colour", "green")


def test_help_is_made_from_the_fields() -> None:
    shown = " ".join(said(shirts, "--help").split())
    assert "--min-wool X Shirts with at least X of wool. [default: 0.5]" in shown
    assert "--limit N Show N shirts. [default: 7]" in shown
    assert "--guess Guess the wool." in shown
    assert "--colour [red|blue] Only shirts of this colour. [default: any]" in shown
    assert "--seen" not in shown


def test_values_of_a_kind_are_completed() -> None:
    assert [each.value for each in completed(shirts, "colour", "r")] == ["red"]


KINDS: list[Kind[Any]] = [
    share(),
    share(above_0=True),
    number(1, 20),
    one_of("a", "b"),
    several("a", "b"),
    SECONDS,
    SIZE,
]


@given(st.sampled_from(KINDS), st.text(alphabet="0123456789.,-+e%ab naif") | st.floats().map(str))
def test_what_is_parsed_is_allowed(kind: Kind[Any], written: str) -> None:
    with suppress(ValueError):
        assert kind.allows(kind.parsed(written))


def test_sizes_have_units() -> None:
    sizes = {"10M": 10_000_000, "1.5kB": 1500, "2g": 2_000_000_000, "7": 7, "900 k": 900_000, "2MB": 2_000_000}
    assert SIZE.written is not None
    for written, size in sizes.items():
        assert SIZE.parsed(written) == SIZE.parsed(SIZE.written(size)) == size
    for wrong in ("", "0", "-1", "M", "3X", "much", "inf", "nan"):
        refused(ValueError, "^is a size such as 500k, 10M or 1G, not ", SIZE.parsed, wrong)


@given(st.floats(0, 1))
def test_shares_may_be_written_in_per_cent(value: float) -> None:
    assert share().parsed(str(value)) == value
    assert share().parsed(f"{100 * value} %") == pytest.approx(value)


LABELS: Kind[frozenset[str]] = Kind(
    what="a label",
    metavar="LABEL",
    parse=lambda written: frozenset([written]),
    join=lambda labels: frozenset().union(*labels),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf(Options):
    error: ClassVar[type[WinnowError]] = FileError

    labels: frozenset[str] | None = option(None, LABELS, "Shirts with this label. Can be repeated.")
    folder: str | None = option(None, path("FOLDER"), "Write to this folder.")


@click.command
@declared_options(Shelf)
def shelf(options: Shelf) -> None:
    print(sorted(options.labels or ()), options.folder)


@click.command
@declared_option(Shelf, "labels")
def labels(labels: frozenset[str] | None) -> None:
    print(labels)


def test_values_of_a_repeated_option_are_joined() -> None:
    assert said(shelf, "--labels", "b", "--labels", "a") == "['a', 'b'] None\n"
    assert said(shelf, "--folder", "x") == "[] x\n"
    assert said(labels, "--labels", "b") == "frozenset({'b'})\n"
    assert said(labels) == "None\n"


def test_names_of_files_are_checked_and_completed() -> None:
    refused(FileError, "^folder is the name of a file or folder, not 3$", Shelf, folder=3)
    assert [each.type for each in completed(shelf, "folder", "r")] == ["file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Socks(Options):
    colour: str | None = option_of(Colours, "colour")


def test_an_option_may_be_that_of_another_class() -> None:
    assert list(Socks.options()) == list(Colours.options())
    refused(QuestionError, "colour is one of red, blue", Socks, colour="green")


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for of, wrong in (("file", ""), ("folder", "file")):
        kind = path("F", of)  # type: ignore[arg-type]
        assert kind.parsed(str(tmp_path / "new")) == str(tmp_path / "new")
        refused(ValueError, f"^is the name of a {of}, not ", kind.parsed, str(tmp_path / wrong))


def test_texts_have_a_limit() -> None:
    assert text("NAME", 3).parsed("abc") == "abc"
    refused(ValueError, "^is a text of at most 3 characters, not 'abcd'$", text("NAME", 3).parsed, "abcd")
