"""A key changes every hash and no answer: the same copies, passages, clusters, changes and findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Index, Page, Scheme, compare
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.run import cluster_pages
from opensearch_winnow.foundation.key_file import KEY_VARIABLE
from opensearch_winnow.ingest.fingerprint import fingerprint
from opensearch_winnow.ingest.hashes import hashes_of
from opensearch_winnow.ingest.own_index.winnow_fields import winnow_fields
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.store import StoreError
from tests.refused import refused
from tests.web.known_crawl_fixture import HARBOUR, MILL, MILL_TEXT, PAGES, QUOTE, paragraph

SCHEME = Scheme(noise=20, guarantee=40)
Opened = Callable[[str | None], Index]


@pytest.fixture(params=["file", pytest.param("opensearch", marks=pytest.mark.check)])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Return a function that creates a store with a key."""
    on_engine = request.param == "opensearch"
    folder, ending = (request.getfixturevalue("engine").url, "") if on_engine else (tmp_path, ".winnow")
    return lambda key: Index.open(f"{folder}/keyed-{uuid4().hex}{ending}", scheme=SCHEME, key=key)


def answers(index: Index) -> Iterator[Any]:
    """Index the known crawl in two parts, and yield the answers to questions of every kind."""
    index.add(PAGES[3:], crawl="first")
    index.add_watch("quote", text=QUOTE)
    later = [
        Page(MILL, text="\n\n".join([*MILL_TEXT[:5], paragraph("mill later")]), fetched_at=PAGES[-1].fetched_at),
        Page("https://harbour.example/moved", text=next(page.text for page in PAGES if page.url == HARBOUR)),
        Page("https://quotes.example/", text=f"{paragraph('before')} {QUOTE} {paragraph('after')}"),
    ]
    report = index.add(later, crawl="second")
    yield [(each.watch, each.url, each.containment, each.longest) for each in report.findings]
    for options in ({"url": MILL}, {"url": HARBOUR}, {"text": QUOTE, "min_containment": 0.0}):
        found = index.similar(**options)
        yield [(each.url, each.resemblance, each.containment, each.kind, each.passages) for each in found]
    result = index.cluster()
    yield result.pages, result.clusters, result.largest_clusters
    yield [(each, [card.url for card in index.cluster_pages(each.cluster)]) for each in index.clusters()]
    for grouped in (index.search("mill", group=True, by="cluster"), index.search("mill", group=True, exact=True)):
        yield [(hit.url, hit.score, [member.url for member in hit.members]) for hit in grouped.hits]
    changes = index.changes("first", "second")
    yield changes.counts, [(each.change, each.url, each.to_url, each.containment) for each in changes.pages]
    yield [(each.card.url, each.containment) for each in index.check_watch("quote").matches]


def hashes(index: Index) -> set[int]:
    return {
        hash_
        for each in index.store.scan(Record)
        for hash_ in (*each.hashes.fingerprints, *each.hashes.sketch, *each.hashes.bands)
    }


def test_the_answers_are_the_same_and_no_hash_is(opened: Opened) -> None:
    with opened(None) as plain, opened("open sesame") as keyed, opened("open barley") as other:
        expected = list(answers(plain))
        assert all(expected)
        for index in (keyed, other):
            assert list(answers(index)) == expected
        sets = [hashes(index) for index in (plain, keyed, other)]
        assert min(map(len, sets)) > 1_000
        assert len(set.union(*sets)) == sum(map(len, sets))


parts = st.lists(st.sampled_from([paragraph(f"part {number}", 20) for number in range(8)]), unique=True, max_size=6)


@given(parts, parts, st.text(min_size=1, max_size=10))
def test_scores_and_guaranteed_passages_do_not_depend_on_the_key(a: list[str], b: list[str], key: str) -> None:
    """Shorter passages than the guarantee may be found with one key and not with another."""
    text, other = "\n\n".join(a), "\n\n".join(b)
    plain, keyed = (compare(text, other, scheme) for scheme in (SCHEME, replace(SCHEME, key=key)))
    assert replace(keyed, passages=[]) == replace(plain, passages=[])
    long = [
        [each for each in found.passages if sum(map(str.isalnum, text[each.start : each.end])) >= SCHEME.guarantee]
        for found in (plain, keyed)
    ]
    assert long[0] == long[1]


def test_the_library_reads_the_key_of_the_environment(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("open sesame\n")
    with opened(None) as index:
        index.add(PAGES[:2])
        plain = index.name
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "key"))
    with opened(None) as index:
        assert index.scheme == replace(SCHEME, key="open sesame")  # before it is created, and afterwards
        index.add(PAGES[:4])
        assert index.scheme == replace(SCHEME, key="open sesame")
        keyed = index.name
    with Index.open(keyed, create=False) as index:
        assert index.similar(text=MILL_TEXT[0], min_containment=0.5)
    for scheme in (None, SCHEME):
        refused(StoreError, "has no key, but .* WINNOW_KEY_FILE names one", Index.open, plain, scheme=scheme)
    refused(StoreError, "wrong key for scheme", Index.open, keyed, key="given")
    monkeypatch.delenv(KEY_VARIABLE)
    refused(StoreError, "name the file that holds it with --key-file or WINNOW_KEY_FILE", Index.open, keyed)
    Index.open(keyed, key="open sesame").close()
    Index.open(plain).close()


def test_whoever_sees_a_known_hash_can_compute_the_seed() -> None:
    """Check what docs/keys.md says: a hash is a bijection, and a text of one letter has nothing but the seed in it."""

    def unshifted(x: int, bits: int) -> int:
        found = x
        for _ in range(64 // bits):
            found = x ^ (found >> bits)
        return found

    def unmixed(x: int) -> int:
        x = unshifted(x, 31) * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
        x = unshifted(x, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
        return unshifted(x, 30)

    scheme = Scheme(key="8c1f0a7be0a44c2f9d6e5b7a31c2d4e5", modulus=1)
    (known,) = hashes_of("a", scheme).sketch
    value = unmixed(unmixed(unmixed(known)))
    assert (value - (ord("a") + 1) * 0x9E3779B97F4A7C15) % 2**64 == scheme.seed


def test_what_needs_no_store_reads_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = fingerprint(QUOTE, replace(SCHEME, key="open sesame")).hashes
    fields = winnow_fields(QUOTE, Scheme(key="open sesame"))
    before = cluster_pages(PAGES, settings=RunSettings(output=str(tmp_path / "plain.parquet")))
    (tmp_path / "key").write_text("open sesame\n")
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "key"))
    assert fingerprint(QUOTE, SCHEME).hashes == expected
    assert winnow_fields(QUOTE) == fields
    after = cluster_pages(PAGES, ClusteringOptions())
    assert (before.scheme, after.scheme) == (Scheme().id, Scheme(key="open sesame").id)
    counts = attrgetter("pages", "clusters", "largest_clusters")
    assert counts(after) == counts(before)
