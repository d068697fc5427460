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
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

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
    with pytest.raises(TypeError, match="there is no parameter wol: there are min_wool, limit, "):
        Shop().shirts(wol=1)  # type: ignore[call-overload]
    assert list(inspect.signature(Shop.shirts).parameters) == [
        *("self", "min_wool", "limit", "exact", "old", "where", "size", "seen")
    ]
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
    with pytest.raises(FileError, match=r"^limit is a whole number from 1 to 99, not 0$"):
        packed("a", limit=0)


def test_an_option_that_is_repeated() -> None:
    @click.command
    @declared_options(Parcels)
    def pack(options: Parcels) -> None:
        print(options.lists)

    assert CliRunner().invoke(pack, []).output == "()\n"
    assert CliRunner().invoke(pack, ["--lists", "a", "--lists", "b"]).output == "('a', 'b')\n"
    (option,) = (each for each in pack.params if each.name == "lists")
    assert [each.type for each in option.type.shell_complete(click.Context(pack), option, "r")] == ["file"]


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"min_wool": 1.1}, "min_wool is a share from 0 to 1, not 1.1"),
        ({"limit": 0}, "limit is a whole number from 1 to 99, not 0"),
        ({"limit": 1.5}, "limit is a whole number from 1 to 99, not 1.5"),
        ({"limit": "many"}, "limit is a whole number from 1 to 99, not 'many'"),
    ],
)
def test_values_are_checked(values: dict[str, object], complaint: str) -> None:
    with pytest.raises(QuestionError, match=f"^{complaint}$"):
        Shirts(**values)  # type: ignore[arg-type]
    with pytest.raises(QuestionError, match=r"^colour is one of red, blue, not 'green'$"):
        Colours(colour="green")


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes(Options):
    size: int = option(10_000_000, SIZE, "Boxes of this SIZE.", unset="10M", variable="BOX_SIZE")


@pytest.mark.parametrize(
    ("written", "size"), [("500k", 500_000), ("1.5G", 1_500_000_000), ("7", 7), ("2MB", 2_000_000)]
)
def test_sizes_and_options_from_the_environment(written: str, size: int) -> None:
    @click.command
    @declared_options(Boxes)
    def pack(options: Boxes) -> None:
        print(options.size)

    assert CliRunner().invoke(pack, ["--size", written]).output == f"{size}\n"
    assert CliRunner().invoke(pack, [], env={"BOX_SIZE": written}).output == f"{size}\n"
    assert CliRunner().invoke(pack, []).output == "10000000\n"
    assert "[env var: BOX_SIZE]" in CliRunner().invoke(pack, ["--help"]).output
    for wrong in ("0", "many", "inf", "M", "3X"):
        assert "is not a size such as 500k" in CliRunner().invoke(pack, ["--size", wrong]).output


def test_none_means_that_an_option_is_not_given() -> None:
    assert Shirts(limit=None).limit is None


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
    assert CliRunner().invoke(shirts, [*written, "--size", "L"]).output == f"{expected} L\n"


def test_a_command_says_what_is_wrong() -> None:
    said = CliRunner().invoke(shirts, ["--min-wool", "many"]).output
    assert "Invalid value for '--min-wool': 'many' is not a share from 0 to 1" in said
    said = CliRunner().invoke(shirts, ["--colour", "green"]).output
    assert "'green' is not one of red, blue" in said


def test_help_is_made_from_the_fields() -> None:
    said = " ".join(CliRunner().invoke(shirts, ["--help"]).output.split())
    assert "--min-wool X Shirts with at least X of wool. [default: 0.5]" in said
    assert "--limit N Show N shirts. [default: 7]" in said
    assert "--guess Guess the wool." in said
    assert "--colour [red|blue] Only shirts of this colour. [default: any]" in said
    assert "--seen" not in said


def test_values_of_a_kind_are_completed() -> None:
    (option,) = (each for each in shirts.params if each.name == "colour")
    completed = option.type.shell_complete(click.Context(shirts), option, "r")
    assert [each.value for each in completed] == ["red"]


KINDS: list[Kind[Any]] = [
    *(share(), share(above_0=True), number(1, 20), one_of("a", "b"), several("a", "b"), SECONDS, SIZE),
]


@given(st.sampled_from(KINDS), st.text(alphabet="0123456789.,-+e%ab naif") | st.floats().map(str))
def test_what_is_parsed_is_allowed(kind: Kind[Any], written: str) -> None:
    with suppress(ValueError):
        assert kind.allows(kind.parsed(written))


@pytest.mark.parametrize(
    ("written", "size"), [("10M", 10_000_000), ("1.5kB", 1500), ("2g", 2_000_000_000), ("7", 7), ("900 k", 900_000)]
)
def test_sizes_have_units(written: str, size: int) -> None:
    assert SIZE.parsed(written) == size
    assert SIZE.written is not None
    assert SIZE.parsed(SIZE.written(size)) == size


@pytest.mark.parametrize("written", ["", "0", "-1", "M", "much", "inf", "nan"])
def test_what_is_no_size_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"^is a size such as 500k, 10M or 1G, not "):
        SIZE.parsed(written)


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
    assert CliRunner().invoke(shelf, ["--labels", "b", "--labels", "a"]).output == "['a', 'b'] None\n"
    assert CliRunner().invoke(shelf, ["--folder", "x"]).output == "[] x\n"
    assert CliRunner().invoke(labels, ["--labels", "b"]).output == "frozenset({'b'})\n"
    assert CliRunner().invoke(labels, []).output == "None\n"


def test_names_of_files_are_checked_and_completed() -> None:
    with pytest.raises(FileError, match=r"^folder is the name of a file or folder, not 3$"):
        Shelf(folder=3)  # type: ignore[arg-type]
    (option,) = (each for each in shelf.params if each.name == "folder")
    assert [each.type for each in option.type.shell_complete(click.Context(shelf), option, "r")] == ["file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Socks(Options):
    colour: str | None = option_of(Colours, "colour")


def test_an_option_may_be_that_of_another_class() -> None:
    assert list(Socks.options()) == list(Colours.options())
    with pytest.raises(QuestionError, match="colour is one of red, blue"):
        Socks(colour="green")


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for of, refused in (("file", ""), ("folder", "file")):
        kind = path("F", of)  # type: ignore[arg-type]
        assert kind.parsed(str(tmp_path / "new")) == str(tmp_path / "new")
        with pytest.raises(ValueError, match=f"^is the name of a {of}, not "):
            kind.parsed(str(tmp_path / refused))


def test_texts_have_a_limit() -> None:
    assert text("NAME", 3).parsed("abc") == "abc"
    with pytest.raises(ValueError, match=r"^is a text of at most 3 characters, not 'abcd'$"):
        text("NAME", 3).parsed("abcd")
