"""The changes between two crawls, on both kinds of store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest

from opensearch_winnow import Index, Page, QuestionError, compare
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.crawl_states import crawl_states
from opensearch_winnow.operations.crawls import crawl_comparison as module
from opensearch_winnow.operations.crawls.changes import KINDS, Change, Changes, ChangesQuestion
from opensearch_winnow.operations.crawls.crawl_comparison import CrawlComparison, changes
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Boilerplate, Exclusions
from opensearch_winnow.stores.store import Store
from tests.record_fixtures import record_of
from tests.test_index import near, prose

SITE = "https://a.example"
TIMES = {"spring": datetime(2024, 3, 1, tzinfo=UTC), "autumn": datetime(2024, 9, 1, tzinfo=UTC)}


def capture(crawl: str, url: str, text: str, time: datetime | None = None) -> Record:
    page = Page(url if "://" in url else f"{SITE}/{url}", text=text, fetched_at=time or TIMES[crawl])
    return record_of(page, crawl=crawl)


def write(store: Store, *texts: dict[str, str]) -> None:
    for crawl, of_crawl in zip(TIMES, texts, strict=True):
        store.write([capture(crawl, url, text) for url, text in of_crawl.items()])


def found(store: Store, exclusions: Exclusions = NO_EXCLUSIONS, site: str | None = None) -> Changes:
    return changes(store, ChangesQuestion("spring", "autumn", site=site), exclusions)


def name(url: str) -> str:
    """Return a URL without the site."""
    return url.removeprefix(f"{SITE}/")


def told(changes: Changes) -> dict[str, tuple[str, str | None]]:
    """Return what became of each page: by its name, the change, and the name of the page where its text is."""
    return {name(each.url): (each.change, each.to_url and name(each.to_url)) for each in changes.pages}


def test_every_page_is_told_once(store: Store) -> None:
    same, changed, moved, gone, new = (prose(name, 200) for name in ("same", "changed", "moved", "gone", "new"))
    later = near(changed, 1, 5)
    after = {"same": same.upper(), "changed": later, "renamed": near(moved, 2, 3), "new": new}
    write(store, {"same": same, "changed": changed, "old": moved, "gone": gone}, after)
    changes = found(store)
    assert told(changes) == {
        "same": ("unchanged", "same"),
        "changed": ("changed", "changed"),
        "old": ("moved", "renamed"),
        "new": ("new", "new"),
        "gone": ("not_seen", None),
    }
    assert changes.counts == {**dict.fromkeys(KINDS, 1), "split": 0, "merged": 0}
    by_url = {each.url: each for each in changes.pages}
    compared = compare(changed, later)
    page = by_url[f"{SITE}/changed"]
    assert (page.resemblance, page.containment) == (compared.resemblance, compared.containment)
    assert (page.id, page.to_id) == tuple(capture(crawl, "changed", "x").id for crawl in TIMES)
    assert (page.fetched_at, page.to_fetched_at) == tuple(TIMES.values())
    assert by_url[f"{SITE}/old"].resemblance == compare(moved, near(moved, 2, 3)).resemblance
    assert (by_url[f"{SITE}/new"].id, by_url[f"{SITE}/gone"].to_id) == (None, None)


def test_a_page_moves_to_the_most_similar_one_on_any_site(store: Store) -> None:
    text = prose("moved", 300)
    later = {"a": near(text, 1, 9), "https://b.example/z": near(text, 2, 2), "c": near(text, 3, 5)}
    write(store, {"page": text}, later)
    assert told(found(store)) == {"page": ("moved", "https://b.example/z"), "a": ("new", "a"), "c": ("new", "c")}
    assert told(found(store, site="a.example"))["page"] == ("moved", "https://b.example/z")
    assert told(found(store, site="b.example")) == {"https://b.example/z": ("new", "https://b.example/z")}


def test_among_equals_a_new_url_and_the_most_similar_one_is_chosen(store: Store) -> None:
    text = prose("moved", 100)
    moved = {"docs/page.html": "v2/page.html", "docs/other.html": "v2/other.html"}
    write(store, dict.fromkeys((*moved, "mirror"), text), dict.fromkeys(("mirror", *moved.values()), text))
    expected = {url: ("moved", to_url) for url, to_url in moved.items()}
    assert told(found(store)) == {"mirror": ("unchanged", "mirror"), **expected}


def test_a_url_that_has_another_text_now(store: Store) -> None:
    """A chapter was added to a manual, and the numbers of the others, which are in their URLs, are higher now."""
    one, two, three, added = (prose(name, 150) for name in range(4))
    write(store, {"ch1": one, "ch2": two, "ch3": three}, {"ch1": one, "ch2": added, "ch3": two, "ch4": three})
    assert told(found(store)) == {"ch1": ("unchanged", "ch1"), "ch2": ("moved", "ch3"), "ch3": ("moved", "ch4")}
    write(store, {"home": prose("winter", 100)}, {"home": prose("summer", 100)})
    assert told(found(store))["home"] == ("changed", "home")


def test_a_page_is_split(store: Store) -> None:
    first, second, third = (prose(name, 150) for name in ("first", "second", "third"))
    x, y = prose("x", 300), prose("y", 200)
    after = {"long/1": first, "long/2": second, "long/3": third, "x": x, "y": y}
    write(store, {"long": f"{first} {second} {third}", "two": f"{x} {y}"}, after)
    long, two = found(store).pages
    assert (name(long.url), long.change, len(long.parts)) == ("long", "split", 3)
    assert (name(two.url), two.change) == ("two", "split")
    assert (two.to_url, two.parts) == (f"{SITE}/x", (f"{SITE}/x", f"{SITE}/y"))  # the most similar first


def test_pages_are_merged_or_take_in_a_small_one(store: Store) -> None:
    three = {name: prose(name, 200) for name in ("one", "two", "three")}
    halves = {"half/1": prose("half", 300), "half/2": prose("other half", 300)[:1500]}
    book, note, large, small = prose("book", 900), prose("note", 100), prose("large", 600), prose("small", 60)
    copies = {"copy/1": prose("copy", 300), "copy/2": near(prose("copy", 300), 1, 2)}
    after = {"all": " ".join(three.values()), "halves": " ".join(halves.values()), "copy": copies["copy/1"]}
    before = {**three, **halves, **copies, "book": book, "note": note, "large": large, "small": small}
    write(store, before, {**after, "book": f"{book} {note}", "larger": f"{large} {small}"})
    merged = {"all": three, "halves": halves, "book": ["note"], "larger": ["small"]}
    expected = {url: ("merged", to_url) for to_url, urls in merged.items() for url in urls}
    expected |= {"large": ("moved", "larger"), **dict.fromkeys(copies, ("moved", "copy"))}
    assert told(found(store)) == {"book": ("changed", "book"), **expected}


def test_a_page_is_merged_into_the_one_that_contains_most_of_it(store: Store) -> None:
    text = prose("merged", 100)
    most, less = (" ".join(text.split()[:count]) for count in (90, 60))
    later = {"long": f"{prose('long', 600)} {most} {prose('end', 200)}", "short": f"{prose('short', 150)} {less}"}
    write(store, {"old": text}, later)
    (page,) = (each for each in found(store).pages if each.change != "new")
    assert (page.change, name(page.to_url or "")) == ("merged", "long")


def page_of(template: str, *lines: str) -> str:
    menu, foot = f"Home News {template} About us", f"Copyright of the {template} edition"
    return "\n".join([menu, *lines, foot])


def test_a_change_of_the_template_is_told_from_a_change_of_the_text(store: Store) -> None:
    texts = {f"page{number}": prose(number, 80) for number in range(8)}
    spring, autumn = ({url: page_of(edition, text) for url, text in texts.items()} for edition in ("old", "new"))
    autumn["page3"] = page_of("new", near(texts["page3"], 1, 1))
    spring["page4"] = page_of("old", texts["page4"], prose("x", 20))
    autumn["page4"] = page_of("new", prose("x", 20), texts["page4"])  # in another order
    write(store, spring, autumn)
    changes = found(store)
    assert changes.template == 6
    assert {name(each.url) for each in changes.pages if not each.template} == {"page3", "page4"}
    assert {each.change for each in changes.pages} == {"changed"}
    for each in changes.pages:
        assert each.resemblance == compare(spring[name(each.url)], autumn[name(each.url)]).resemblance
    assert sum(each.is_near_revisit() for each in changes.pages) == 6
    assert all(each.is_near_revisit(0.4) for each in changes.pages)


def test_few_changed_pages_have_no_template_in_common(store: Store) -> None:
    texts = {f"page{number}": prose(number, 80) for number in range(4)}
    write(store, *({url: page_of(edition, text) for url, text in texts.items()} for edition in ("old", "new")))
    assert not any(each.template for each in found(store).pages)


def test_registered_boilerplate_does_not_count(store: Store) -> None:
    text, menu = prose("text", 100), prose("menu", 60)
    later = {"page": f"{menu} {menu[40:]}", "new": f"{menu} {prose(1, 50)}"}
    write(store, {"page": menu, "old": f"{menu} {text}"}, later)
    exclusions = Exclusions([Boilerplate("menu", menu)], store.scheme)
    assert told(found(store))["old"] == ("not_seen", None)
    write(store, {}, {"renamed": text})
    assert told(found(store, exclusions))["old"] == ("moved", "renamed")


def test_the_latest_capture_of_a_crawl_counts(store: Store) -> None:
    text, later = prose("text", 100), prose("later", 100)
    write(store, {"page": later}, {"page": text})
    store.write([capture("autumn", "page", later, datetime(2024, 10, 1, tzinfo=UTC))])
    assert told(found(store)) == {"page": ("unchanged", "page")}


def test_captures_without_a_stored_text(store: Store) -> None:
    texts = {name: prose(name, 100) for name in ("same", "changed", "moved", "gone")}
    later = {"same": texts["same"], "changed": near(texts["changed"], 1, 2), "renamed": texts["moved"]}
    for crawl, stored in zip(TIMES, (texts, later), strict=True):
        store.write([replace(capture(crawl, name, text), text="") for name, text in stored.items()])
    changes = found(store)
    assert told(changes) == {
        "same": ("unchanged", "same"),
        "changed": ("changed", "changed"),
        "moved": ("moved", "renamed"),
        "gone": ("not_seen", None),
    }
    assert {each.change: each.resemblance for each in changes.pages}["changed"] is None


def test_revisits_without_a_text_are_compared_by_their_payloads(store: Store) -> None:
    def revisit(crawl: str, url: str, payload: str | None) -> Record:
        page = Page(f"{SITE}/{url}", revisit_of=f"{SITE}/{url}", payload_digest=payload, fetched_at=TIMES[crawl])
        return record_of(page, crawl=crawl)

    payloads = {"a": ("sha1:A", "sha1:A"), "b": ("sha1:A", "sha1:B"), "c": (None, None)}
    store.write([revisit("spring", url, before) for url, (before, _) in payloads.items()])
    store.write([revisit("autumn", url, after) for url, (_, after) in payloads.items()])
    write(store, {"d": prose("d", 60), "e": prose("e", 60)}, {"d": prose("d", 60), "e": near(prose("e", 60), 1, 1)})
    changes = found(store)
    assert [(each.change, name(each.url), each.without_text) for each in changes.pages] == [
        ("changed", "b", True),
        ("changed", "c", True),
        ("changed", "e", False),
        ("unchanged", "a", False),
        ("unchanged", "d", False),
    ]
    assert changes.without_text == 2
    assert [each.is_near_revisit(0.01) for each in changes.pages] == [False, False, True, True, True]


def test_long_urls_are_joined(store: Store) -> None:
    urls = [f"{character}/{'x' * 9_000}" for character in "bca"]
    texts = {url: prose(url, 60) for url in urls}
    write(store, {**texts, "z": prose("z", 60)}, {**dict(reversed(texts.items())), "z": prose("z", 60)})
    assert found(store).counts["unchanged"] == 4


def test_many_pages_are_found_by_few_requests(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {f"page{number:02}": prose(number, 60) for number in range(40)}
    names = list(pages)
    Random(0).shuffle(names)
    write(store, pages, {f"renamed-{name}": near(pages[name], 1, 1) for name in names})
    counted = Mock(side_effect=store.candidates)
    monkeypatch.setattr(store, "candidates", counted)
    assert told(found(store)) == {name: ("moved", f"renamed-{name}") for name in pages}
    assert 0 < counted.call_count <= 6


def test_dates_instead_of_crawls(store: Store) -> None:
    text, later = prose("text", 100), prose("later", 100)
    days = {day: datetime(2024, 1, day, tzinfo=UTC) for day in range(1, 10)}
    store.write([capture("x", "page", text, days[1]), capture("x", "page", later, days[2])])
    store.write([capture("x", "gone", prose("gone", 100), days[1]), capture("x", "page", text, days[4])])
    store.write([capture("x", "late", text, days[9])])

    def pages(before: int, after: int) -> list[Change]:
        states = crawl_states(store, days[before], days[after])
        return list(CrawlComparison(store, *states).changes())

    assert [(each.change, name(each.url)) for each in pages(2, 4)] == [("not_seen", "gone"), ("changed", "page")]
    assert [each.change for each in pages(1, 4)] == ["unchanged", "not_seen"]
    for before, after, complaint in (
        (datetime(2023, 1, 1, tzinfo=UTC), days[1], "no capture that is known to be from 2023-01-01 or before"),
        (days[4], days[5], "from after 2024-01-04, until 2024-01-05"),
        (days[4], days[4], "the earlier date, 2024-01-04, is not before the later one, 2024-01-04"),
    ):
        with pytest.raises(QuestionError, match=complaint):
            crawl_states(store, before, after)


def test_crawls_that_cannot_be_compared(store: Store) -> None:
    with pytest.raises(QuestionError, match=r"nothing to compare: no capture in .* has the name of a crawl"):
        crawl_states(store)
    store.write([capture("spring", "page", prose(1, 60))])
    with pytest.raises(QuestionError, match=r"nothing to compare: .* has only one crawl, 'spring'"):
        crawl_states(store)
    write(store, {}, {"page": prose(1, 60)})
    assert [state.name for state in crawl_states(store)] == ["spring", "autumn"]
    complaints: dict[str | datetime, str] = {
        "winter": "there is no crawl 'winter': .* has the crawls autumn, spring$",
        "spring": "crawl 'spring' cannot be compared with itself",
        TIMES["autumn"]: "two crawls or two dates, not one of each",
    }
    for after, complaint in complaints.items():
        with pytest.raises(QuestionError, match=complaint):
            crawl_states(store, "spring", after)


def test_an_index_lists_what_is_wanted(index: Index) -> None:
    for crawl, time in TIMES.items():
        index.add((Page(f"{SITE}/{n}", text=prose(n, 60), fetched_at=time) for n in (0, 1, 2, crawl)), crawl=crawl)
    phases: list[tuple[str, int, int | None]] = []
    found = index.changes(progress=lambda *phase: phases.append(phase))
    assert (found.before, found.after) == ("spring", "autumn")
    assert found.counts == {**dict.fromkeys(KINDS, 0), "unchanged": 3, "new": 1, "not_seen": 1}
    assert [each.change for each in found] == ["not_seen", "new"] + ["unchanged"] * 3
    assert phases[-1][0] == module.SEEKING

    def listed(**options: Any) -> list[str]:
        return [name(each.url) for each in index.changes(**options).pages]

    assert listed(change=["new"]) == ["autumn"]
    assert listed(limit=2) == ["spring", "autumn", "0", "1"]
    assert listed(near_revisits=True) == ["0", "1", "2"]
    assert index.changes(change=["new"], limit=1).counts == found.counts
    assert index.changes("2024-03", "2024").counts == found.counts


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"min_containment": 0}, "min_containment is a share above 0 and at most 1, not 0"),
        ({"near_revisits": True, "min_resemblance": 2}, "min_resemblance is a share"),
        ({"min_resemblance": 0.9}, "give near_revisits, too"),
        ({"change": "new"}, "change is a list of unchanged, "),
        ({"before": "spring"}, "give both crawls, from and to"),
    ],
)
def test_a_question_that_makes_no_sense(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(QuestionError, match=complaint):
        ChangesQuestion(**wrong)


def test_by_default_the_crawls_have_urls_in_common(store: Store) -> None:
    crawls = {"site 1": ["x", "y"], "other 1": ["a"], "site 2": ["y", "z"], "other 2": ["b"]}
    for month, (crawl, names) in enumerate(crawls.items(), 1):
        time = datetime(2024, month, 1, tzinfo=UTC)
        store.write([capture(crawl, each, prose(crawl + each, 40), time) for each in names])
    assert [state.name for state in crawl_states(store)] == ["site 1", "site 2"]
    compared = CrawlComparison(store, *crawl_states(store))
    assert [each.url for each in compared.changes() if each.change == "changed"] == [f"{SITE}/y"]
    assert compared.common == 1
    store.write([capture("other 3", "a", prose("later", 40), datetime(2024, 6, 1, tzinfo=UTC))])
    assert [state.name for state in crawl_states(store)] == ["other 1", "other 3"]
