"""Tells the operator's command or webhook about findings, while the run goes on."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Thread

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.mappings.finding import Finding
from opensearch_winnow.operations.asking.webhook import Webhook

MAX_WAITING = 100  # batches of findings; those of further batches are in the log only
FINDINGS_PER_CALL = 1_000
COMMAND_SECONDS = 60.0  # then the command is killed
CLOSE_SECONDS = 120.0  # time for the findings that still wait when the run has ended
MAX_PROBLEMS = 10  # kept for the report

Send = Callable[[Sequence[Finding]], object]


class NotifyError(WinnowError):
    """A command that failed, or cannot be run."""


class Notifier(Closing):
    """Passes findings on in the background. Use it as a context manager; leaving it waits until all are sent.

    `command` is run without a shell. It gets the findings as JSON lines on its standard input, and nothing of a page
    in its arguments. `webhook` gets `{"findings": […]}`. A failure does not stop the run: it is added to `problems`.
    """

    def __init__(self, command: str | None = None, webhook: Webhook | None = None) -> None:
        self.problems: list[str] = []
        self._sends: list[Send] = []
        if command is not None:
            words = shlex.split(command)
            if not words:
                raise NotifyError("the command for findings is empty")
            self._sends.append(lambda findings: run_command(words, findings))
        if webhook is not None:
            self._sends.append(lambda findings: webhook.post({"findings": [each.to_dict() for each in findings]}))
        self._waiting: Queue[Sequence[Finding] | None] = Queue(MAX_WAITING)
        self._thread: Thread | None = None

    def add(self, findings: Sequence[Finding]) -> None:
        """Send these findings when the earlier ones are sent."""
        if not self._sends:
            return
        if self._thread is None:
            self._thread = Thread(target=self._work, name="winnow findings", daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait(findings)
        except Full:
            self._report(f"{len(findings):,} findings were not sent, because too many others waited")

    def close(self) -> None:
        """Wait until all findings are sent, for two minutes at most."""
        if self._thread is not None:
            with suppress(Full):
                self._waiting.put(None, timeout=CLOSE_SECONDS)
            self._thread.join(CLOSE_SECONDS)
            if self._thread.is_alive():
                self._report("the last findings were not sent in time")
            self._thread = None

    def _work(self) -> None:
        ended = False
        while not ended:
            batch = self._waiting.get()
            findings = list(batch or ())
            ended = batch is None
            while not ended and len(findings) < FINDINGS_PER_CALL:  # whatever else is waiting
                try:
                    batch = self._waiting.get_nowait()
                except Empty:
                    break
                findings += batch or ()
                ended = batch is None
            for some in batches(findings, FINDINGS_PER_CALL):
                for send in self._sends:
                    self._send(send, some)

    def _send(self, send: Send, findings: Sequence[Finding]) -> None:
        try:
            send(findings)
        except Exception as error:
            self._report(f"{len(findings):,} finding{'s' * (len(findings) != 1)} not sent: {error}")

    def _report(self, problem: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)


def run_command(words: Sequence[str], findings: Sequence[Finding]) -> None:
    """Run a command with findings as JSON lines on its standard input. Raise a NotifyError if it fails."""
    lines = "".join(f"{json.dumps(each.to_dict())}\n" for each in findings)
    try:
        done = subprocess.run(
            words, input=lines.encode(), stdout=subprocess.DEVNULL, timeout=COMMAND_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotifyError(f"{words[0]} took longer than {COMMAND_SECONDS:.0f} s") from None
    except OSError as error:
        raise NotifyError(f"{words[0]} cannot be run: {error.strerror}") from None
    if done.returncode:
        raise NotifyError(f"{words[0]} ended with exit code {done.returncode}")
