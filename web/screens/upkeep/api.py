"""The API screen: every endpoint in words, with an example about this very store that can be run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote, urlencode

from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.index import Index
from opensearch_winnow.web.openapi import openapi_document
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

SAMPLE_WORDS = 40  # of a page, for the text whose quotes are sought
CLUSTERS_SEEN = 50  # the example is in the middle of them: the largest is often an error page


@answer
class ApiParameter(Answer):
    """A parameter of an endpoint."""

    name: str = key("Its name.")
    location: Literal["path", "query"] = key("The part of the address that contains it.")
    description: str = key("Its description.")
    required: bool = key("True if it is required.")
    default: str | float | None = key("The value without it; null if there is none.")
    minimum: float | None = key("The least number; null if it is not a number. A threshold of 0 may not be allowed.")
    maximum: float | None = key("The largest number.")
    choices: list[str] = key("The words that it takes, if they are few.")
    example: str = key("The value in the example; empty if it is not used there.")


@answer
class ApiEndpoint(Answer):
    """An endpoint."""

    name: str = key("Its name, which is the operationId.")
    method: str = key("The method of requests: GET or POST.")
    path: str = key("The path, with the names of parameters in it.")
    tag: str = key("The group of endpoints that it belongs to.")
    summary: str = key("The answer in a few words.")
    parameters: list[ApiParameter] = key("Its parameters.")
    example: str | None = key("An address with an answer; null if the store has no page for one.")
    text: str | None = key("The text to send with the example.")


@answer
class ApiEndpoints(Answer):
    """The endpoints of the API."""

    openapi: str = key("The address of the OpenAPI document.")
    endpoints: list[ApiEndpoint] = key("The endpoints, in the order in which they are explained.")


def api_screen(screens: Sequence[Screen[Index]], root: str) -> Screen[Index]:
    """Return the screen that explains the API of the other screens, which is below the address `root`."""
    described = openapi_document(screens, root)

    def explained(index: Index, request: ScreenRequest) -> ScreenAnswer:
        values = example_values(index)
        endpoints = [
            _endpoint(root, path, method, operation, values)
            for path, methods in described["paths"].items()
            for method, operation in methods.items()
        ]
        tags = [(each["name"], each["description"]) for each in described["tags"]]
        return ScreenAnswer(
            ApiEndpoints(f"{root}/openapi.json", endpoints),
            lambda: {"tags": tags, "limits": limits, "curl": lambda each: _curl(request.origin, each)},
        )

    return Screen(
        name="api",
        path="/api",
        api="",
        summary="The endpoints of the API, each with an example",
        answer=explained,
        returns=ApiEndpoints,
    )


def example_values(index: Index) -> Mapping[str, str]:
    """Return values of parameters for which this store has an answer."""
    clusters = index.clusters(limit=CLUSTERS_SEEN)
    if clusters:
        cards = index.cluster_pages(clusters[len(clusters) // 2].cluster, limit=2)
    else:
        cards = list(index.cards(limit=2))
    if not cards:
        return {}
    first, second = cards[0], cards[-1]
    text = index.capture(first.id).text
    words = [word for word in word_tokens(f"{first.title or ''} {text[:2_000]}")[0] if word.isalpha()]
    values = {
        "id": first.id,
        "a": first.id,
        "b": second.id,
        "others": second.id,
        "url": first.url,
        "words": max(words[:10], key=len, default=""),
        "text": " ".join(text.split()[:SAMPLE_WORDS]),
    }
    return {name: value for name, value in values.items() if value}


def _endpoint(root: str, path: str, method: str, operation: dict[str, Any], values: Mapping[str, str]) -> ApiEndpoint:
    name = operation["operationId"]
    if name in ("pasted", "compare_texts"):  # no text was pasted, so there is no id; two texts are too long
        values = {}
    if name == "compare_urls":
        values = {**values, "a": values.get("url", "")}
    parameters = [_parameter(each, values) for each in operation["parameters"]]
    given = {each.name: each.example for each in parameters if each.example}
    complete = all(each.name in given for each in parameters if each.required)
    text = values.get("text") if method == "post" else None
    in_path = {each.name: quote(each.example, safe="") for each in parameters if each.location == "path"}
    query = urlencode({name: value for name, value in given.items() if name not in in_path})
    address = root + path.format(**in_path) + (f"?{query}" if query else "")
    return ApiEndpoint(
        name=name,
        method=method.upper(),
        path=root + path,
        tag=operation["tags"][0],
        summary=operation["summary"],
        parameters=parameters,
        example=address if complete and (text or method == "get") else None,
        text=text,
    )


def _parameter(described: dict[str, Any], values: Mapping[str, str]) -> ApiParameter:
    schema = described["schema"]
    used = described["required"] or described["name"] == "words"
    return ApiParameter(
        name=described["name"],
        location=described["in"],
        description=described["description"],
        required=described["required"],
        default=schema.get("default"),
        minimum=schema.get("minimum", schema.get("exclusiveMinimum")),
        maximum=schema.get("maximum"),
        choices=schema.get("enum", []),
        example=values.get(described["name"], "") if used else "",
    )


def limits(parameter: ApiParameter) -> str:
    """Describe the values of a parameter in a few words."""
    parts = ["required"] if parameter.required else []
    if parameter.choices:
        *others, last = parameter.choices
        parts.append(f"{', '.join(others)} or {last}")
    if parameter.minimum is not None and parameter.maximum is not None:
        parts.append(f"{parameter.minimum:,} to {parameter.maximum:,}")
    if parameter.default is not None:
        parts.append(f"default {parameter.default}")
    return "; ".join(parts)


def _curl(origin: str, endpoint: ApiEndpoint) -> str:
    """Return the arguments of curl for the example."""
    url = _quoted(origin + (endpoint.example or endpoint.path))
    if endpoint.method == "GET":
        return url
    body = json.dumps({"text": endpoint.text or ""}, ensure_ascii=False)
    return f"{url} \\\n  -H 'Content-Type: application/json' \\\n  -d {_quoted(body)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
