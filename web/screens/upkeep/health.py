"""The health check, for programs that monitor the server."""

from __future__ import annotations

from typing import Literal

from opensearch_winnow import __version__
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.served import HasScheme


@answer
class Health(Answer):
    """The server answers, and its store can be opened."""

    status: Literal["ok"] = key("Always ok.")
    version: str = key("The version of winnow.")
    scheme: str = key("The id of the scheme of all hashes.")


def health(served: HasScheme, _request: ScreenRequest) -> ScreenAnswer:
    return ScreenAnswer(Health("ok", __version__, served.scheme.id))


SCREEN = Screen(
    name="health",
    path="",
    api="/health",
    summary="A check that the server answers",
    answer=health,
    returns=Health,
)
