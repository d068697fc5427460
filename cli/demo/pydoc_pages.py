"""What pydoc says of the standard library, as pages."""

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

from opensearch_winnow.clusters.options import Progress
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.page import Page

SITE = "pydoc.example"  # a name that is nobody's, for ever (RFC 2606)
SECONDS = 60  # for a module to be imported and rendered, on a busy machine; none of them hangs
# Where an object lies in memory, which is another place in each run; pydoc leaves most of them out itself.
ADDRESS = re.compile(r"(?:(?: |&nbsp;)at(?: |&nbsp;)0x|, handle )[0-9a-fA-F]{6,16}\b")
PROCESS = Path(__file__).with_name("pydoc_process.py")
# All that the processes know of the environment: what is in it shows on the page of os.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}


class PydocPages(NamedTuple):
    pages: list[Page]  # by URL
    left_out: dict[str, str]  # modules, and why there is no page of them


def pydoc_pages(now: datetime, workers: int, most: int | None, progress: Progress) -> PydocPages:
    """A page for each module that can be imported here, or for so many of them. All are from one moment."""
    command = [sys.executable, "-S", "-P", "-W", "ignore", str(PROCESS), str(SECONDS), str(workers)]
    command += [] if most is None else [str(most)]
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
                progress("rendering what pydoc says of the standard library", done, total)
        finally:
            with suppress(ProcessLookupError, PermissionError):  # all have ended
                os.killpg(process.pid, signal.SIGKILL)
    if len(pages) + len(left_out) != total:
        raise WinnowError(f"{sys.executable} cannot run pydoc, whose pages the demo takes; try it with another Python")
    return PydocPages(sorted(pages, key=lambda page: page.url), left_out)


def _page(file: Path, now: datetime) -> Page:
    html = ADDRESS.sub("", file.read_text("utf-8"))
    return Page(f"https://{SITE}/{file.name}", html=html, fetched_at=now)


def _reason(outcome: str) -> str:
    if outcome == "never":
        return "has side effects, or tests Python"
    return f"took more than {SECONDS} s" if outcome == str(-signal.SIGALRM) else "cannot be imported here"
