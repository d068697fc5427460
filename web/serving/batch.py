"""Several documents or pairs of one request, and their answers, which are written piece by piece."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from opensearch_winnow.foundation.answer_keys import json_values
from opensearch_winnow.web.sent_json import NDJSON
from opensearch_winnow.web.serving.formats import encode_json

PIECE_BYTES = 250_000  # of answers that are made at a time; the last answer may exceed it

AnswerPart = Callable[[bytes], Any]
Served = TypeVar("Served")


class Batch(Generic[Served]):
    """The parts of a request, as they were sent. Each of them is answered by itself, in order.

    The answers are never all in memory. Other requests get their turn between two pieces, so a client that reads slowly
    keeps no thread.
    """

    def __init__(
        self,
        parts: Sequence[bytes],
        answering: Callable[[Served], AnswerPart],
        *,
        name: str,
        scheme: str,
        as_lines: bool,
    ) -> None:
        """`answering` makes a function that answers one part with what a thread has opened. The answers are
        JSON lines, or a list `name` in a JSON object."""
        self.size = sum(map(len, parts))
        self.media_type = NDJSON if as_lines else "application/json"
        self._left = deque(parts)
        self._answering = answering
        self._functions: dict[int, tuple[Served, AnswerPart]] = {}  # by the ids of what threads have opened
        self._scheme = scheme
        self._as_lines = as_lines
        self._before = b"" if as_lines else b'{"scheme":%s,"%s":[' % (encode_json(scheme), name.encode())
        self.is_answered = False

    def next_piece(self, served: Served) -> bytes:
        """Answer some more parts, and return the next piece to send."""
        piece = bytearray(self._before)
        self._before = b""
        if id(served) not in self._functions:
            self._functions[id(served)] = served, self._answering(served)
        _, answer_part = self._functions[id(served)]
        while self._left and len(piece) < PIECE_BYTES:
            answer = json_values(answer_part(self._left.popleft()))
            piece += encode_json({"scheme": self._scheme, **answer} if self._as_lines else answer)
            piece += b"\n" if self._as_lines else b"," if self._left else b""
        if not self._left:
            piece += b"" if self._as_lines else b"]}"
            self.is_answered = True
        return bytes(piece)
