"""Shortens URLs to fit the columns of a table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from os.path import commonprefix
from typing import NamedTuple

from opensearch_winnow.answers.display_text import one_line, shorten_middle, width

# The beginning of a URL that does not help to tell pages apart.
ROOT = re.compile(r"^(?:https?://(?:www\.)?|file://|(?:[a-z][a-z0-9+.-]*:)?/+)", re.IGNORECASE)
MIN_ENDING = 6  # characters of a common ending that are worth a cut


class ShortUrls(NamedTuple):
    """URLs shortened together, in the order of the originals."""

    shown: list[str]
    folder: str = ""  # the common folder, for which `…` stands at their beginning
    cut: bool = False  # True if a URL also lost its middle


def short_urls(urls: Sequence[str], columns: int) -> ShortUrls:
    """Shorten each URL to at most `columns`.

    If one does not fit, `…` replaces the folder that all have in common, and then their common ending. A URL that is
    still too long loses its middle. URLs that differ are never shown as the same.
    """
    cleaned = [one_line(url).strip() for url in urls]
    if all(width(url) <= columns for url in cleaned):
        return ShortUrls(cleaned)
    # The longest common prefix, character by character: os.path.commonpath is for file paths.
    common = commonprefix(cleaned)  # noqa: RUF071
    folder = common.rpartition("/")[0] if len(set(cleaned)) > 1 else ""
    if ROOT.fullmatch(f"{folder}/"):
        folder = ""
    if folder:
        shorter = [f"…{url.removeprefix(folder)}" for url in cleaned]
    else:
        shorter = [url if width(url) <= columns else ROOT.sub("", url, count=1) for url in cleaned]
    if any(width(url) > columns for url in shorter):
        shorter = _without_common_ending(shorter)
    cut = any(width(url) > columns for url in shorter)
    return ShortUrls(_different(shorter, columns), folder, cut)


def _without_common_ending(urls: Sequence[str]) -> list[str]:
    """Return the URLs with `…` instead of their common ending from a / or _ on."""
    common = commonprefix([url[::-1] for url in urls])[::-1] if len(set(urls)) > 1 else ""  # noqa: RUF071
    offsets = [offset for offset in map(common.find, "/_") if offset >= 0]
    ending = common[min(offsets) :] if offsets else ""
    if len(ending) < MIN_ENDING or any(len(url) == len(ending) for url in urls):
        return list(urls)
    return [f"{url.removesuffix(ending)}…" for url in urls]


def _different(urls: Sequence[str], columns: int) -> list[str]:
    """Shorten URLs in their middle. URLs that would look alike begin just before they differ, or are numbered."""
    shown = {url: shorten_middle(url, columns) for url in urls}
    for same in _shown_alike(shown):
        begin = max(len(commonprefix(same)) - columns // 3, 0)  # noqa: RUF071
        shown |= {url: shorten_middle(f"…{url[begin:]}" if begin else url, columns) for url in same}
    for number, url in enumerate(chain.from_iterable(_shown_alike(shown)), 1):
        shown[url] = f"{shorten_middle(shown[url], columns - len(f'~{number}'))}~{number}"
    return [shown[url] for url in urls]


def _shown_alike(shown: Mapping[str, str]) -> list[list[str]]:
    by_shown: dict[str, list[str]] = defaultdict(list)
    for url, short in shown.items():
        by_shown[short].append(url)
    return [urls for urls in by_shown.values() if len(urls) > 1]
