"""A field of a record is one line: a program that adds one finds it in every format."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from opensearch_winnow.stores.engine.running import Running

LINE = "    language: str | None = stored(TEXT, default=None)\n"
BEFORE = "    attached_id: str = "  # behind the other fields
# Loads the module of records with the line in it, before any other module imports it.
START = f"""
import sys
from importlib import util
from pathlib import Path

spec = util.find_spec("opensearch_winnow.mappings.record")
source = Path(spec.origin).read_text(encoding="utf-8")
assert source.count({BEFORE!r}) == 1
module = util.module_from_spec(spec)
sys.modules[spec.name] = module
exec(compile(source.replace({BEFORE!r}, {LINE!r} + {BEFORE!r}), spec.origin, "exec"), vars(module))

from opensearch_winnow.mappings.record import NO_HASHES, Record, as_document, from_document

record = Record(url="https://example.org/", text="Guten Tag", content_digest="0" * 32, hashes=NO_HASHES, language="de")
"""
FORMATS = {
    "JSON": """
        document = as_document(record)
        assert document["language"] == "de"
        assert from_document(document) == record
        del document["language"]
        assert from_document(document).language is None
    """,
    "document": """
        from opensearch_winnow.mappings.opensearch_document import document_of, record_of

        document = document_of(record, arrival=1, latest=True)
        assert document["language"] == "de"
        assert record_of(document) == record
    """,
    "record file": """
        import pyarrow.parquet as pq
        from opensearch_winnow.foundation.scheme import Scheme
        from opensearch_winnow.record_files.record_writer import RecordFileWriter
        from opensearch_winnow.record_files.records import read_records

        with RecordFileWriter("records.parquet", Scheme()) as writer:
            writer.add(record)
        assert list(read_records("records.parquet")) == [record]
        assert pq.read_table("records.parquet")["language"].to_pylist() == ["de"]
    """,
    "store": """
        from opensearch_winnow.foundation.scheme import Scheme
        from opensearch_winnow.stores.opening import open_store

        with open_store(sys.argv[1], Scheme(), create=True) as store:
            store.write([record])
            assert list(store.scan(Record)) == [record]
    """,
}


def use(name: str, folder: Path, *arguments: str) -> None:
    code = START + "\n".join(line[8:] for line in FORMATS[name].splitlines())
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["JSON", "document", "record file"])
def test_it_is_in_every_format(name: str, tmp_path: Path) -> None:
    use(name, tmp_path)


def test_it_is_in_a_file(tmp_path: Path) -> None:
    use("store", tmp_path, "pages.winnow")


def test_it_is_in_an_index(tmp_path: Path, engine: Running) -> None:
    use("store", tmp_path, f"{engine.url}/pages-with-a-new-field")
