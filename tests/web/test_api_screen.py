"""The API screen: every endpoint with an example that works, also without scripts."""

from __future__ import annotations

import json
import shlex
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from playwright.sync_api import Page, expect

from tests.web.browser_fixture import NewPage, Witness, accessibility_faults
from tests.web.conftest import Serve, Unclustered
from tests.web.known_crawl_fixture import IDS, MILL
from tests.web.served_fixture import Reply, Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]


def endpoints(served: Served) -> dict[str, Any]:
    return {each["name"]: each for each in served.json("/api.json")["endpoints"]}


def test_every_endpoint_is_explained_with_an_example_that_works(served: Served) -> None:
    described = served.json("/api/v1/openapi.json")["paths"]
    found = endpoints(served)
    assert {(each["method"].lower(), each["path"]) for each in found.values()} == {
        (method, f"/api/v1{path}") for path, methods in described.items() for method in methods
    }
    page = html.document_fromstring(served.get("/api").body)
    for name, each in found.items():
        section = page.get_element_by_id(name)
        assert each["summary"] in section.text_content()
        assert len(section.xpath(".//*[@data-location]")) == len(each["parameters"])
        if name in ("pasted", "compare_texts"):
            assert each["example"] is None
            continue
        if each["method"] == "GET":
            reply = served.get(each["example"])
            assert section.xpath(".//a[@data-address]/@href") == [each["example"]]
        else:
            reply = served.post(each["example"], {"text": each["text"]})
        assert reply.status == 200, reply.text
    assert served.json(found["search"]["example"])["hits"]
    assert served.json(found["compare"]["example"])["resemblance"] > 0
    assert served.post("/api/v1/quotes", {"text": found["quotes"]["text"]}).json["matches"]


def test_the_commands_are_requests(known_file: Path, serve: Serve) -> None:
    served = serve(known_file, "--token", "s3cret-token")
    token = {"authorization": "Bearer s3cret-token"}
    page = html.document_fromstring(served.get("/api", **token).body)
    for name in ("search", "page", "quotes"):
        (command,) = page.get_element_by_id(name).xpath(".//*[@data-curl]")
        reply = run_curl(served, command.text_content().replace("$WINNOW_TOKEN", "s3cret-token"))
        assert reply.status == 200


def run_curl(served: Served, command: str) -> Reply:
    """Send what this command would send: curl may not be installed."""
    parser = ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("-H", action="append", default=[])
    parser.add_argument("-d")
    name, *words = shlex.split(command.replace("\\\n", " "))
    assert name == "curl"
    given = parser.parse_args(words)
    assert given.url.startswith(f"{served.address}/api/v1/")
    path = given.url.removeprefix(served.address)
    headers = {key.replace("-", "_"): value for key, value in (each.split(": ") for each in given.H)}
    return served.get(path, **headers) if given.d is None else served.send(path, given.d.encode(), **headers)


def test_an_empty_store_has_no_examples(unclustered: Unclustered, serve: Serve) -> None:
    served = serve(unclustered([]))
    found = endpoints(served)
    assert found["page"]["example"] is found["quotes"]["example"] is None
    assert served.get(found["statistics"]["example"]).status == 200


def test_an_example_is_changed_and_run_in_the_page(page: Page, served_file: Served, witness: Witness) -> None:
    page.goto(served_file.url("/api"))
    search = page.locator("#search")
    search.get_by_label("words", exact=True).fill("mill's")
    expect(search.locator("[data-curl]")).to_have_text(f"curl '{served_file.address}/api/v1/search?words=mill%27s'")
    search.get_by_label("words", exact=True).fill("mill")
    search.get_by_label("limit").fill("2")
    search.get_by_label("group").select_option("off")
    expect(search.get_by_role("link", name="Open the JSON")).to_have_attribute(
        "href", "/api/v1/search?words=mill&group=off&limit=2"
    )
    search.get_by_role("button", name="Run").click()
    expect(search.get_by_role("status")).to_contain_text("200 OK · ")
    shown = json.loads(search.get_by_label("The answer").inner_text())
    assert len(shown["hits"]) == 2
    assert page.url == served_file.url("/api")
    expect(page.locator(".busy")).to_be_hidden()
    expect(search.get_by_label("site")).to_be_enabled()
    assert accessibility_faults(page) == []
    one = page.locator("#page")
    one.locator("summary").click()
    one.get_by_label("id", exact=True).fill(IDS[MILL])
    one.get_by_role("button", name="Run").click()
    expect(one.get_by_label("The answer")).to_contain_text(f'"url": "{MILL}"')
    witness.allowed.append("404")
    one.get_by_label("id", exact=True).fill("0/0")
    one.get_by_role("button", name="Run").click()
    expect(one.get_by_role("status")).to_contain_text("404 Not Found")
    quotes = page.locator("#quotes")
    quotes.locator("summary").click()
    quotes.get_by_label("limit").fill("1")
    quotes.get_by_role("button", name="Run").click()
    expect(quotes.get_by_role("status")).to_contain_text("200 OK")
    assert len(json.loads(quotes.get_by_label("The answer").inner_text())["matches"]) == 1


def test_an_example_is_run_without_scripts(new_page: NewPage, served_file: Served, witness: Witness) -> None:
    witness.allowed.append("favicon.ico")  # JSON cannot say where the icon is
    page = new_page(java_script_enabled=False)
    page.goto(served_file.url("/api"))
    page.locator("#search").get_by_label("limit").fill("1")
    page.locator("#search").get_by_role("button", name="Run").click()
    assert len(json.loads(page.locator("body").inner_text())["hits"]) == 1
    page.go_back()
    page.locator("#quotes summary").click()
    page.locator("#quotes").get_by_role("button", name="Run").click()
    assert json.loads(page.locator("body").inner_text())["matches"]
