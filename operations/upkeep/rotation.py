"""Rotates the fingerprints of a store that has a part of them: each page gets another part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import KOALA, Scheme
from opensearch_winnow.foundation.selection import stored_fingerprints
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.saved_recipe import RotationState
from opensearch_winnow.stores.store import Store, StoreError

BATCH_SIZE = 200  # pages that are read and written at a time


@answer
class RotationReport(Answer):
    """The result of a rotation."""

    epoch: int = key("The number of rotations so far, with this one.")
    rotated: int = key("The number of pages that have other fingerprints now.", default=0)
    unchanged: int = key(
        "The number of pages that were already rotated, or are too short to have other fingerprints.", default=0
    )
    without_text: int = key("The number of pages that keep their fingerprints: no text is stored.", default=0)
    finished: bool = key(
        "True if all pages were rotated; the next rotation continues one that was stopped.", default=False
    )


def rotate(store: Store, *, progress: Progress, stop: Callable[[], bool]) -> RotationReport:
    """Rotate the fingerprints of all pages, or continue a rotation that was stopped.

    The texts are read from the store, a batch at a time. Questions find pages before and after, because they look up
    the whole search fingerprint. Pages that are added from now on have the fingerprints of the new epoch.
    """
    if not store.scheme.stores_part:
        raise StoreError(
            f"{store.name} has the selection {store.scheme.selection}, which keeps every fingerprint that it selects;"
            f" only a store of the selection {KOALA} has others to rotate to"
        )
    store.set_fingerprints([])  # if the store cannot be written, this raises before any work
    before = RotationState.of(store)
    epoch = before.epoch + before.finished
    RotationState(epoch, finished=False).save(store)
    ids = [card.id for card in store.scan(Card)]
    report = RotationReport(epoch)
    for start in range(0, len(ids), BATCH_SIZE):
        if stop():
            return report
        progress("rotating fingerprints", start, len(ids))
        records = store.read(ids[start : start + BATCH_SIZE], Record).values()
        with_text = [record for record in records if record.text]
        changed = [each for record in with_text if (each := _rotated(record, store.scheme, epoch)) != record]
        rotated = store.set_fingerprints(changed) if changed else 0
        report = replace(
            report,
            rotated=report.rotated + rotated,
            unchanged=report.unchanged + len(with_text) - len(changed),
            without_text=report.without_text + len(records) - len(with_text),
        )
    RotationState(epoch, finished=True).save(store)
    return replace(report, finished=True)


def _rotated(record: Record, scheme: Scheme, epoch: int) -> Record:
    chars = canonical(record.text, scheme, name=record.url).chars
    fingerprints, positions = stored_fingerprints(chars, scheme, epoch)
    return replace(record, hashes=replace(record.hashes, fingerprints=fingerprints, positions=positions))
