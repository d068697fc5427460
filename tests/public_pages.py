"""Real pages that every clone can download: Javadoc sites in several releases and scripts, and licences.

They come in jars from Maven Central. public-jars.txt lists the jars with their SHA-256. Like the jars of the engine,
they are stored in Maven's local repository; this repository has none of them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from opensearch_winnow.ingest.page import Page

LIST = Path(__file__).with_name("public-jars.txt")

# Names of pages that are mere lists of links.
LINKS = re.compile(
    r"(?:.*/)?(?:class-use/.*|index-files/.*|index|index-all|search|help-doc|allclasses.*|allpackages.*|.*-frame|"
    r"package-(?:tree|use)|overview-(?:tree|summary)|deprecated-list|serialized-form|constant-values)(?:\.html)?"
)


class Release(NamedTuple):
    """The Javadoc of one release, as a site crawled on the day of the release."""

    site: str
    version: str
    made: datetime

    @property
    def url(self) -> str:
        return f"https://{self.site}/{self.version}"


def _releases(site: str, days: dict[str, tuple[int, int, int]]) -> tuple[Release, ...]:
    return tuple(Release(site, version, datetime(*day, tzinfo=UTC)) for version, day in days.items())


LUCENE = _releases(
    "lucene.example", {"9.0.0": (2021, 12, 1), "9.6.0": (2023, 5, 3), "9.12.0": (2024, 9, 25)}
)  # English
HUTOOL = _releases("hutool.example", {"5.3.0": (2020, 4, 11), "5.8.26": (2024, 2, 10)})  # Chinese
NABLARCH = _releases("nablarch.example", {"1.5.2": (2021, 10, 19), "2.2.0": (2024, 9, 18)})  # Japanese
JARS = {"lucene.example": "lucene-core", "hutool.example": "hutool-extra", "nablarch.example": "nablarch-core"}
LICENCES = "spdx.example"


def javadoc(*releases: Release, under: str = "", one_in: int = 1, with_lists: bool = False) -> Iterator[Page]:
    """Yield the pages of `releases` whose path starts with `under`.

    Of these, yield one in `one_in`, chosen by name, so that all releases have the same pages. Pages that are mere lists
    of links are left out, unless `with_lists`.
    """
    for release in releases:
        with ZipFile(jar(f"{JARS[release.site]}-{release.version}-javadoc.jar")) as archive:
            for name in sorted(archive.namelist()):
                chosen = name.startswith(under) and sum(name.rpartition("/")[2].encode()) % one_in == 0
                if chosen and name.endswith(".html") and (with_lists or not LINKS.fullmatch(name)):
                    yield Page(f"{release.url}/{name}", html=archive.read(name), fetched_at=release.made)


def licences() -> Iterator[Page]:
    """Yield the 811 licences that SPDX lists."""
    with ZipFile(jar("java-spdx-library-2.0.4.jar")) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith("resources/stdlicenses/") and name.endswith(".json"):
                licence = json.loads(archive.read(name))
                html = licence.get("licenseTextHtml") or licence.get("exceptionTextHtml")
                if html:
                    yield Page(f"https://{LICENCES}/{Path(name).stem}.html", html=html, title=licence.get("name"))


@cache
def jar(name: str) -> Path:
    """Return the path of a jar listed in public-jars.txt; download the jar if this machine does not have it."""
    # Imported here, because tests of the core run without the packages that it needs.
    from opensearch_winnow.stores.engine.jars import local_files, parse_jars  # noqa: PLC0415

    (wanted,) = (each for each in parse_jars(LIST.read_text(encoding="utf-8")) if each.path.name == name)

    def show(so_far: int, total: int) -> None:
        if so_far == 0:
            print(f"fetching {name}, {total / 1e6:.1f} MB", file=sys.stderr)

    (file,) = local_files([wanted], show)
    return file
