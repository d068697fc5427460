"""Jars: listed with their SHA-256, fetched side by side, kept where Maven keeps them. An engine is made of them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

import requests
from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL

from opensearch_winnow.stores.store import StoreError

AT_ONCE = 12  # files; most are small, and each takes a round trip
CHUNK = 1 << 16
TIMEOUT = 30  # seconds without a byte

Fetched = Callable[[int, int], None]  # bytes so far, and of all that is fetched


class Jar(NamedTuple):
    path: Path  # in a repository
    size: int
    sha256: str

    def is_whole(self, file: Path) -> bool:
        if not file.is_file() or file.stat().st_size != self.size:
            return False
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == self.sha256


def jars(version: str) -> list[Jar]:
    """List the files of a version of the engine."""
    return listed(files(__package__).joinpath(f"jars-{version}.txt").read_text(encoding="utf-8"))


def listed(lines: str) -> list[Jar]:
    """Read a list: on each line group:artifact:version[:classifier], the size in bytes and the SHA-256."""
    fields = (line.split() for line in lines.splitlines())
    return [Jar(_path(*name.split(":")), int(size), sha256) for name, size, sha256 in fields]


def local_files(jars: Iterable[Jar], fetched: Fetched) -> list[Path]:
    """Return where each jar is on this machine, in the given order; fetch what is missing or damaged."""
    settings = GlobalSettings.load()  # a mirror, another folder: as the user has told Maven's tools
    repositories = list(({"central": MAVEN_CENTRAL_URL} | settings.repositories).values())
    wanted = {settings.repo_cache / jar.path: jar for jar in jars}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        whole = pool.map(lambda file: wanted[file].is_whole(file), wanted)
        missing = {file: jar for (file, jar), is_whole in zip(wanted.items(), whole, strict=True) if not is_whole}
    if missing:
        _Fetch(repositories, sum(jar.size for jar in missing.values()), fetched).all(missing)
    return list(wanted)


class _Fetch:
    def __init__(self, repositories: list[str], total: int, fetched: Fetched) -> None:
        self.repositories = repositories
        self.total = total
        self.fetched = fetched
        self.so_far = 0
        self.lock = threading.Lock()
        self.stopped = False
        self.session = requests.Session()
        self.session.mount("https://", requests.adapters.HTTPAdapter(pool_maxsize=AT_ONCE, max_retries=2))

    def all(self, missing: dict[Path, Jar]) -> None:
        self.count(0)
        with self.session, ThreadPoolExecutor(AT_ONCE) as pool:
            tasks = [pool.submit(self.one, file, jar) for file, jar in missing.items()]
            try:
                for task in tasks:
                    task.result()
            except BaseException:
                self.stopped = True
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def one(self, file: Path, jar: Jar) -> None:
        """From the first repository that has it."""
        failures = []
        for repository in self.repositories:
            try:
                return self.write(f"{repository}/{jar.path.as_posix()}", file, jar)
            except requests.ConnectionError:
                failures.append(f"{repository} cannot be reached")
            except (OSError, ValueError) as error:  # of the network, the disk, the content
                failures.append(str(error))
        raise StoreError(
            f"{file.name} could not be fetched: {', '.join(failures)}; "
            "what has been fetched is kept, and the next try goes on from there"
        )

    def write(self, url: str, file: Path, jar: Jar) -> None:
        """Under another name until it is whole: however this ends, no broken file is left under the right one."""
        file.parent.mkdir(parents=True, exist_ok=True)
        with self.session.get(url, stream=True, timeout=TIMEOUT) as response:
            response.raise_for_status()
            with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as part:
                written = Path(part.name)
                try:
                    for chunk in response.iter_content(CHUNK):
                        if self.stopped:
                            raise ValueError("stopped")
                        part.write(chunk)
                        self.count(len(chunk))
                    part.close()
                    if not jar.is_whole(written):
                        raise ValueError(f"{url} is another file than the listed one: its SHA-256 differs")
                    written.chmod(0o644)
                    written.replace(file)
                finally:
                    written.unlink(missing_ok=True)

    def count(self, size: int) -> None:
        with self.lock:
            self.so_far += size
            self.fetched(self.so_far, self.total)


def _path(group: str, artifact: str, version: str, classifier: str = "") -> Path:
    end = f"-{classifier}" if classifier else ""
    return Path(*group.split("."), artifact, version, f"{artifact}-{version}{end}.jar")
