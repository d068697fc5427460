"""The jars of an engine are listed, downloaded and checked."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.stores.engine.jars import Jar, jars, local_files
from opensearch_winnow.stores.engine.releases import RELEASES
from opensearch_winnow.stores.store import StoreError

FILES = 20


class Repository(ThreadingHTTPServer):
    """Serves the files of a folder over HTTP, except `missing` ones, and records the requests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requested: list[str] = []
        self.missing: set[str] = set()
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))


class Handler(SimpleHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        self.server.requested.append(self.path)
        if self.path in self.server.missing:
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    with Repository(tmp_path / "repository") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def listed(repository: Repository) -> list[Jar]:
    """Jars that the repository has."""
    made = []
    for number in range(FILES):
        content = f"file {number} ".encode() * 9_999
        path = Path("org", "example", f"file-{number}.jar")
        (repository.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (repository.folder / path).write_bytes(content)
        made.append(Jar(path, len(content), hashlib.sha256(content).hexdigest()))
    return made


@pytest.fixture
def local(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The local folder of a user whose Maven settings name the repository as a mirror."""
    (tmp_path / "jgo.conf").write_text(f"[repositories]\ncentral = http://127.0.0.1:{repository.server_port}\n")
    monkeypatch.setenv("JGO_CONFIG_FILE", str(tmp_path / "jgo.conf"))
    monkeypatch.setenv("M2_REPO", str(tmp_path / "local"))
    return tmp_path / "local"


def ignore(so_far: int, total: int) -> None:
    pass


@pytest.mark.check
def test_all_are_fetched_once_and_again_if_damaged(listed: list[Jar], repository: Repository, local: Path) -> None:
    shares = []
    files = local_files(listed, lambda so_far, total: shares.append(so_far / total))
    assert files == [local / jar.path for jar in listed]
    assert all(jar.is_whole(local / jar.path) for jar in listed)
    assert (shares, shares[0], shares[-1]) == (sorted(shares), 0, 1)
    assert sorted(repository.requested) == sorted(f"/{jar.path}" for jar in listed)
    assert local_files(listed, ignore) == files
    assert len(repository.requested) == FILES
    repository.requested.clear()
    cut, changed = files[:2]
    cut.write_bytes(cut.read_bytes()[:-1])
    changed.write_bytes(changed.read_bytes()[::-1])
    local_files(listed, ignore)
    assert all(jar.is_whole(local / jar.path) for jar in listed)
    assert sorted(repository.requested) == sorted(f"/{jar.path}" for jar in listed[:2])


@pytest.mark.check
def test_the_next_try_goes_on(listed: list[Jar], repository: Repository, local: Path) -> None:
    last = f"/{listed[-1].path}"
    repository.missing = {last}
    with pytest.raises(StoreError, match=rf"{listed[-1].path.name} could not be fetched.*404.* next try goes on"):
        local_files(listed, ignore)
    assert all(jar.is_whole(local / jar.path) for jar in listed[:-1])
    repository.missing.clear()
    repository.requested.clear()
    local_files(listed, ignore)
    assert repository.requested == [last]


def test_another_file_than_the_listed_one_is_refused(
    listed: list[Jar], repository: Repository, local: Path, tmp_path: Path
) -> None:
    jar = listed[0]
    (repository.folder / jar.path).write_bytes(b"x" * jar.size)
    with pytest.raises(StoreError, match="SHA-256"):
        local_files([jar], ignore)
    assert list((local / jar.path).parent.iterdir()) == []
    (tmp_path / "jgo.conf").write_text("[repositories]\ncentral = http://127.0.0.1:9\n")
    with pytest.raises(StoreError, match=r"file-\d+.jar could not be fetched: http://127.0.0.1:9 cannot be reached"):
        local_files(listed, ignore)


@pytest.mark.check
def test_what_stops_it_leaves_nothing_half_written(listed: list[Jar], local: Path) -> None:
    def stop(so_far: int, total: int) -> None:
        if so_far > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        local_files(listed, stop)
    left = {path for path in local.rglob("*") if path.is_file()}
    assert left <= {local / jar.path for jar in listed if jar.is_whole(local / jar.path)}


@pytest.mark.parametrize("version", RELEASES)
def test_the_lists(version: str) -> None:
    listed = jars(RELEASES[version])
    names = [jar.path.name for jar in listed]
    assert len(set(names)) == len(names)
    assert all(len(jar.sha256) == 64 and jar.size for jar in listed)
    assert {f"{RELEASES[version].product.lower()}-{version}.jar", f"analysis-common-{version}.jar"} <= set(names)
    assert any(name.startswith("icu4j-localespi") for name in names)
