"""Encodes the answer of a screen as HTML, JSON or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, Literal, cast

import msgspec
from starlette.responses import Response

from opensearch_winnow.answers.tables import table_rows
from opensearch_winnow.foundation.answer_keys import json_values
from opensearch_winnow.foundation.answers import row_class
from opensearch_winnow.foundation.csv_cells import escape_formula
from opensearch_winnow.web.pages import Pages
from opensearch_winnow.web.screen import Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

Format = Literal["html", "json", "csv"]

_encoder = msgspec.json.Encoder()


def encode_answer(
    screen: Screen[Any], form: Format, answer: ScreenAnswer, request: ScreenRequest, pages: Pages
) -> Response:
    if form == "json":
        return Response(encode_json(json_values(answer.document)), media_type="application/json")
    if form == "csv":
        left_out = screen.left_out(answer.document) if request.is_whole else ""
        part = "-part" if left_out else ""
        headers = {"content-disposition": f'attachment; filename="winnow-{screen.name}{part}.csv"'}
        return Response(encode_csv(screen, answer.document, left_out), headers=headers, media_type="text/csv")
    values = answer.template_values()
    page = pages.render(screen.name, screen=screen, request=request, answer=answer.document, **values)
    return Response(page, media_type="text/html")


def encode_json(values: Any) -> bytes:
    try:
        return _encoder.encode(values)
    except UnicodeEncodeError:  # a lone surrogate, which only Python's own encoder can write
        import json  # noqa: PLC0415

        return json.dumps(values).encode()


def encode_csv(screen: Screen[Any], document: Any, left_out: str) -> bytes:
    """Return the table; its last row names the entries that were `left_out`, for people who open the file."""
    rows = (
        screen.table(document) if screen.table is not None else table_rows(row_class(type(document)), document.rows())
    )
    out, row = io.StringIO(newline=""), cast("Sequence[Cell]", ())
    writer = csv.writer(out)
    for row in rows:
        writer.writerow([escape_formula(cell) for cell in row])
    if left_out:
        writer.writerow([f"… {left_out}, not in this file", *("",) * (len(row) - 1)])
    return out.getvalue().encode("utf-8", "replace")
