from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, compare, fingerprint
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct, mod_sketch
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.sources.split import Failed, Skipped
from opensearch_winnow.mappings.record import Record, StoredDigests

URL = "http://example.org/"
SMALL = Recipe(scheme=Scheme(noise=5, guarantee=9, shingle=3, modulus=2))
PROSE = "Nobody in the valley has ever seen him weigh a sack. He lifts it, looks at the sky, and names a figure. " * 3


def made(page: Page, recipe: Recipe = SMALL) -> Record:
    record = RecordMaker(recipe).make(page)
    assert isinstance(record, Record)
    return record


@given(st.text(min_size=1, max_size=300).filter(str.strip))
def test_a_record_has_the_hashes_of_its_text(text: str) -> None:
    record = made(Page(URL, text=text))
    scheme = SMALL.scheme
    prints = fingerprint(record.text, scheme)
    assert (record.hashes.fingerprints, record.hashes.positions) == (prints.hashes, prints.positions)
    every = distinct(shingles(canonical_text(record.text), scheme.shingle, scheme.seed))
    assert record.hashes.shingle_count == len(every)
    assert record.hashes.sketch == mod_sketch(every, scheme.modulus)
    signature = minhash(every, scheme.bins)
    assert record.hashes.minhash == pack(signature, scheme.bits)
    assert record.hashes.bands == bands(signature, scheme.bands, scheme.rows)


@pytest.mark.check
@given(st.lists(st.sampled_from(["<p>one two", "<p>three four five", "<b>one</b> two", ""]), max_size=12))
def test_a_record_does_not_depend_on_earlier_pages(contents: list[str]) -> None:
    pages = [Page(f"{URL}{number}", html=html) for number, html in enumerate(contents)]
    one = RecordMaker(SMALL)
    assert [one.make(page) for page in pages] == [RecordMaker(SMALL).make(page) for page in pages]


@pytest.mark.parametrize(
    ("html", "equal"),
    [
        (f"<p>{PROSE}", {"content_digest", "text_digest", "shingle_digest"}),
        (f"<html><body><div>{PROSE.upper()}</div></body></html>", {"text_digest", "shingle_digest"}),
        (f"<p>{PROSE} and more", set()),
    ],
)
def test_digests_tell_how_much_of_two_pages_is_equal(html: str, equal: set[str]) -> None:
    one, other = made(Page(URL, html=f"<p>{PROSE}")), made(Page(f"{URL}other", html=html))
    pairs = zip(StoredDigests._fields, StoredDigests.of(one), StoredDigests.of(other), strict=True)
    assert {name for name, ours, theirs in pairs if ours == theirs} == equal


def test_different_texts_may_have_equal_shingles() -> None:
    """A text repeated twice has the same shingles as when repeated three times, including those across the joints."""
    text = "one two three four five six "
    one, other = made(Page(URL, text=text * 2)), made(Page(URL, text=text * 3))
    assert one.hashes.text_digest != other.hashes.text_digest
    assert one.hashes.shingle_digest == other.hashes.shingle_digest
    assert compare(one.text, other.text, SMALL.scheme).resemblance == 1
    assert made(Page(URL, text="no where")).hashes.text_digest != made(Page(URL, text="nowhere")).hashes.text_digest


def test_the_metadata_of_a_page_is_kept() -> None:
    time = datetime(2026, 1, 2, tzinfo=UTC)
    page = Page(URL, html="<title>Inside</title>one two three", fetched_at=time, payload_digest="sha1:ABC")
    record = made(page, replace(SMALL, crawl="winter"))
    assert (record.url, record.site, record.crawl, record.title) == (URL, "example.org", "winter", "Inside")
    assert (record.fetched_at, record.payload_digest, record.text) == (time, "sha1:ABC", "one two three")
    assert made(replace(page, title="Outside")).title == "Outside"


TITLED = '<title>A title</title><p>see <img src="x" alt="a mill"> here'
GREEK = "Ахиллес и черепаха"


@pytest.mark.parametrize(
    ("content", "recipe", "text"),
    [
        ({"html": TITLED}, SMALL, "see here"),
        ({"html": TITLED}, replace(SMALL, alt=True), "see a mill here"),
        ({"html": TITLED}, replace(SMALL, title=True), "A title\nsee here"),
        ({"html": "<title>A title</title>"}, replace(SMALL, title=True), "A title"),
        ({"html": b"<p>one two", "content_type": "text/plain"}, SMALL, "<p>one two"),
        ({"html": b"<p>one two", "content_type": "text/plain; charset=utf-8"}, SMALL, "<p>one two"),
        ({"html": b"<p>one two", "content_type": "text/html"}, SMALL, "one two"),
        ({"html": b"<p>one two"}, SMALL, "one two"),
        ({"html": f"<p>{GREEK}".encode("koi8-r"), "content_type": "text/html; charset=koi8-r"}, SMALL, GREEK),
        ({"html": '<meta charset="latin-1"><p>Grüße'}, SMALL, "Grüße"),  # a string is not decoded
    ],
)
def test_the_text_of_a_page(content: dict[str, Any], recipe: Recipe, text: str) -> None:
    assert made(Page(URL, **content), recipe).text == text


def test_a_compressed_body_is_decoded() -> None:
    body = gzip.compress(b"<p>one two")
    assert made(Page(URL, html=body, codings=("gzip",))) == made(Page(URL, html=b"<p>one two"))
    page = Page(URL, html=gzip.compress(b"<p>" + bytes(range(97, 120)) * 40)[:-12], codings=("gzip",))
    failed = RecordMaker(SMALL).make(page)
    assert isinstance(failed, Failed)
    assert "gzip" in failed.reason
    assert failed.page is page


@pytest.mark.parametrize("html", ["<script>x</script>", "<title>A title</title>"])
def test_a_page_without_text_is_skipped(html: str) -> None:
    assert RecordMaker(SMALL).make(Page(URL, html=html)) == Skipped(URL, "no text")


def test_a_revisit_is_a_known_duplicate() -> None:
    first = "http://example.org/first"
    record = made(Page(URL, revisit_of=first, payload_digest="sha1:ABC"))
    assert (record.duplicate, record.duplicate_of, record.payload_digest) == ("revisit", first, "sha1:ABC")
    assert record.text == ""
    assert len(record.hashes.fingerprints) == record.hashes.shingle_count == 0


def test_a_file_name_decides_the_language_of_code() -> None:
    code = Recipe(scheme=Scheme.preset("code"))
    source = "# a comment\nx = 1\n" * 20
    python, other = (made(Page(f"{URL}{name}", text=source), code) for name in ("a.py", "a.c"))
    assert python.hashes.text_digest != other.hashes.text_digest


@pytest.mark.parametrize(
    ("url", "content", "said"),
    [
        (URL, {}, "either html or text"),
        (URL, {"html": "a", "text": "b"}, "either html or text"),
        (URL, {"html": "a", "revisit_of": URL}, "either html or text"),
        ("", {"text": "x"}, "needs a URL"),
    ],
)
def test_a_page_has_a_url_and_one_content(url: str, content: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Page(url, **content)


def test_relative_canonical_links_of_pages_with_the_same_bytes() -> None:
    """They are parsed once, but a relative link is another URL on each of them."""
    maker = RecordMaker(SMALL)
    html = f"<link rel=canonical href='mill#top'><p>{PROSE}"
    found = [maker.make(Page(f"http://{host}.example/x", html=html)) for host in "ab"]
    links = [each.canonical for each in found if isinstance(each, Record)]
    assert links == ["http://a.example/mill", "http://b.example/mill"]


LINKED = "<link rel=canonical href='{}'>" + PROSE


@pytest.mark.parametrize(
    ("content", "canonical"),
    [
        ({"html": "<base href='/d/'>" + LINKED.format("mill#top")}, f"{URL}d/mill"),
        ({"html": LINKED.format("javascript:x")}, None),
        ({"html": PROSE}, None),
        ({"text": LINKED.format("mill")}, None),
        # The link in the HTML comes before that in the header.
        ({"html": LINKED.format("/html"), "canonical": "/header"}, f"{URL}html"),
        ({"html": LINKED.format("data:x"), "canonical": "/header"}, f"{URL}header"),
        ({"html": f"<base href=/d/>{PROSE}", "canonical": "header"}, f"{URL}header"),
        ({"text": PROSE, "canonical": "/header"}, f"{URL}header"),
        ({"text": PROSE, "canonical": "mailto:x"}, None),
    ],
)
def test_a_record_has_the_canonical_url_of_its_page(content: dict[str, str], canonical: str | None) -> None:
    assert made(Page(URL, **content)).canonical == canonical  # type: ignore[arg-type]
