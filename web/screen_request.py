"""The request for a screen: its parameters, its form, and the state that the server keeps between requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import urlencode

from opensearch_winnow.foundation.options import Options
from opensearch_winnow.index import Index
from opensearch_winnow.operations.upkeep.overview import Overview
from opensearch_winnow.operations.upkeep.store_figures import StoreFigures
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.web.clustering_run import ClusteringRun
from opensearch_winnow.web.kept_changes import KeptChanges
from opensearch_winnow.web.kept_figures import KeptFigures
from opensearch_winnow.web.parameters import Parameter, ParameterError
from opensearch_winnow.web.pasted_texts import PastedTexts
from opensearch_winnow.web.served import ServedStore

Wanted = TypeVar("Wanted", bound=Options)


@dataclass(frozen=True, slots=True)
class ServerState:
    """The values that the server keeps in memory between requests. They are lost when the server ends."""

    clustering: ClusteringRun
    store_name: str  # as visitors see it
    overview: KeptFigures[Overview]
    statistics: KeptFigures[StoreFigures]
    changes: KeptChanges
    max_seconds: float  # for the comparisons of one question
    pasted: PastedTexts = field(default_factory=PastedTexts)

    @classmethod
    def of(cls, store: ServedStore, max_seconds: float) -> Self:
        """Return the state of a server that has just been started."""
        open_index = store.open_index
        overviews = KeptFigures(open_index, Index.overview)
        return cls(
            clustering=ClusteringRun(open_index, when_done=overviews.expire),
            store_name=store.shown_name,
            overview=overviews,
            statistics=KeptFigures(open_index, lambda index: index.figures(common_texts=True)),
            changes=KeptChanges(open_index),
            max_seconds=max_seconds,
        )


class Fault(NamedTuple):
    """The reason why a form was refused."""

    sentence: str
    field: str = ""  # the name of the field at fault, if there is one


@dataclass(frozen=True, slots=True)
class ScreenRequest:
    """The parsed request for a screen: `request["limit"]` is the value of parameter `limit`, or its default."""

    path: str  # of the screen, without .json or .csv
    values: Mapping[str, Any]
    query: Mapping[str, str]  # known parameters of the query string, unparsed
    form: Mapping[str, str | bytes]  # fields of the form or JSON object that was sent
    kept: ServerState | None  # None if no store is served
    fault: Fault | None = None  # the screen is shown again because its form was refused
    repeated: Sequence[tuple[str, str]] = ()  # names and values of the query string; a name may be repeated
    origin: str = ""  # http://HOST:PORT, as the visitor knows this server
    defaults: Mapping[str, str] = field(default_factory=dict)  # of parameters, as they would be written
    is_whole: bool = False  # True if the whole list is wanted, up to its limit, and not one part of it

    @classmethod
    def parse(
        cls,
        path: str,
        parameters: Iterable[Parameter],
        *,
        path_values: Mapping[str, str],
        query: Mapping[str, str],
        form: Mapping[str, str | bytes],
        state: ServerState | None,
        strict: bool = False,
        fault: Fault | None = None,
        repeated: Sequence[tuple[str, str]] = (),
        origin: str = "",
        whole_limit: int | None = None,
    ) -> Self:
        """Parse the parameters; raise a ParameterError that lists all errors, or, with a `fault` that was reported
        already, use the defaults of the invalid ones.

        `strict` also rejects unknown parameters: a program should learn that its parameter has no effect. `whole_limit`
        is the `limit` of a list that is wanted as a whole.
        """
        known = {each.name: each for each in parameters}
        values = {name: each.default for name, each in known.items()} | dict(path_values)
        faults = [f"there is no parameter {name[:40]}" for name in query if strict and name not in known]
        used = {name: text for name, text in query.items() if name in known and text.strip()}
        for name, text in used.items():
            try:
                values[name] = known[name].parse(text)
            except ValueError as error:
                faults.append(f"{name} {error}")
        faults += [
            f"{each.name} is missing: {each.description}"
            for each in known.values()
            if each.required and each.name not in used
        ]
        if faults and fault is None:
            raise ParameterError("; ".join(faults))
        is_whole = whole_limit is not None and not used.keys() & {"limit", "page"}
        if is_whole:
            values["limit"] = whole_limit
        defaults = {
            each.name: str(each.schema.get("default", "")) for each in known.values() if not each.counts_if_given
        }
        return cls(path, values, used, form, state, fault, repeated, origin, defaults, is_whole)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def state(self) -> ServerState:
        """The values that the server of a store keeps between requests. Screens that need no store do not use it."""
        assert self.kept is not None
        return self.kept

    def all(self, name: str) -> list[str]:
        """Return every value of a parameter that may be repeated, such as that of check boxes."""
        return [value for each, value in self.repeated if each == name]

    def typed(self, name: str, default: str = "") -> str:
        """Return the typed value of a field if the form was refused; otherwise the default."""
        value = self.form.get(name, "")
        return default if self.fault is None or not isinstance(value, str) else value

    def link(self, path: str | None = None, /, **changes: object) -> str:
        """Return the address of this request with other parameter values; None removes a parameter."""
        query = self._without_defaults({**self.query, **changes})
        return (self.path if path is None else path) + (f"?{urlencode(query)}" if query else "")

    @property
    def is_clean(self) -> bool:
        """True if each parameter in the address has an effect: none is unknown, blank, or has its default value."""
        return {name for name, _ in self.repeated} == self._without_defaults(self.query).keys()

    def _without_defaults(self, query: Mapping[str, object]) -> dict[str, str]:
        written = {name: str(value) for name, value in query.items() if value is not None}
        return {name: value for name, value in written.items() if value != self.defaults.get(name)}

    def options(self, cls: type[Wanted], **others: Any) -> Wanted:
        """Return the options of a class, from the parameters made of them, and `others` of its fields."""
        return replace(cls.of(dict(self.values)), **others)

    def filters(self) -> Filters:
        """Return the filters given by FILTER_PARAMETERS."""
        return self.options(Filters)
