"""Resolves canonical links: the URLs that pages name as the ones to be known by, with `rel="canonical"`."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from opensearch_winnow.mappings.record import storable

MAX_URL_CHARS = 2_048  # more than browsers and search engines take; a longer link is ignored
_WHOLE = re.compile("https?://", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# A link of the HTTP header `Link`: <URL>; rel="a b"; and so on. A URL has no angle brackets.
_HEADER_LINK = re.compile(r"<([^<>]*)>([^<]*)")
_RELATION = re.compile(r""";\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)


def canonical_url(link: str, url: str, base: str = "") -> str | None:
    """Return the URL that the page at `url` names with `link`, without a fragment; None if it is not of http or https.

    `base` is that of the page's `<base>`. A whole URL stays as it is written. Only an empty path becomes "/", as
    crawlers write it, unless the page's own URL has none either.
    """
    link = link.strip()
    if not link or len(link) > MAX_URL_CHARS:
        return None
    try:
        whole = link if _WHOLE.match(link) else urljoin(urljoin(url, base.strip()), link)
        found = whole.partition("#")[0]
        parts = urlsplit(found)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return None
    except ValueError:
        return None
    if not parts.path and found != url:
        end = len(parts.scheme) + len("://") + len(parts.netloc)
        found = f"{found[:end]}/{found[end:]}"
    return None if len(found) > MAX_URL_CHARS or _CONTROL.search(found) else storable(found)


def header_link(fields: list[str]) -> str | None:
    """Return the first canonical link in the values of the HTTP header `Link`, as it is written."""
    for field in fields:
        for link, parameters in _HEADER_LINK.findall(field):
            relation = _RELATION.search(parameters)
            if relation and "canonical" in (relation[1] or relation[2] or "").lower().split():
                return str(link)
    return None
