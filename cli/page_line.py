"""What one line says of a page: its date, and as much of its URL as fits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from os.path import commonprefix
from typing import NamedTuple, Protocol

from opensearch_winnow.cli.display_width import shorten_middle, width
from opensearch_winnow.cli.printable import one_line

# What a URL begins with that tells a reader nothing.
ROOT = re.compile(r"https?://(?:www\.)?|file://|[a-z]*:?/*", re.IGNORECASE)


class Capture(Protocol):
    @property
    def fetched_at(self) -> datetime | None: ...


def day(capture: Capture) -> str:
    return "" if capture.fetched_at is None else f"{capture.fetched_at:%Y-%m-%d}"


def time_stamp(capture: Capture) -> str | None:
    """As in the documents of records."""
    return None if capture.fetched_at is None else capture.fetched_at.isoformat().replace("+00:00", "Z")


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
