"""Real pages, served: what the Javadoc of three releases of Lucene says about two of its packages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from tests.web.served_fixture import Served, serving

if TYPE_CHECKING:
    from opensearch_winnow.ingest.page import Page

RELEASES = {
    "9.0.0": datetime(2021, 12, 7, tzinfo=UTC),
    "9.6.0": datetime(2023, 5, 9, tzinfo=UTC),
    "9.12.0": datetime(2024, 9, 28, tzinfo=UTC),
}
PACKAGES = re.compile(r"org/apache/lucene/(index|search)/[^/]+\.html")


def javadoc_pages() -> Iterator[Page]:
    """Both packages in every release, from the jars in the folder that WINNOW_JAVADOC names."""
    from opensearch_winnow.ingest.page import Page  # noqa: PLC0415 (most tests need none)

    folder = Path(os.environ["WINNOW_JAVADOC"])
    for release, released in RELEASES.items():
        with ZipFile(folder / f"lucene-core-{release}-javadoc.jar") as jar:
            for name in filter(PACKAGES.fullmatch, jar.namelist()):
                yield Page(javadoc_url(release, name), html=jar.read(name), fetched_at=released)


def javadoc_url(release: str, name: str) -> str:
    return f"https://lucene.example/{release.replace('.', '_')}/core/{name}"


def javadoc_comparison(name: str, a: str = "9.0.0", b: str = "9.12.0") -> str:
    """Where two releases of a page are compared: `javadoc_comparison("index/IndexWriter")`."""
    from opensearch_winnow.mappings.record import capture_id  # noqa: PLC0415 (most tests need none)

    path = f"org/apache/lucene/{name}.html"
    one, other = (capture_id(javadoc_url(release, path), RELEASES[release]) for release in (a, b))
    return f"/compare/{one}/{other}"


@pytest.fixture(scope="session")
def javadoc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`winnow serve` on real pages, of which some share dozens of passages; it only reads."""
    from opensearch_winnow.index import Index  # noqa: PLC0415 (most tests need none)

    store = tmp_path_factory.mktemp("javadoc") / "javadoc.winnow"
    with Index.open(store) as index:
        report = index.add(javadoc_pages(), crawl="javadoc")
        assert report.indexed == report.pages > 1_000, report
        index.cluster()
    with serving(store) as found:
        yield found
