"""Fixtures that index sources into record files, as the command does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from gzip import compress
from pathlib import Path
from random import Random
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.runs.index_splits import index
from opensearch_winnow.ingest.runs.parquet_writer import ParquetWriter
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.ingest.sources import Sources
from opensearch_winnow.ingest.sources.splits import splits
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.records import read_records
from tests.ingest.sources.archives import record

DEFAULT_RECIPE = Recipe()


@dataclass(frozen=True, slots=True)
class Done:
    """What a run has left: its report, the records, and the lines of the file of failed pages."""

    report: Report
    records: list[Record]
    failed: list[dict[str, Any]]

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """The numbers of indexed, unchanged, skipped and failed pages."""
        report = self.report
        return report.indexed, report.unchanged, report.skipped.total(), report.failed.total()


Run = Callable[..., Done]
gzip = partial(compress, mtime=0)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def call(
        sources: Sequence[Path | str],
        to: str = "records.parquet",
        split: int = 1_000_000,
        recipe: Recipe = DEFAULT_RECIPE,
        **options: Any,
    ) -> Done:
        target, failed_path = tmp_path / to, tmp_path / f"{to}.failed.jsonl"
        with (
            Sources([str(source) for source in sources]) as crawled,
            ParquetWriter(target, recipe.scheme) as records,
            FailedPages(failed_path) as failed,
        ):
            report = index(splits(crawled, split), records, failed, recipe, **options)
        lines = failed_path.read_text().splitlines() if failed_path.exists() else []
        return Done(report, list(read_records(target)), [json.loads(line) for line in lines])

    return call


def html(seed: int, words: int = 60) -> bytes:
    """Return a page of random words, always the same for the same `seed`."""
    source = Random(seed)
    prose = " ".join("".join(source.choices("abcdefghij", k=source.randint(2, 9))) for _ in range(words))
    return f"<html><head><title>Page {seed}</title></head><body><p>{prose}</p></body></html>".encode()


@pytest.fixture
def warc(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a WARC file of responses, each given as URL, body and, optionally, headers."""

    def write(name: str, responses: Iterable[tuple[Any, ...]], *, compress: Callable[[bytes], bytes] = gzip) -> Path:
        path = tmp_path / name
        with path.open("wb") as file:
            for url, body, *more in responses:
                headers = {"Content-Type": "text/html; charset=utf-8"} | (more[0] if more else {})
                file.write(compress(response(url, body, headers)))
        return path

    return write


def response(url: str, body: bytes, headers: dict[str, str]) -> bytes:
    http = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    block = f"HTTP/1.1 200 OK\r\n{http}\r\n".encode() + body
    return record(url, block, WARC_Record_ID=f"<urn:uuid:{uuid5(NAMESPACE_URL, url)}>")
