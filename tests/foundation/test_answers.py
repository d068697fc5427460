"""Answers: what is made from their keys."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import msgspec
import pytest

from opensearch_winnow.foundation.answer_keys import columns_of, json_values, keys_of, whole_columns_of, with_keys
from opensearch_winnow.foundation.answers import (
    Answer,
    Listing,
    Tabular,
    answer,
    derived,
    inlined,
    key,
    listed,
    row_class,
)
from opensearch_winnow.foundation.figures import Figure, counted, figures_of
from opensearch_winnow.web.answer_schema import json_type

DAY = datetime(2024, 1, 2, tzinfo=UTC)


class Span(NamedTuple):
    start: int
    end: int


@with_keys("host", "name")
class Site(NamedTuple):
    host: str
    visits: int

    @property
    def name(self) -> str:
        return self.host.partition(".")[0]


@answer
class Found(Answer):
    """A page that was found."""

    site: Site = inlined()
    when: datetime | None = key("The time of it.")
    spans: list[Span] = key("Where it is.", column=len)
    kind: Literal["exact", "estimate"] = key("How it was found.", default="exact")
    hidden: int = 2

    @property
    @derived
    def double(self) -> int:
        """Twice
        the hidden number."""
        return 2 * self.hidden


@answer
class FoundList(Listing[Found]):
    before: str = key("Where it begins.", name="from")
    entries: list[Found] = listed("All of them.")
    best: Found | None = key("The best one.", default=None)
    counts: dict[str, list[Span]] = key("By name.", default_factory=dict)


@with_keys("name", "length")
class Word:
    """No answer, but a JSON object in one."""

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def length(self) -> int:
        """The number of letters."""
        return len(self.name)


@answer
class Count(Tabular):
    """An answer that is no list."""

    row = Figure

    word: Word = key("The word.")
    pages: dict[int, int] = key("Pages by size.")
    share: float | None = key("A share.", default=None)

    def rows(self) -> Iterator[Figure]:
        yield from figures_of("word", self.word)
        yield from counted("pages", self.pages)
        yield from figures_of("count", self)


@answer
class CountOfDay(Count):
    day: str = key("The day.", default="")


ONE = Found(Site("a.org", 3), DAY, [Span(1, 2)])
OTHER = Found(Site("b.org", 0), None, [], "estimate", 4)
BOTH = FoundList("spring", [ONE, OTHER], OTHER, {"x": [Span(3, 4)]})
ONE_OBJECT: dict[str, Any] = {"host": "a.org", "name": "a", "when": "2024-01-02T00:00:00Z"}
ONE_OBJECT |= {"spans": [{"start": 1, "end": 2}], "kind": "exact", "double": 4}


def test_json_is_made_from_keys() -> None:
    assert list(ONE.to_dict().items()) == list(ONE_OBJECT.items())
    told = {"from": "spring", "entries": [ONE_OBJECT, OTHER.to_dict()], "best": OTHER.to_dict()}
    assert BOTH.to_dict() == told | {"counts": {"x": [{"start": 3, "end": 4}]}}
    assert json.loads(json.dumps(BOTH.to_dict())) == BOTH.to_dict()


def test_a_listing_behaves_like_a_list() -> None:
    assert (len(BOTH), list(BOTH), BOTH[1], BOTH[:1]) == (2, [ONE, OTHER], OTHER, [ONE])
    assert not FoundList("spring", [])


def test_keys_are_chosen_of_any_class_and_names_of_values_are_texts() -> None:
    count = Count(Word("mill"), {2: 3, 10: 1})
    told = {"word": {"name": "mill", "length": 4}, "pages": {"2": 3, "10": 1}, "share": None}
    assert count.to_dict() == json_values(count) == told
    assert json.loads(json.dumps(told)) == msgspec.convert(told, json_type(Count)) == told
    assert count.extended(CountOfDay, day="today").to_dict() == told | {"day": "today"}


def test_every_key_has_a_sentence() -> None:
    assert [each.help for each in keys_of(Word)] == ["", "The number of letters."]
    sentences = ["The time of it.", "Where it is.", "How it was found.", "Twice the hidden number."]
    assert [each.help for each in keys_of(Found)] == ["", "", *sentences]


def test_an_answer_that_is_no_list_has_figures() -> None:
    table = Count(Word("mill"), {2: 3}, 1 / 3).to_arrow().to_pylist()
    figures = ["word name mill", "word length 4", "pages 2 3", "count share 0.333333"]
    assert [" ".join(row.values()) for row in table] == figures


def test_columns_are_the_keys_that_are_cells() -> None:
    columns = columns_of(row_class(FoundList))
    assert [each.name for each in columns] == ["host", "name", "when", "spans", "kind", "double"]
    assert [each.type for each in columns] == [str, str, str, int, str, int]
    assert [each.cell(ONE) for each in columns] == ["a.org", "a", "2024-01-02T00:00:00Z", 1, "exact", 4]
    assert BOTH.to_arrow().to_pylist() == [{each.name: each.cell(row) for each in columns} for row in BOTH]
    assert FoundList("", []).to_arrow().schema == BOTH.to_arrow().schema
    spans = {"spans": [{"start": int, "end": int}]}
    assert whole_columns_of(Found) == {each.name: each.type for each in columns} | spans


@answer
class Best(Answer):
    """The best of what was found."""

    found: FoundList = inlined()
    site: Site = inlined("visits", "name")
    entries: int = key("The number of entries.")


def test_some_of_what_is_inlined() -> None:
    best = Best(BOTH, ONE.site, 2).to_dict()
    assert best == {**BOTH.to_dict(), "visits": 3, "name": "a", "entries": 2}
    assert list(best) == ["from", "entries", "best", "counts", "visits", "name"]
    assert [each.name for each in columns_of(Best)] == ["from", "entries", "visits", "name"]


def test_the_schema_describes_the_json() -> None:
    (reference,), schemas = msgspec.json.schema_components([json_type(FoundList)], ref_template="#/{name}")
    assert reference == {"$ref": "#/FoundList"}
    assert set(schemas) == {"FoundList", "Found", "Span"}
    found = schemas["Found"]
    assert (found["description"], set(found["required"])) == ("A page that was found.", set(ONE_OBJECT))
    assert found["properties"]["double"] == {"type": "integer", "description": "Twice the hidden number."}
    assert msgspec.convert(BOTH.to_dict(), json_type(FoundList)) == BOTH.to_dict()
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(BOTH.to_dict() | {"best": 1}, json_type(FoundList))


@answer(frozen=False)
class Tally(Answer):
    seen: int = key("How many were seen.", default=0)
    reasons: Counter[str] = key("The reasons.", default_factory=Counter)

    @property
    @derived(first=True)
    def total(self) -> int:
        """All of them."""
        return self.seen + self.reasons.total()

    @property
    @derived(name="some")
    def a_name_that_is_used_already(self) -> int:
        """Some of them."""
        return 3


def test_a_run_may_count_up_an_answer_whose_sums_come_first() -> None:
    tally = Tally()
    tally.seen += 2
    tally.reasons["late"] += 1
    assert list(tally.to_dict().items()) == [("total", 3), ("seen", 2), ("reasons", {"late": 1}), ("some", 3)]


@answer
class Part(Answer):
    site: Site | None = inlined(optional=True)
    size: int | None = key("The size.", optional=True, default=None)
    error: str | None = key("The reason why there is none.", optional=True, default=None)


def test_an_optional_key_is_left_out_if_there_is_nothing_to_say() -> None:
    assert Part(None, size=0).to_dict() == {"size": 0}
    assert Part(Site("a.org", 3), error="broken").to_dict() == {"host": "a.org", "name": "a", "error": "broken"}
    assert [each.cell(Part(None, size=0)) for each in columns_of(Part)] == [None, None, 0, None]
    _, schemas = msgspec.json.schema_components([json_type(Part)], ref_template="#/{name}")
    assert schemas["Part"].get("required", []) == []
    assert schemas["Part"]["properties"]["size"] == {"type": "integer", "description": "The size."}
