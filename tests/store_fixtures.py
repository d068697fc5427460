"""Fixtures that make empty stores of each kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import is_hypothesis_test, settings

if TYPE_CHECKING:
    from opensearch_winnow.stores.store import Store

MEMORY = "/dev/shm"
# Hypothesis tries a part of the examples on a store, which takes far longer than computing what it should answer.
DIVISORS = {"embedded": 2, "opensearch": 4}


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave those tests that are slow on OpenSearch, and quick on a file, to make check where they use OpenSearch."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        if item.get_closest_marker("check_on_engine") and callspec and "opensearch" in callspec.params.values():
            item.add_marker("check")


@pytest.fixture(scope="session", params=["embedded", "opensearch"])
def new_store(request: pytest.FixtureRequest) -> Iterator[Callable[[], Store]]:
    """Return a function that makes an empty store of the kind under test."""
    from opensearch_winnow.stores.embedded import EmbeddedStore  # noqa: PLC0415 (most tests need none)
    from tests.stores.store_pool import StorePool  # noqa: PLC0415

    if request.param == "opensearch":
        pool = StorePool(request.getfixturevalue("engine").url, f"law-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}")
        yield pool.take
        pool.client.close()
        return
    # Hypothesis makes hundreds of stores. They are kept in memory where the system allows it, because disks are slow.
    with TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        numbers = count()
        yield lambda: EmbeddedStore.open(Path(folder, f"{next(numbers)}.winnow"), create=True)


@pytest.fixture(autouse=True)
def fewer_examples(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let hypothesis try fewer examples on a store, because stores are slow to confirm that a write is safe."""
    callspec = getattr(request.node, "callspec", None)
    divisor = DIVISORS.get(callspec.params.get("new_store", "") if callspec else "")
    if divisor is None or not is_hypothesis_test(request.function):
        yield
        return
    # Hypothesis fixes the number when a test is defined, the same for all stores.
    test = request.function
    usual = test._hypothesis_internal_use_settings
    test._hypothesis_internal_use_settings = settings(usual, max_examples=usual.max_examples // divisor)
    yield
    test._hypothesis_internal_use_settings = usual


@pytest.fixture
def store(new_store: Callable[[], Store]) -> Iterator[Store]:
    with new_store() as made:
        yield made
