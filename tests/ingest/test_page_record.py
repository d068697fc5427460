from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow import Scheme, compare, fingerprint
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct, mod_sketch
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.sources.split import Failed, Skipped
from opensearch_winnow.mappings.record import Record

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
    assert (record.fingerprints, record.positions) == (prints.hashes, prints.positions)
    every = distinct(shingles(canonical_text(record.text), scheme.shingle, scheme.seed))
    assert record.shingle_count == len(every)
    assert record.sketch == mod_sketch(every, scheme.modulus)
    signature = minhash(every, scheme.bins)
    assert record.minhash == pack(signature, scheme.bits)
    assert record.bands == bands(signature, scheme.bands, scheme.rows)


@pytest.mark.check
@given(st.lists(st.sampled_from(["<p>one two", "<p>three four five", "<b>one</b> two", ""]), max_size=12))
def test_a_record_does_not_depend_on_earlier_pages(contents: list[str]) -> None:
    """One maker with its cache gives the same records as a new maker for each page."""
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
    names = ("content_digest", "text_digest", "shingle_digest")
    assert {name for name in names if getattr(one, name) == getattr(other, name)} == equal


def test_different_texts_may_have_equal_shingles() -> None:
    """A text repeated twice has the same shingles as when repeated three times, including those across the joints."""
    text = "one two three four five six "
    one, other = made(Page(URL, text=text * 2)), made(Page(URL, text=text * 3))
    assert one.text_digest != other.text_digest
    assert one.shingle_digest == other.shingle_digest
    assert compare(one.text, other.text, SMALL.scheme).resemblance == 1


def test_the_same_letters_in_other_words_are_another_text() -> None:
    assert made(Page(URL, text="no where")).text_digest != made(Page(URL, text="nowhere")).text_digest


def test_the_metadata_of_a_page_is_kept() -> None:
    time = datetime(2026, 1, 2, tzinfo=UTC)
    page = Page(URL, html="<title>Inside</title>one two three", fetched_at=time, payload_digest="sha1:ABC")
    record = made(page, replace(SMALL, crawl="winter"))
    assert (record.url, record.site, record.crawl, record.title) == (URL, "example.org", "winter", "Inside")
    assert (record.fetched_at, record.payload_digest, record.text) == (time, "sha1:ABC", "one two three")
    assert made(replace(page, title="Outside")).title == "Outside"


def test_titles_and_alt_texts_are_optional() -> None:
    page = Page(URL, html='<title>A title</title><p>see <img src="x" alt="a mill"> here')
    assert made(page).text == "see here"
    assert made(page, replace(SMALL, alt=True)).text == "see a mill here"
    assert made(page, replace(SMALL, title=True)).text == "A title\nsee here"
    only_title = Page(URL, html="<title>A title</title>")
    assert isinstance(RecordMaker(SMALL).make(only_title), Skipped)
    assert made(only_title, replace(SMALL, title=True)).text == "A title"


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("text/plain", "<p>one two"),
        ("text/plain; charset=utf-8", "<p>one two"),
        ("text/html", "one two"),
        (None, "one two"),
    ],
)
def test_plain_text_is_not_parsed(content_type: str | None, text: str) -> None:
    assert made(Page(URL, html=b"<p>one two", content_type=content_type)).text == text


def test_the_encoding_from_the_server_is_used() -> None:
    body = "<p>Ахиллес и черепаха".encode("koi8-r")
    assert made(Page(URL, html=body, content_type="text/html; charset=koi8-r")).text == "Ахиллес и черепаха"


def test_html_given_as_a_string_is_not_decoded() -> None:
    assert made(Page(URL, html='<meta charset="latin-1"><p>Grüße')).text == "Grüße"


def test_a_compressed_body_is_decoded() -> None:
    body = gzip.compress(b"<p>one two")
    coded, plain = made(Page(URL, html=body, codings=("gzip",))), made(Page(URL, html=b"<p>one two"))
    assert coded == plain


def test_failures_have_a_reason() -> None:
    page = Page(URL, html=gzip.compress(b"<p>" + bytes(range(97, 120)) * 40)[:-12], codings=("gzip",))
    failed = RecordMaker(SMALL).make(page)
    assert isinstance(failed, Failed)
    assert "gzip" in failed.reason
    assert failed.page is page


def test_a_page_without_text_is_skipped() -> None:
    assert RecordMaker(SMALL).make(Page(URL, html=b"<script>x</script>")) == Skipped(URL, "no text")


def test_a_revisit_is_a_known_duplicate() -> None:
    record = made(Page(URL, revisit_of="http://example.org/first", payload_digest="sha1:ABC"))
    assert (record.duplicate, record.duplicate_of, record.payload_digest) == (
        "revisit",
        "http://example.org/first",
        "sha1:ABC",
    )
    assert record.text == ""
    assert len(record.fingerprints) == record.shingle_count == 0


def test_a_file_name_decides_the_language_of_code() -> None:
    code = Recipe(scheme=Scheme.preset("code"))
    source = "# a comment\nx = 1\n" * 20
    python, other = (made(Page(f"{URL}{name}", text=source), code) for name in ("a.py", "a.c"))
    assert python.text_digest != other.text_digest


@pytest.mark.parametrize("page", [{}, {"html": "a", "text": "b"}, {"html": "a", "revisit_of": URL}])
def test_a_page_has_one_content(page: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="either html or text"):
        Page(URL, **page)  # type: ignore[arg-type]


def test_a_page_has_a_url() -> None:
    with pytest.raises(ValueError, match="needs a URL"):
        Page("", text="x")


def test_a_record_has_the_canonical_url_of_its_page() -> None:
    """Pages with the same bytes are parsed once, but a relative link is another URL on each of them."""
    maker = RecordMaker(SMALL)
    html = f"<link rel=canonical href='mill#top'><p>{PROSE}"
    pages = [Page(f"http://{host}.example/x", html=html) for host in "ab"]
    found = [maker.make(page) for page in pages]
    assert [each.canonical for each in found if isinstance(each, Record)] == [
        "http://a.example/mill",
        "http://b.example/mill",
    ]
    assert made(Page(URL, html=f"<base href='/d/'>{html}")).canonical == f"{URL}d/mill"
    assert made(Page(URL, html=f"<link rel=canonical href='javascript:x'><p>{PROSE}")).canonical is None
    assert made(Page(URL, html=PROSE)).canonical is None
    assert made(Page(URL, text=html)).canonical is None


def test_the_link_in_the_html_comes_before_that_in_the_header() -> None:
    linked = "<link rel=canonical href='{}'>" + PROSE
    assert made(Page(URL, html=linked.format("/html"), canonical="/header")).canonical == f"{URL}html"
    assert made(Page(URL, html=linked.format("data:x"), canonical="/header")).canonical == f"{URL}header"
    assert made(Page(URL, html=f"<base href=/d/>{PROSE}", canonical="header")).canonical == f"{URL}header"
    assert made(Page(URL, text=PROSE, canonical="/header")).canonical == f"{URL}header"
    assert made(Page(URL, text=PROSE, canonical="mailto:x")).canonical is None
