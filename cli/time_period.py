"""A period of time as the value of an option."""

from __future__ import annotations

from typing import Any

import click

from opensearch_winnow.answers.time_period import EXAMPLES, TimePeriod


class TimePeriodType(click.ParamType[TimePeriod]):
    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> TimePeriod:
        if isinstance(value, TimePeriod):
            return value
        try:
            return TimePeriod.of(value.strip())
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a date such as {EXAMPLES}", param, ctx)
