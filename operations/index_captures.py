"""Defines the methods of Index that follow pages over time."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.operations.changes import (
    DEFAULT_THRESHOLD,
    KINDS,
    Change,
    ChangeKind,
    Changes,
    CrawlComparison,
    collected_changes,
)
from opensearch_winnow.operations.crawl_states import crawl_states
from opensearch_winnow.operations.extract import ExtractReport, extract
from opensearch_winnow.operations.history import Moment, history
from opensearch_winnow.operations.index_questions import QuestionMethods
from opensearch_winnow.operations.locate import Located, locate
from opensearch_winnow.operations.unknown_filters import unknown_filters
from opensearch_winnow.operations.versions import Versions, versions
from opensearch_winnow.queries.filters import Filters


class CaptureMethods(QuestionMethods):
    """Reads the captures of pages, and tells what became of them."""

    def history(self, url: str, *, limit: int = 1_000, boilerplate: bool = True) -> list[Moment]:
        """Return the latest `limit` captures of a URL in order of time; those of unknown time come first.

        `.resemblance` compares each with the capture before it, exactly. It is None for the first capture, and where a
        text is not stored. With `boilerplate=False`, registered boilerplate counts like any text.
        """
        moments = history(self.store, url, limit=limit, exclusions=self._exclusions(boilerplate))
        if not moments:
            raise self._pages.not_found(url)
        return moments

    def extract(
        self,
        to: str | os.PathLike[str],
        *,
        where: Filters = Filters(),
        ids: Sequence[str] | None = None,
        representatives: bool = False,
        revisits: bool = False,
        archives: Sequence[str | os.PathLike[str]] = (),
        progress: Progress | None = None,
    ) -> ExtractReport:
        """Write captures to a WARC or WACZ file, from the web archives that they were indexed from.

        Choose captures by `where`, or by their `ids`. `to` ends in .warc.gz, .warc or .wacz, and is replaced if it
        exists. With `revisits`, a capture with the payload of another one becomes a revisit record. With
        `representatives`, only one capture of each cluster is written; others become revisits if their payloads are
        equal, and are otherwise left out, and listed in a file. `archives` are folders to look in, with their
        subfolders, for archives that are no longer where they were. `progress` is called with the phase, the amount
        done and the total.
        """
        return extract(
            self.store,
            Path(to),
            where=where,
            ids=ids,
            representatives=representatives,
            revisits=revisits,
            archives=[Path(each) for each in archives],
            progress=progress or no_progress,
        )

    def locate(
        self,
        url: str | None = None,
        *,
        id: str | None = None,  # noqa: A002 (what it is called everywhere else)
        at: datetime | None = None,
        limit: int | None = 20,
        boilerplate: bool = True,
        max_seconds: float | None = None,
    ) -> Located:
        """Return where a page went: the later pages that have its text or a part of it, the best first.

        The text sought is that of the latest capture of `url` (with `at`, the latest until then), or of the capture
        `id`. A page is later if it was captured later, in a crawl of another name. It is found if it resembles the lost
        page by a half, contains half of it ("merged"), or is for the most part a part of it ("split"). Pages that
        resemble it come first, then those that contain the most of it. Of the captures of a URL, the best one counts.

        `limit` is the number of pages to return, None for all; `.total` counts all. With `boilerplate=False`,
        registered boilerplate counts like any text. After `max_seconds`, the answer is what was found so far.
        """
        page = self._pages.find(url=url, id_=id, at=at)
        exclusions = self._exclusions(boilerplate)
        return locate(self.store, page, exclusions=exclusions, limit=limit, max_seconds=max_seconds)

    def versions(
        self,
        url: str | None = None,
        *,
        id: str | None = None,  # noqa: A002
        text: str | None = None,
        html: str | bytes | None = None,
        at: datetime | None = None,
        min_resemblance: float = 0.5,
        boilerplate: bool = True,
        max_seconds: float | None = None,
    ) -> Versions:
        """Return the versions of a page or text, the oldest first: all captures that resemble it, by equal texts.

        The page is `url` by its latest capture (with `at`, the latest until then) or the capture `id`; `text` and
        `html` need not be in the store. A capture belongs to a version if it resembles the question, or another
        version of the page found in this way, by at least `min_resemblance`.

        A version was `.replaced` if a page that had it has another text in its newest capture; the `.stale_pages` have
        it still. With `boilerplate=False`, registered boilerplate counts like any text. After `max_seconds`, the answer
        is what was found so far.
        """
        page = self._pages.find(url=url, id_=id, text=text, html=html, at=at)
        return versions(
            self.store,
            page,
            is_stored=url is not None or id is not None,
            min_resemblance=min_resemblance,
            exclusions=self._exclusions(boilerplate),
            max_seconds=max_seconds,
        )

    def changes(
        self,
        before: str | datetime | None = None,
        after: str | datetime | None = None,
        *,
        site: str | None = None,
        kinds: Collection[ChangeKind] = KINDS,
        near_revisits: float | None = None,
        limit: int | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        boilerplate: bool = True,
        progress: Progress | None = None,
    ) -> Changes:
        """Compare two crawls, and return what became of each page: `.counts` by kind, and a list of `.pages`.

        `before` and `after` are names of crawls, or two times: the pages as they were captured until `before`, and
        those captured after it, until `after`. Without them, the two latest crawls are compared. Of several captures of
        a URL in a crawl, the latest counts. The kinds are:

        - unchanged: the URL has the same text, apart from spacing, case and punctuation.
        - changed: the URL has another text. `.template` is true if only the template of the site is another: lines that
          at least half of its changed pages lost or gained, if there are five of these or more.
        - moved: the URL is gone, or has less than `threshold` of the text left; a page at another URL resembles it by
          at least that. `.to_url` is the one that resembles it most, on any site.
        - split: so did several pages with new URLs, which together have at least the `threshold` of its text; `.parts`
          are their URLs.
        - merged: no page resembles it by that much, but `.to_url` contains at least the `threshold` of its text; or it
          moved to the same page as others, each of which is another part of that page, and none nearly all of it.
        - new: the later crawl has the URL, the earlier does not, and no page moved there.
        - not_seen: the later crawl has neither the URL nor the text. This does not prove that the page was deleted.

        - `site`: compare only pages of this site. Where their texts went is looked up on all sites.
        - `kinds`, `limit`: list pages of these kinds, up to the limit of each kind. `.counts` has all.
        - `near_revisits`: list only pages whose later capture need not be kept: the text is unchanged, or only its
          template changed, or it resembles the earlier capture by at least this share.
        - `boilerplate`: leave out registered boilerplate. With False, it counts like any text.
        - `progress`: called with the phase, the amount done and the total.
        """
        for name, share in (("threshold", threshold), ("near_revisits", near_revisits)):
            if share is not None and not 0 < share <= 1:
                raise QuestionError(f"{name} is a share above 0, up to 1, not {share:g}")
        earlier, later = crawl_states(self.store, before, after)
        site = site and site.lower()
        for sentence in unknown_filters(self.store, Filters(site=site)):
            raise QuestionError(sentence)
        comparison = CrawlComparison(
            self.store,
            earlier,
            later,
            site=site,
            threshold=threshold,
            exclusions=self._exclusions(boilerplate),
            progress=progress or no_progress,
        )

        def wanted(each: Change) -> bool:
            return each.change in kinds and (near_revisits is None or each.is_near_revisit(near_revisits))

        return collected_changes(earlier, later, comparison.changes(), wanted=wanted, limit=limit)
