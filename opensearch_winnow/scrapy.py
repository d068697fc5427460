"""A Scrapy item pipeline: it indexes what a spider yields, into a store or into record files.

In the settings of the project,

    ITEM_PIPELINES = {"opensearch_winnow.scrapy.WinnowPipeline": 900}
    WINNOW_STORE = "crawl.winnow"  # or "http://localhost:9200/pages"
    # WINNOW_TO = "records.parquet"  # instead of a store: a record file, or a folder of them, "records/"
    WINNOW_CRAWL = "2026-11"  # optional: a name for the crawl
    WINNOW_PRESET = "pages"  # optional: the scheme of a new store or file
    WINNOW_KEY_FILE = "/etc/winnow/key"  # optional: a file with the secret key; by default, the environment names it

and in a spider `yield captured(response)`, or items with `url` and `html` or `text`, named as in JSON lines. Items are
passed on unchanged; those that are no pages are counted and left alone.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.key_file import KEY_VARIABLE, read_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.ingest.sources.page_fields import FieldError, page_of
from opensearch_winnow.operations.crawls.destinations import destination_named
from opensearch_winnow.operations.crawls.indexing import open_intake

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.utils.asyncio import CallLaterResult

# An item waits until its record is stored. Records are stored after this many items, or this many seconds.
FLUSH_ITEMS = 64
FLUSH_SECONDS = 0.5

logger = logging.getLogger(__name__)


def captured(response: Response) -> Page:
    """Return the page of a response, with its bytes as they came."""
    content_type = response.headers.get("Content-Type")
    return Page(
        response.url,
        html=response.body,
        fetched_at=datetime.now(UTC),
        content_type=content_type.decode("latin-1") if content_type else None,
    )


class WinnowPipeline:
    """Adds the pages of a spider to a store or to record files.

    An item is passed on when its record is stored, so a crash loses no item that a later pipeline, a feed or a signal
    has seen. Record files are the exception: they appear when the spider is closed, or a part of a folder is complete.
    """

    def __init__(
        self,
        crawler: Crawler,
        *,
        store: str | None,
        to: str | None,
        crawl: str,
        preset: str | None,
        key: str | None = None,
    ) -> None:
        self._crawler = crawler
        self._store, self._to = store, to
        self._crawl = crawl
        self._scheme = Scheme.preset(preset) if preset else None
        self._key = key
        self._opened = ExitStack()
        self._waiting: list[Deferred[None]] = []  # one for each item whose record is not stored yet
        self._timer: CallLaterResult | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        store, to = settings.get("WINNOW_STORE") or None, settings.get("WINNOW_TO") or None
        if store and to:
            raise WinnowError("WINNOW_STORE and WINNOW_TO both say where the records go: set only one of them")
        if not store and not to:
            raise NotConfigured("WINNOW_STORE is not set: it says where the records go, for example crawl.winnow")
        crawl, preset = settings.get("WINNOW_CRAWL") or "", settings.get("WINNOW_PRESET")
        key_file = settings.get(KEY_VARIABLE)
        key = read_key(key_file) if key_file else None
        return cls(crawler, store=store, to=to, crawl=crawl, preset=preset, key=key)

    def open_spider(self) -> None:
        destination = self._opened.enter_context(
            destination_named(store=self._store, to=self._to, scheme=self._scheme, key=self._key)
        )
        self._intake = self._opened.enter_context(open_intake(destination, crawl=self._crawl))

    async def process_item(self, item: Any) -> Any:
        try:
            page = item if isinstance(item, Page) else page_of(ItemAdapter(item), MAX_PAGE_BYTES)
        except FieldError as error:
            if self._crawler.stats is not None:
                self._crawler.stats.inc_value("winnow/not_a_page")
            logger.debug("not a page, %s: %r", error, item)
            return item
        try:
            outcome = self._intake.add(page)
        except Exception as error:  # a batch could not be written: the other items in it fail too
            self._settle(error)
            raise
        if outcome == "indexed":
            await maybe_deferred_to_future(self._stored())
        else:
            self._count()
        return item

    def close_spider(self) -> None:
        self._flush()
        self._opened.close()
        self._count()

    def _stored(self) -> Deferred[None]:
        """Return what fires when the record that was added last is stored."""
        stored: Deferred[None] = Deferred()
        self._waiting.append(stored)
        if len(self._waiting) >= FLUSH_ITEMS:
            self._flush()
        elif self._timer is None:
            self._timer = call_later(FLUSH_SECONDS, self._flush)
        return stored

    def _flush(self) -> None:
        try:
            self._intake.writer.flush()
        except Exception as error:  # which Scrapy reports for each of the items
            self._settle(error)
        else:
            self._settle(None)

    def _settle(self, error: Exception | None) -> None:
        """Let the waiting items go on, or fail."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._count()
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if error is None:
                each.callback(None)
            else:
                each.errback(error)

    def _count(self) -> None:
        """Put the counts of the run into the statistics of the crawl."""
        report = self._intake.report
        counts = {
            "indexed": report.indexed,
            "unchanged": report.unchanged,
            "skipped": report.skipped.total(),
            "failed": report.failed.total(),
            "findings": report.finding_count,
        }
        if self._crawler.stats is not None:
            for outcome, count in counts.items():
                if count:
                    self._crawler.stats.set_value(f"winnow/{outcome}", count)
