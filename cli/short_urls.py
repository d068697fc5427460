"""Shortens URLs to fit the columns of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import commonprefix
from typing import NamedTuple

from opensearch_winnow.answers.display_text import one_line, shorten_middle, width

# The beginning of a URL that does not help to tell pages apart.
ROOT = re.compile(r"https?://(?:www\.)?|file://|[a-z]*:?/*", re.IGNORECASE)


class ShortUrls(NamedTuple):
    """URLs shortened together, in the order of the originals."""

    shown: list[str]
    folder: str = ""  # the common folder that `…` at their beginning stands for
    cut: bool = False  # whether any URL also lost its middle


def short_urls(urls: Sequence[str], columns: int) -> ShortUrls:
    """Shorten each URL to at most `columns`.

    If one does not fit, `…` replaces the folder that all have in common. A URL that is still too long loses its middle.
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
    cut = any(width(url) > columns for url in shorter)
    return ShortUrls([shorten_middle(url, columns) for url in shorter], folder, cut)
