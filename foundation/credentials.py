"""Hides the user name and password of an address, even if the address was mistyped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

PATH = re.compile(r"\.{0,2}/(?!/)")
# What stands before the last @: anything with a colon in it, because a password may have any character; or a user name
# after the //. Without any @: what stands after the // with a colon in it, and is no port.
CREDENTIALS = re.compile(
    r"([^/:@]*:?/+)?+ (?: (?:.*:.* | (?<=//)[^/]*) @ | (?<=//)[^/:\[]+ : (?!\d*(?:[,/?\#]|\Z)) [^/]* )",
    re.DOTALL | re.VERBOSE,
)


def without_credentials(name: str, instead: str = "") -> str:
    """Return the name of a store, a source or a page with `instead` instead of the credentials it may contain.

    What starts with /, ./ or ../ is a path, and returned as it is.
    """
    found = None if PATH.match(name) else CREDENTIALS.match(name)
    return f"{found[1] or ''}{instead}{name[found.end() :]}" if found else name


def hide_credentials(message: str, typed: Iterable[str]) -> str:
    """Return a message without the credentials in the words that the user has typed, which it may repeat."""
    for word in typed:
        for name in (word, word.partition("=")[2]):  # --store=NAME
            hidden = without_credentials(name, "…@")
            if hidden != name:
                for form in (name, repr(name)[1:-1], str(PurePath(name))):
                    message = message.replace(form, hidden)
    return message
