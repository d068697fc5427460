"""A page that is one file: its style is within it, and nothing else may be loaded or run."""

from __future__ import annotations

import base64
import hashlib
from typing import NamedTuple

from markupsafe import Markup

from opensearch_winnow.web.pages import STATIC


class OneFile(NamedTuple):
    style: Markup
    policy: str  # for browsers: Content-Security-Policy

    @classmethod
    def of(cls, *static: str) -> OneFile:
        """With the style of these files."""
        style = "".join((STATIC / name).read_text(encoding="utf-8") for name in static)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        return cls(Markup(style), policy)  # ours, and no text of others
