"""A screen: a question that can be asked over HTTP, and how its answer is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.parameters import Parameter

Cell = str | int | float | None


class Offer(NamedTuple):
    """A way out of nothing: an address of ours, and what is there."""

    address: str
    words: str


class NotFoundError(WinnowError):
    """A page, or something else, that is not there; and what is."""

    def __init__(self, sentence: str, *offers: Offer) -> None:
        super().__init__(sentence)
        self.offers = offers


class Answered(NamedTuple):
    document: Any  # JSON values
    more: Callable[[], Mapping[str, Any]] = dict  # what the template shows besides: made for HTML only


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One answer in three forms: `path` in HTML, `path.json`, and `path.csv` where it has a table.

    `/api/v1` + `api` is what programs are told of; it is the same as `path.json`.
    """

    name: str  # of its template, too
    path: str  # empty: for programs only
    api: str
    about: str  # in a sentence
    answer: Callable[[Index, Asked], Answered]
    returns: type  # of the document: a TypedDict
    parameters: tuple[Parameter, ...] = ()
    sends: type | None = None  # what a program sends to ask, a TypedDict; None: nothing, it is a GET
    table: Callable[[Any], Iterable[Sequence[Cell]]] | None = None  # of the document: its head, and its rows

    @property
    def method(self) -> str:
        return "GET" if self.sends is None else "POST"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signpost:
    """An address that leads to another: what a form, or a person, knows of a page is not its id."""

    path: str
    leads_to: Callable[[Index, Asked], str]
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that a form does: where to look at what has become of it."""

    name: str
    path: str
    about: str
    act: Callable[[Index, Asked], str]
    writes: bool = True  # to the store, which may not be allowed
