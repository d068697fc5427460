"""One answer as HTML, JSON or CSV."""

from __future__ import annotations

import csv
import io
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.pages import Pages
from opensearch_winnow.web.screen import Answered, Cell, Screen

Format = Literal["html", "json", "csv"]

_encoder = msgspec.json.Encoder()


def encoded(screen: Screen, form: Format, answered: Answered, asked: Asked, pages: Pages) -> Response:
    if form == "json":
        return Response(as_json(answered.document), media_type="application/json")
    if form == "csv":
        headers = {"content-disposition": f'attachment; filename="winnow-{screen.name}.csv"'}
        return Response(as_csv(screen, answered.document), headers=headers, media_type="text/csv")
    page = pages.render(screen.name, screen=screen, asked=asked, answer=answered.document, **answered.more())
    return Response(page, media_type="text/html")


def as_json(values: Any) -> bytes:
    try:
        return _encoder.encode(values)
    except UnicodeEncodeError:  # a lone surrogate, which only Python's own encoder can write
        import json  # noqa: PLC0415

        return json.dumps(values).encode()


def as_csv(screen: Screen, document: Any) -> bytes:
    assert screen.table is not None
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for row in screen.table(document):
        writer.writerow([harmless(cell) for cell in row])
    return out.getvalue().encode("utf-8", "replace")


def harmless(cell: Cell) -> Cell:
    """A spreadsheet takes what begins so for a formula, and runs it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
