"""The parts of which a web interface is declared: screens, redirects and actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from opensearch_winnow.foundation.answers import Tabular
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.web.parameters import Parameter
from opensearch_winnow.web.screen_request import ScreenRequest

Cell = str | int | float | None
Served_contra = TypeVar("Served_contra", contravariant=True)


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

    document: Any  # JSON values; a Batch is answered piece by piece
    template_values: Callable[[], Mapping[str, Any]] = dict  # further values for the template; called for HTML only


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen(Generic[Served_contra]):
    """One answer in up to three formats: HTML at `path`, JSON at `path.json`, and CSV at `path.csv` if it has a table.

    Most screens answer from an `Index`. Those that need its scheme only are served without a store, too.

    A list is shown in parts, and as CSV it is whole, unless the request has a `limit` or `page`.
    The documented address for programs is `/api/v1` + `api`, which returns the same as `path.json`; without `api`,
    there is none.
    """

    name: str  # also the name of its template
    path: str  # empty: for programs only
    api: str
    summary: str  # for the OpenAPI document
    answer: Callable[[Served_contra, ScreenRequest], ScreenAnswer]
    returns: type  # class of the answer
    parameters: tuple[Parameter, ...] = ()
    sends: type | None = None  # TypedDict of the request body of a POST; None: the screen is a GET
    sends_json: bool = False  # the body is JSON of any form, which the screen itself decodes, and not a form
    # Makes the CSV header and rows of the document. A `Tabular` answer has a table without it.
    table: Callable[[Any], Iterable[Sequence[Cell]]] | None = None
    # Names the entries that a whole list lacks as CSV, such as "12 more pages"; empty if none are missing.
    left_out: Callable[[Any], str] = lambda _document: ""
    csv_limit: int | None = None  # entries of a whole list as CSV; None: the maximum of the parameter `limit`
    heavy: bool = False  # it compares texts: one thread is kept for screens that do not
    keeps_form: bool = False  # a refused form is shown again with `request.fault`, not as an error screen
    instead: Callable[[Served_contra, ScreenRequest], str | None] | None = (
        None  # returns the address to redirect a browser to; None: no redirect
    )

    @property
    def has_table(self) -> bool:
        return self.table is not None or (bool(self.path) and issubclass(self.returns, Tabular))

    @property
    def whole_limit(self) -> int | None:
        """The most entries that a whole list has as CSV; None if this is not a list."""
        maxima = [each.schema["maximum"] for each in self.parameters if each.name == "limit"]
        return self.csv_limit or next(iter(maxima), None)

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
    """An action that is taken when a form is submitted."""

    name: str
    path: str
    summary: str
    act: Callable[[Index, ScreenRequest], str]  # returns the address of the screen that shows the result
    writes: bool = True  # to the store, which needs --write
    heavy: bool = False  # as of a screen
    screen: Screen[Index] | None = None  # shown again, with what was typed, if the form is refused
