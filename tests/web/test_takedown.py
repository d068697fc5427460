"""A running server forgets a page that somebody takes down: every screen, however long ago it was counted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from tests.web.addresses_fixture import ADDRESSES, api_address
from tests.web.conftest import Serve, made
from tests.web.known_crawl_fixture import MIRROR, PAGES, at, paragraphs

SITE = "mirror.example"
TITLE = "Zyzzyva"
KEPT = ("/", "/statistics", "/changes?from=2024-02&to=2024-12")  # whose figures the server keeps


@pytest.mark.check
def test_no_screen_names_a_page_that_was_taken_down(serve: Serve, tmp_path: Path) -> None:
    time = datetime(2023, 1, 1, tzinfo=UTC)  # before all others, but written last: it is a copy of another page
    mirror = Page(MIRROR, text="\n\n".join(paragraphs("mill", 8)), title=TITLE, fetched_at=time)
    name = made(tmp_path / "known.winnow", [*(page for page in PAGES if page.url != MIRROR), mirror])
    with Index.open(name) as index:
        index.add_watch("mill", text="\n\n".join(paragraphs("mill", 8)), seen=False)
        index.add([Page(f"{MIRROR}/2", text="\n\n".join(paragraphs("mill", 7)), title=TITLE, fetched_at=at(12))])
        served = serve(name)

        def naming() -> set[str]:
            """Return the addresses whose answers name the site or the title, as screens and as JSON."""
            found = set()
            for address in {*ADDRESSES.values(), *KEPT}:
                for each in (address, api_address(address)):
                    reply = served.get(each)
                    assert reply.status in (200, 404)
                    if SITE in reply.text or TITLE in reply.text:
                        found.add(each)
            return found

        assert naming() >= {*KEPT, *map(api_address, KEPT), "/watches/log", "/clusters"}
        assert index.delete(f"{MIRROR}*", block=True).deleted == 2
        assert naming() == set()
