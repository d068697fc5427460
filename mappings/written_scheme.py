"""Converts a scheme to and from the form in which record files and stores keep it."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any

from opensearch_winnow.foundation.errors import SchemeError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import RecordsError


@dataclass(frozen=True, slots=True)
class WrittenScheme:
    """The scheme as a file or store has it: whether there is a key, but not the key itself."""

    id: str
    choices: dict[str, Any]
    keyed: bool

    def scheme(self, key: str | None = None) -> Scheme:
        """Return the scheme. Raises RecordsError if `key` is not the one that the hashes were made with."""
        try:
            scheme = Scheme(**self.choices, key=key)
        except (SchemeError, TypeError) as error:
            raise RecordsError(f"scheme {self.id} belongs to another version of winnow: {error}") from None
        if scheme.id != self.id:
            raise RecordsError(f"scheme {self.id} has {'a key, and this is not it' if self.keyed else 'no key'}")
        return scheme


def written(scheme: Scheme) -> WrittenScheme:
    choices = {each.name: getattr(scheme, each.name) for each in fields(scheme) if each.name != "key"}
    return WrittenScheme(scheme.id, choices, scheme.key is not None)


def other_scheme(path: str | os.PathLike[str], found: str, wanted: str) -> RecordsError:
    return RecordsError(
        f"{path} has records of scheme {found}, not {wanted}: hashes of different schemes are never compared, so use"
        f" scheme {found}, or another name"
    )
