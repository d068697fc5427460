"""Real pages: the Javadoc of two packages in three releases of Lucene."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests import public_pages
from tests.public_pages import LUCENE
from tests.web.served_fixture import Served, serving

if TYPE_CHECKING:
    from opensearch_winnow.ingest.page import Page

PACKAGES = ("org/apache/lucene/index", "org/apache/lucene/search")
RELEASES = {release.version: release for release in LUCENE}


def javadoc_pages() -> Iterator[Page]:
    """Yield the pages of both packages in every release, with lists of links among them, as a site has."""
    for package in PACKAGES:
        for page in public_pages.javadoc(*LUCENE, under=f"{package}/", with_lists=True):
            if page.url.rpartition("/")[0].endswith(package):
                yield page


def javadoc_comparison(name: str, a: str = "9.0.0", b: str = "9.12.0") -> str:
    """Return the address that compares two releases of a page: `javadoc_comparison("index/IndexWriter")`."""
    from opensearch_winnow.mappings.record import capture_id  # noqa: PLC0415 (most tests need none)

    path = f"org/apache/lucene/{name}.html"
    one, other = (capture_id(f"{release.url}/{path}", release.made) for release in (RELEASES[a], RELEASES[b]))
    return f"/compare/{one}/{other}"


@pytest.fixture(scope="session")
def javadoc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`winnow serve`, read-only, on real pages, some of which share dozens of passages."""
    from opensearch_winnow.index import Index  # noqa: PLC0415 (most tests need none)

    store = tmp_path_factory.mktemp("javadoc") / "javadoc.winnow"
    with Index.open(store) as index:
        report = index.add(javadoc_pages(), crawl="javadoc")
        assert report.indexed == report.pages > 1_000, report
        index.cluster()
    with serving(store) as found:
        yield found
