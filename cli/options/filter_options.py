"""The options that choose pages by site, crawl and date, and captures by date."""

from __future__ import annotations

from typing import Any

import click

from opensearch_winnow.cli.options.declared_options import declared_option, declared_options
from opensearch_winnow.foundation.time_period import EXAMPLES, TimePeriod
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
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


boilerplate_option = declared_option(SimilarOptions, "boilerplate")
where_options = declared_options(Filters, "where")


def filter_option_names(where: Filters) -> str:
    """Return the names of the filter options that are set, separated by spaces."""
    values = {"--site": where.site, "--crawl": where.crawl, "--since": where.since, "--until": where.until}
    return " ".join(name for name, value in values.items() if value is not None)
