"""HTML from templates: every text is escaped, and no control character of it reaches a browser."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from opensearch_winnow import __version__
from opensearch_winnow.answers.display_text import UNSAFE, one_line, printable
from opensearch_winnow.answers.formatting import compact_percent, count_of, duration, percent, scored_percent
from opensearch_winnow.web.marked_text import colour

ROOM = Path(__file__).parent
STATIC = ROOM / "static"


def marked(text: str, marks: Sequence[tuple[int, int]]) -> Markup:
    """A line with what was looked for between <b> and </b>."""

    def pieces() -> Iterator[str]:
        end = 0
        for start, after in marks:
            yield escape(one_line(text[end:start]))
            yield Markup("<b>%s</b>") % one_line(text[start:after])
            end = after
        yield escape(one_line(text[end:]))

    return Markup("").join(pieces())


def outside(url: str) -> str | None:
    """The URL if it may be a link: nothing that runs, and nothing of the reader's own machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    return UNSAFE.sub(lambda unsafe: quote(unsafe[0], errors="replace"), url)


def day(time_stamp: str | None) -> str:
    """Of a time as it is in a document."""
    return "" if time_stamp is None else time_stamp[:10]


def moment(time_stamp: str | None) -> str:
    """Of a time as it is in a document, to the minute; of midnight the day alone, which is what is mostly known."""
    if time_stamp is None:
        return ""
    day_and_time = time_stamp[:16].replace("T", " ")
    return time_stamp[:10] if time_stamp[10:].startswith("T00:00:00Z") else day_and_time


def _versions() -> dict[str, str]:
    """Of each static file: part of its address, so that a browser may keep it for ever."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12] for file in STATIC.iterdir()}


class Pages:
    """The templates, made ready once."""

    def __init__(self, **always: object) -> None:
        """`always` are names that every template knows."""
        versions = _versions()
        self._environment = Environment(
            loader=FileSystemLoader(ROOM / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters |= {
            "colour": colour,
            "day": day,
            "duration": duration,
            "line": one_line,
            "marked": marked,
            "moment": moment,
            "number": lambda value: f"{value:,}",
            "outside": outside,
            "percent": percent,
            "compact_percent": compact_percent,
            "scored_percent": scored_percent,
            "shown": printable,
        }
        self._environment.globals |= {
            "count_of": count_of,
            "static": lambda name: f"/static/{name}?{versions[name]}",
            "version": __version__,
            **always,
        }

    def render(self, name: str, **values: Any) -> bytes:
        # Lone surrogates are shown as what they are not: no stream can encode them.
        return self._environment.get_template(f"{name}.html").render(values).encode("utf-8", "replace")
