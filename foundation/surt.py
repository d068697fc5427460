"""Makes the keys by which indexes of web archives (CDX) are sorted: SURT, the host backwards and in front.

Two spellings of a URL that most servers answer alike have the same key. The rules are those of the Wayback Machine, as
pywb uses them: case, `www.`, default ports, fragments, session ids and the order of parameters do not count.
"""

from __future__ import annotations

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

DEFAULT_PORTS = {"http": "80", "https": "443"}
SAFE = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"  # characters that are not escaped

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"\[?(.*?)\]?(?::(\d*))?$", re.DOTALL)
_WWW = re.compile(r"www\d*\.")
_SESSION_IN_PATH = re.compile(r"/(?:\((?:[a-z]\([0-9a-z]{24}\))+\)|\([0-9a-z]{24}\))/(?=[^?]+\.aspx)")
_SESSION_IN_QUERY = re.compile(
    r"(?:jsessionid=[0-9a-z]{32}|phpsessid=[0-9a-z]{32}|sid=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}"
    r"|cfid=[^&]+&cftoken=[^&]+)(?:&|$)"
)


def surt(url: str) -> str:
    """Return the key of a URL; a URL without a host is its own key.

    >>> surt("https://www.Example.org:443/A/?b=2&a=1#top")
    'org,example)/a?a=1&b=2'
    """
    found = _URL.fullmatch(url.strip())
    if not found or not found[2]:
        return url.strip()
    scheme, authority, path, query = found[1].lower(), found[2], found[3], found[4] or ""
    host, port = _HOST.findall(authority.rpartition("@")[2].lower())[0]
    host = _WWW.sub("", _escaped(_idna(host)).strip("."), count=1)
    key = ",".join(reversed(host.split(".")))
    if port and port != DEFAULT_PORTS.get(scheme):
        key += f":{port}"
    return f"{key}){_path(path)}{_query(query)}"


def _path(path: str) -> str:
    kept: list[str] = []
    steps = _unescaped(path).split("/")[1:]
    for step in steps:
        if step == ".." and kept:
            kept.pop()
        elif step != ".":
            kept.append(step)
    joined = _escaped("/" + "/".join(filter(None, kept))).lower()
    return _SESSION_IN_PATH.sub("/", joined)


def _query(query: str) -> str:
    parameters = _SESSION_IN_QUERY.sub("", _escaped(_unescaped(query[1:])).lower())
    if not parameters:
        return ""
    return "?" + "&".join(sorted(parameters.split("&"), key=lambda each: each.split("=", 1)))


def _idna(host: str) -> str:
    try:
        return host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        return host


def _unescaped(text: str) -> str:
    """Undo escapes until none is left."""
    raw = text.encode("utf-8", "replace")
    while (once := unquote_to_bytes(raw)) != raw:
        raw = once
    return raw.decode("latin-1")  # each byte is a character


def _escaped(text: str) -> str:
    try:
        raw = text.encode("latin-1")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "replace")
    return quote_from_bytes(raw, safe=SAFE)
