"""Empty indexes: of a file, and on both kinds of store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from opensearch_winnow import Index


@pytest.fixture(scope="module", params=["embedded", "opensearch"])
def new_name(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Return a function that names a new store of the kind under test. Failed pages go to a temporary folder, too."""
    folder = tmp_path_factory.mktemp("stores")
    place = folder if request.param == "embedded" else request.getfixturevalue("engine").url
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield lambda: f"{place}/operations-{uuid4().hex}"


@pytest.fixture
def empty_index(new_name: Callable[[], str]) -> Iterator[Index]:
    with Index.open(new_name()) as index:
        yield index


@pytest.fixture(scope="module")
def shared_index(new_name: Callable[[], str]) -> Iterator[Index]:
    """An empty index that all tests of a module share."""
    with Index.open(new_name()) as index:
        yield index


@pytest.fixture
def file_index(tmp_path: Path) -> Iterator[Index]:
    with Index.open(tmp_path / "crawl.winnow") as index:
        yield index


@pytest.fixture
def index(file_index: Index) -> Index:
    """The same: files of tests that need others fill their own."""
    return file_index
