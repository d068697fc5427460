"""A real Chromium for the tests, in which no error goes unnoticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.web.chromium import FLAGS, chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request

NewPage = Callable[..., "Page"]
OURS = ("127.0.0.1", "localhost")
TIMEOUT_SECONDS = 30  # enough for a busy machine


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser per test file. It runs an event loop in this thread: tests cannot call asyncio.run or one_request."""
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415 (most tests need none)

    expect.set_options(timeout=1000 * TIMEOUT_SECONDS)
    where = chromium()  # before Playwright runs its loop: where there is no browser, another one is run to set it up
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=where, args=FLAGS)
        yield opened
        opened.close()


class Witness:
    """Records what a page does: requests, errors and dialogs."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.allowed: list[str] = []  # parts of complaints that a test brings about on purpose

    def watch(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        page.on("request", self._request)
        page.on("dialog", self._dialog)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):  # violations of the policy are errors
            self.faults.append(f"console {message.type}: {message.text} {message.location.get('url', '')}")

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob", "about") and parts.hostname not in OURS:
            self.faults.append(f"request to elsewhere: {request.url}")

    def unexpected(self) -> list[str]:
        return [fault for fault in self.faults if not any(part in fault for part in self.allowed)]


@pytest.fixture
def witness() -> Witness:
    return Witness()


@pytest.fixture
def new_page(browser: Browser, witness: Witness) -> Iterator[NewPage]:
    """Opens pages with the options of Playwright's new_context, such as java_script_enabled=False or
    viewport={"width": 320, "height": 640}. The test fails if a page sends a request to another machine, runs a script
    that fails, or violates its policy.
    """
    contexts = []

    def open_page(**settings: Any) -> Page:
        settings = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | settings
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        witness.watch(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert witness.unexpected() == []


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


def accessibility_faults(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Return what axe-core finds wrong with the page, by all rules or only by these, and where."""
    if not page.evaluate("'axe' in window"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    options = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    found = page.evaluate("(options) => axe.run(options).then((results) => results.violations)", options)
    return [
        f"{each['impact']}: {each['id']} ({each['help']}): {node['html'][:200]} {node.get('failureSummary', '')}"
        for each in found
        for node in each["nodes"]
    ]


def scrolls_sideways(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))
