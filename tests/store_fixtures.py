"""Empty stores of each kind."""

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
FEWER = 5


@pytest.fixture(scope="session", params=["embedded", "opensearch"])
def new_store(request: pytest.FixtureRequest) -> Iterator[Callable[[], Store]]:
    """Makes an empty store of the kind that is tested."""
    from opensearch_winnow.stores.embedded import EmbeddedStore  # noqa: PLC0415 (most tests need none)
    from tests.stores.store_pool import StorePool  # noqa: PLC0415

    if request.param == "opensearch":
        pool = StorePool(request.getfixturevalue("engine").url, f"law-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}")
        yield pool.take
        pool.client.close()
        return
    # Laws make hundreds of them: in memory where there is a folder for it, so that no disk has to be waited for.
    with TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        numbers = count()
        yield lambda: EmbeddedStore.open(Path(folder, f"{next(numbers)}.winnow"), create=True)


@pytest.fixture(autouse=True)
def fewer_examples(request: pytest.FixtureRequest) -> Iterator[None]:
    """Of laws, for a store that takes its time to say that a write is safe."""
    callspec = getattr(request.node, "callspec", None)
    if callspec is None or callspec.params.get("new_store") != "opensearch" or not is_hypothesis_test(request.function):
        yield
        return
    # Hypothesis settles it as a test is defined, for all stores alike.
    law = request.function
    usual = law._hypothesis_internal_use_settings
    law._hypothesis_internal_use_settings = settings(usual, max_examples=usual.max_examples // FEWER)
    yield
    law._hypothesis_internal_use_settings = usual


@pytest.fixture
def store(new_store: Callable[[], Store]) -> Iterator[Store]:
    with new_store() as made:
        yield made
