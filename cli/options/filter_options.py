"""The options that choose pages by site, crawl and date, and what counts of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from opensearch_winnow.answers.time_period import EXAMPLES, TimePeriod
from opensearch_winnow.queries.filters import Filters


class TimePeriodType(click.ParamType[TimePeriod]):
    """The type of an option whose value is a year, month, day or moment."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> TimePeriod:
        if isinstance(value, TimePeriod):
            return value
        try:
            return TimePeriod.of(value.strip())
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a date such as {EXAMPLES}", param, ctx)


at_option = click.option(
    "--at", metavar="DATE", type=TimePeriodType(), help="Use the last capture of URL up to the end of DATE."
)
no_boilerplate_option = click.option("--no-boilerplate", is_flag=True, help="Treat boilerplate as ordinary text.")
OPTIONS = (
    click.option("--site", metavar="HOST", help="Only pages of this site."),
    click.option("--crawl", metavar="NAME", help="Only pages of this crawl."),
    click.option("--since", metavar="DATE", type=TimePeriodType(), help=f"Only captures since DATE: {EXAMPLES}."),
    click.option("--until", metavar="DATE", type=TimePeriodType(), help="Only captures until the end of DATE."),
)
ALL_CAPTURES = click.option("--all-captures", is_flag=True, help="Include every capture of a URL, not only one.")


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the filter options; its function gets them as `where` and `all_captures`."""
    return where_options(ALL_CAPTURES(function))


def where_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that choose captures by site, crawl and date; its function gets them as `where`."""

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


def filter_option_names(where: Filters) -> str:
    """Return the names of the filter options that are set, separated by spaces."""
    values = {"--site": where.site, "--crawl": where.crawl, "--since": where.since, "--until": where.until}
    return " ".join(name for name, value in values.items() if value is not None)
