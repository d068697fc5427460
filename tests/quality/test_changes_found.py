"""Pages that moved between the releases of real manuals are located, on both kinds of store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.stores.engine.running import Running
from tests.quality.corpora import Unpacked
from tests.quality.two_releases import AFTER, BEFORE, index_releases, located, two_releases, with_template

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("releases")]

RECALL = 0.97  # measured: 1


@pytest.fixture(params=["embedded", pytest.param("opensearch", marks=pytest.mark.soak)])
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[int], Index]:
    """Return a function that opens a new store of the kind under test."""
    if request.param == "embedded":
        return lambda number: Index.open(tmp_path / f"{number}.winnow")
    engine: Running = request.getfixturevalue("engine")
    return lambda number: Index.open(f"{engine.url}/releases-{number}")


def test_moved_pages_are_located(unpacked: Unpacked, open_index: Callable[[int], Index]) -> None:
    for number, releases in enumerate(two_releases(unpacked, newest_only=True)):
        with open_index(number) as index:
            index_releases(index, releases)
            changes = index.changes(BEFORE, AFTER)
        found = located(changes, releases)
        assert found.located >= RECALL * found.moves, releases.name
        assert found.moves or "exchanged" not in releases.name
        assert found.elsewhere <= 0.01 * len(releases.before), releases.name
        assert found.equal == found.compared, releases.name
        assert sum(changes.counts.values()) - changes.counts["new"] == len(releases.before)


def test_a_new_template_is_told_from_new_text(unpacked: Unpacked, tmp_path: Path) -> None:
    """Both releases get a template, each another one: the pages that were unchanged have changed in it only."""
    for number, releases in enumerate(two_releases(unpacked, newest_only=True)):
        if "exchanged" in releases.name:
            continue
        with Index.open(tmp_path / f"plain-{number}.winnow") as index:
            index_releases(index, releases)
            unchanged = {each.url for each in index.changes(BEFORE, AFTER, change=["unchanged"]).pages}
        before = [with_template(page, "second") for page in releases.before]
        after = [with_template(page, "third") for page in releases.after]
        with Index.open(tmp_path / f"template-{number}.winnow") as index:
            index_releases(index, releases._replace(before=before, after=after))
            changes = index.changes(BEFORE, AFTER)
        assert changes.counts["unchanged"] == 0
        assert {each.url for each in changes.pages if each.template} == unchanged, releases.name
