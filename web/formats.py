"""Encodes the answer of a screen as HTML, JSON or CSV."""

from __future__ import annotations

import csv
import io
from typing import Any, Literal

import msgspec
from starlette.responses import Response

from opensearch_winnow.foundation.csv_cells import escape_formula
from opensearch_winnow.web.pages import Pages
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.sent_json import NDJSON

Format = Literal["html", "json", "csv"]

_encoder = msgspec.json.Encoder()


def encode_answer(screen: Screen, form: Format, answer: ScreenAnswer, request: ScreenRequest, pages: Pages) -> Response:
    if form == "json":
        if isinstance(answer.document, list):
            return Response(b"".join(encode_json(each) + b"\n" for each in answer.document), media_type=NDJSON)
        return Response(encode_json(answer.document), media_type="application/json")
    if form == "csv":
        headers = {"content-disposition": f'attachment; filename="winnow-{screen.name}.csv"'}
        return Response(encode_csv(screen, answer.document), headers=headers, media_type="text/csv")
    values = answer.template_values()
    page = pages.render(screen.name, screen=screen, request=request, answer=answer.document, **values)
    return Response(page, media_type="text/html")


def encode_json(values: Any) -> bytes:
    try:
        return _encoder.encode(values)
    except UnicodeEncodeError:  # a lone surrogate, which only Python's own encoder can write
        import json  # noqa: PLC0415

        return json.dumps(values).encode()


def encode_csv(screen: Screen, document: Any) -> bytes:
    assert screen.table is not None
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for row in screen.table(document):
        writer.writerow([escape_formula(cell) for cell in row])
    return out.getvalue().encode("utf-8", "replace")
