"""StoreWriter writes records to a store in batches."""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.mappings.record import NO_HASHES, Hashes, Record
from opensearch_winnow.stores import store_writer
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import StoreError, WriteOutcome
from opensearch_winnow.stores.store_writer import StoreWriter

URL = "http://example.org/"
NO_BYTES = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"  # the digest that some crawlers give a page that is not modified


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]


def hashes(content: str) -> Hashes:
    """Return hashes that are the same for the same content only."""
    if not content:
        return NO_HASHES
    numbers = array("Q", sha256(content.encode()).digest())
    return Hashes(
        text_digest=digest(f"text {content}"),
        shingle_digest=digest(f"shingles {content}"),
        fingerprints=numbers,
        positions=array("I", range(len(numbers))),
        shingle_count=len(numbers),
        sketch=array("Q", sorted(numbers)),
        minhash=content.encode(),
        bands=numbers[:2],
    )


def day(number: int | None) -> datetime | None:
    return None if number is None else datetime(2026, 1, number, tzinfo=UTC)


def page(content: str, url: str = URL, on: int | None = 1, payload: str | None = None) -> Record:
    found: dict[str, Any] = {"fetched_at": day(on), "payload_digest": payload, "content_digest": digest(content)}
    return with_content(Record(url=url, text="", hashes=NO_HASHES, **found), content)


def revisit(url: str = URL, on: int | None = 2, payload: str | None = None, of: str = URL) -> Record:
    values: dict[str, Any] = {"content_digest": "", "duplicate": "revisit", "duplicate_of": of}
    return Record(url=url, text="", fetched_at=day(on), payload_digest=payload, hashes=NO_HASHES, **values)


def with_content(record: Record, content: str) -> Record:
    text = f"The text of {content}" if content else ""
    return replace(record, title=f"Title of {content}", canonical=URL + content, text=text, hashes=hashes(content))


def open_store(folder: Path, name: str = "a.winnow") -> EmbeddedStore:
    return EmbeddedStore.open(folder / name, create=True)


def stored_records(folder: Path, name: str = "a.winnow") -> list[Record]:
    """Return the records that another process would see."""
    with EmbeddedStore.open(folder / name) as store:
        return list(store.scan(Record))


@pytest.mark.parametrize(
    ("bound", "value"), [("MAX_BATCH_RECORDS", 3), ("MAX_BATCH_BYTES", 6_000), ("MAX_BATCH_SECONDS", 0.2)]
)
def test_a_batch_is_written_when_it_is_full_or_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: float
) -> None:
    monkeypatch.setattr(store_writer, bound, value)
    pages = [page(str(number), f"{URL}{number}") for number in range(4)]
    with open_store(tmp_path) as store, StoreWriter(store) as into:
        for each in pages[:2]:
            into.add(each)
        assert stored_records(tmp_path) == []
        time.sleep(0.25 if bound == "MAX_BATCH_SECONDS" else 0)
        for each in pages[2:]:
            into.add(each)
        assert (stored_records(tmp_path), into.count) in ((pages[:3], 3), (pages, 4))
    assert stored_records(tmp_path) == pages


@pytest.mark.parametrize("exception", [KeyboardInterrupt, ValueError, WinnowError])
def test_what_was_added_is_kept_whatever_happens_then(tmp_path: Path, exception: type[BaseException]) -> None:
    with pytest.raises(exception), open_store(tmp_path) as store, StoreWriter(store) as into:  # noqa: PT012
        into.add(page("a"))
        raise exception
    assert stored_records(tmp_path) == [page("a")]


class RefusingStore(EmbeddedStore):
    """Refuses certain URLs, as a server may, and stores the others."""

    def write(self, records: Sequence[Record]) -> list[WriteOutcome]:
        refused = [each.url.endswith("refused") for each in records]
        done = iter(super().write([each for each, no in zip(records, refused, strict=True) if not no]))
        failed = (WriteOutcome(each.id, "failed", "its own reasons") for each in records)
        return [outcome if no else next(done) for outcome, no in zip(failed, refused, strict=True)]


def test_a_record_that_is_refused_is_not_lost_silently(tmp_path: Path) -> None:
    with RefusingStore.open(tmp_path / "a.winnow", create=True) as store:
        into = StoreWriter(store)
        reasons: list[str] = []
        into.add(page("a"), reasons.append)
        into.add(page("b", f"{URL}refused"), reasons.append)
        into.close()
        assert (into.count, reasons) == (1, ["its own reasons"])
        into.add(page("c", f"{URL}refused"))  # without a callback, it raises
        with pytest.raises(StoreError, match="a page was refused: its own reasons"):
            into.close()
    assert stored_records(tmp_path) == [page("a")]


@pytest.mark.parametrize("written", [True, False])
def test_a_revisit_gets_the_text_of_the_page_that_it_repeats(tmp_path: Path, written: bool) -> None:
    before = [
        page("a", on=1),
        page("b", on=4, payload="sha1:B"),
        page("c", f"{URL}c", on=3, payload="sha1:C"),
        page("timeless", f"{URL}t", on=None),
        page("hex", f"{URL}h", on=1, payload="sha1:0123"),
    ]
    cases = {
        "b": revisit(on=5, payload="sha1:B"),
        "c": revisit(on=6, payload="sha1:C"),  # the payload counts more than the URL
        "a": revisit(on=2, payload=NO_BYTES),  # takes the page of that time
        "hex": revisit(f"{URL}h", on=2, payload="md5:0123456", of=f"{URL}h"),  # another algorithm: cannot be compared
        "timeless": revisit(f"{URL}t2", on=None, of=f"{URL}t"),
    }
    nowhere = [
        revisit(on=7, payload="sha1:X"),  # another payload than the stored page
        revisit(f"{URL}x", on=2, of=f"{URL}x"),
        revisit(f"{URL}c", on=2, of=f"{URL}c"),  # before the first capture
        revisit(f"{URL}t", on=2, of=f"{URL}t"),  # the stored page has no time
    ]
    with open_store(tmp_path) as store, StoreWriter(store) as into:
        for each in before:
            into.add(each)
        if written:
            into.write()
        for each in (*cases.values(), *nowhere):
            into.add(each)
    filled = [with_content(each, content) for content, each in cases.items()]
    assert stored_records(tmp_path) == [*before, *filled, *nowhere]


@st.composite
def archives(draw: st.DrawFn) -> list[Record]:
    """Make pages and revisits of an archive that gives the payload digest of all records, or of none."""
    with_digests = draw(st.booleans())
    records = []
    for is_page in draw(st.lists(st.booleans(), max_size=8)):
        content, url, other = draw(st.sampled_from("abc")), *draw(st.permutations("xyz"))[:2]
        on = draw(st.none() | st.integers(1, 9))
        payload = f"sha1:{content}" if with_digests else None
        if is_page:
            records.append(page(content, URL + url, on, payload))
        else:
            payload = draw(st.sampled_from([payload, payload, NO_BYTES]))
            records.append(revisit(URL + url, on, payload, URL + draw(st.sampled_from([url, url, other]))))
    return list({record.id: record for record in records}.values())


@pytest.mark.check
@given(data=st.data(), records=archives())
@settings(max_examples=15)
def test_order_and_batches_change_nothing(data: st.DataObject, records: list[Record]) -> None:
    other_order = data.draw(st.permutations(records))
    batch = data.draw(st.integers(1, 8))
    with TemporaryDirectory() as name:
        folder = Path(name)
        unfilled = {}
        for store_name, order, size in (("one", records, 1_000), ("several", other_order, batch)):
            with open_store(folder, store_name) as store, StoreWriter(store) as into:
                for number, each in enumerate(order):
                    into.add(each)
                    if number % size == size - 1:
                        into.write()
            unfilled[store_name] = into.unfilled_revisits()
        one, several = ({each.id: each for each in stored_records(folder, each)} for each in unfilled)
        assert one == several
        assert set(unfilled.values()) == {sum(not each.hashes.text_digest for each in one.values())}


@pytest.mark.parametrize("page_first", [True, False])
def test_two_runs_at_once_write_a_page_and_its_revisit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page_first: bool
) -> None:
    """Neither finds the other's record before it writes its own."""
    records = [page("a", payload="sha1:A"), revisit(f"{URL}r", on=2, payload="sha1:A")]
    one, other = records if page_first else records[::-1]
    write = EmbeddedStore.write

    def write_after_another_run(store: EmbeddedStore, some: Sequence[Record]) -> list[WriteOutcome]:
        monkeypatch.setattr(EmbeddedStore, "write", write)
        with open_store(tmp_path) as same, StoreWriter(same) as into:
            into.add(other)
        return write(store, some)

    with open_store(tmp_path) as store, StoreWriter(store) as into:
        into.add(one)
        monkeypatch.setattr(EmbeddedStore, "write", write_after_another_run)
    assert {each.text for each in stored_records(tmp_path)} == {"The text of a"}
    assert into.unfilled_revisits() == 0


def test_a_page_that_is_deleted_meanwhile_does_not_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = revisit(f"{URL}r", on=2, payload="sha1:A")
    set_texts = EmbeddedStore.set_texts

    def set_after_deletion(store: EmbeddedStore, some: Sequence[Record]) -> int:
        store.delete([stored.id])
        return set_texts(store, some)

    monkeypatch.setattr(EmbeddedStore, "set_texts", set_after_deletion)
    with open_store(tmp_path) as store, StoreWriter(store) as into:
        into.add(stored)
        into.write()
        into.add(page("a", payload="sha1:A"))
    assert [each.url for each in stored_records(tmp_path)] == [URL]
