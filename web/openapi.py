"""The OpenAPI document, generated from the screens so that it cannot differ from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

import msgspec

from opensearch_winnow import __version__
from opensearch_winnow.web.answer_schema import json_type
from opensearch_winnow.web.parameters import Parameter
from opensearch_winnow.web.screen import Screen
from opensearch_winnow.web.sent_json import MAX_BATCH, NDJSON
from opensearch_winnow.web.serving.guard import COOKIE

REFERENCE = "#/components/schemas/{name}"
CAPTURE = "00fd0353ab59671ba49a04f9e8d5496c"
DESCRIPTION = """\
Near-duplicate pages and shared passages of one store. Scores and thresholds are shares from 0 to 1. Offsets count \
code points. Unknown parameters are refused, so that a misspelt one is noticed."""
WITHOUT_STORE = """\
Fields for documents of an index of your own, and comparisons of texts. Nothing is kept. Scores are shares from 0 to \
1. Offsets count code points. Unknown members are refused, so that a misspelt one is noticed."""
# By the first part of the path: the name and the description of a group of endpoints.
TAGS = {
    "overview": ("Overview", "The contents of the store at a glance."),
    "search": ("Search", "Find pages by their words."),
    "suggest": ("Suggestions", "Pages to suggest while a user types."),
    "pages": ("Pages", "A page, its near-duplicates, its history and its versions."),
    "versions": ("Versions", "The versions of a page or text, and the copies that are stale."),
    "locate": ("Lost pages", "The later pages that have the text of a page that is no longer at its URL."),
    "compare": ("Comparisons", "Two texts, and the passages they share."),
    "quotes": ("Quotes", "Find the pages that quote a text of your own."),
    "clusters": ("Clusters", "Near-duplicates of the whole store, as the last clustering found them."),
    "changes": ("Changes", "Pages that changed, moved, appeared or were not seen again between two crawls or dates."),
    "statistics": ("Statistics", "The figures of the store."),
    "watches": ("Watches", "Saved questions, and new pages that match them."),
    "fields": ("Fields", "Fields for documents of an index of your own, which any program may write."),
    "health": ("Health", "A check that the server answers."),
}
PATH_PARAMETERS = {
    "id": "the id of a capture",
    "a": "the id of a capture or pasted text",
    "b": "the id of the capture or pasted text to compare it with",
}
OTHER_PATH_PARAMETERS = {
    ("pasted", "id"): "the id of a pasted text, which is the end of the address of its results",
    ("cluster", "id"): "the id of a cluster or of a page in it",
}
# For the parameters whose default is not an example.
EXAMPLES: dict[str, str | float] = {
    "words": "mill OR harbour",
    "url": "https://example.org/mill",
    "a": "https://example.org/mill",
    "b": "https://example.org/copy",
    "site": "example.org",
    "crawl": "2024-03",
    "at": "2024-03",
    "at_a": "2024-01",
    "representative": "newest",
    "at_b": "2024-03",
    "threshold": 0.5,
    "since": "2024-01",
    "until": "2024-03-31",
    "from": "2024-01",
    "to": "2024-03",
    "change": "moved",
    "watch": "mill",
    "others": CAPTURE,
    "min_resemblance": 0.8,
    "min_containment": 0.3,
    "min_contained": 0.3,
}
ANSWER_EXAMPLES = {"paste": {"needed": 50, "sure": 149, "minutes": 60}}
LINES = f"""\
JSON lines, at most {MAX_BATCH:,}: one answer for each line that is not blank, in order; an error instead if the line \
is refused"""
SENT_EXAMPLE = {
    "text": "The miller takes the grain to the mill, and two days later the flour to the baker in the town."
}
SENT_EXAMPLES: dict[str, Any] = {
    "fields": {**SENT_EXAMPLE, "id": "4711"},
    "compare_texts": {"a": SENT_EXAMPLE, "b": {"html": f"<p>He said: {SENT_EXAMPLE['text']}</p>"}},
}
SECURITY_SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token that winnow serve printed, or was given with --token. A server without one, which is"
        " the default on the machine itself, needs nothing.",
    },
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "The same token, as a browser keeps it after opening the address that winnow serve printed.",
    },
}


class Refused(TypedDict):
    """The reason why a request was not answered."""

    error: str


REFUSALS = {
    "invalid": ("400: the request is invalid", "limit is a whole number from 1 to 100, not 'many'"),
    "token": ("401: a token is required", "A token is required: open the address that winnow serve printed"),
    "missing": ("404: there is no such page", "crawl.winnow has no page https://example.org/gone"),
    "method": ("405: the address takes another method", "This address does not support that method."),
    "large": (
        "413: the request is too large",
        "At most 16 MB can be sent at once: send a part of the text, or a smaller file.",
    ),
    "packing": (
        "415: another compression than gzip",
        "A request may be compressed with gzip only.",
    ),
    "host": (
        "421: the request is for another host",
        "This server does not answer to that host name: see winnow serve --host.",
    ),
    "busy": ("503: try again in a moment, see Retry-After", "204 requests are already waiting: try again in a moment"),
}


INVALID_WITHOUT_STORE = ("400: the request is invalid", "There is no text: send text or html.")


def openapi(screens: Sequence[Screen[Any]], root: str) -> bytes:
    """Return the OpenAPI document, as JSON, of the screens' API below the address `root`."""
    return msgspec.json.format(msgspec.json.encode(openapi_document(screens, root)))


def openapi_document(screens: Sequence[Screen[Any]], root: str) -> dict[str, Any]:
    screens = [screen for screen in screens if screen.api]
    has_store = any(screen.path for screen in screens)
    refusals = REFUSALS if has_store else {**REFUSALS, "invalid": INVALID_WITHOUT_STORE}
    if not has_store:
        del refusals["missing"]
    types = [
        *dict.fromkeys((Refused, *(each for screen in screens for each in (screen.returns, screen.sends) if each)))
    ]
    references, schemas = msgspec.json.schema_components(list(map(json_type, types)), ref_template=REFERENCE)
    by_type = dict(zip(types, references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for screen in screens:
        paths.setdefault(screen.api, {})[screen.method.lower()] = _operation(screen, by_type, refusals)
    return {
        "openapi": "3.1.0",
        "info": {"title": "winnow", "version": __version__, "description": DESCRIPTION if has_store else WITHOUT_STORE},
        "servers": [{"url": root}],
        "tags": [
            {"name": name, "description": description}
            for part, (name, description) in TAGS.items()
            if any(screen.api.split("/")[1] == part for screen in screens)
        ],
        "security": [{}, *({name: []} for name in SECURITY_SCHEMES)],  # {}: needed only if the server has a token
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": SECURITY_SCHEMES},
    }


def _operation(
    screen: Screen[Any], by_type: dict[type, Any], refusals: Mapping[str, tuple[str, str]]
) -> dict[str, Any]:
    answer = {"schema": by_type[screen.returns]}
    if screen.name in ANSWER_EXAMPLES:
        answer["example"] = ANSWER_EXAMPLES[screen.name]
    refusal = {
        "schema": by_type[Refused],
        "examples": {
            name: {"summary": summary, "value": {"error": sentence}} for name, (summary, sentence) in refusals.items()
        },
    }
    operation: dict[str, Any] = {
        "operationId": screen.name,
        "summary": screen.summary,
        "tags": [TAGS[screen.api.split("/")[1]][0]],
        "parameters": [*_path_parameters(screen), *map(_query_parameter, screen.parameters)],
        "responses": {
            "200": {"description": "The answer", "content": {"application/json": answer}},
            "default": {"description": "The reason for the refusal", "content": {"application/json": refusal}},
        },
    }
    if screen.sends is not None:
        sent = {"schema": by_type[screen.sends], "example": SENT_EXAMPLES.get(screen.name, SENT_EXAMPLE)}
        operation["requestBody"] = {"required": True, "content": {"application/json": sent}}
        if screen.sends_json:
            for content in (operation["requestBody"]["content"], operation["responses"]["200"]["content"]):
                content[NDJSON] = {"schema": {"type": "string", "description": LINES}}
    return operation


def _path_parameters(screen: Screen[Any]) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"{(\w+)}", screen.api):
        yield {
            "name": name,
            "in": "path",
            "description": OTHER_PATH_PARAMETERS.get((screen.name, name), PATH_PARAMETERS[name]),
            "required": True,
            "schema": {"type": "string"},
            "example": "pasted-" + CAPTURE if screen.name == "pasted" else CAPTURE,
        }


def _query_parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "required": parameter.required,
        "schema": parameter.schema,
        "example": _example(parameter),
    }


def _example(parameter: Parameter) -> str | float:
    """Return an example of the right type: `from` is a crawl, or the number of a row."""
    example = EXAMPLES.get(parameter.name)
    if example is None or isinstance(example, str) != (parameter.schema["type"] == "string"):
        default: str | float = parameter.schema["default"]
        return default
    return example
