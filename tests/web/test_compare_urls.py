"""Two pages are compared by their URLs, by ids, or by ticking them in a list."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest

from tests.web.known_crawl_fixture import EARLIER, IDS, MILL, MOVED, QUOTE
from tests.web.served_fixture import Served


@pytest.mark.parametrize(
    "pair", [(MILL, MOVED), (IDS[MILL], IDS[MOVED]), (MILL, IDS[MOVED]), (IDS[MILL], f" {MOVED} ")]
)
def test_urls_and_ids_lead_to_the_same_comparison(served: Served, pair: tuple[str, str]) -> None:
    query, path = urlencode(dict(zip("ab", pair, strict=True))), f"/compare/{IDS[MILL]}/{IDS[MOVED]}"
    reply = served.get(f"/compare?{query}")
    assert (reply.status, reply.headers["location"]) == (303, path)
    found, expected = (served.json(f"/api/v1{each}min_words=20") for each in (f"/compare?{query}&", f"{path}?"))
    assert found.pop("seconds") >= 0
    assert expected.pop("seconds") >= 0
    assert found == expected
    assert found["passages"]


def test_captures_are_chosen_by_date(served: Served) -> None:
    dated = {"a": MILL, "at_a": "2024-01", "b": MILL, "at_b": "2024-03"}
    reply = served.get(f"/compare?{urlencode(dated)}")
    assert reply.headers["location"] == f"/compare/{EARLIER[0]}/{EARLIER[2]}"
    found = served.json(f"/api/v1/compare?{urlencode(dated)}")
    assert [found[side]["id"] for side in "ab"] == [EARLIER[0], EARLIER[2]]
    early = served.get(f"/api/v1/compare?{urlencode(dated | {'at_a': '2023'})}")
    assert (early.status, "has no capture of" in early.json["error"]) == (404, True)
    of_one = served.get(f"/api/v1/compare?{urlencode(dated | {'a': EARLIER[0]})}")
    assert (of_one.status, "is the id of one capture" in of_one.json["error"]) == (400, True)


def test_a_pasted_text_is_compared_with_a_url(served_file: Served) -> None:
    name = served_file.form("/paste", text=QUOTE).headers["location"].removeprefix("/paste/")
    reply = served_file.get(f"/compare?{urlencode({'a': name, 'b': MILL})}")
    assert (reply.status, reply.headers["location"]) == (303, f"/compare/{name}/{IDS[MILL]}")
    assert served_file.get(f"/compare/{name}/{name}").heading == "A and B are the same text"


def test_two_ticked_pages_are_compared(served_file: Served) -> None:
    reply = served_file.get(f"/compare?page={IDS[MILL]}&page={EARLIER[0]}")
    assert (reply.status, reply.headers["location"]) == (303, f"/compare/{IDS[MILL]}/{EARLIER[0]}")
    mixed = served_file.get(f"/compare?page={quote(MILL)}&page={EARLIER[0]}&words=mill")
    assert mixed.headers["location"] == reply.headers["location"]


@pytest.mark.parametrize(("ticked", "told"), [(0, "none"), (1, "1"), (3, "3")])
def test_another_number_of_ticked_pages_is_refused(served_file: Served, ticked: int, told: str) -> None:
    query = urlencode([("page", id_) for id_ in [IDS[MILL], *EARLIER][:ticked]])
    reply = served_file.get(f"/compare?{query}")
    assert reply.status == 400
    assert f"Tick two pages to compare them: you ticked {told}." in reply.text
    assert reply.tree.xpath("//button[@data-back]")


def test_half_a_question_is_refused(served_file: Served) -> None:
    assert "Give two pages to compare" in served_file.get(f"/compare?a={IDS[MILL]}").text
    reply = served_file.get(f"/api/v1/compare?a={IDS[MILL]}")
    assert (reply.status, "b is missing" in reply.json["error"]) == (400, True)
    gone = served_file.get("/compare?a=https://gone.example/&b=x")
    assert (gone.status, "has no page https://gone.example/" in gone.text) == (404, True)
    near = served_file.get(f"/compare?{urlencode({'a': MILL.rstrip('/'), 'b': MOVED})}")
    assert (near.status, f"there is {MILL}" in near.text) == (404, True)


def test_a_page_and_itself(served: Served) -> None:
    reply = served.get(f"/compare?{urlencode({'a': MILL, 'b': MILL})}")
    assert served.get(reply.headers["location"]).heading == "A and B are the same capture"
    found = served.json(f"/api/v1/compare?{urlencode({'a': MILL, 'b': IDS[MILL]})}")
    assert (found["answer"], found["resemblance"]) == ("A and B are the same capture", 1)
