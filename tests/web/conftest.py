"""The known crawl on both kinds of store, and `winnow serve` on it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.saved_recipe import save_recipe
from tests.web.known_crawl_fixture import PAGES
from tests.web.served_fixture import Served, serving

if TYPE_CHECKING:
    from opensearch_winnow.stores.engine.running import Running

TOKEN = "s3cret;tok'en\"="  # what a cookie would rather not have
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
Serve = Callable[..., Served]
Unclustered = Callable[[list[Page]], Path]


def made(store: str | Path, pages: list[Page], *, with_text: bool = True) -> str:
    """Create a store with these pages, cluster it, and return its name."""
    if not with_text:
        with EmbeddedStore.open(Path(store), create=True) as empty:
            save_recipe(empty, Recipe(text=False))
    with Index.open(store) as index:
        report = index.add(pages, crawl="known")
        assert report.indexed == len(pages), report
        index.cluster()
    return str(store)


@pytest.fixture(scope="module", params=["file", pytest.param("engine", marks=pytest.mark.check)])
def new_name(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a new store of each kind."""
    return name_of_kind(request, tmp_path_factory)


def name_of_kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "file":
        return str(tmp_path_factory.mktemp("new") / "<img src=x onerror=alert(1)>.winnow")
    return f"{request.getfixturevalue('engine').url}/{request.module.__name__.rpartition('.')[2]}-{WORKER}"


@pytest.fixture(scope="session")
def known_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The known crawl in one file, only to be read: `own_file` is a copy."""
    return Path(made(tmp_path_factory.mktemp("known") / "known.winnow", PAGES))


@pytest.fixture
def own_file(known_file: Path, tmp_path: Path) -> Path:
    """The known crawl, for one test that writes."""
    return Path(shutil.copy(known_file, tmp_path))


@pytest.fixture(scope="session")
def served_file(known_file: Path) -> Iterator[Served]:
    """`winnow serve` on the known crawl in one file, for behaviour that is the same on every store."""
    with serving(known_file) as found:
        yield found


@pytest.fixture(scope="session")
def with_token(known_file: Path) -> Iterator[Served]:
    with serving(known_file, "--token", TOKEN) as found:
        yield found


@pytest.fixture(scope="session")
def served_engine(engine: Running) -> Iterator[Served]:
    """`winnow serve` on the known crawl in an OpenSearch."""
    with serving(made(f"{engine.url}/known-{WORKER}", PAGES)) as found:
        yield found


@pytest.fixture(scope="session", params=["file", pytest.param("engine", marks=pytest.mark.check)])
def served(request: pytest.FixtureRequest) -> Served:
    """`winnow serve`, read-only, on the known crawl in each kind of store."""
    found: Served = request.getfixturevalue(f"served_{request.param}")
    return found


@pytest.fixture
def unclustered(tmp_path: Path) -> Unclustered:
    """Makes a store of pages that is not clustered."""

    def make(pages: list[Page]) -> Path:
        with Index.open(tmp_path / "new.winnow") as index:
            index.add(pages)
        return tmp_path / "new.winnow"

    return make


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts `winnow serve` for one test: `serve(store, "--write")`."""
    with ExitStack() as stack:
        yield lambda store, *options, **environment: stack.enter_context(serving(store, *options, **environment))


@pytest.fixture(scope="session")
def screenshots(root: Path) -> Path:
    """The folder for the screenshots of the run."""
    folder = root / "build/screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
