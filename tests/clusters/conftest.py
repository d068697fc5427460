"""Small crawls in record files, with every kind of page that clusters are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.foundation.digests import digest
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.hashes import hashes_of
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.record_writer import RecordFileWriter

TABLES = ("clusters", "edges", "changes")
START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMES = (
    Scheme(),
    # Few bins, so that many pairs are uncertain, and a sketch with one shingle in three.
    Scheme(shingle=3, modulus=3, bins=64, bands=8, rows=3),
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the tests of Spark if it is not installed. `make check` installs it, and fails without it."""
    wanted = find_spec("pyspark") is not None or config.getoption("markexpr") == "check"
    return True if collection_path.name == "spark" and not wanted else None


@dataclass(frozen=True, slots=True)
class Crawl:
    """The records of each file of a crawl."""

    scheme: Scheme
    files: list[list[Record]]

    @property
    def records(self) -> list[Record]:
        return [record for file in self.files for record in file]

    def write(self, folder: Path) -> list[str]:
        paths = [folder / f"{number}.parquet" for number in range(len(self.files))]
        for path, records in zip(paths, self.files, strict=True):
            write_records(path, records, self.scheme)
        return list(map(str, paths))


def write_records(path: Path, records: Iterable[Record], scheme: Scheme = Scheme()) -> str:
    with RecordFileWriter(path, scheme) as writer:
        for record in records:
            writer.add(record)
    return str(path)


def with_damage(path: Path, name: str) -> bytes:
    """Return the bytes of a record file, four of which were changed in the column of this name."""
    content, columns = path.read_bytes(), pq.read_metadata(path).row_group(0)
    (column,) = (each for i in range(columns.num_columns) if (each := columns.column(i)).path_in_schema == name)
    at = column.data_page_offset + column.total_compressed_size - 5
    return content[:at] + bytes(byte ^ 0xFF for byte in content[at : at + 4]) + content[at + 4 :]


def page_record(
    url: str, text: str, scheme: Scheme = Scheme(), *, time: int | None = None, keep_text: bool = True, title: str = ""
) -> Record:
    """Return the record of a text that was fetched `time` seconds after START."""
    return Record(
        url=url,
        title=title or None,
        text=text if keep_text else "",
        fetched_at=None if time is None else START + timedelta(seconds=time),
        content_digest=digest(text.encode()) if text else "",
        hashes=hashes_of(text, scheme),
    )


def words(random: Random, count: int) -> list[str]:
    return [f"w{random.randrange(100_000)}" for _ in range(count)]


# Names whose order differs by code points, by UTF-16 and by locale, and whose length differs in bytes.
NAMES = ("a", "B", "é", "ẞẞ", "\uff5e", "\U0001f600", "longer", "0", "z z")


def texts(random: Random, count: int) -> list[str]:
    """Return texts of families, copies, copies with other commas, repetitions, chains, and pages without words."""
    families = [words(random, length) for length in random.sample([12, 40, 100, 250], 2)]
    chain, again = words(random, 12 * count + 60), words(random, 15)
    made: list[str] = []
    for place in range(count):
        kind = random.randrange(8)
        if kind < 3:
            family = random.choice(families)
            edited = int(len(family) * random.choice([0.03, 0.1, 0.2, 0.35, 0.5]))
            at = random.randrange(len(family) - edited + 1)
            made.append(" ".join([*family[:at], *words(random, edited), *family[at + edited :]]))
        elif kind == 3:
            made.append(" ".join(chain[place * 12 : place * 12 + 60]))
        elif kind == 4:
            made.append(" ".join(again * random.randint(3, 5)))
        elif kind == 5:
            made.append(random.choice(["", "!", "…", " ".join(words(random, random.choice([1, 5, 40])))]))
        elif made:
            copied = random.choice(made)
            made.append(copied if kind == 6 else copied.replace(" ", ", "))
    return made


def _canonical(record: Record, earlier: Sequence[Record]) -> str | None:
    """Return a canonical URL: none, its own, that of an earlier page, or of no page, always the same for a record."""
    random = Random(record.id)
    others: list[str | None] = [page.url for page in earlier[-8:]] or [None]
    return random.choice([None, record.url, "https://nowhere.example/", random.choice(others), random.choice(others)])


def small_crawl(seed: int, count: int, scheme: Scheme, files: int) -> Crawl:
    random = Random(seed)
    records: dict[str, Record] = {}
    for text in texts(random, count):
        url = f"https://{random.choice(NAMES)}.example/{random.choice(NAMES)}"
        record = page_record(
            url,
            text,
            scheme,
            time=random.choice([None, 0, 0, 1, random.randrange(1_000)]),
            keep_text=random.random() < 0.8,
            title=random.choice(["", "A title", "Ein »Titel«"]),
        )
        if records and random.random() < 0.3:
            record.cluster = random.choice(list(records))
        record.canonical = _canonical(record, [*records.values()])
        records[record.id] = record
    parts: list[list[Record]] = [[] for _ in range(files)]
    for record in records.values():
        parts[random.randrange(files)].append(record)
    # The last file has some captures of the first one again, with another text.
    for record in parts[0] if files > 1 else []:
        if random.random() < 0.3:
            text = " ".join(words(random, 30))
            seconds = None if record.fetched_at is None else round((record.fetched_at - START).total_seconds())
            parts[-1].append(page_record(record.url, text, scheme, time=seconds))
    return Crawl(scheme, parts)


def cluster_to_folder(
    records: Sequence[str], options: ClusteringOptions, folder: Path, **settings: Any
) -> ClusteringResult:
    """Cluster records, and write all tables to the folder."""
    output, evidence, changes = (str(folder / f"{name}.parquet") for name in TABLES)
    tables = RunSettings(output=output, evidence=evidence, changes=changes, **settings)
    return cluster_records(records, options, tables)
