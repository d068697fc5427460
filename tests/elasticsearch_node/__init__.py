"""Starts a real node of Elasticsearch 8 or 9 from the server's jars, with an HTTP server and an analyzer of ours.

The jars of the server are published, those of its modules are not: such a node has no Painless, no ingest processors,
no `_reindex`, and no connections to other nodes. What it has instead is in the Java files of this folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

import platformdirs

from opensearch_winnow.stores.engine.jars import jars, local_files
from opensearch_winnow.stores.engine.releases import RELEASES, Release

FOLDER = Path(__file__).parent
JAVA = {"8.19.8": 17, "9.3.1": 21}  # the versions, and the Java that their classes are compiled for


def register(version: str) -> None:
    """Make a version one that `LocalEngine` starts. Compiles our classes if this machine has not done it before."""
    release = Release(
        version,
        product="Elasticsearch",
        package="org.elasticsearch",
        node="org.elasticsearch.node.ClassPathNode",
        plugins=("winnow.FrontPlugin", "winnow.WordsPlugin"),
        initial_managers="cluster.initial_master_nodes",
        settings={
            "transport.type": "winnow",
            "http.type": "winnow",
            "action.destructive_requires_name": "false",  # as in other engines: tests delete indices by pattern
        },
        jar_list=FOLDER / f"jars-{version}.txt",
        winnow_jar=_winnow_jar(version),
    )
    assert release.winnow_jar is not None
    if not release.winnow_jar.exists():
        _compile(local_files(jars(release), lambda _so_far, _total: None), release.winnow_jar, JAVA[version])
    RELEASES[version] = release


def _winnow_jar(version: str) -> Path:
    """Return where our classes are kept. The name changes with the sources; Java's cache needs a file that stays."""
    sources = b"".join(source.read_bytes() for source in sorted(FOLDER.glob("*.java")))
    digest = hashlib.sha256(sources).hexdigest()[:12]
    return platformdirs.user_cache_path("opensearch-winnow") / "engine" / f"node-{version}-{digest}.jar"


def _compile(class_path: list[Path], jar: Path, java: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [_javac(), "-nowarn", "-Xlint:none", "--release", str(java), "-d", name]
        command += ["-cp", os.pathsep.join(map(str, class_path)), *map(str, FOLDER.glob("*.java"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        jar.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=jar.parent, delete=False) as part, zipfile.ZipFile(part, "w") as packed:
            for file in sorted(folder.rglob("*.class")):
                packed.write(file, file.relative_to(folder))
        Path(part.name).replace(jar)


def _javac() -> str:
    """Return a compiler of Java 21 or later. The Java runtime that engines run on has none."""
    homes = [os.environ.get("JAVA_HOME"), *Path("/usr/lib/jvm").glob("*")]
    compilers = [shutil.which("javac"), *(shutil.which("javac", path=f"{home}/bin") for home in homes if home)]
    for compiler in filter(None, compilers):
        if _version(compiler) >= max(JAVA.values()):
            return compiler
    raise FileNotFoundError("there is no javac of Java 21 or later: install a JDK, and set JAVA_HOME to its folder")


def _version(compiler: str) -> int:
    said = subprocess.run([compiler, "-version"], capture_output=True, text=True, check=True)
    return int((said.stdout or said.stderr).split()[1].split(".")[0])
