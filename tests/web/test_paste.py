"""The paste screen over HTTP: a pasted text and the pages that quote it."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import lxml.html
import pytest

from opensearch_winnow import Index, compare
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate
from tests.web.conftest import Serve, Unclustered
from tests.web.known_crawl_fixture import CONTAINS, IDS, MILL, MILL_TEXT, MIRROR, QUOTE, QUOTES, TEXTS, paragraph
from tests.web.served_fixture import Reply, Served

OWN = paragraph("nobody else has written this")


def paste(served: Served, text: str) -> str:
    """Paste a text and return the address of its results."""
    reply = served.form("/paste", text=text)
    assert reply.status == 303, reply.text
    return reply.headers["location"]


def send_file(served: Served, content: bytes, name: str) -> Reply:
    line = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    parts = [b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n', f"\r\n--x\r\n{line}\r\n\r\n".encode()]
    body = b"".join((*parts, content, b"\r\n--x--\r\n"))
    return served.send("/paste", body, content_type="multipart/form-data; boundary=x")


def test_who_quotes_a_text(served: Served) -> None:
    text = f"{OWN}\n\n{QUOTE}\n\n{OWN.upper()}"
    path = paste(served, text)
    page = served.get(path)
    found = served.json(f"{path}.json")
    quoted = len(canonical_text(QUOTE).chars) / len(canonical_text(text).chars)
    assert page.heading == found["answer"] == f"{1 - quoted:.0%} of your text is original".replace("%", " %")
    assert f"{100 * quoted:.0f} % is on other pages: 1 source, {found['total']} pages" in page.text
    comparisons = {url: compare(text, other) for url, other in TEXTS.items()}
    assert {each["url"] for each in found["matches"]} == {url for url, both in comparisons.items() if both.passages}
    for match in found["matches"]:
        both = comparisons[match["url"]]
        for name in ("containment", "resemblance", "contained"):
            assert match[name] == getattr(both, name)
        assert [tuple(each.values()) for each in match["passages"]] == both.passages
        assert f'href="{path.replace("/paste/", "/compare/")}/{match["id"]}"' in page.text
    ((source,), (run,)) = found["sources"], found["runs"]
    (segment,) = source["segments"]
    quote = text[segment["start"] : segment["end"]]
    assert canonical_text(quote).chars == canonical_text(QUOTE).chars
    assert (run["pages"], source["longest_words"], found["boilerplate"]) == (found["total"], 41, 0)
    assert source["share"] + found["original"] == pytest.approx(1)
    (marked,) = re.findall(r'<mark class="c1 p1" data-passages="1">(.*?)</mark>', page.text, re.DOTALL)
    assert marked == f'<a class="n" id="p1" href="#s1">1</a>{quote}'
    for again in (f"{path}.json", path.replace("/paste/", "/api/v1/quotes/")):  # it can be loaded again
        assert served.json(again)["matches"] == found["matches"]


def test_the_same_for_programs(served: Served) -> None:
    text = f"{OWN}\n\n{QUOTE}"
    kept = served.json(f"{paste(served, text)}.json")
    sent = served.post("/api/v1/quotes", {"text": text}).json
    assert sent["text"] is None
    for name in ("answer", "total", "runs", "matches", "words", "characters", "sources", "original"):
        assert sent[name] == kept[name]
    markup = f"<html><title>x</title><script>{MILL_TEXT[0]}</script><p>{OWN}<p>{QUOTE}"
    of_html = served.post("/api/v1/quotes?limit=2", {"html": markup}).json
    assert of_html["text"].split() == text.split()
    assert of_html["total"] == kept["total"]
    assert len(of_html["matches"]) == 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{}", "no text to look for"),
        (b'{"text": "  "}', "no text to look for"),
        (b'{"text": 1}', "cannot be read"),
        (b"[", "cannot be read"),
        (b'{"html": "<p>"}', "has no words to look for"),
    ],
)
def test_programs_are_told_what_is_wrong(served_file: Served, body: bytes, words: str) -> None:
    reply = served_file.send("/api/v1/quotes", body, content_type="application/json")
    assert (reply.status, words in reply.json["error"]) == (400, True)


@pytest.mark.parametrize(
    ("text", "size", "found"),
    [
        ("An orchard, <never>.", 14, "No page has all of these words"),
        ("mill", 4, "11 pages have this word"),
        (" ".join(MILL_TEXT[4].split()[9:12]), 13, "7 pages have these words in a row"),
        ("An orchard, once.", 13, "1 page has these words in a row"),  # all of a page, and no copy either
    ],
)
def test_a_text_that_is_too_short_is_searched_for(served_file: Served, text: str, size: int, found: str) -> None:
    path = paste(served_file, text)
    page = served_file.get(path)
    sentence = f"Too short to check for copies: it has {size} letters and digits, and at least 50 are needed"
    assert page.heading == sentence
    shown = page.tree
    assert shown.findtext(".//textarea") == text
    assert shown.find_class("lead")[0].text_content().startswith(f"{found}.")
    assert not re.search(r"100 %|copy of|version|source|original", shown.get_element_by_id("main").text_content())
    kept = served_file.json(f"{path}.json")
    sent = served_file.post("/api/v1/quotes", {"text": text}).json
    for document in (kept, sent):
        assert (document["answer"], document["too_short"]) == (sentence, True)
        assert (document["matches"], document["sources"], document["original"]) == ([], [], None)
        total = document["search"]["total"]
        assert found.startswith(str(total or "No page"))
        if total:
            (address,) = shown.xpath("//a[text()='Search for these words']/@href")
            assert parse_qs(urlsplit(address).query) == {"words": [document["search"]["words"]]}
            assert served_file.json(address.replace("/search", "/search.json"))["total"] == total
            assert len(shown.find_class("hit")) == min(total, 5)


def test_files_are_text_or_html_by_what_is_in_them(served_file: Served) -> None:
    expected = served_file.json(f"{paste(served_file, QUOTE)}.json")["total"]
    for content, name in (
        (QUOTE.encode(), "quote.txt"),
        (QUOTE.encode("utf-16"), "quote.txt"),
        (f"<!doctype html><p>{QUOTE}".encode(), "quote"),
        (f"<p>{QUOTE}".encode(), "quote.html"),
    ):
        reply = send_file(served_file, content, name)
        assert reply.status == 303
        found = served_file.json(f"{reply.headers['location']}.json")
        assert (found["total"], found["characters"]) == (expected, len(QUOTE))
        assert name in served_file.get(reply.headers["location"]).text
    assert send_file(served_file, b"", "").status == 400


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (b"%PDF-1.4 \x00\x01", "quote.pdf", "a PDF"),
        (b"%PDF-1.4\n1 0 obj", "quote.txt", "a PDF"),
        (b"PK\x03\x04\x14\x00[Content_Types].xml", "quote.docx", "a Word document"),
        (b"PK\x03\x04\x14\x00 xl/workbook.xml", "quote", "an Excel workbook"),
        (b"PK\x03\x04\x14\x00 mimetypeapplication/vnd.oasis.opendocument.text", "quote.bin", "an OpenDocument text"),
        (b"PK\x03\x04\x14\x00 pages", "quote.zip", "a ZIP archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "quote.DOC", "a Word document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "quote", "an Office document"),
        (b"\x89PNG\r\n\x1a\n\x00", "quote.png", "an image"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "quote.webp", "an image"),
        (b"{\\rtf1 quote}", "quote.rtf", "an RTF document"),
        (b"\x00\x01\x02", "quote.bin", None),
    ],
)
def test_a_file_without_text_is_refused_by_its_kind(
    served_file: Served, content: bytes, name: str, kind: str | None
) -> None:
    reply = send_file(served_file, content, name)
    assert reply.status == 400
    (fault,) = reply.tree.xpath("//*[@role='alert']")
    what = f"is {kind}" if kind else "is not a text file"
    assert fault.text_content().startswith(f"{name} {what}.")
    assert reply.tree.xpath("//input[@type='file']/@aria-describedby") == [fault.get("id")]


@pytest.mark.check
def test_what_was_typed_stays_in_the_form(served_file: Served) -> None:
    for text, words in (
        ("", "There is no text to look for"),
        ("<html><p> </p>", "no words to look for"),
        ("!!!", "no words to look for"),
        ("a < b & c " * 1_100_000, "larger than 10 MB"),
    ):
        reply = served_file.form("/paste", text=text)
        assert reply.status == 400
        page = lxml.html.document_fromstring(reply.body, parser=lxml.html.HTMLParser(huge_tree=True))
        (field,) = page.xpath("//textarea")
        assert (field.text or "") == text
        assert field.get("aria-describedby") == "fault needed"
        assert words in page.get_element_by_id("fault").text_content()


def test_pasted_html_is_read_as_a_page_and_runs_nothing(served_file: Served) -> None:
    hostile = "<html><body><script>alert(1)</script><img src=x onerror=alert(1)>"
    page = served_file.get(paste(served_file, f"{hostile}<p>{QUOTE} &lt;script&gt;alert(2)&lt;/script&gt;"))
    assert "&lt;script&gt;alert(2)" in page.text
    assert "onerror" not in page.text
    assert "alert(1)" not in page.text
    as_text = served_file.get(paste(served_file, f"{QUOTE} {hostile}"))
    assert "&lt;img src=x onerror=alert(1)&gt;" in as_text.text
    assert "<img" not in as_text.text


def test_nothing_found_says_why_and_what_would_find_something(served_file: Served) -> None:
    text = " ".join(word[::-1] for word in OWN.split()) + " merchant shoulder"
    page = served_file.get(paste(served_file, text))
    assert page.heading == "No page quotes this text"
    assert "A shared passage of 149 letters and digits or more would have been found" in page.text
    (offer,) = re.findall(r'<a href="(/search\?[^"]+)"', page.text)
    assert "<h1>No page" not in served_file.get(html.unescape(offer)).text
    path = paste(served_file, f"{OWN} {QUOTE}")
    narrowed = served_file.get(f"{path}?min_containment=0.9")
    assert narrowed.heading == "No page contains that much of this text"
    assert f'<a href="{path}">' in narrowed.text
    assert served_file.get(path).heading.endswith("of your text is original")
    assert served_file.get(f"{path}?site=farm.example").heading == "No page quotes this text"


def test_all_of_it(served_file: Served) -> None:
    found = served_file.json(f"{paste(served_file, MILL_TEXT[0])}.json")
    whole = [each for each in found["matches"] if each["containment"] == 1]
    assert {MILL, MIRROR, CONTAINS} <= {each["url"] for each in whole}
    assert found["matches"] == sorted(found["matches"], key=lambda each: -each["containment"])
    assert (found["answer"], found["original"]) == ("All of your text is on other pages", 0)


def test_the_list_is_bounded_and_says_so(served_file: Served) -> None:
    path = paste(served_file, QUOTE)
    total = served_file.json(f"{path}.json")["total"]
    page = served_file.get(f"{path}?limit=2").text
    assert f"Counted on the best 2 of {total} pages." in page
    assert len(served_file.get(f"{path}.csv").rows) == total
    assert served_file.get(f"{path}?limit=1001").status == 400


def test_it_is_compared_with_a_page(served_file: Served) -> None:
    text = f"{OWN} {QUOTE}"
    path = paste(served_file, text)
    compared = f"/compare/{path.removeprefix('/paste/')}/{IDS[QUOTES]}"
    found = served_file.json(f"/api/v1{compared}")
    assert (found["resemblance"], found["a"]["url"]) == (compare(text, TEXTS[QUOTES]).resemblance, None)
    assert f'href="{path}" title="Your text"' in served_file.get(compared).text


def test_what_is_kept_no_longer(served_file: Served) -> None:
    reply = served_file.get(f"/paste/pasted-{'0' * 32}")
    assert (reply.status, "This text has expired" in reply.text) == (404, True)


def test_boilerplate_is_left_out_or_not(own_file: Path, serve: Serve) -> None:
    with Index.open(own_file) as index:
        assert isinstance(index.add_boilerplate("quote", QUOTE), Boilerplate)
    served = serve(own_file)
    path = paste(served, f"{OWN} {QUOTE}")
    assert served.json(f"{path}.json")["total"] == 0
    assert served.json(f"{path}.json?boilerplate=off")["total"] > 0


def test_an_empty_store(unclustered: Unclustered, serve: Serve) -> None:
    served = serve(unclustered([]))
    for path in ("/paste", "/", "/clusters"):
        assert "This store is empty" in served.get(path).text
    assert served.get(paste(served, QUOTE)).heading == "No page quotes this text"
