"""Finds a Chromium for the tests, or installs one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from fcntl import LOCK_EX, flock
from pathlib import Path
from tempfile import gettempdir

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DEBIAN = ("chromium", "fonts-dejavu-core")  # it brings no letters of its own
EXPIRY_MINUTES = 10  # that setting it up may take
MISSING = (
    "The tests of the search UI need Chromium, and it could not be set up: install it (on Debian: apt-get install"
    " chromium; elsewhere: playwright install --with-deps chromium) and run them again.\n{why}"
)


def chromium() -> str:
    """Return the path of Chromium. If there is none, one test worker installs it and the others wait."""
    if found := _on_path():
        return found
    lock = Path(gettempdir(), f"winnow-chromium-{os.getuid()}.lock")
    with lock.open("w") as held:
        flock(held, LOCK_EX)
        found = _on_path() or _own_of_playwright()
        if found is None:
            why = _set_up()
            found = _on_path() or _own_of_playwright()
            if found is None:
                raise RuntimeError(MISSING.format(why=why))
        return found


def _on_path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def _own_of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (most tests need none)

    with sync_playwright() as playwright:
        found = playwright.chromium.executable_path
    return found if Path(found).exists() else None


def _set_up() -> str:
    """Try to install Chromium and return what went wrong, if anything. The caller checks whether it is there now."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        quietly = {"DEBIAN_FRONTEND": "noninteractive"}
        _run("apt-get", "update", "--quiet", **quietly)
        failed = _run("apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *DEBIAN, **quietly)
        if not failed:
            return ""
    else:
        failed = ""
    return failed + _run(sys.executable, "-m", "playwright", "install", "chromium")


def _run(*command: str, **environment: str) -> str:
    """Run a command and return the end of its output if it failed."""
    try:
        done = subprocess.run(
            command,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60 * EXPIRY_MINUTES,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"$ {' '.join(command)}\n{error}\n"
    return f"$ {' '.join(command)}\n{(done.stdout + done.stderr)[-2_000:]}\n" if done.returncode else ""
