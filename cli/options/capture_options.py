"""The options that choose captures of a store, for commands that write them to files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from opensearch_winnow.cli.options.filter_options import TimePeriodType
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.time_period import EXAMPLES, TimePeriod
from opensearch_winnow.queries.filters import Selection

STDIN = "-"

OPTIONS = (
    click.option("--site", metavar="HOST", help="Only captures of this site."),
    click.option("--crawl", metavar="NAME", help="Only captures of this crawl."),
    click.option("--since", metavar="DATE", type=TimePeriodType(), help=f"Only captures since DATE: {EXAMPLES}."),
    click.option("--until", metavar="DATE", type=TimePeriodType(), help="Only captures until the end of DATE."),
    click.option("--latest", is_flag=True, help="Only the latest capture of each URL."),
    click.option("--cluster", metavar="ID", help="Only the captures of this cluster."),
    click.option(
        "--ids",
        metavar="F",
        type=click.Path(allow_dash=True),
        help="Only the captures whose ids are in the file F, one on each line; - reads from a pipe.",
    ),
)


@dataclass(frozen=True, slots=True)
class ChosenCaptures:
    """The captures that the options choose: those that meet `where`, or those with `ids`."""

    where: Selection
    ids: list[str] | None

    def __str__(self) -> str:
        """Return " of crawl x of site y" and the like; nothing if all captures are chosen."""
        named = {"crawl": self.where.crawl, "site": self.where.site, "cluster": (self.where.clusters or (None,))[0]}
        return "".join(f" of {name} {value}" for name, value in named.items() if value is not None)

    @property
    def needs_store(self) -> bool:
        """True if only a store can choose these captures, and not record files."""
        where = self.where
        given = (where.since, where.until, where.latest or None, where.clusters, self.ids)
        return any(each is not None for each in given)


def capture_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; its function gets them as `chosen`."""

    @wraps(function)
    def with_captures(
        site: str | None,
        crawl: str | None,
        since: TimePeriod | None,
        until: TimePeriod | None,
        latest: bool,
        cluster: str | None,
        ids: str | None,
        **arguments: Any,
    ) -> Any:
        where = Selection(
            site=None if site is None else site.lower(),
            crawl=crawl,
            since=since and since.start,
            until=until and until.end,
            latest=latest,
            clusters=None if cluster is None else (cluster,),
        )
        if ids is not None and where != Selection():
            raise click.UsageError("--ids names the captures: no other option can choose among them")
        return function(chosen=ChosenCaptures(where, None if ids is None else _read_ids(ids)), **arguments)

    decorated: Any = with_captures
    for option in reversed(OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _read_ids(name: str) -> list[str]:
    try:
        text = sys.stdin.read() if name == STDIN else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{name} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None
    return list(dict.fromkeys(text.split()))
