"""The licences of installed packages, as pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

from opensearch_winnow.ingest.page import Page

SITE = "licences.example"
LICENCE = re.compile(r"(?:un)?licen[cs]es?(?:[-._].*)?|copying(?:[-._].*)?|notice(?:[-._].*)?", re.IGNORECASE)
CODE = re.compile(r".*\.(?:py[a-z]*|js|json)", re.IGNORECASE)
# What a path begins with in every package: click-8.1.dist-info/licenses/LICENSE.txt.
METADATA = re.compile(r"^[^/]*\.(?:dist|egg)-info/(?:licen[cs]es/|license_files/)?")
# And what tells nothing further on, where a package has others in it.
INSIDE = re.compile(r"\.(?:dist|egg)-info(?:/licen[cs]es)?(?=/)")
DEBIAN = Path("/usr/share/common-licenses")
LARGEST = 1_000_000  # bytes


def licence_pages() -> list[Page]:
    """By URL: those of this environment, and what Debian has for all."""
    pages: dict[str, Page] = {}
    for page in (*_of_debian(), *_of_packages()):
        pages.setdefault(page.url, page)  # of two versions on the path, the one that is imported
    return [pages[url] for url in sorted(pages)]


def _of_packages() -> Iterator[Page]:
    for package in metadata.distributions():
        for file in package.files or ():
            if LICENCE.fullmatch(file.name) and not CODE.fullmatch(file.name):
                name = METADATA.sub("", "/".join(part for part in file.parts if part != ".."))
                yield from _read(Path(str(file.locate())), package.name, f"{package.name} {package.version}", name)


def _of_debian() -> Iterator[Page]:
    for file in DEBIAN.glob("*"):
        yield from _read(file, "debian", "Debian", file.name)


def _read(file: Path, folder: str, whose: str, name: str) -> Iterator[Page]:
    """Nothing, if it is no readable file. As it came: its encoding is found out as that of any page."""
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            return
        body, time = file.read_bytes(), file.stat().st_mtime
    except OSError:
        return
    folder_and_file = "/".join(INSIDE.sub("", name).split("/")[-2:])
    yield Page(
        f"https://{SITE}/{quote(folder.lower())}/{quote(name)}",
        html=body,
        content_type="text/plain",
        title=f"{whose}: {folder_and_file}",
        fetched_at=datetime.fromtimestamp(time, UTC),
    )
