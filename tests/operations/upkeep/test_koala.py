"""Stores with few fingerprints a page, looked up by many of a question: the selection koala."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page, Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking import similar
from opensearch_winnow.queries.asking.lookups import Lookup, lookups
from opensearch_winnow.stores.embedded import EmbeddedStore
from tests.test_index import near, prose

pytestmark = pytest.mark.check_on_engine
SCHEME = Scheme.preset("koala")
SITE = "https://a.example"
ARTICLE = prose("article", 2_000)


@pytest.fixture
def index(new_name: Callable[[], str]) -> Iterator[Index]:
    with Index.open(new_name(), scheme=SCHEME) as index:
        yield index


def found(index: Index, text: str) -> dict[str, float]:
    matches = index.similar(text=text, min_containment=0)
    return {match.url.removeprefix(f"{SITE}/"): match.containment for match in matches}


def test_a_page_keeps_few_fingerprints_and_related_ones_are_found(index: Index) -> None:
    pages = {
        "same": ARTICLE,
        "edited": near(ARTICLE, 1, 20),
        "condensed": ARTICLE[: len(ARTICLE) // 2],
        "expanded": f"{prose('before', 1_000)} {ARTICLE} {prose('after', 1_000)}",
        "includes": f"{prose('x', 900)} {ARTICLE[2_000:6_000]} {prose('y', 900)}",
        "other": prose("other", 2_000),
    }
    index.add(Page(f"{SITE}/{name}", text=text) for name, text in pages.items())
    for record in index.store.scan(Record):
        assert len(record.hashes.fingerprints) == len(record.hashes.positions) <= SCHEME.stored
        assert list(record.hashes.positions) == sorted(record.hashes.positions)
        assert all(token < 2**32 for token in record.hashes.fingerprints)
    scores = found(index, ARTICLE)
    assert set(scores) == pages.keys() - {"other"}
    assert scores["same"] == scores["expanded"] == 1
    assert 0.8 < scores["edited"] < 1


def test_a_question_looks_up_more_than_a_page_keeps(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index.add([Page(f"{SITE}/same", text=ARTICLE)])
    wanted: list[Lookup] = []

    def noted(*arguments: object, **options: object) -> Iterator[Lookup]:
        wanted.extend(lookups(*arguments, **options))  # type: ignore[arg-type]
        return iter(wanted)

    monkeypatch.setattr(similar, "lookups", noted)
    found(index, ARTICLE)
    assert [len(each.tokens) for each in wanted if each.field == "fingerprints"] == [SCHEME.searched]


def test_a_short_text_finds_a_short_page_and_boilerplate_finds_none(index: Index) -> None:
    short = "The figure is right, and nobody has seen him weigh it."
    index.add([Page(f"{SITE}/short", text=f"Grandmother used to say on windy days: {short} But who believes millers?")])
    assert found(index, short) == {"short": 1}
    licence = prose("licence", 400)
    index.add([Page(f"{SITE}/one", text=f"{licence} {prose('one', 40)}")])
    question = f"{licence} {prose('two', 40)}"
    assert set(found(index, question)) == {"one"}
    index.add_boilerplate("licence", licence)
    assert found(index, question) == {}


def test_a_fingerprint_on_many_pages_is_ignored_but_copies_are_found(index: Index) -> None:
    index.add(Page(f"{SITE}/{number}", text=near(ARTICLE, number, 3)) for number in range(12))
    matches = index.similar(text=ARTICLE, min_containment=0, limit=None)
    assert (len(matches), matches.ignored, matches.frequent) == (12, 10, 3)


def test_a_store_opens_with_its_sizes(tmp_path: Path) -> None:
    scheme = Scheme(selection="koala", stored=7, searched=70)
    with Index.open(tmp_path / "crawl.winnow", scheme=scheme) as index:
        index.add([Page(SITE, text=ARTICLE)])
    with EmbeddedStore.open(tmp_path / "crawl.winnow") as store:
        assert store.scheme == scheme
        (record,) = store.scan(Record)
        assert len(record.hashes.fingerprints) == 7
