"""Converts a scheme to and from its form in record files and stores."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any

from opensearch_winnow.foundation.errors import SchemeError
from opensearch_winnow.foundation.key_file import KEY_OPTION, KEY_VARIABLE, environment_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import RecordsError

NAME_THE_KEY = f"name the file that holds it with {KEY_OPTION} or {KEY_VARIABLE}, or pass it as key"


@dataclass(frozen=True, slots=True)
class WrittenScheme:
    """The scheme in a file or store. It tells whether there is a key, but does not contain the key."""

    id: str
    choices: dict[str, Any]
    keyed: bool

    def scheme(self, key: str | None = None) -> Scheme:
        """Return the scheme with `key`, or else with the key of the environment.

        Raises RecordsError if the hashes were made with another key. It does so too if only one of both has a key,
        because a user who names a key expects that the hashes are made with it.
        """
        used = environment_key() if key is None else key
        if self.keyed and used is None:
            raise RecordsError(f"scheme {self.id} has a secret key: {NAME_THE_KEY}")
        if not self.keyed and used is not None:
            said = f"{KEY_OPTION} or {KEY_VARIABLE} names one" if key is None else "one was given"
            raise RecordsError(
                f"scheme {self.id} has no key, but {said}: leave it out, or index the pages again with it"
            )
        return self.scheme_with(used)

    def scheme_with(self, key: str | None) -> Scheme:
        """Return the scheme with exactly this key, or without one. Raises RecordsError if it has another id."""
        try:
            scheme = Scheme(**self.choices, key=key)
        except (SchemeError, TypeError) as error:
            raise RecordsError(f"scheme {self.id} belongs to another version of winnow: {error}") from None
        if scheme.id != self.id:
            if self.keyed:
                raise RecordsError(f"wrong key for scheme {self.id}")
            other = "Pygments" if scheme.form == "code" else "winnow"
            raise RecordsError(f"scheme {self.id} belongs to another version of {other}")
        return scheme

    def differs_in_key(self, other: WrittenScheme) -> bool:
        """Return whether `other` differs in the key alone."""
        return self.id != other.id and self.choices == other.choices and (self.keyed or other.keyed)

    def differences(self, other: WrittenScheme) -> str:
        """Return the choices in which `other` differs, as the end of a sentence."""
        theirs = {each.name: each.default for each in fields(Scheme)} | other.choices
        ours = {each.name: each.default for each in fields(Scheme)} | self.choices
        differing = [f"{name} {ours[name]}, not {theirs[name]}" for name in ours if ours[name] != theirs[name]]
        return f" (it has {'; '.join(differing)})" if differing else ""


def written(scheme: Scheme) -> WrittenScheme:
    choices = {each.name: getattr(scheme, each.name) for each in fields(scheme) if each.name != "key"}
    if not scheme.fold_confusables:
        del choices["fold_confusables"]  # so that it equals stores and files that are older than this choice
    return WrittenScheme(scheme.id, choices, scheme.key is not None)


def other_scheme(path: str | os.PathLike[str], found: WrittenScheme, wanted: WrittenScheme) -> RecordsError:
    """Return the error for records whose scheme is not the `wanted` one."""
    if found.differs_in_key(wanted):
        if found.keyed and wanted.keyed:
            return RecordsError(f"{path} has records of a scheme with another secret key")
        if found.keyed:
            return RecordsError(f"{path} has records of a scheme with a secret key: {NAME_THE_KEY}")
        return RecordsError(f"{path} has records of a scheme without a key: leave the key out, or use another name")
    return RecordsError(
        f"{path} has records of scheme {found.id}, not {wanted.id}: hashes of different schemes are never compared, so"
        f" use scheme {found.id}, or another name{found.differences(wanted)}"
    )
