"""Indexing runs over hostile pages and archives: every page gets an outcome in time, and other pages are unharmed."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ingest.conftest import Run, html

URL = "http://example.org/"
LONG = b"word " * 2_100_000  # over 10 MB

# Pages on which parsers were measured to hang, lose text or raise, and the expected text, or the reason after a "!".
HOSTILE: dict[str, tuple[bytes, dict[str, str], str]] = {
    "nested 100,000 deep": (b"<div>" * 100_000 + b"deep" + b"</div>" * 100_000 + b"<p>after", {}, "deep\nafter"),
    "an attribute of 9 MB": (b"<p title='%s'>one" % (b"x" * 9_000_000), {}, "one"),
    "GBK that says gb2312": ("<p>网页镕".encode("gbk"), {"Content-Type": "text/html; charset=gb2312"}, "网页镕"),
    "half a character": (b"<p>one \xed\xa0\x80 two" + b" three" * 20, {}, "one ��� two three"),
    "gzip twice": (gzip.compress(gzip.compress(b"<p>one")), {"Content-Encoding": "gzip, gzip"}, "one"),
    "text of 10.5 MB": (b"<p>" + LONG, {}, "!larger than 10 MB"),
    "a bomb": (gzip.compress(bytes(50_000_000)), {"Content-Encoding": "gzip"}, "!larger than 10 MB once decoded"),
    "cut off in its coding": (gzip.compress(b"<p>one two")[:-9], {"Content-Encoding": "gzip"}, "!cut off within"),
    "stray ends": (b"<b>" * 200_000 + b"</i>" * 400_000 + b"one", {}, "!more than 5 s for a page"),
}


@pytest.mark.check
def test_every_hostile_page_has_its_outcome(run: Run, warc: Callable[..., Path]) -> None:
    given = [(f"{URL}{name.replace(' ', '-')}", body, headers) for name, (body, headers, _) in HOSTILE.items()]
    archive = warc("a.warc.gz", [(f"{URL}first", html(1)), *given, (f"{URL}last", html(2))])
    start = time.monotonic()
    done = run([archive], workers=2, split=50_000)
    assert time.monotonic() - start < 60  # seconds; it does not hang
    texts = {record.url.removeprefix(URL).replace("-", " "): record.text for record in done.records}
    reasons = {each["url"].removeprefix(URL).replace("-", " "): f"!{each['reason']}" for each in done.failed}
    outcomes = texts | reasons
    assert {"first", "last"} <= texts.keys()
    assert done.report.pages == len(given) + 2
    for name, (_, _, expected) in HOSTILE.items():
        assert outcomes[name][: len(expected)] == expected, name


@pytest.mark.check
def test_every_sample_archive_is_accounted_for(run: Run, unpacked: Callable[[str], Path]) -> None:
    """The folder includes damaged archives, and files that are not archives."""
    done = run([unpacked("warc-samples")], workers=2, split=200_000)
    report = done.report
    assert report.pages == sum(done.counts)
    assert len(done.records) == report.indexed
    # A page of a WARC file is in two WET files, too.
    assert report.skipped["same id as an earlier one, other content"] == 2
    assert len(done.failed) == report.failed.total()
    assert report.indexed > 200
    assert report.damaged_bytes > 0
    assert not [each for each in done.failed if "Error" in each["reason"]], "a fault of ours"
    again = run([unpacked("warc-samples")], workers=1, split=10_000_000)
    assert again.counts == (0, report.indexed + report.unchanged, report.skipped.total(), report.failed.total())
    assert again.records == done.records
    assert again.report.skipped == report.skipped
    assert again.report.failed == report.failed
    assert again.report.damaged_bytes == report.damaged_bytes


LARGEST_PAGES_SCRIPT = """
import sys
from pathlib import Path
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker

text, encoding = sys.argv[1].encode(sys.argv[2]), sys.argv[2]
maker = RecordMaker(Recipe())
for number in range(3):
    body = "<p>".encode(encoding) + text * (9_990_000 // len(text)) + str(number).encode(encoding)
    maker.make(Page(f"http://example.org/{number}", html=body, content_type=f"text/html; charset={encoding}"))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(len(body), int(peak.split()[1]) * 1024)
"""


@pytest.mark.check
@pytest.mark.parametrize(
    ("text", "encoding"),
    [*((text, "utf-8") for text in ("word ", "a", "网页去重", "𐌰𐌱 ")), ("网页去重", "gbk"), ("word ", "utf-16le")],
)
def test_the_largest_pages_fit_into_the_memory_of_a_worker(text: str, encoding: str) -> None:
    command = [sys.executable, "-c", LARGEST_PAGES_SCRIPT, text, encoding]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    size, peak = map(int, done.stdout.split())
    assert size > 9_900_000
    assert peak < 300_000_000, f"{peak / 1e6:.0f} MB"
