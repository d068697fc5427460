"""The addresses of all screens, in each state that looks different."""

from __future__ import annotations

import re
from typing import Any

import pytest

from opensearch_winnow.web.app import SCREENS
from opensearch_winnow.web.screen import Screen
from tests.web.known_crawl_fixture import (
    ALONE,
    CONTAINED,
    EARLIER,
    HARBOUR,
    IDS,
    MILL,
    MIRROR,
    MOVED,
    NO_TIME,
    NO_TITLE,
    SHORT,
)

# On the known crawl. A new screen needs a line here: a test complains until it has one.
ADDRESSES = {
    "search": "/search?words=mill",
    "search-start": "/search",
    "search-excluding": "/search?words=-mill",
    "home": "/",
    "search-filtered": "/search?words=mill&site=farm.example&since=2024-01&until=2024&any_word=on&min_resemblance=0.8",
    "search-ungrouped": "/search?words=mill+OR+harbour&group=off&limit=5&page=2",
    "search-nothing": "/search?words=mill+zeppelin",
    "search-unknown": "/search?words=zeppelin",
    "search-past-the-end": "/search?words=mill&page=40",
    "page": f"/page/{IDS[MILL]}",
    "page-earlier": f"/page/{EARLIER[1]}",
    "page-alone": f"/page/{IDS[ALONE[0]]}",
    "page-containing": f"/page/{IDS[MILL]}?min_containment=0.5",
    "page-passages": f"/page/{IDS[MILL]}?min_containment=0&all_captures=on",
    "page-estimates": f"/page/{IDS[MILL]}?min_resemblance=0.1&exact=off",
    "page-filtered": f"/page/{IDS[MILL]}?site=farm.example&since=2024-02",
    "page-nearest": f"/page/{IDS[CONTAINED]}",
    "page-short": f"/page/{IDS[SHORT]}",
    "history": f"/page/{IDS[MILL]}/history",
    "versions": f"/page/{IDS[MILL]}/versions",
    "versions-of-one": f"/page/{IDS[NO_TIME]}/versions?min_resemblance=0.9",
    "locate": f"/page/{IDS[MILL]}/locate",
    "locate-unknown-time": f"/page/{IDS[NO_TIME]}/locate",
    "history-of-one": f"/page/{IDS[NO_TIME]}/history",
    "compare": f"/compare/{IDS[MILL]}/{IDS[MOVED]}",
    "compare-differences": f"/compare/{IDS[MILL]}/{IDS[MOVED]}?view=differences",
    "compare-same": f"/compare/{IDS[MILL]}/{IDS[MIRROR]}",
    "compare-nothing": f"/compare/{IDS[MILL]}/{IDS[HARBOUR]}",
    "compare-short": f"/compare/{IDS[SHORT]}/{IDS[NO_TITLE]}",
    "compare-hidden": f"/compare/{IDS[MILL]}/{IDS[MOVED]}?min_words=70",
    "paste": "/paste",
    "clusters": "/clusters",
    "clusters-least-alike": "/clusters?min_urls=1&order=lowest&site=mill.example",
    "clusters-none": "/clusters?min_urls=50",
    "cluster": f"/cluster/{EARLIER[0]}",
    "cluster-alone": f"/cluster/{IDS[ALONE[0]]}",
    "changes": "/changes?from=2024-02&to=2024-07",
    "changes-new": "/changes?change=new&from=2024-02&to=2024-12&limit=5",
    "changes-none": "/changes?change=split&from=2024-02&site=farm.example&to=2024-12",
    "changes-one-crawl": "/changes",
    "statistics": "/statistics",
    "watches": "/watches",
    "watch-log": "/watches/log",
    "watch-log-of-one": "/watches/log?watch=mill",
    "api": "/api",
}
# What was pasted has an address that nobody can guess: test_paste_browser.py looks at it.
SHOWN = tuple(screen for screen in SCREENS if screen.path and screen.sends is None and screen.name != "pasted")


def values_in(screen: Screen[Any], path: str) -> dict[str, str] | None:
    """Return the values of the names in the screen's path, or None if the path is not of this screen."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(screen.path))
    found = re.fullmatch(pattern, path)
    return found.groupdict() if found else None


def screen_at(address: str) -> Screen[Any]:
    path = address.partition("?")[0]
    (screen,) = (each for each in SHOWN if values_in(each, path) is not None)
    return screen


def api_address(address: str) -> str:
    """Return the API address with the same answer."""
    path, separator, query = address.partition("?")
    screen = screen_at(address)
    values = values_in(screen, path) or {}
    return f"/api/v1{screen.api.format(**values)}{separator}{query}"


def in_format(address: str, ending: str) -> str:
    """Return the address of the same answer as JSON or CSV."""
    path, separator, query = address.partition("?")
    return f"{path}.{ending}{separator}{query}"


FIRST = {screen_at(address).name: address for address in reversed(ADDRESSES.values())}  # of each screen
MAIN = {FIRST[name] for name in ("search", "compare")}
# For what takes a browser some seconds: the main screens in their first state, and with `make check` all in all states.
every_state = pytest.mark.parametrize(
    "address",
    [
        pytest.param(address, id=name, marks=() if address in MAIN else pytest.mark.check)
        for name, address in ADDRESSES.items()
    ],
)
# For what hardly depends on the state: each screen in its first one, and with `make soak` in all others.
every_screen = pytest.mark.parametrize(
    "address",
    [
        pytest.param(address, id=name, marks=() if address in FIRST.values() else pytest.mark.soak)
        for name, address in ADDRESSES.items()
    ],
)
