"""The parts a web interface is declared with: screens, redirects and actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.web.parameters import Parameter
from opensearch_winnow.web.screen_request import ScreenRequest

Cell = str | int | float | None


class SuggestedLink(NamedTuple):
    """A link that an error page offers as a next step."""

    address: str
    label: str


class NotFoundError(WinnowError):
    """Something that does not exist was requested; `links` suggest where to go instead."""

    def __init__(self, sentence: str, *links: SuggestedLink) -> None:
        super().__init__(sentence)
        self.links = links


class ScreenAnswer(NamedTuple):
    """The answer to a screen's request."""

    document: Any  # JSON values; a list is written as JSON lines
    template_values: Callable[[], Mapping[str, Any]] = dict  # what the template needs besides; called for HTML only


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One answer in up to three formats: HTML at `path`, JSON at `path.json`, and CSV at `path.csv` if it has a table.

    The documented address for programs is `/api/v1` + `api`, which returns the same as `path.json`. Without `api` there
    is none.
    """

    name: str  # also the name of its template
    path: str  # empty: for programs only
    api: str
    summary: str  # for the OpenAPI document
    answer: Callable[[Index, ScreenRequest], ScreenAnswer]
    returns: type  # TypedDict of the document
    parameters: tuple[Parameter, ...] = ()
    sends: type | None = None  # TypedDict of the request body of a POST; None: the screen is a GET
    sends_json: bool = False  # the body is JSON of any form, which the screen itself decodes, and not a form
    table: Callable[[Any], Iterable[Sequence[Cell]]] | None = None  # makes the CSV header and rows of the document
    heavy: bool = False  # it compares texts: one thread is kept for screens that do not
    instead: Callable[[Index, ScreenRequest], str | None] | None = None  # where to send a browser instead, if anywhere

    @property
    def method(self) -> str:
        return "GET" if self.sends is None else "POST"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """An address that redirects to a screen, for forms and people that do not know the id of a page."""

    path: str
    target: Callable[[Index, ScreenRequest], str]  # returns the address of the screen
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What submitting a form does."""

    name: str
    path: str
    summary: str
    act: Callable[[Index, ScreenRequest], str]  # returns the address of the screen that shows the result
    writes: bool = True  # to the store, which needs --write
    heavy: bool = False  # as of a screen
    screen: Screen | None = None  # shown again, with what was typed, if the form is refused
