"""Defines the record, which is stored for a capture, and converts it to and from JSON values."""

from __future__ import annotations

import sys
from array import array
from base64 import b64decode, b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.mappings.archive_location import ArchiveLocation

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
# The ways to equal an earlier page: by the crawler's word, byte by byte, as canonical text, or in all shingles.
DUPLICATES = ("revisit", "content", "text", "shingles")
# The fields that have the same value in a document.
TEXTS = ("url", "site", "crawl", "text", "content_digest", "text_digest", "shingle_digest", "cluster")
OPTIONAL_TEXTS = ("title", "payload_digest", "duplicate", "duplicate_of", "canonical")
# The fields that a revisit takes from the page that it repeats.
TEXT_FIELDS = (
    "title",
    "text",
    "text_digest",
    "shingle_digest",
    "fingerprints",
    "positions",
    "shingle_count",
    "sketch",
    "minhash",
    "bands",
    "canonical",
)


class RecordsError(WinnowError):
    """Stored records that cannot be used: damaged, of another program, format or scheme, or with another key."""


@dataclass(slots=True, kw_only=True)
class Record:
    """All that is stored for a capture: metadata, text and hashes.

    Values are made storable when the record is created: a lone surrogate, which UTF-8 cannot encode, becomes U+FFFD
    (offsets stay), and times are converted to UTC. By default, `site` is that of the URL and `cluster` the record's id.
    """

    url: str
    site: str = ""
    crawl: str = ""
    title: str | None = None
    text: str
    fetched_at: datetime | None = None
    payload_digest: str | None = None  # of the bytes as received, in the form of WARC: "sha1:…"
    content_digest: str
    text_digest: str
    shingle_digest: str
    fingerprints: array[int]  # 'Q', in the order of the text
    positions: array[int]  # 'I', of the fingerprints in the canonical text
    shingle_count: int
    sketch: array[int]  # 'Q', the MOD_m shingles, sorted
    minhash: bytes
    bands: array[int]  # 'Q'
    duplicate: Literal["revisit", "content", "text", "shingles"] | None = None  # how it equals an earlier page
    duplicate_of: str | None = None  # the URL of that page
    cluster: str = ""
    source: ArchiveLocation | None = None  # None unless it was read from a web archive
    canonical: str | None = None  # the URL that the page names with `<link rel="canonical">`, often its own
    attached_id: str = ""  # the id, if it is not that of the capture: documents of an attached index have others

    def __post_init__(self) -> None:
        for name in ("fingerprints", "sketch", "bands", "positions"):
            typecode = "I" if name == "positions" else "Q"
            if getattr(self, name).typecode != typecode:
                raise ValueError(f"{name} of a record is an array of {typecode!r}: {self.url}")
        if len(self.positions) != len(self.fingerprints):
            raise ValueError(f"a record has a position for each fingerprint: {self.url}")
        if self.duplicate is not None and self.duplicate not in DUPLICATES:
            raise ValueError(f"a duplicate is one of {', '.join(DUPLICATES)}, not {self.duplicate!r}: {self.url}")
        self.url = storable(self.url)
        self.text = storable(self.text)
        self.crawl = storable(self.crawl)
        self.site = storable(self.site) or site_of(self.url)
        if self.title is not None:
            self.title = storable(self.title)
        if self.duplicate_of is not None:
            self.duplicate_of = storable(self.duplicate_of)
        self.canonical = storable(self.canonical) if self.canonical else None
        if self.source is not None:
            self.source = self.source._replace(file=storable(self.source.file))
        if self.fetched_at is not None:
            self.fetched_at = _in_utc(self.fetched_at)
        self.cluster = self.cluster or self.id

    @property
    def id(self) -> str:
        """The id of the capture, which does not depend on the content."""
        return self.attached_id or capture_id(self.url, self.fetched_at)

    @property
    def fingerprint_count(self) -> int:
        """The number of distinct fingerprints: a passage that is on a page twice has its fingerprints twice."""
        return len(distinct(self.fingerprints))

    @property
    def sketch_count(self) -> int:
        return len(self.sketch)


class StoredDigests(NamedTuple):
    """The fields that tell a run whether a capture, or its content, is already stored."""

    id: str
    url: str
    content_digest: str
    text_digest: str
    shingle_digest: str

    @classmethod
    def of(cls, record: Record) -> Self:
        return cls(record.id, record.url, record.content_digest, record.text_digest, record.shingle_digest)


def capture_id(url: str, fetched_at: datetime | None) -> str:
    """Return the id of a capture: 32 hexadecimal digits. A time without a time zone is in UTC."""
    # Behind the NUL is the time in digits, or nothing if it is not known: no two captures give the same bytes.
    time = "" if fetched_at is None else microseconds(fetched_at)
    return blake2b(f"{storable(url)}\0{time}".encode(), digest_size=16, person=b"winnow capture").hexdigest()


def site_of(url: str) -> str:
    """Return the host of a URL in lower case, or "" if it has none, as file: URLs do not."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def bytes_in_memory(record: Record) -> int:
    """Return about how many bytes `record` takes in memory."""
    numbers = len(record.fingerprints) * 12 + (len(record.sketch) + len(record.bands)) * 8
    return sys.getsizeof(record.text) + numbers + len(record.minhash) + 1_500


def microseconds(time: datetime) -> int:
    """Return the microseconds since 1970. A time without a time zone is in UTC."""
    return (_in_utc(time) - EPOCH) // MICROSECOND


def as_document(record: Record) -> dict[str, Any]:
    """Return the record as JSON values, for stores and JSON lines: its fields in order, and the counts.

    A hash is 16 hexadecimal digits, as `winnow fingerprint` prints it; sorting them as text sorts them as numbers.
    Positions (32-bit integers, lowest byte first) and the MinHash are in base64.
    """
    time = record.fetched_at
    return {
        "id": record.id,
        "url": record.url,
        "site": record.site,
        "crawl": record.crawl,
        "title": record.title,
        "text": record.text,
        "fetched_at": None if time is None else written_time(time),
        "payload_digest": record.payload_digest,
        "content_digest": record.content_digest,
        "text_digest": record.text_digest,
        "shingle_digest": record.shingle_digest,
        "fingerprints": _tokens(record.fingerprints),
        "fingerprint_count": record.fingerprint_count,
        "positions": b64encode(in_order(record.positions, "little")).decode(),
        "shingle_count": record.shingle_count,
        "sketch": _tokens(record.sketch),
        "sketch_count": record.sketch_count,
        "minhash": b64encode(record.minhash).decode(),
        "bands": _tokens(record.bands),
        "duplicate": record.duplicate,
        "duplicate_of": record.duplicate_of,
        "cluster": record.cluster,
        "source": None if record.source is None else record.source._asdict(),
        "canonical": record.canonical,
    }


def from_document(document: dict[str, Any]) -> Record:
    """Return the record of a document. Counts and unknown fields are ignored."""
    try:
        document = {"canonical": None, **document}  # documents of an older winnow do not have it
        plain = {name: document[name] for name in (*TEXTS, *OPTIONAL_TEXTS, "shingle_count")}
        for name, value in plain.items():
            kind = int if name == "shingle_count" else str
            if not isinstance(value, kind) and not (value is None and name in OPTIONAL_TEXTS):
                raise ValueError(f"{name} is {value!r}")
        time = document["fetched_at"]
        positions = array("I", b64decode(document["positions"], validate=True))
        if sys.byteorder == "big":
            positions.byteswap()
        return Record(
            fetched_at=None if time is None else datetime.fromisoformat(time),
            fingerprints=_hashes(document["fingerprints"]),
            positions=positions,
            sketch=_hashes(document["sketch"]),
            minhash=b64decode(document["minhash"], validate=True),
            bands=_hashes(document["bands"]),
            source=ArchiveLocation.of(document.get("source")),
            **plain,
        )
    except KeyError as error:
        raise RecordsError(f"not the document of a record: it has no {error.args[0]}") from None
    except (TypeError, ValueError) as error:
        raise RecordsError(f"not the document of a record: {error}") from None


def in_order(numbers: array[int], order: Literal["little", "big"]) -> bytes:
    """Return the bytes of `numbers`, lowest or highest byte first, on any machine."""
    if sys.byteorder != order:
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def _tokens(hashes: array[int]) -> list[str]:
    return in_order(hashes, "big").hex(" ", 8).split()


def _hashes(tokens: list[str]) -> array[int]:
    joined = bytes.fromhex("".join(tokens))
    if len(joined) != 8 * len(tokens) or any(len(token) != 16 for token in tokens):
        raise ValueError("a hash is 16 hexadecimal digits")
    hashes = array("Q", joined)
    if sys.byteorder == "little":
        hashes.byteswap()
    return hashes


def storable(text: str) -> str:
    """Return `text` with U+FFFD for lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    return text


def _in_utc(time: datetime) -> datetime:
    if time.tzinfo is UTC:
        return time
    try:
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{time} is no time in UTC") from None
