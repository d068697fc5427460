"""Several connections to a store: locks that one of them must not take from the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.embedded import EmbeddedStore
from tests.stores.conftest import numbered
from tests.stores.embedded.store_files import filled, python


def write_elsewhere(path: Path, number: int) -> None:
    """Write a record in another process, which opens and closes the store."""
    with python(
        "with EmbeddedStore.open(sys.argv[1]) as store: store.write([numbered(int(sys.argv[2]))])", path, number
    ):
        pass


@pytest.mark.check
def test_a_second_opening_does_not_drop_the_locks_of_the_first(path: Path) -> None:
    """Otherwise another process removes the log that the first still uses, and what the first commits is lost."""
    filled(path, 1)
    with EmbeddedStore.open(path) as store:
        assert store.count() == 1
        EmbeddedStore.open(path).close()
        write_elsewhere(path, 2)
        assert store.count() == 2
        assert [each.outcome for each in store.write([numbered(3)])] == ["added"]
        EmbeddedStore.open(path).close()
        write_elsewhere(path, 4)
    with EmbeddedStore.open(path) as store:
        assert sorted(record.url for record in store.scan(Record)) == sorted(numbered(n).url for n in (1, 2, 3, 4))


COMMANDS = """
from opensearch_winnow.cli import main

def refuse(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".winnow"):
        raise RuntimeError(f"{arguments[0]} was opened")

sys.addaudithook(refuse)
folder = os.path.dirname(sys.argv[1])
os.environ["WINNOW_STORE"] = sys.argv[1]
index = f"index {folder} --base-url https://mill.example --quiet"
similar = "similar https://mill.example/mill.html"
for command in (index, index, "stats", "search mill", similar, "cluster", "export --to -"):
    main(command.split(), standalone_mode=False)
"""


@pytest.mark.check
def test_only_sqlite_opens_a_store(path: Path) -> None:
    """To close a file that was opened otherwise drops the locks of this process."""
    filled(path, 1)
    (path.parent / "mill.html").write_text("<p>The mill stood still.</p>")
    process = python(COMMANDS, path)
    process.communicate()
    assert process.returncode == 0
