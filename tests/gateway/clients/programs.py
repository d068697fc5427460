"""Runs the programs of the JavaScript and the Java client. Their packages are installed outside the checkout."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
from fcntl import LOCK_EX, flock
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import platformdirs

from opensearch_winnow.stores.engine.jars import local_files, parse_jars

HERE = Path(__file__).parent


def run_javascript(*arguments: str, **environment: str) -> dict[str, Any]:
    """Run steps.mjs, and return the JSON that it prints."""
    return _run("node", str(HERE / "steps.mjs"), *arguments, CLIENT_PACKAGES=str(_javascript_packages()), **environment)


def run_java(*arguments: str, **environment: str) -> dict[str, Any]:
    return _run("java", "-cp", _java_class_path(), "Steps", *arguments, **environment)


def _run(*command: str, **environment: str) -> dict[str, Any]:
    done = subprocess.run(command, env=os.environ | environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@cache
def _javascript_packages() -> Path:
    """Return the folder of the packages that package-lock.json lists; install them if this machine has none."""
    for program in ("node", "npm"):
        assert shutil.which(program), f"there is no {program}: install Node.js, which the JavaScript client needs"
    lists = [HERE / "package.json", HERE / "package-lock.json"]
    key = sha256(b"".join(file.read_bytes() for file in lists)).hexdigest()[:12]
    folder = platformdirs.user_cache_path("opensearch-winnow") / "javascript-client" / key
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not (folder / "installed").exists():
            for file in lists:
                shutil.copy(file, folder)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
            (folder / "installed").touch()
    return folder


@cache
def _java_class_path() -> str:
    """Compile Steps.java for this process, and return the class path of the program."""
    assert shutil.which("javac"), "there is no javac: install a JDK, version 17 or newer, which the Java client needs"
    jars = local_files(parse_jars((HERE / "java-jars.txt").read_text(encoding="utf-8")), lambda _so_far, _total: None)
    classes = TemporaryDirectory(prefix="winnow-classes-")
    atexit.register(classes.cleanup)
    path = ":".join(map(str, (*jars, classes.name)))
    command = ["javac", "-encoding", "UTF-8", "-d", classes.name, "-cp", path, str(HERE / "Steps.java")]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return path
