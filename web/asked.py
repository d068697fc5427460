"""What a request asks: the values of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from opensearch_winnow.web.kept import Kept
from opensearch_winnow.web.parameters import Parameter, ParameterError


@dataclass(frozen=True, slots=True)
class Asked:
    """`asked["t"]` is the value of a parameter, the default where none was given."""

    path: str  # of the screen, whatever the format is in which it is wanted
    values: Mapping[str, Any]
    given: Mapping[str, str]  # in the query, as it was written
    form: Mapping[str, str | bytes]  # what was sent
    kept: Kept

    @classmethod
    def of(
        cls,
        path: str,
        parameters: Iterable[Parameter],
        *,
        in_path: Mapping[str, str],
        query: Mapping[str, str],
        form: Mapping[str, str | bytes],
        kept: Kept,
        strict: bool = False,
    ) -> Self:
        """With `strict` a parameter that there is not is a fault, too: a program wants to know that it is ignored."""
        known = {each.name: each for each in parameters}
        values = {name: each.default for name, each in known.items()} | dict(in_path)
        faults = [f"there is no parameter {name[:40]}" for name in query if strict and name not in known]
        given = {name: text for name, text in query.items() if name in known and text.strip()}
        for name, text in given.items():
            try:
                values[name] = known[name].read(text)
            except ValueError as fault:
                faults.append(f"{name} {fault}")
        faults += [
            f"{each.name} is missing: {each.about}"
            for each in known.values()
            if each.required and each.name not in given
        ]
        if faults:
            raise ParameterError("; ".join(faults))
        return cls(path, values, given, form, kept)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def link(self, path: str | None = None, /, **changes: object) -> str:
        """The same question with other values; without those that are None."""
        query = {**self.given, **changes}
        kept = {name: str(value) for name, value in query.items() if value is not None}
        return (self.path if path is None else path) + (f"?{urlencode(kept)}" if kept else "")
