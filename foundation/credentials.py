"""Hides the user name and password of an address, even if the address was mistyped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

PATH = re.compile(r"\.{0,2}/(?!/)")
# With an @: the text before the last @, if it has a colon (a password may have any character) or is a user name after
# the //. Without an @: text after the // with a colon that does not start a port.
CREDENTIALS = re.compile(
    r"([^/:@]*:?/+)?+ (?: (?:.*:.* | (?<=//)[^/]*) @ | (?<=//)[^/:\[]+ : (?!\d*(?:[,/?\#]|\Z)) [^/]* )",
    re.DOTALL | re.VERBOSE,
)


def without_credentials(name: str, instead: str = "") -> str:
    """Return the name of a store, a source or a page with `instead` instead of the credentials it may contain.

    A name that starts with /, ./ or ../ is a path, and is returned unchanged.
    """
    found = None if PATH.match(name) else CREDENTIALS.match(name)
    return f"{found[1] or ''}{instead}{name[found.end() :]}" if found else name


def hide_credentials(message: str, typed: Iterable[str]) -> str:
    """Return a message without credentials. It may repeat `typed`, the words of the user, which may contain them."""
    for word in typed:
        for name in (word, word.partition("=")[2]):  # --store=NAME
            hidden = without_credentials(name, "…@")
            if hidden != name:
                for form in (name, repr(name)[1:-1], str(PurePath(name))):
                    message = message.replace(form, hidden)
    return message
