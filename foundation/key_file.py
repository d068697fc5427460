"""Reads the secret key of a scheme from the file that an environment variable names, and warns of files that are open
to others."""

from __future__ import annotations

import os
import shlex
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from opensearch_winnow.foundation.errors import FileError

if TYPE_CHECKING:  # every command imports this file, and many need no scheme
    from opensearch_winnow.foundation.scheme import Scheme

KEY_VARIABLE = "WINNOW_KEY_FILE"
KEY_OPTION = "--key-file"
MAX_KEY_BYTES = 4_096  # a key of 32 random bytes has 64 characters; a longer file is probably another file


_warned: set[str] = set()  # the files that a warning has named


def environment_key() -> str | None:
    """Return the key in the file that WINNOW_KEY_FILE names; None if the variable is not set, or empty.

    The file is read each time, so only the schemes that are made with the key keep it.
    """
    path = os.environ.get(KEY_VARIABLE)
    return read_key(path) if path else None


def read_key(path: str) -> str:
    """Return the key in a file: one line of UTF-8, without the newline at its end. No error repeats its content."""
    file = Path(path)
    try:
        if not os.path.lexists(file):
            raise FileError(f"there is no key file {path} ({KEY_OPTION} or {KEY_VARIABLE})")
        if not file.is_file():  # a pipe could be read only once, and a key is needed whenever a store is opened
            raise FileError(f"the key file {path} cannot be read: it is not a regular file")
        with file.open("rb") as opened:
            content = opened.read(MAX_KEY_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no file can have this name"
        raise FileError(f"the key file {path} cannot be read: {reason}") from None
    if len(content) > MAX_KEY_BYTES:
        raise FileError(f"the key file {path} is larger than {MAX_KEY_BYTES:,} bytes: is it another file?")
    try:
        text = content.decode("utf-8-sig")  # some editors put an invisible mark at the start of a file
    except UnicodeDecodeError:
        raise FileError(f"the key file {path} is not UTF-8: write the key as text, on one line") from None
    key = text.removesuffix("\n").removesuffix("\r")
    if not key.strip():
        raise FileError(f"the key file {path} is empty: write the key to it, on one line")
    if "\n" in key or "\r" in key:
        raise FileError(f"the key file {path} has more than one line: a key is one line")
    warn_if_open_to_others(path)
    return key


def warn_if_open_to_others(path: str, what: str = "key file") -> None:
    """Log a warning, once for each file, if other users may read or change a file with a secret.

    Like ssh, this looks only at files of the user who runs the program: chmod works on no others. Windows has other
    permissions.
    """
    if os.name == "nt" or path in _warned:
        return
    try:
        found = Path(path).stat()
    except OSError:
        return  # reading the file reports the error
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid == os.geteuid() and mode & (stat.S_IRWXG | stat.S_IRWXO):
        import logging  # noqa: PLC0415 - every command imports this file, and hardly any logs

        _warned.add(path)
        close = f"chmod 600 {shlex.quote(path)}"
        logging.getLogger(__name__).warning(
            "Warning: the %s %s is open to other users (mode %03o). To close it: %s", what, path, mode, close
        )


def with_key(scheme: Scheme, key: str | None = None) -> Scheme:
    """Return `scheme` with `key`, or else with its own key, or else with the key of the environment."""
    if key is None and scheme.key is None:
        key = environment_key()
    return scheme if key is None else replace(scheme, key=key)
