"""A Scrapy item pipeline: what a spider yields goes the same way as a crawl on disk.

In the settings of the project,

    ITEM_PIPELINES = {"opensearch_winnow.ingest.scrapy.WinnowPipeline": 900}
    WINNOW_TO = "records.parquet"  # or a folder, "records/"
    WINNOW_CRAWL = "2026-11"  # a name for the crawl, if it is to have one
    WINNOW_PRESET = "pages"  # the scheme

and in a spider `yield captured(response)`, or items with `url` and `html` or `text`, named as in JSON lines. Items are
passed on as they are; those that are no pages are counted and left alone.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter
from scrapy.exceptions import NotConfigured

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.intake import Intake
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.ingest.sources.page_fields import FieldError, page_of
from opensearch_winnow.record_files.record_writer import RecordWriter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)


def captured(response: Response) -> Page:
    """The page of a response, as it came."""
    content_type = response.headers.get("Content-Type")
    return Page(
        response.url,
        html=response.body,
        fetched_at=datetime.now(UTC),
        content_type=content_type.decode("latin-1") if content_type else None,
    )


class WinnowPipeline:
    def __init__(self, crawler: Crawler, to: str, recipe: Recipe) -> None:
        self._crawler = crawler
        self._to = to
        self._recipe = recipe
        self._open = ExitStack()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        to = settings.get("WINNOW_TO")
        if not to:
            raise NotConfigured("WINNOW_TO is not set: where to keep the records, for example records.parquet")
        scheme = Scheme.preset(settings.get("WINNOW_PRESET", "pages"))
        return cls(crawler, to, Recipe(scheme=scheme, crawl=settings.get("WINNOW_CRAWL", "")))

    def open_spider(self) -> None:
        self._records = self._open.enter_context(RecordWriter(self._to, self._recipe.scheme))
        failed = self._open.enter_context(FailedPages(Path(f"{self._to.rstrip('/')}.failed.jsonl")))
        self._intake = self._open.enter_context(Intake(self._records, failed, self._recipe))

    def process_item(self, item: Any) -> Any:
        try:
            page = item if isinstance(item, Page) else page_of(ItemAdapter(item), self._recipe.page_bytes)
        except FieldError as error:
            self._count("not_a_page")
            logger.debug("not a page, %s: %r", error, item)
        else:
            self._count(self._intake.add(page))
        return item

    def close_spider(self) -> None:
        with self._open:
            self._records.close()  # before what failed is kept: if that fails too, these are safe

    def _count(self, outcome: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"winnow/{outcome}")
