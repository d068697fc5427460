"""The changes between two crawls: the question, and the change of each page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any, Literal, get_args

from opensearch_winnow.foundation.answers import Answer, Listing, answer, derived, key, listed
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.option_kinds import FLAG, SITE, Kind, number, several, share, text
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.time_period import EXAMPLES
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.queries.compare import TextRun

ChangeKind = Literal["unchanged", "changed", "moved", "split", "merged", "new", "not_seen"]
KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
# The order in a list: rare and interesting changes first.
IN_LIST: tuple[ChangeKind, ...] = ("moved", "split", "merged", "not_seen", "new", "changed", "unchanged")
MAX_NAME_CHARS = 300
MAX_PAGES = 1_000_000_000  # of each kind, in a list

CRAWL: Kind[Any] = replace(
    text("CRAWL"),
    what="the name of a crawl, or a date",
    parse=str.strip,
    allows=lambda value: isinstance(value, datetime) or len(value) <= MAX_NAME_CHARS,
)
CHANGE: Kind[Any] = replace(
    several(*KINDS), metavar="KIND", join=lambda lists: tuple(dict.fromkeys(chain.from_iterable(lists)))
)


@dataclass(frozen=True, slots=True)
class ChangesQuestion(Options):
    """Two crawls to compare, or two dates, and the changes to list."""

    before: str | datetime | None = option(
        None, CRAWL, f"The earlier crawl; or a date, if no crawl has this name: {EXAMPLES}.", flag="--from"
    )
    after: str | datetime | None = option(None, CRAWL, "The later crawl, or date.", flag="--to")
    _: KW_ONLY
    site: str | None = option(None, SITE, "Only pages of this site. Their texts are looked up on all sites.")
    change: Sequence[ChangeKind] | None = option(
        None, CHANGE, f"List only these changes, of {', '.join(KINDS)}. Can be repeated."
    )
    near_revisits: bool = option(
        False,
        FLAG,
        "List the captures of the later crawl that need not be kept: the text of the page did not change, or only the"
        " template of its site.",
    )
    min_resemblance: float = option(
        1.0,
        share(above_0=True),
        "With --near-revisits, also list captures that resemble the earlier one by at least X.",
    )
    min_containment: float = option(
        0.5,
        share(above_0=True),
        "The least share of a page's text that must be elsewhere if the page moved, or was split or merged.",
    )
    passages: bool = option(False, FLAG, "Show which passages were removed and added: on a terminal, and in JSON.")
    limit: int | None = option(
        None,
        number(1, MAX_PAGES),
        "List at most N pages of each kind; all are counted.",
        unset="all; on a terminal, 20",
    )
    boilerplate: bool = option_of(SimilarOptions, "boilerplate")
    progress: Progress | None = None

    def __post_init__(self) -> None:
        super(ChangesQuestion, self).__post_init__()
        if (self.before is None) != (self.after is None):
            raise QuestionError("give both crawls, from and to, or neither of them to compare the two latest")
        if self.min_resemblance < 1 and not self.near_revisits:
            raise QuestionError("min_resemblance chooses near revisits: give near_revisits, too")

    @property
    def kinds(self) -> Sequence[ChangeKind]:
        """The kinds of changes to list."""
        return self.change or KINDS

    def lists(self, change: Change) -> bool:
        """Return whether a change is listed, if there is room for it."""
        return change.change in self.kinds and (not self.near_revisits or change.is_near_revisit(self.min_resemblance))


@answer
class Change(Answer):
    """The change of a page of the earlier crawl; or, if it is new, a page of the later one."""

    change: ChangeKind = key("The kind of change of the page.")
    url: str = key("Its URL.")
    to_url: str | None = key("The URL where its text is in the later crawl; null if it was not seen again.")
    resemblance: float | None = key(
        "The exact resemblance of the two captures; null without one of them, or without its text.", default=None
    )
    containment: float | None = key("The share of the earlier text that is at `to_url`.", default=None)
    template: bool = key("True if only the template of the site changed.", default=False)
    id: str | None = key("The id of the earlier capture.", default=None)
    to_id: str | None = key("The id of the later capture.", default=None)
    fetched_at: datetime | None = key("The time of the earlier capture.", default=None)
    to_fetched_at: datetime | None = key("The time of the later capture.", default=None)
    parts: tuple[str, ...] = key(
        "If it was split: the URLs of all parts, the most similar first.", column=" ".join, default=()
    )
    without_text: bool = key(
        "True if a capture has no text, so that it is unknown whether the page changed.", default=False
    )
    removed: list[TextRun] | None = key(
        "The runs of text that only the earlier capture has; null if they were not sought.", default=None
    )
    added: list[TextRun] | None = key(
        "The runs of text that only the later capture has; null if they were not sought.", default=None
    )

    def is_near_revisit(self, min_resemblance: float = 1.0) -> bool:
        """Return whether the later capture need not be kept beside the earlier one of the same URL."""
        if self.change != "changed":
            return self.change == "unchanged"
        return self.template or (self.resemblance is not None and self.resemblance >= min_resemblance)


@answer
class Changes(Listing[Change]):
    """The changes between two crawls."""

    before: str = key("The earlier crawl, or date.", name="from")
    after: str = key("The later crawl, or date.", name="to")
    counts: dict[ChangeKind, int] = key(
        "The number of pages by kind of change. All but the new ones are pages of the earlier crawl."
    )
    template: int = key("The number of changed pages of which only the template of the site changed.")
    without_text: int = key("The number of changed pages that may be unchanged, because a capture has no text.")
    common: int = key("The number of URLs that both crawls have.")
    pages: list[Change] = listed("The listed changes: by kind, rare ones first, then by URL.")

    @property
    @derived
    def earlier(self) -> int:
        """The number of pages of the earlier crawl."""
        return sum(self.counts.values()) - self.counts["new"]

    @property
    @derived
    def different(self) -> int:
        """The number of pages of the earlier crawl that are not unchanged."""
        return self.earlier - self.counts["unchanged"]

    @property
    def are_apart(self) -> bool:
        """True if the two crawls have no URL in common."""
        return self.earlier > 0 and not self.common
