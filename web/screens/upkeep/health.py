"""Tells programs that watch the server that it answers."""

from __future__ import annotations

from typing import Literal, TypedDict

from opensearch_winnow import __version__
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.served import HasScheme


class HealthDocument(TypedDict):
    """The server answers, and its store can be opened. `scheme` is the id of the scheme of all hashes."""

    status: Literal["ok"]
    version: str
    scheme: str


def answer(served: HasScheme, _request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(HealthDocument(status="ok", version=__version__, scheme=served.scheme.id))


SCREEN = Screen(
    name="health",
    path="",
    api="/health",
    summary="Whether the server answers",
    answer=answer,
    returns=HealthDocument,
)
