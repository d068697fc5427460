"""A client that writes, reads and searches all the time, and measures how long it waits."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.gateway.loading import Loader

GIVE_UP_SECONDS = 30.0
PAUSE_SECONDS = 0.02  # between two requests: the client is no load of its own
REQUESTS_PER_CONNECTION = 5  # a round of requests; those who come new have to be served too


class Waited(NamedTuple):
    seconds: float
    kind: str


class InnocentClient(Loader):
    """Writes articles with and without ids, reads them, and searches, plainly and in groups.

    A request without an answer is not sent again, so that no article may be there twice. An article is known by its
    headline.
    """

    def __init__(self, name: str, url: str, index: str, *, groups: bool = True) -> None:
        super().__init__(name)
        self._netloc = urlsplit(url).netloc
        self._index = index
        self._groups = groups
        self._rounds = count()
        self._began = 0.0  # when the request was sent that is not answered yet
        self.stored: list[str] = []  # headlines of articles that were acknowledged
        self.sent: list[str] = []
        self.failures: Counter[str] = Counter()
        self._longest = Waited(0.0, "")

    def longest(self) -> Waited:
        """Return the longest time that a request has waited since the last call, whether it was answered or not."""
        began, longest = self._began, self._longest
        self._longest = Waited(0.0, "")
        return max(longest, Waited(time.monotonic() - began if began else 0.0, "unanswered"))

    def end(self) -> None:
        self.ended.set()
        self.join()
        if self.error:
            raise self.error

    def write(self) -> None:
        connection = HTTPConnection(self._netloc, timeout=GIVE_UP_SECONDS)
        try:
            for kind, method, path, body, headlines in self._round(next(self._rounds)):
                if self.ended.is_set():
                    return
                self._ask(connection, kind, method, path, body, headlines)
                time.sleep(PAUSE_SECONDS)
        except (OSError, HTTPException) as error:
            self.failures[type(error).__name__] += 1
            time.sleep(PAUSE_SECONDS)
        finally:
            connection.close()

    def _round(self, number: int) -> Iterator[tuple[str, str, str, Any, list[str]]]:
        one, two, three = (f"{self.name} {number} {letter}" for letter in "abc")
        address = f"/{self._index}/_doc"
        yield "PUT", "PUT", f"{address}/{self.name}-{number}", article(one), [one]
        yield "GET", "GET", f"{address}/{self.name}-{number}", None, []
        lines = [{"index": {}}, article(two), {"index": {}}, article(three)]
        yield "bulk", "POST", f"/{self._index}/_bulk", lines, [two, three]
        search = {"query": {"match": {"body": "licence mill"}}, "_source": ["headline"]}
        yield "search", "POST", f"/{self._index}/_search", search, []
        if self._groups:
            yield "grouped", "POST", f"/{self._index}/_search?winnow=group", search, []

    def _ask(
        self, connection: HTTPConnection, kind: str, method: str, path: str, body: Any, headlines: list[str]
    ) -> None:
        lines = body if isinstance(body, list) else [] if body is None else [body]
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        self.sent += headlines
        self._began = time.monotonic()
        try:
            connection.request(method, path, content, {"content-type": "application/json"})
            response = connection.getresponse()
            answer = response.read()
        finally:
            self._longest = max(self._longest, Waited(time.monotonic() - self._began, kind))
            self._began = 0.0
        if response.status >= 300:
            self.failures[f"{kind} {response.status}"] += 1
        elif not (kind == "bulk" and json.loads(answer)["errors"]):
            self.stored += headlines


def article(headline: str) -> dict[str, Any]:
    body = f"The mill of {headline} grinds without a licence. " * 5
    return {"headline": headline, "body": body, "author": "innocent"}
