"""Visitors see the name of the store, not its folder or credentials, and no credentials of page addresses."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from opensearch_winnow import Page, QuestionError, StoreError
from opensearch_winnow.mappings.record import capture_id
from opensearch_winnow.web.pages import external_link, shown_line
from opensearch_winnow.web.served import ServedStore, shown_name
from tests.web.addresses_fixture import ADDRESSES
from tests.web.conftest import Serve, made
from tests.web.known_crawl_fixture import paragraph
from tests.web.served_fixture import Served


def test_the_name_that_is_shown() -> None:
    assert shown_name("/srv/crawls/crawl.winnow") == shown_name("crawl.winnow") == "crawl.winnow"
    assert shown_name("https://me:secret@search.example:9200/pages") == "https://search.example:9200/pages"
    assert shown_name("http://localhost:9200/pages") == "http://localhost:9200/pages"


@pytest.mark.parametrize(
    "address",
    [
        *ADDRESSES.values(),
        *("/nothing", "/page/0", "/cluster/0", "/page?url=x", "/watches?watch=x", "/search?words=zeppelin"),
        *("/statistics.json", "/api/v1/pages?url=x", "/search.json?words=zeppelin"),
    ],
)
def test_no_folder_is_told(served_file: Served, address: str) -> None:
    assert str(Path(served_file.store).parent) not in served_file.get(address).text


def test_messages_about_a_served_store_have_its_shown_name(known_file: Path, tmp_path: Path) -> None:
    with ServedStore.named(str(known_file)).open_index() as index:
        assert index.name == "known.winnow"
        with pytest.raises(QuestionError, match=r"^known\.winnow has no page x$"):
            index.page("x")
    with pytest.raises(StoreError, match=r"^there is no store gone\.winnow: "):
        ServedStore.named(str(tmp_path / "gone.winnow")).open_index()


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://user:secret@host.example/a", "https://host.example/a"),
        ("HTTP://secret@host.example", "HTTP://host.example"),
        ("https://user:se@cret@host.example:8080/?a=b@c", "https://host.example:8080/?a=b@c"),
        ("https://host.example/@user", "https://host.example/@user"),
        ("https://host.example?mail=a@b", "https://host.example?mail=a@b"),
        ("https://host.example#a@b", "https://host.example#a@b"),
    ],
)
def test_a_link_has_no_credentials(url: str, link: str) -> None:
    assert (external_link(url), shown_line(url)) == (link, link)


def test_a_link_with_white_space_has_no_credentials() -> None:
    for url in (" https://user:secret@host.example/", "https://user\n:secret@host.example/"):
        assert "secret" not in f"{external_link(url)} {shown_line(url)}"


@pytest.mark.check
def test_a_page_with_credentials_in_its_address(tmp_path: Path, serve: Serve) -> None:
    urls = ["https://me:secret@a.example/", "https://me:secret@b.example/"]
    pages = [Page(url, text=paragraph("mill", 200), title="The mill") for url in urls]
    served = serve(made(tmp_path / "crawl.winnow", pages))
    a, b = (capture_id(url, None) for url in urls)
    for address in ("/search?words=mill", f"/page/{a}", f"/page/{a}/history", f"/compare/{a}/{b}", f"/cluster/{a}"):
        text = served.get(address).text
        assert "a.example" in text
        assert "secret" not in text.replace(quote("me:secret@", safe=""), ""), address
