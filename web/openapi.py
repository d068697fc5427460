"""The OpenAPI document, generated from the screens so that it cannot differ from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypedDict

import msgspec

from opensearch_winnow import __version__
from opensearch_winnow.web.screen import Screen

REFERENCE = "#/components/schemas/{name}"


class Refused(TypedDict):
    """Why a request was not answered."""

    error: str


def openapi(screens: Sequence[Screen], root: str) -> bytes:
    """Return the OpenAPI document, as JSON, of the screens' API below the address `root`."""
    types = [
        *dict.fromkeys((Refused, *(each for screen in screens for each in (screen.returns, screen.sends) if each)))
    ]
    references, schemas = msgspec.json.schema_components(types, ref_template=REFERENCE)
    by_type = dict(zip(types, references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for screen in screens:
        paths.setdefault(screen.api, {})[screen.method.lower()] = _operation(screen, by_type)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "winnow",
            "version": __version__,
            "description": "Near-duplicate pages and shared passages of one store. Scores are shares from 0 to 1;"
            " thresholds in requests are percentages. Offsets count code points.",
        },
        "servers": [{"url": root}],
        "paths": paths,
        "components": {"schemas": schemas},
    }
    return msgspec.json.format(msgspec.json.encode(document))


def _operation(screen: Screen, by_type: dict[type, Any]) -> dict[str, Any]:
    error_content = {"application/json": {"schema": by_type[Refused]}}
    operation = {
        "operationId": screen.name,
        "summary": screen.summary,
        "parameters": [
            *(
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in re.findall(r"{(\w+)}", screen.api)
            ),
            *(
                {
                    "name": each.name,
                    "in": "query",
                    "description": each.description,
                    "required": each.required,
                    "schema": each.schema,
                }
                for each in screen.parameters
            ),
        ],
        "responses": {
            "200": {
                "description": "The answer",
                "content": {"application/json": {"schema": by_type[screen.returns]}},
            },
            "default": {"description": "Why the request was not answered", "content": error_content},
        },
    }
    if screen.sends is not None:
        schema = {"application/json": {"schema": by_type[screen.sends]}}
        operation["requestBody"] = {"required": True, "content": schema}
    return operation
