"""The options that name the fields of rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from opensearch_winnow.ingest.rows import FieldNames

_HELP = {
    "id": "The field with the id of a row.  [default: url, id or another usual name; else its file and line]",
    "text": "The field with the text of a row.  [default: text, content or another usual name]",
    "html": "The field with the HTML of a row.  [default: html or another usual name]",
    "title": "The field with the title of a row.  [default: title]",
    "url": "The field with the URL of a row, which is its id if it has no other.",
}


def field_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options --id-field, --text-field and so on; it gets `fields`."""

    @wraps(function)
    def with_fields(**arguments: Any) -> Any:
        fields = FieldNames(**{name: arguments.pop(f"{name}_field") for name in _HELP})
        return function(fields=fields, **arguments)

    decorated: Any = with_fields
    for name, text in reversed(_HELP.items()):
        decorated = click.option(f"--{name}-field", metavar="NAME", help=text)(decorated)
    return decorated  # type: ignore[no-any-return]
