"""The functions for other people's indexing pipelines."""

from __future__ import annotations

import subprocess
import sys
from array import array
from datetime import UTC, datetime
from random import Random

import pytest

from opensearch_winnow import Page, Scheme, WinnowError, fingerprint
from opensearch_winnow.clients import actions, mapping_fragment, winnow_fields
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.sources.split import Failed, Skipped
from opensearch_winnow.mappings.hash_tokens import unpacked_tokens
from opensearch_winnow.mappings.opensearch_document import record_of
from opensearch_winnow.mappings.record import Record

TEXT = " ".join(Random(0).choices(["some", "words", "in", "any", "order", "whatever", "they", "mean"], k=800))
TIME = datetime(2024, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize("scheme", [Scheme(), Scheme(noise=20, guarantee=40, key="secret")])
def test_the_fields_equal_those_of_a_record(scheme: Scheme) -> None:
    fields = winnow_fields(TEXT, scheme)
    assert unpacked_tokens(fields["fingerprints"]) == array("Q", fingerprint(TEXT, scheme).hashes)
    record = RecordMaker(Recipe(scheme=scheme)).make(Page("https://example.org/", text=TEXT))
    assert isinstance(record, Record)
    (action,) = actions([Page("https://example.org/", text=TEXT)], "pages", scheme)
    assert fields.items() <= action["_source"].items()
    assert record_of(action["_source"]) == record


def test_the_mapping_fragment_has_every_field() -> None:
    assert set(winnow_fields(TEXT, cluster="1")) == set(mapping_fragment()["properties"])
    assert set(winnow_fields(TEXT)) == set(mapping_fragment()["properties"]) - {"cluster"}
    assert mapping_fragment("a.b") == {"properties": {"a": {"properties": {"b": mapping_fragment()}}}}
    none = {"fingerprints": "", "sketch": "", "bands": "", "shingle_count": 0}
    assert winnow_fields("").items() >= none.items()


def test_a_file_name_tells_the_language_of_code() -> None:
    code = "def double(number):\n    # twice\n    return 2 * number\n" * 20
    scheme = Scheme.preset("code")
    assert winnow_fields(code, scheme, name="a.py") != winnow_fields(code, scheme, name="a.c")
    assert winnow_fields(code, scheme, name="a.py") == winnow_fields(code.replace("twice", "two"), scheme, name="b.py")


def test_actions_are_whole_documents_in_order() -> None:
    pages = [Page(f"https://example.org/{number}", text=TEXT, fetched_at=TIME) for number in range(20)]
    made = list(actions(pages, "pages", crawl="monday"))
    records = [record_of(action["_source"]) for action in made]
    assert [record.url for record in records] == [page.url for page in pages]
    assert [action["_id"] for action in made] == [record.id for record in records]
    assert {action["_index"] for action in made} == {"pages"}
    assert {record.crawl for record in records} == {"monday"}
    arrivals = [action["_source"]["arrival"] for action in made]
    assert arrivals == sorted(set(arrivals))


def test_no_page_is_lost_silently() -> None:
    empty = Page("https://example.org/empty", html="<p></p>")
    broken = Page("https://example.org/broken", html=b"\x1f\x8b\x08 and nothing else", codings=("gzip",))
    with pytest.raises(WinnowError, match=r"https://example\.org/empty gives no document: no text"):
        list(actions([empty], "pages"))
    left: list[Skipped | Failed] = []
    (action,) = actions([empty, Page("https://example.org/", text=TEXT), broken], "pages", left_out=left.append)
    assert action["_source"]["url"] == "https://example.org/"
    assert [type(each) for each in left] == [Skipped, Failed]


def test_no_client_is_imported() -> None:
    program = (
        "import sys; from opensearch_winnow.clients import actions, mapping_fragment, winnow_fields;"
        " winnow_fields('x'); assert 'opensearchpy' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
