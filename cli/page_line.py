"""As much of a URL as fits into a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import commonprefix
from typing import NamedTuple

from opensearch_winnow.answers.display_text import one_line, shorten_middle, width

# What a URL begins with that tells a reader nothing.
ROOT = re.compile(r"https?://(?:www\.)?|file://|[a-z]*:?/*", re.IGNORECASE)


class ShortUrls(NamedTuple):
    shown: list[str]
    folder: str = ""  # what `…` at their beginning stands for
    cut: bool = False  # whether one lost its middle too


def short_urls(urls: Sequence[str], columns: int) -> ShortUrls:
    """The URLs, each in so many columns.

    Where one does not fit, all are shown without the folder that they have in common, which tells none from another;
    and what is still too long without its middle.
    """
    shown = [one_line(url).strip() for url in urls]
    if all(width(url) <= columns for url in shown):
        return ShortUrls(shown)
    # Character by character: the components are those of a URL, not of a path.
    common = commonprefix(shown)  # noqa: RUF071
    folder = common.rpartition("/")[0] if len(set(shown)) > 1 else ""
    if ROOT.fullmatch(f"{folder}/"):
        folder = ""
    if folder:
        shorter = [f"…{url.removeprefix(folder)}" for url in shown]
    else:
        shorter = [url if width(url) <= columns else ROOT.sub("", url, count=1) for url in shown]
    cut = any(width(url) > columns for url in shorter)
    return ShortUrls([shorten_middle(url, columns) for url in shorter], folder, cut)
