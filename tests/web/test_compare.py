"""The compare screen over HTTP: its numbers, its states, and its actions."""

from __future__ import annotations

import html
import re
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlencode

import pytest

from opensearch_winnow import Index, Page, compare
from opensearch_winnow.answers.formatting import percent
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import capture_id
from tests.web.conftest import Serve, Unclustered, made
from tests.web.known_crawl_fixture import (
    ALONE,
    HARBOUR,
    IDS,
    MILL,
    MIRROR,
    MOVED,
    NEAR,
    QUOTES,
    SHORT,
    TEXTS,
    paragraph,
)
from tests.web.served_fixture import Reply, Served


def address(a: str, b: str, **parameters: object) -> str:
    return f"/compare/{IDS[a]}/{IDS[b]}" + (f"?{urlencode(parameters)}" if parameters else "")


def stored(a: str, b: str) -> str:
    """Return the address that compares captures without a time."""
    return f"/compare/{capture_id(a, None)}/{capture_id(b, None)}"


def words_of(reply: Reply) -> str:
    """Return the visible text of a page."""
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", reply.text.partition("<main")[2])).split())


def links(reply: Reply) -> list[str]:
    return [str(link) for link in reply.tree.xpath("//@href")]


def test_numbers_are_those_of_the_library(served: Served) -> None:
    both = compare(TEXTS[MILL], TEXTS[MOVED])
    found = served.json(f"/api/v1{address(MILL, MOVED)}")
    names = ("resemblance", "containment", "contained")
    assert [found[name] for name in names] == [getattr(both, name) for name in names]
    places = [(each["start"], each["end"], each["other_start"], each["other_end"]) for each in found["passages"]]
    assert places == both.passages
    assert [each["number"] for each in found["passages"]] == list(range(1, len(places) + 1))
    assert (found["kind"], found["hidden"], found["boilerplate"]) == ("exact", 0, [])
    assert (found["a"]["url"], found["b"]["url"]) == (MILL, MOVED)
    shown = served.get(address(MILL, MOVED))
    assert shown.heading == found["answer"]
    assert found["answer"].startswith(f"{len(places)} shared passages, ")
    for name in names:
        assert percent(found[name]).replace(" ", "\xa0") in shown.text


def test_swapping_exchanges_the_sides(served_file: Served) -> None:
    one, other = (served_file.json(f"{address(*pair)}.json") for pair in ((MILL, NEAR), (NEAR, MILL)))
    assert one["containment"] == other["contained"]
    assert one["contained"] == other["containment"] != one["resemblance"]
    assert one["a"] == other["b"]
    assert address(NEAR, MILL) in links(served_file.get(address(MILL, NEAR)))
    kept = served_file.get(address(MILL, NEAR, view="differences", min_words=3))
    assert address(NEAR, MILL, view="differences", min_words=3) in links(kept)


def test_marks_of_a_number_have_the_same_text_on_both_sides(served_file: Served) -> None:
    page = served_file.get(address(MILL, MOVED)).text
    _, a, b = page.split('<div class="text"')
    for number in range(1, 9):
        texts = [
            "".join(re.findall(rf'<mark class="[^"]*\bp{number}\b[^"]*"[^>]*>(.*?)</mark>', side, re.DOTALL))
            for side in (a, b)
        ]
        one, other = (re.sub(r"<a.*?</a>|<span.*?</span>|\W", "", each).lower() for each in texts)
        assert one == other != ""


def test_the_csv_has_a_line_for_each_passage(served_file: Served) -> None:
    path = address(MILL, MOVED)
    rows = served_file.get(f"{path}.csv").rows
    found = served_file.json(f"{path}.json")["passages"]
    assert [(int(row["number"]), row["moved"] == "true") for row in rows] == [
        (each["number"], each["moved"]) for each in found
    ]


def test_short_passages_can_be_hidden(served_file: Served) -> None:
    every = served_file.json(f"/api/v1{address(MILL, MOVED)}")
    sizes = [each["words"] for each in every["passages"]]
    least = sorted(sizes)[-2] + 1
    some = served_file.json(f"/api/v1{address(MILL, MOVED, min_words=least)}")
    assert [each["number"] for each in some["passages"]] == [at for at, size in enumerate(sizes, 1) if size >= least]
    assert some["hidden"] == sum(size < least for size in sizes) > 0
    shown = served_file.get(address(MILL, MOVED, min_words=least))
    assert f"{some['hidden']} shorter passages hidden" in words_of(shown)
    assert address(MILL, MOVED) in links(shown)
    none = served_file.get(address(MILL, NEAR, min_words=1000))
    assert none.heading == "No shared passage of 1,000 words or more"
    assert "<mark" not in none.text


def test_nothing_shared_says_why(served_file: Served) -> None:
    nothing = words_of(served_file.get(address(MILL, HARBOUR)))
    assert "no run of 10 words, and none of 149 canonical characters" in nothing
    assert "There are no shorter passages either" in nothing
    assert "in common" not in nothing  # the heading says it
    assert "A has 13 canonical characters" in words_of(served_file.get(address(SHORT, MILL)))


@pytest.mark.check
def test_a_closer_look_is_offered_where_it_finds_something(unclustered: Unclustered, serve: Serve) -> None:
    quote = "seven remarkable expressions standing together"  # 42 letters
    pages = [
        Page(f"http://{name}.example/", text=f"{TEXTS[url][:300]} {quote} {TEXTS[url][300:600]}")
        for name, url in (("a", ALONE[0]), ("b", HARBOUR))
    ]
    served = serve(unclustered(pages))
    path = stored(*(page.url for page in pages))
    plain = served.get(path)
    assert plain.heading == "Nothing shared"
    assert "Show 1 shorter passage" in words_of(plain)
    assert f"{path}?finer=on" in links(plain)
    closer = served.get(f"{path}?finer=on")
    assert closer.heading == "1 shared passage"
    assert path in links(closer)


def test_differences_show_no_moved_text_as_gone(served_file: Served) -> None:
    reply = served_file.get(address(MILL, MOVED, view="differences"))
    found = served_file.json(f"/api/v1{address(MILL, MOVED, view='differences')}")
    assert found["a"]["unshared_words"] == 0
    assert found["b"]["unshared_words"] == pytest.approx(120, abs=2)
    assert reply.heading == f"{found['b']['unshared_words']} words of B are in no shared passage"
    (table,) = re.findall("<table class=.differences.*?</table>", reply.text, re.DOTALL)
    cells = re.findall('<td dir="auto" lang="">(.*?)</td>', table, re.DOTALL)
    ours, theirs = (
        "".join(re.findall('<span class="only">(.*?)</span>', "".join(cells[at::2]), re.DOTALL)) for at in (0, 1)
    )
    assert not re.search(r"\w", ours)
    their_own = {*paragraph("mill before").split(), *paragraph("mill after").split()}
    assert len(theirs.split()) > 100
    assert set(re.findall(r"\w+", theirs)) <= {word.strip(".") for word in their_own}
    moved = [each["number"] for each in found["passages"] if each["moved"]]
    assert moved
    for number in moved:  # on both sides, each a link to the other
        assert table.count(f'id="p{number}" href="#b{number}"') == 1
        assert table.count(f'id="b{number}" href="#p{number}"') == 1


@pytest.mark.check
def test_differences_mark_the_words_that_were_changed(unclustered: Unclustered, serve: Serve) -> None:
    word = TEXTS[ALONE[0]].split()[70]
    texts = {"http://a.example/": TEXTS[ALONE[0]], "http://b.example/": TEXTS[ALONE[0]].replace(word, "zeppelin", 1)}
    served = serve(unclustered([Page(url, text=text) for url, text in texts.items()]))
    reply = served.get(f"{stored(*texts)}?view=differences")
    assert re.findall('<span class="only">(.*?)</span>', reply.text) == [word, "zeppelin"]


def test_what_is_not_there(served_file: Served) -> None:
    for name in ("0" * 32, "pasted-0", "nonsense"):
        reply = served_file.get(f"/compare/{IDS[MILL]}/{name}")
        assert (reply.status, "This text has expired" in reply.text) == (404, name == "pasted-0")
        assert served_file.get(f"/api/v1/compare/{name}/{IDS[MILL]}").status == 404
    assert served_file.get(address(MILL, NEAR, min_words=-1)).status == 400
    assert served_file.get(address(MILL, NEAR, view="else")).status == 400


def test_the_relationship_is_a_sentence(served: Served) -> None:
    for url in (MIRROR, NEAR, MOVED, QUOTES):
        found = compare(TEXTS[MILL], TEXTS[url]).relationship
        assert found
        assert served.json(f"/api/v1{address(MILL, url)}")["relationship"] == asdict(found)
        assert f"{found.kind.capitalize()} : {found.reason}." in words_of(served.get(address(MILL, url)))


@pytest.mark.check
def test_texts_that_are_not_stored_are_estimated(tmp_path: Path, serve: Serve) -> None:
    urls = (MILL, NEAR)
    pages = [Page(url, text=TEXTS[url]) for url in urls]
    served = serve(made(tmp_path / "textless.winnow", pages, with_text=False))
    path = stored(*urls)
    found = served.json(f"/api/v1{path}")
    assert (found["kind"], found["passages"], found["relationship"]) == ("estimate", [], None)
    exact = compare(TEXTS[MILL], TEXTS[NEAR]).resemblance
    assert found["resemblance"] == pytest.approx(exact, abs=5 * found["error"])
    page = served.get(path)
    assert page.heading.startswith("About ")
    assert "The texts of A and B are not stored" in words_of(page)
    assert served.get(f"{path}?view=differences").status == 200


@pytest.mark.check
def test_programs(tmp_path: Path, serve: Serve) -> None:
    line = "def {0}(self, {1}):\n    while {1}[{1}.{0}] // 2 > 3:\n        yield {0}({1}, '{1}')\n"
    texts = ["".join(line.format(f"{name}{at}", f"{name}x{at}") for at in range(9)) for name in ("one", "two")]
    urls = ["http://a.example/a.py", "http://b.example/b.py"]
    with Index.open(tmp_path / "code.winnow", scheme=Scheme.preset("code")) as index:
        index.add([Page(url, text=text) for url, text in zip(urls, texts, strict=True)])
    served = serve(tmp_path / "code.winnow")
    found = served.json(f"/api/v1{stored(*urls)}")
    assert (found["resemblance"], len(found["passages"])) == (1, 1)
    page = words_of(served.get(stored(*urls)))
    assert "tokens are always found, those below 30 never" in page


@pytest.mark.check
def test_a_passage_becomes_boilerplate_and_again_a_passage(own_file: Path, serve: Serve) -> None:
    served = serve(own_file, "--write")
    path = address(MILL, QUOTES)
    (passage,) = served.json(f"/api/v1{path}")["passages"]
    place = f"{passage['start']}-{passage['end']}"
    assert f'value="{place}"' in served.get(path).text
    for name, wrong in (("quote", "1-0"), ("quote", ""), ("quote", "1-999999"), (" ", place), ("x" * 101, place)):
        assert served.form(f"{path}/boilerplate", name=name, passage=wrong).status == 400
    done = served.form(f"{path}/boilerplate", name="quote", passage=place)
    assert (done.status, done.headers["location"]) == (303, path)
    again = served.form(f"{path}/boilerplate", name="quote", passage=place)
    assert again.status == 400
    (fault,) = again.tree.xpath("//details[@open]//*[@role='alert']")
    assert "choose another name" in fault.text_content()
    shown = served.get(path)
    assert shown.heading == "Nothing shared except boilerplate: 1 run"
    assert "<mark" not in shown.text
    assert f"{path}?boilerplate=off" in links(shown)
    assert "1 shared passage" in served.get(f"{path}?boilerplate=off").heading
    found = served.json(f"/api/v1{path}")
    assert [list(each.values()) for each in found["boilerplate"]] == [
        [passage["start"], passage["end"], passage["other_start"], passage["other_end"]]
    ]
    assert found["a"]["greyed"] == pytest.approx((passage["end"] - passage["start"]) / len(TEXTS[MILL]))
    assert served.form(f"{path}/boilerplate/remove", name="quote").status == 303
    assert len(served.json(f"/api/v1{path}")["passages"]) == 1
    assert served.form(f"{path}/boilerplate/remove", name="quote").status == 400


def test_who_only_reads_cannot_write(served_file: Served) -> None:
    path = address(MILL, QUOTES)
    assert 'action="/compare' not in served_file.get(path).text.replace('method="get" action', "")
