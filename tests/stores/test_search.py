"""Full-text search, on every kind of store."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from math import inf
from unicodedata import combining, normalize

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Term, Words
from opensearch_winnow.stores.store import Hit, Store
from tests.stores.conftest import FILTERS, RECORDS, START, WORDS, Make, New, filter_records, numbered, stored_records
from tests.stores.store_questions import search

TERMS = st.sampled_from([*WORDS, "apple plum", "été quince", "日 本"]).map(Term) | st.builds(
    Term, st.sampled_from(["p", "PE", "ét", "app", "quince", "x"]), prefix=st.just(True)
)


def folded(text: str) -> list[str]:
    return "".join(each for each in normalize("NFD", text.lower()) if not combining(each)).split()


def has(record: Record, term: Term) -> bool:
    """Return whether the title or the text has the words of `term`, which come from WORDS or begin such a word."""
    wanted = folded(term.text)
    runs = (
        here[start : start + len(wanted)]
        for here in (folded(record.title or ""), folded(record.text))
        for start in range(len(here) - len(wanted) + 1)
    )
    return any(run == wanted or (term.prefix and run[0].startswith(wanted[0])) for run in runs)


def rank(hit: Hit) -> tuple[float, float, int, str]:
    """Return the sort key of a hit: best score first, then newest, then shortest URL, then URL."""
    time = hit.card.fetched_at
    return -hit.score, -time.timestamp() if time else inf, len(hit.card.url), hit.card.url


@given(
    RECORDS,
    st.lists(st.lists(TERMS, max_size=3).map(tuple), max_size=3).map(tuple),
    st.lists(TERMS, max_size=2),
    FILTERS,
)
def test_search_finds_the_pages_that_have_a_term_of_each_alternative(
    new_store: New, records: list[Record], wanted: tuple[tuple[Term, ...], ...], unwanted: list[Term], where: Filters
) -> None:
    with new_store() as store:
        store.write(records)
        expected = {
            record.id
            for record in filter_records(where, stored_records(records))
            if any(wanted)
            and all(any(has(record, term) for term in terms) for terms in wanted if terms)
            and not any(has(record, term) for term in unwanted)
        }
        words = Words(wanted, tuple(unwanted))
        found = search(store, words, where, limit=100)
        assert found.total == len(found.hits)
        assert sorted(hit.card.id for hit in found.hits) == sorted(expected)
        assert found.hits == sorted(found.hits, key=rank)
        pages = [search(store, words, where, limit=2, offset=at) for at in range(0, 9, 2)]
        assert pages == [(found.total, found.hits[at : at + 2]) for at in range(0, 9, 2)]


@pytest.mark.parametrize(
    ("text", "found", "not_found"),
    [
        ("An apple, a PEAR; 12.5 plums", ["apple", "pear", '"apple a pear"', "Pear 12.5"], ["pea", '"a apple"']),
        ("Été à la plage", ["ete", "ÉTÉ", '"a la"', "été -hiver"], ["été -plage", "-plage"]),
        (
            "全文検索のための日本語の文章",
            ["日本語", "日本", "検索", "本語の", "日本*", "検索 OR 中国", "文章* -中国*", '"日本語の"'],
            ["本日", "日語", "中国", "本日*", "日本国*", "検索 -日本*", "中国 OR 韓国"],
        ),
        ("ภาษาไทยง่ายนิดเดียว", ["ไทย", "ภาษา", "ไท*"], ["ยไทย", "ทไ*", "ภาษา -ไท*"]),
        ("데이터 검색의", ["검색의", "검*"], ["검", "색의*"]),
        ("カタカナとＷｉｄｅ", ["カタ", "タカ*", "wide", "wi*"], ["カナタ", "ide"]),
        ("C++ and C# are languages", ["c++", "C#", "and +", "languages !?"], ["", '""', "+ -", "-languages", '" "']),
        ('NEAR(x y) AND title: "quoted" OR NOT*', ["NEAR(x", "title:", "and", "not*", '"x y"'], ["text:x", '"nea*"']),
        (
            "Mills grind well-known flour",
            ["mil*", "MILLS*", "m* g*", "well-kn*", "well-known*", "flour -mill", "g* -bread*", "known-well*"],
            ["mills* -m*", "mil", "*ills", "milled*", "bad-kn*", "well-knowing*", "flour -well-kn*"],
        ),
        (
            "An old mill and its miller",
            ["mill OR flour", "flour OR mill", "flour OR mil* old", '"old mill" OR x', "x OR y OR an", "mill OR x"],
            ["flour OR bread", "old flour OR bread", "mill OR flour -old", '"mill old" OR x', "mill OR", "OR mill"],
        ),
        (
            "A fruit tree in the orchard",
            ["tree -apple", 'tree -"tree fruit"', 'tree -"fruit orchard"', "tree -ord*", '-"a tree" fruit'],
            ["tree -fruit", 'tree -"fruit tree"', "tree -orch*", 'tree -"A FRUIT-tree"', "tree -x -y -the"],
        ),
        ("Straße, Ærø, Smørrebrød", ["strasse", "STRASSE", "strass*", "straß*", "aero", "smorrebro*", "ærø"], ["stra"]),
        (
            "cafe\u0301, ΟΔΟΣ, naïve",
            ["café", "caf*", "CAFÉ*", "οδος", "οδοσ", "naiv*", '"café οδος"'],
            ["cafes", "cafés*"],
        ),
    ],
)
def test_words_and_phrases_in_any_script(
    store: Store, record: Make, text: str, found: list[str], not_found: list[str]
) -> None:
    store.write([record(1, text=text, title=None), record(2, text="something else", title=None)])
    hits = {typed: [hit.card.id for hit in search(store, Words.of(typed)).hits] for typed in (*found, *not_found)}
    assert hits == {typed: [record(1).id] if typed in found else [] for typed in hits}


def test_any_of_the_words(store: Store, record: Make) -> None:
    texts = ["an apple", "a pear tree", "an apple and a pear", "a plum"]
    store.write([record(number, text=text, title=None) for number, text in enumerate(texts)])
    for typed, found in {
        "apple pear": [0, 1, 2],
        '"pear tree" plum nothing': [1, 3],
        "appl* OR plum": [0, 2, 3],
        "apple pear -tree -and": [0],
        "nothing -apple": [],
    }.items():
        hits = search(store, Words.of(typed, any_word=True)).hits
        assert {hit.card.id for hit in hits} == {record(number).id for number in found}


@given(st.text() | st.text('"-*:^+(){}\0 abANDORT\ud800é日'))
def test_any_input_is_a_valid_query(shared_store: Store, typed: str) -> None:
    found = search(shared_store, Words.of(typed))
    assert 0 <= found.total <= 1
    assert len(found.hits) == found.total


@pytest.fixture(scope="module")
def shared_store(new_store: New) -> Iterable[Store]:
    with new_store() as store:
        store.write([numbered(1, text="a b AND OR T NOT é 日", title=None)])
        yield store


@pytest.mark.check_on_engine
def test_long_queries(shared_store: Store) -> None:
    others = [f"x{number}" for number in range(5_000)]
    many = [f"x{number} b-x{number}*" for number in range(1_000)]
    unwanted = [f"-{part}" for part in " ".join(many).split()]
    for typed, total in {
        "a " * 5_000: 1,
        f"a -{' -'.join(others[:150])}": 1,
        " ".join(others): 0,
        "日" * 5_000: 0,
        " OR ".join([*others[:299], "a"]): 1,
    }.items():
        assert search(shared_store, Words.of(typed)).total == total
    assert search(shared_store, Words.of(" ".join([*others[:299], "a"]), any_word=True)).total == 1
    assert search(shared_store, Words.of(" ".join(f"b-{word}*" for word in others[:299]), any_word=True)).total == 0
    everything = Filters(site="example.org", crawl="test", since=START, until=START + timedelta(9), latest=True)
    assert search(shared_store, Words.of(" ".join(["a", *many, *unwanted]), any_word=True), everything).total == 1


def test_a_word_in_the_title_counts_more(store: Store, record: Make) -> None:
    store.write([record(number, text=f"plum {'filling ' * 20}", title="other") for number in range(5)])
    store.write([record(5, text="filling " * 20, title="plum"), record(6, text="nothing", title="other")])
    assert search(store, Words.of("plum")).hits[0].card.id == record(5).id
    assert search(store, Words.of("filling plum")).total == 6


def test_a_snippet_is_one_line_around_the_words(store: Store, record: Make) -> None:
    before, after = "lorem ipsum\n " * 100, " dolor\tsit <b>" * 100
    store.write([record(1, text=f"Quince alone. {before}A plum and a Quínce pie.{after}", title="Page of pies")])
    (hit,) = search(store, Words.of("quince plum")).hits
    assert "A plum and a Quínce pie." in hit.snippet
    assert "\n" not in hit.snippet
    assert 100 < len(hit.snippet) < 260
    assert ([hit.snippet[start:end] for start, end in hit.marks], hit.title_marks) == (["plum", "Quínce"], [])
    (hit,) = search(store, Words.of('"a quince pie" OR x pa*')).hits
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["a Quínce pie"]
    assert hit.title_marks == [(0, 4)]
