"""The JSON API agrees with its OpenAPI document and with the screens."""

from __future__ import annotations

import csv
import io
import json
import re
import string
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.routing import Route

from opensearch_winnow.foundation.csv_cells import escape_formula
from opensearch_winnow.web.app import API, SCREENS, STATELESS, make_app
from opensearch_winnow.web.openapi import openapi
from opensearch_winnow.web.parameters import Parameter
from opensearch_winnow.web.screen import Screen
from opensearch_winnow.web.served import ServedStore
from tests.web.addresses_fixture import ADDRESSES, SHOWN, api_address, in_format, screen_at
from tests.web.known_crawl_fixture import IDS, MILL, MOVED, QUOTE
from tests.web.served_fixture import Served

every_address = pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES.keys())


@pytest.fixture(scope="module")
def described(served_file: Served) -> Any:
    return served_file.json(f"{API}/openapi.json")


def without_times(document: Any) -> Any:
    """Return the document without measured times."""
    if isinstance(document, list):
        return [without_times(each) for each in document]
    if isinstance(document, dict):
        return {name: without_times(value) for name, value in document.items() if name not in ("seconds", "at")}
    return document


@pytest.mark.check
@pytest.mark.parametrize("screens", [SCREENS, STATELESS], ids=["store", "stateless"])
def test_it_is_openapi(screens: Sequence[Screen[Any]]) -> None:
    document = json.loads(openapi(screens, API))
    OpenAPIV31SpecValidator(document).validate()
    assert document["openapi"] == "3.1.0"


def test_every_route_is_described(described: Any) -> None:
    app = make_app(ServedStore("none", lambda: pytest.fail("opened")))
    routes = {
        (route.path.removeprefix(API), method.lower())
        for route in app.routes
        if isinstance(route, Route) and route.path.startswith(API)
        for method in route.methods or ()
        if method != "HEAD"
    }
    told = {(path, method) for path, methods in described["paths"].items() for method in methods}
    assert routes == told | {("/openapi.json", "get")}


def test_every_example_is_valid(described: Any) -> None:
    def validate(schema: Any, value: Any) -> None:
        Draft202012Validator(schema | {"components": described["components"]}).validate(value)

    checked = 0
    for screen in (each for each in SCREENS if each.api):
        operation = described["paths"][screen.api][screen.method.lower()]
        parse = {each.name: each.parse for each in screen.parameters}
        for each in operation["parameters"]:
            validate(each["schema"], each["example"])
            if each["in"] == "query":
                parse[each["name"]](str(each["example"]))
        bodies = [response["content"] for response in operation["responses"].values()]
        for content in [*bodies, operation.get("requestBody", {}).get("content", {})]:
            for kind in content.values():
                values = [each["value"] for each in kind.get("examples", {}).values()]
                for value in [*values, *([kind["example"]] if "example" in kind else [])]:
                    validate(kind["schema"], value)
                    checked += 1
    assert checked > len(SCREENS)


def test_what_is_described_has_words_and_names(described: Any) -> None:
    operations = [operation for methods in described["paths"].values() for operation in methods.values()]
    for operation in operations:
        assert operation["summary"]
        names = [(each["in"], each["name"]) for each in operation["parameters"]]
        assert len(set(names)) == len(names)
        assert all(each["description"] for each in operation["parameters"])
        assert {*operation["tags"]} <= {each["name"] for each in described["tags"]}
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(map(str.isidentifier, described["components"]["schemas"]))  # no two classes have one name
    schemes = described["components"]["securitySchemes"]
    assert {each["type"] for each in schemes.values()} == {"http", "apiKey"}
    assert described["security"] == [{}, *({name: []} for name in schemes)]  # only some servers need a token


@pytest.mark.parametrize("address", [each for each in ADDRESSES.values() if screen_at(each).api])
def test_the_answer_is_as_described(served: Served, described: Any, address: str) -> None:
    screen = screen_at(address)
    document = served.json(in_format(address, "json"))
    answer = described["paths"][screen.api][screen.method.lower()]["responses"]["200"]["content"]["application/json"]
    Draft202012Validator(answer["schema"] | {"components": described["components"]}).validate(document)
    assert without_times(served.json(api_address(address))) == without_times(document)


# The start page has no answer, and the heading of a history counts what its JSON lists.
@pytest.mark.parametrize("address", [each for each in ADDRESSES.values() if each != "/" and "history" not in each])
def test_the_heading_says_what_the_json_says(served: Served, address: str) -> None:
    """Each number of the heading is in the JSON, as a number, share, length of a list, or difference of totals."""
    heading, document = served.get(address).heading, served.json(in_format(address, "json"))
    totals = [value for value in document.values() if type(value) is int]
    known = {*numbers(document), *(one - other for one in totals for other in totals)}
    words = re.sub(r"\d{4}-\d\d-\d\d", "", heading.replace(served.store, ""))
    assert {int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", words)} <= known, heading


def numbers(document: Any) -> set[int]:
    if isinstance(document, list | dict):
        values = document.values() if isinstance(document, dict) else document
        return {len(document)}.union(*map(numbers, values))
    return {document} if type(document) is int else {round(100 * document)} if type(document) is float else set()


@every_address
def test_the_csv_has_what_the_json_has(served: Served, address: str) -> None:
    screen = screen_at(address)
    reply = served.get(in_format(address, "csv"))
    assert reply.status == (200 if screen.has_table else 404)
    if not screen.has_table:
        return
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    assert reply.headers["content-disposition"] == f'attachment; filename="winnow-{screen.name}.csv"'
    head, *rows = csv.reader(io.StringIO(reply.text, newline=""))
    assert {len(row) for row in rows} <= {len(head)}
    known = {str(escape_formula(each)) for each in texts(served.json(in_format(address, "json")))}
    named = [head.index(name) for name in ("id", "url") if name in head]
    assert {row[column] for row in rows for column in named} <= known | {""}


def texts(document: Any) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, list | dict):
        for each in document.values() if isinstance(document, dict) else document:
            yield from texts(each)


@pytest.mark.parametrize(
    "screen", [each for each in SCREENS if each.api and each.sends is None], ids=lambda screen: screen.name
)
def test_a_parameter_that_there_is_not(served_file: Served, described: Any, screen: Screen[Any]) -> None:
    path = screen.api.format(**dict.fromkeys(("id", "a", "b"), IDS[MILL]))
    reply = served_file.get(f"{API}{path}?zeppelin=1")
    assert reply.status == 400
    assert "there is no parameter zeppelin" in reply.json["error"]
    Draft202012Validator(described["components"]["schemas"]["Refused"]).validate(reply.json)


def test_all_that_is_wrong_is_told_at_once(served_file: Served) -> None:
    for path in (f"{API}/search", "/search.json"):
        reply = served_file.get(f"{path}?words=mill&min_resemblance=1.01&limit=x&group=maybe&since=soon")
        assert reply.status == 400
        assert [part.split()[0] for part in reply.json["error"].split("; ")] == [
            *("min_resemblance", "limit", "group", "since")
        ]


def test_a_screen_is_more_patient(served_file: Served) -> None:
    reply = served_file.get("/search?words=mill&utm_source=letter&min_resemblance=0.5&group=on&site=&page=2")
    assert (reply.status, reply.headers["location"]) == (303, "/search?words=mill&page=2")
    assert served_file.get("/search?words=mill&page=2").status == 200


@pytest.mark.parametrize("name", ["0" * 32, "zeppelin", "x" * 500, "é", "..", "pasted-0", "0" * 31 + "\\"])
def test_an_id_that_there_is_not(served_file: Served, name: str) -> None:
    for screen in SCREENS:
        if "{" in screen.api and screen.sends is None:
            ids = dict.fromkeys(("id", "a", "b"), quote(name, safe=""))
            reply = served_file.get(f"{API}{screen.api.format(**ids)}")
            assert reply.status in (400, 404), screen.name
            assert reply.json["error"]


# Of what people and programs put into addresses: numbers that are too large, words of other scripts, quotes, nothing.
some_values = st.one_of(
    st.sampled_from(["", " ", "0", "-1", "1e3", "٣", "99999999999999999999", "2024", "2024-13", "0000", "on", "off"]),
    st.integers(0, 200).map(str),
    st.text(max_size=30),
    st.text(string.printable, max_size=80),
    st.lists(st.sampled_from(['"', "(", ")", "OR", "AND", "NOT", "-", "*", "mill", "NEAR", ":", "^", "{", "\0"])).map(
        " ".join
    ),
)


def some_query(parameters: tuple[Parameter, ...]) -> st.SearchStrategy[str]:
    names = st.sampled_from([*(each.name for each in parameters), "zeppelin"]) | st.text(max_size=5)
    pairs = st.lists(st.tuples(names, some_values), max_size=6)
    encoded = pairs.map(lambda given: urlencode(given, errors="surrogatepass"))
    return encoded | st.text(string.printable.replace("#", ""), max_size=60).map(
        lambda text: quote(text, safe="%&=+;?/")
    )


@pytest.mark.check
@pytest.mark.parametrize("screen", SHOWN, ids=lambda screen: screen.name)
@settings(max_examples=60)
@given(data=st.data())
def test_no_address_is_too_much(served_file: Served, screen: Screen[Any], data: st.DataObject) -> None:
    query = data.draw(some_query(screen.parameters))
    path = screen.path.format(id=IDS[MILL], a=IDS[MILL], b=IDS[MOVED])
    for ending in ("", ".json"):
        reply = served_file.get(f"{path}{ending}?{query}")
        if reply.status == 303:  # to what was meant, or to the same without needless parameters, and no further
            assert not ending
            reply = served_file.get(reply.headers["location"])
        assert reply.status in (200, 400, 404), reply.text
        if ending:
            json.loads(reply.body)


@settings(max_examples=40)
@given(names=st.lists(st.text(max_size=40), min_size=2, max_size=2), query=some_query(SCREENS[0].parameters))
def test_no_path_is_too_much(served_file: Served, names: list[str], query: str) -> None:
    first, second = (quote(name, safe="", errors="replace") for name in names)
    for screen in SHOWN:
        path = screen.path.format(id=first, a=first, b=second)
        assert served_file.get(f"{path}?{query}").status in (200, 303, 307, 400, 404), path


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(["text", "html", "url", "x"]), st.text() | st.just(QUOTE) | st.integers(), max_size=3
    )
)
def test_no_question_is_too_much(served_file: Served, sent: dict[str, Any]) -> None:
    reply = served_file.post(f"{API}/quotes", sent)
    assert reply.status in (200, 400), reply.text
    json.loads(reply.body)
