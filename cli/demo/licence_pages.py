"""The licence files of installed packages, as pages."""

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
# The start of a path that every package has: click-8.1.dist-info/licenses/LICENSE.txt.
METADATA = re.compile(r"^[^/]*\.(?:dist|egg)-info/(?:licen[cs]es/|license_files/)?")
# The same inside a path, where a package bundles others.
BUNDLED_METADATA = re.compile(r"\.(?:dist|egg)-info(?:/licen[cs]es)?(?=/)")
DEBIAN = Path("/usr/share/common-licenses")
MAX_BYTES = 1_000_000  # of a licence file


def licence_pages() -> list[Page]:
    """Return the licences of this Python environment and Debian's common licences, sorted by URL."""
    pages: dict[str, Page] = {}
    for page in (*_debian_licences(), *_package_licences()):
        pages.setdefault(page.url, page)  # of two versions on the path, keep the one that is imported
    return [pages[url] for url in sorted(pages)]


def _package_licences() -> Iterator[Page]:
    for package in metadata.distributions():
        for file in package.files or ():
            if LICENCE.fullmatch(file.name) and not CODE.fullmatch(file.name):
                name = METADATA.sub("", "/".join(part for part in file.parts if part != ".."))
                yield from _read(Path(str(file.locate())), package.name, f"{package.name} {package.version}", name)


def _debian_licences() -> Iterator[Page]:
    for file in DEBIAN.glob("*"):
        yield from _read(file, "debian", "Debian", file.name)


def _read(file: Path, folder: str, owner: str, name: str) -> Iterator[Page]:
    """Yield the file as a page, unless it cannot be read. Its bytes stay undecoded, as a crawler would have them."""
    try:
        if not file.is_file() or file.stat().st_size > MAX_BYTES:
            return
        body, time = file.read_bytes(), file.stat().st_mtime
    except OSError:
        return
    folder_and_file = "/".join(BUNDLED_METADATA.sub("", name).split("/")[-2:])
    yield Page(
        f"https://{SITE}/{quote(folder.lower())}/{quote(name)}",
        html=body,
        content_type="text/plain",
        title=f"{owner}: {folder_and_file}",
        fetched_at=datetime.fromtimestamp(time, UTC),
    )
