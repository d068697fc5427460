"""The way in: pages are added to a store, and counted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.intake import Intake
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.report import Report
from opensearch_winnow.stores.destination import StoreDestination
from opensearch_winnow.stores.kept_recipe import keep_recipe, kept_recipe
from opensearch_winnow.stores.store import Store


def add_pages(store: Store, pages: Iterable[Page], *, crawl: str, failed: Path) -> Report:
    """As the store was filled before; those that fail are kept in the file."""
    recipe = kept_recipe(store, crawl=crawl)
    keep_recipe(store, recipe)
    with (
        FailedPages(failed) as kept,
        StoreDestination(store) as destination,
        Intake(destination, kept, recipe) as intake,
    ):
        intake.add_all(pages)
        destination.close()
        kept.incomplete = False
    return intake.report
