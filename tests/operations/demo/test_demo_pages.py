"""The sources of the pages of the demo."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.demo.most_copied import most_copied
from opensearch_winnow.operations.demo.pydoc_pages import PROCESS, pydoc_pages
from tests.meaningless_text import sentences

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MODULES = {
    "well": '"""A module that is as it should be."""',
    "prints": "print('a poem')",
    "broken": "1 / 0",
    "leaves": "raise SystemExit(0)",
    "dies": "import os; os.kill(os.getpid(), 9)",
    "hangs": "import time\nwhile True: time.sleep(1)",
    "this": "open('imported', 'w')",
}


@pytest.mark.check
def test_pages_do_not_depend_on_the_number_of_workers() -> None:
    (one, left_out), (other, left_out_again) = (pydoc_pages(NOW, workers, 30, lambda *_: None) for workers in (1, 3))
    assert one == other
    assert left_out == left_out_again
    assert len(one) + len(left_out) == 30
    assert [page.url for page in one] == sorted(page.url for page in one)
    assert {page.fetched_at for page in one} == {NOW}


@pytest.mark.check
def test_a_module_that_misbehaves_does_not_affect_others(tmp_path: Path) -> None:
    modules, pages = tmp_path / "modules", tmp_path / "pages"
    modules.mkdir()
    pages.mkdir()
    for name, code in MODULES.items():
        (modules / f"{name}.py").write_text(code)
    program = (
        f"import runpy, sys; sys.stdlib_module_names = {set(MODULES)!r}; sys.path.insert(0, {str(modules)!r});"
        f" sys.argv[1:] = ['2', '2']; runpy.run_path({str(PROCESS)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=pages, capture_output=True, text=True, check=True)
    number, *lines = done.stdout.splitlines()
    assert int(number) == len(MODULES)
    assert dict(line.split() for line in lines) == {
        "well": "0",
        "prints": "0",
        "broken": "1",
        "leaves": "1",
        "dies": "-9",
        "hangs": "-14",
        "this": "never",
    }
    assert sorted(path.name for path in pages.iterdir()) == ["prints.html", "well.html"]
    assert done.stderr == ""


def test_the_most_copied_passage_is_complete_and_has_whole_words(tmp_path: Path) -> None:
    passage, longer = sentences(59, 1), sentences(90, 2)
    texts = [f"{sentences(40, ord(part))} {part}{passage}{part} {sentences(40, ord(part) + 9)}" for part in "xyz"]
    texts += [f"{sentences(40, 20)} {longer}", f"{longer} {sentences(40, 21)}"]
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.add(Page(f"http://example.org/{number}", text=text) for number, text in enumerate(texts))
        records = list(index.store.scan(Record))
        copied = most_copied(records, index.scheme)
        alone = most_copied(records[:1], index.scheme)
    assert copied is not None
    # The first and last word of the passage are parts of longer words on each page.
    assert copied.text == " ".join(passage.split(" ")[1:-1])
    assert copied.words == 57
    assert [record.url for record in copied.pages] == [f"http://example.org/{number}" for number in range(3)]
    assert alone is None
