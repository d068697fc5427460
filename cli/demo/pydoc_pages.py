"""The documentation of the standard library, as pages rendered by pydoc."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.ingest.page import Page

SITE = "pydoc.example"  # a reserved name that can never be registered (RFC 2606)
TIMEOUT_SECONDS = 60  # to import and render a module, on a busy machine
# Memory addresses of objects, which differ from run to run; pydoc itself removes most of them.
ADDRESS = re.compile(r"(?:(?: |&nbsp;)at(?: |&nbsp;)0x|, handle )[0-9a-fA-F]{6,16}\b")
PROCESS = Path(__file__).with_name("pydoc_process.py")
# The whole environment of the processes, because it is shown on the page of os.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}


class PydocPages(NamedTuple):
    """Rendered pages, and the modules that could not be rendered."""

    pages: list[Page]  # sorted by URL
    left_out: dict[str, str]  # modules without a page, with the reason


def pydoc_pages(now: datetime, workers: int, max_pages: int | None, progress: Progress) -> PydocPages:
    """Render a page for each module that can be imported, or for `max_pages` modules. All are captured at `now`."""
    command = [sys.executable, "-S", "-P", "-W", "ignore", str(PROCESS), str(TIMEOUT_SECONDS), str(workers)]
    command += [] if max_pages is None else [str(max_pages)]
    pages: list[Page] = []
    left_out: dict[str, str] = {}
    with (
        TemporaryDirectory(prefix="winnow-demo-", ignore_cleanup_errors=True) as folder,
        subprocess.Popen(
            command,
            cwd=folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            total = int(process.stdout.readline() or -1)
            for done, line in enumerate(process.stdout, 1):
                name, outcome = line.split()
                if outcome == "0":
                    pages.append(_page(Path(folder, f"{name}.html"), now))
                else:
                    left_out[name] = _reason(outcome)
                progress("rendering the standard library with pydoc", done, total)
        finally:
            with suppress(ProcessLookupError, PermissionError):  # all processes have ended
                os.killpg(process.pid, signal.SIGKILL)
    if len(pages) + len(left_out) != total:
        raise WinnowError(f"{sys.executable} cannot run pydoc, which renders the demo's pages; try another Python")
    return PydocPages(sorted(pages, key=lambda page: page.url), left_out)


def _page(file: Path, now: datetime) -> Page:
    html = ADDRESS.sub("", file.read_text("utf-8"))
    return Page(f"https://{SITE}/{file.name}", html=html, fetched_at=now)


def _reason(outcome: str) -> str:
    if outcome == "never":
        return "has side effects, or is part of Python's own tests"
    return f"took more than {TIMEOUT_SECONDS} s" if outcome == str(-signal.SIGALRM) else "cannot be imported here"
