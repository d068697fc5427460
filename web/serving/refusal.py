"""Answers requests that are refused: a page for a browser, JSON for the API, a line of text for other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope

from opensearch_winnow.web.pages import InlineStyle, Pages
from opensearch_winnow.web.serving.formats import encode_json

Refuse = Callable[[Scope, int, str, Mapping[str, str]], Response]


def is_for_programs(path: str) -> bool:
    """Return whether the answer at this path is JSON or CSV."""
    return path.startswith("/api/v1") or path.endswith((".json", ".csv"))


def refusals(pages: Pages) -> Refuse:
    """Return a function that makes the answer from a request, a status, a sentence and headers.

    The page says nothing about the store and has its style inside: a refused client cannot load the style sheet.
    """
    style = InlineStyle.of("winnow.css")

    def refuse(scope: Scope, status: int, sentence: str, headers: Mapping[str, str]) -> Response:
        if is_for_programs(scope["path"]):
            return Response(encode_json({"error": sentence}), status, headers, "application/json")
        if "text/html" not in Headers(scope=scope).get("accept", ""):
            return PlainTextResponse(f"{sentence}\n", status, headers)
        html = pages.render("refused", status=status, sentence=sentence, style=style)
        policy = f"{style.policy}; frame-ancestors 'none'"
        return Response(html, status, {**headers, "content-security-policy": policy}, "text/html")

    return refuse
