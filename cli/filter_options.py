"""The options that say which pages a question is about."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from opensearch_winnow.answers.time_period import EXAMPLES, TimePeriod
from opensearch_winnow.cli.time_period import TimePeriodType
from opensearch_winnow.queries.filters import Filters

OPTIONS = (
    click.option("--site", metavar="HOST", help="Only pages of this site."),
    click.option("--crawl", metavar="NAME", help="Only pages of this crawl."),
    click.option("--since", metavar="DATE", type=TimePeriodType(), help=f"Only captures since DATE: {EXAMPLES}."),
    click.option("--until", metavar="DATE", type=TimePeriodType(), help="Only captures until the end of DATE."),
    click.option("--all-captures", is_flag=True, help="Every capture of a URL, not only one."),
)


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; its function gets `where`, which lets every capture in, and `all_captures`."""

    @wraps(function)
    def with_filters(
        site: str | None, crawl: str | None, since: TimePeriod | None, until: TimePeriod | None, **arguments: Any
    ) -> Any:
        where = Filters(
            site=None if site is None else site.lower(),
            crawl=crawl,
            since=since and since.start,
            until=until and until.end,
        )
        return function(where=where, **arguments)

    decorated: Any = with_filters
    for option in reversed(OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def chosen(where: Filters) -> str:
    """The names of the options that made it; empty if there are none."""
    values = {"--site": where.site, "--crawl": where.crawl, "--since": where.since, "--until": where.until}
    return " ".join(name for name, value in values.items() if value is not None)
