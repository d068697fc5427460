"""Downloads the jars of an engine, checks their SHA-256, and keeps them in Maven's local repository."""

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

from opensearch_winnow.stores.engine.releases import Release
from opensearch_winnow.stores.store import StoreError

PARALLEL_DOWNLOADS = 12  # most files are small, and each takes a round trip
CHUNK_BYTES = 1 << 16
TIMEOUT_SECONDS = 30  # without a byte

Progress = Callable[[int, int], None]  # called with the bytes fetched so far, and the total


class Jar(NamedTuple):
    """A file to download."""

    path: Path  # within a Maven repository
    size: int  # bytes
    sha256: str

    def is_whole(self, file: Path) -> bool:
        """Return whether `file` is this jar, complete and undamaged."""
        if not file.is_file() or file.stat().st_size != self.size:
            return False
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == self.sha256


def jars(release: Release) -> list[Jar]:
    """Return the jars of a version of the engine."""
    source = release.jar_list or files(__package__).joinpath(f"jars-{release.version}.txt")
    return parse_jars(source.read_text(encoding="utf-8"))


def parse_jars(lines: str) -> list[Jar]:
    """Parse a list: each line has group:artifact:version[:classifier], the size in bytes and the SHA-256."""
    fields = (line.split() for line in lines.splitlines())
    return [Jar(_path(*name.split(":")), int(size), sha256) for name, size, sha256 in fields]


def local_files(jars: Iterable[Jar], progress: Progress) -> list[Path]:
    """Return the path of each jar on this machine, in the given order; fetch those that are missing or damaged."""
    settings = GlobalSettings.load()  # the user's own Maven settings, such as a mirror or another folder
    repositories = list(({"central": MAVEN_CENTRAL_URL} | settings.repositories).values())
    wanted = {settings.repo_cache / jar.path: jar for jar in jars}
    with ThreadPoolExecutor(PARALLEL_DOWNLOADS) as pool:
        whole = pool.map(lambda file: wanted[file].is_whole(file), wanted)
        missing = {file: jar for (file, jar), is_whole in zip(wanted.items(), whole, strict=True) if not is_whole}
    if missing:
        _Download(repositories, sum(jar.size for jar in missing.values()), progress).fetch_all(missing)
    return list(wanted)


class _Download:
    def __init__(self, repositories: list[str], total: int, progress: Progress) -> None:
        self.repositories = repositories
        self.total = total
        self.progress = progress
        self.so_far = 0
        self.lock = threading.Lock()
        self.stopped = False
        self.session = requests.Session()
        self.session.mount("https://", requests.adapters.HTTPAdapter(pool_maxsize=PARALLEL_DOWNLOADS, max_retries=2))

    def fetch_all(self, missing: dict[Path, Jar]) -> None:
        self.count(0)
        with self.session, ThreadPoolExecutor(PARALLEL_DOWNLOADS) as pool:
            tasks = [pool.submit(self.fetch, file, jar) for file, jar in missing.items()]
            try:
                for task in tasks:
                    task.result()
            except BaseException:
                self.stopped = True
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def fetch(self, file: Path, jar: Jar) -> None:
        """Fetch a jar from the first repository that has it."""
        failures = []
        for repository in self.repositories:
            try:
                return self.write(f"{repository}/{jar.path.as_posix()}", file, jar)
            except requests.ConnectionError:
                failures.append(f"{repository} cannot be reached")
            except (OSError, ValueError) as error:  # caused by the network, the disk or the content
                failures.append(str(error))
        raise StoreError(
            f"{file.name} could not be fetched: {', '.join(failures)}; "
            "the files fetched so far are kept, and the next try goes on from there"
        )

    def write(self, url: str, file: Path, jar: Jar) -> None:
        """Download into a temporary file and rename it when it is whole: no broken file ever has the final name."""
        file.parent.mkdir(parents=True, exist_ok=True)
        with self.session.get(url, stream=True, timeout=TIMEOUT_SECONDS) as response:
            response.raise_for_status()
            with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as part:
                written = Path(part.name)
                try:
                    for chunk in response.iter_content(CHUNK_BYTES):
                        if self.stopped:
                            raise ValueError("stopped")
                        part.write(chunk)
                        self.count(len(chunk))
                    part.close()
                    if not jar.is_whole(written):
                        raise ValueError(f"{url} is not the expected file: its SHA-256 differs")
                    written.chmod(0o644)
                    written.replace(file)
                finally:
                    written.unlink(missing_ok=True)

    def count(self, size: int) -> None:
        with self.lock:
            self.so_far += size
            self.progress(self.so_far, self.total)


def _path(group: str, artifact: str, version: str, classifier: str = "") -> Path:
    end = f"-{classifier}" if classifier else ""
    return Path(*group.split("."), artifact, version, f"{artifact}-{version}{end}.jar")
