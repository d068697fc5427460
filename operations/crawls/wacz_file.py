"""Writes WACZ files: a WARC file with its index and a list of its pages, in a zip file."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from opensearch_winnow import __version__
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.mappings.card import Card

ARCHIVE, INDEX, PAGES = "archive/data.warc.gz", "indexes/index.cdxj", "pages/pages.jsonl"
DESCRIPTION, DIGEST = "datapackage.json", "datapackage-digest.json"
WACZ_VERSION = "1.1.1"
TIME = (1980, 1, 1, 0, 0, 0)  # of all members, so that the same captures give the same bytes
PAGES_HEADER = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}


def write_wacz(out: IO[bytes], warc: Path, index: Sequence[str], pages: Iterable[Card]) -> None:
    """Write a WACZ file of a WARC file, the sorted lines of its index (CDXJ), and the cards of its pages."""
    lines = [json.dumps(PAGES_HEADER), *(json.dumps(_page(card)) for card in pages)]
    resources = []
    with zipfile.ZipFile(out, "w", allowZip64=True) as zipped:
        with warc.open("rb") as content, zipped.open(_member(ARCHIVE), "w", force_zip64=True) as member:
            shutil.copyfileobj(content, member, 1 << 20)  # not compressed: readers seek in it
        with warc.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        resources.append(_resource(ARCHIVE, digest, warc.stat().st_size))
        for name, text in ((INDEX, "".join(index)), (PAGES, "".join(f"{line}\n" for line in lines))):
            zipped.writestr(_member(name, zipfile.ZIP_DEFLATED), text)
            resources.append(_resource(name, hashlib.sha256(text.encode()).hexdigest(), len(text.encode())))
        description = json.dumps(
            {
                "profile": "data-package",
                "wacz_version": WACZ_VERSION,
                "software": f"opensearch-winnow {__version__}",
                "resources": resources,
            },
            indent=2,
        )
        zipped.writestr(_member(DESCRIPTION), description)
        digest = f"sha256:{hashlib.sha256(description.encode()).hexdigest()}"
        zipped.writestr(_member(DIGEST), json.dumps({"path": DESCRIPTION, "hash": digest}))


def _member(name: str, compression: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, TIME)
    member.compress_type = compression
    member.external_attr = 0o644 << 16
    return member


def _resource(path: str, digest: str, size: int) -> dict[str, Any]:
    return {"name": path.rpartition("/")[2], "path": path, "hash": f"sha256:{digest}", "bytes": size}


def _page(card: Card) -> dict[str, Any]:
    time = card.fetched_at
    page = {"id": card.id, "url": card.url, "ts": None if time is None else written_time(time)}
    return page if card.title is None else {**page, "title": card.title}
