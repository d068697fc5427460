"""Renders HTML from templates: all text is escaped, and control characters are made visible."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from opensearch_winnow import __version__
from opensearch_winnow.answers.asking.similar_words import uncompared_sentence, unscored_sentence
from opensearch_winnow.answers.display_text import UNSAFE, one_line, printable
from opensearch_winnow.answers.formatting import compact_percent, count_of, duration, percent, scored_percent
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.web.texts.marked_text import colour

ROOM = Path(__file__).parent
STATIC = ROOM / "static"
# Of the URL of a page: an @ after the host name is part of the path. Browsers take a backslash for a slash.
URL_CREDENTIALS = re.compile(r"^([\x00-\x20]*https?://)[^/?#\\]*@", re.IGNORECASE)


def marked(text: str, marks: Sequence[tuple[int, int]]) -> Markup:
    """Return one line of text with the spans `marks` in bold."""

    def pieces() -> Iterator[str]:
        end = 0
        for start, after in marks:
            yield escape(one_line(text[end:start]))
            yield Markup("<b>%s</b>") % one_line(text[start:after])
            end = after
        yield escape(one_line(text[end:]))

    return Markup("").join(pieces())


def without_credentials(url: str) -> str:
    """Return the URL of a page without a user name and password. Any other text is returned as it is."""
    return URL_CREDENTIALS.sub(r"\1", url)


def shown_line(text: str) -> str:
    """Return text as one line. If it is a URL, its credentials are left out."""
    return one_line(without_credentials(text))


def external_link(url: str) -> str | None:
    """Return the URL, without credentials, if it is safe to link to.

    It must be http or https with a host, so no script and no local file.
    """
    url = without_credentials(url)
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return None
    return UNSAFE.sub(lambda unsafe: quote(unsafe[0], errors="replace"), url)


def day(time: datetime | str | None) -> str:
    """Return the day of a time, or of the time stamp of a document."""
    return (written_time(time) if isinstance(time, datetime) else time or "")[:10]


def moment(time: datetime | str | None) -> str:
    """Return a time to the minute, or the day alone for midnight: most often only the day is known."""
    stamp = written_time(time) if isinstance(time, datetime) else time or ""
    return stamp[:10] if stamp[10:].startswith("T00:00:00Z") else stamp[:16].replace("T", " ")


def unbroken_dates(text: str) -> Markup:
    """Return a text whose dates are not broken at the end of a line."""
    return Markup(re.sub(r"(\d{4}(?:-\d\d){1,2})", r'<span class="date">\1</span>', str(escape(text))))


def _versions() -> dict[str, str]:
    """Return the hash of each static file. It is part of the address, so that a browser may cache the file forever."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12] for file in STATIC.iterdir()}


class InlineStyle(NamedTuple):
    """The style sheet of a single-file HTML page, its script if it has one, and the policy that lets a browser load and
    run nothing else."""

    css: Markup
    policy: str  # Content-Security-Policy
    script: Markup

    @classmethod
    def of(cls, *names: str, script: str | None = None) -> InlineStyle:
        """Join these static files into one style sheet; `script` is a static file too."""
        css = "".join((STATIC / name).read_text(encoding="utf-8") for name in names)
        code = (STATIC / script).read_text(encoding="utf-8") if script else ""
        sources = f"style-src '{_digest(css)}'" + (f"; script-src '{_digest(code)}'" if script else "")
        policy = f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
        return cls(Markup(css), policy, Markup(code))  # safe: these files are part of this package


def _digest(source: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


class Pages:
    """Renders the templates."""

    def __init__(self, **always: object) -> None:
        """`always` are variables that every template sees."""
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
            "at": lambda index, values: values[index],
            "colour": colour,
            "day": day,
            "duration": duration,
            "line": shown_line,
            "marked": marked,
            "moment": moment,
            "number": lambda value: f"{value:,}",
            "external_link": external_link,
            "percent": percent,
            "compact_percent": compact_percent,
            "scored_percent": scored_percent,
            "printable": printable,
            "unbroken_dates": unbroken_dates,
        }
        self._environment.globals |= {
            "count_of": count_of,
            "uncompared_sentence": uncompared_sentence,
            "unscored_sentence": unscored_sentence,
            "static": lambda name: f"/static/{name}?{versions[name]}",
            "version": __version__,
            **always,
        }

    def render(self, name: str, **values: Any) -> bytes:
        # Lone surrogates become question marks: UTF-8 cannot encode them.
        return self._environment.get_template(f"{name}.html").render(values).encode("utf-8", "replace")
