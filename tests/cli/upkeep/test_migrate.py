"""winnow migrate, as a user sees it. The tests of the store cover what it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from click.testing import Result

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.stores.engine.running import Running

pytestmark = pytest.mark.check

Winnow = Callable[..., Result]


def test_a_migrated_store_gives_the_same_answers(winnow: Winnow, engine: Running, prose: Callable[..., str]) -> None:
    store = f"{engine.url}/cli-migrated"
    day = datetime(2024, 5, 6, tzinfo=UTC)
    texts = [f"{prose(100)} {prose(40, number)}" for number in range(1, 6)]
    with Index.open(store) as index:
        index.add([Page(f"http://example.org/{n}", text=text, fetched_at=day) for n, text in enumerate(texts)])

    def answer() -> object:
        return json.loads(winnow("similar", "http://example.org/3", "--store", store, "--json").stdout)["matches"]

    before = answer()
    assert before
    done = winnow("migrate", "--store", store, "--shards", "2")
    assert done.exit_code == 0
    assert done.stdout.startswith("cli-migrated is on cli-migrated-000002 now: 5 pages, copied in ")
    assert done.stdout.endswith("cli-migrated-000001 is kept, and closed to writes.\n")
    assert answer() == before
    machine = json.loads(winnow("migrate", "--store", store, "--delete-old", "--json").stdout)
    assert (machine["old"], machine["new"], machine["pages"], machine["old_deleted"]) == (
        "cli-migrated-000002",
        "cli-migrated-000003",
        5,
        True,
    )
    assert answer() == before


def test_a_missing_store_is_reported(winnow: Winnow, engine: Running) -> None:
    missing = winnow("migrate", "--store", f"{engine.url}/cli-nothing")
    assert missing.exit_code == 2
    assert "cli-nothing cannot be migrated: there is no " in missing.stderr
