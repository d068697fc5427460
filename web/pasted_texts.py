"""Texts that somebody has pasted: kept in memory for a while, so that an answer about one can be loaded again."""

from __future__ import annotations

import time
from dataclasses import dataclass
from secrets import token_hex
from threading import Lock

MINUTES = 60  # that a text is kept after it was last looked at
MOST = 32_000_000  # characters of all together: the one that nobody has looked at longest goes first
PREFIX = "pasted-"  # of their ids, which nobody can guess


@dataclass(frozen=True, slots=True)
class PastedText:
    text: str
    name: str = ""  # of the file that it came from


class PastedTexts:
    def __init__(self) -> None:
        self._lock = Lock()
        self._texts: dict[str, tuple[float, PastedText]] = {}  # in the order of their last use

    def keep(self, pasted: PastedText) -> str:
        """Its id."""
        name = PREFIX + token_hex(16)
        with self._lock:
            self._texts[name] = time.monotonic(), pasted
            self._forget()
        return name

    def get(self, name: str) -> PastedText | None:
        with self._lock:
            self._forget()
            if name not in self._texts:
                return None
            _, pasted = self._texts.pop(name)
            self._texts[name] = time.monotonic(), pasted
            return pasted

    def _forget(self) -> None:
        kept = sum(len(pasted.text) for _, pasted in self._texts.values())
        for name, (used, pasted) in list(self._texts.items()):
            too_many = kept > MOST and len(self._texts) > 1
            if too_many or time.monotonic() - used > 60 * MINUTES:
                del self._texts[name]
                kept -= len(pasted.text)
