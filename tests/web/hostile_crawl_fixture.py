"""Hostile pages, with attacks in every field that their authors control."""

from __future__ import annotations

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import capture_id
from tests.web.known_crawl_fixture import at, paragraphs

EVIL = (
    "<script>alert('text')</script><img src=x onerror=alert(1)> </textarea></title><svg onload=alert(2)> "
    "<a href=javascript:alert(3)>evil</a> {{ 7 * 7 }} ${7 * 7} &lt;b&gt; \" onmouseover=alert(4) ' "
    "\u202eevil\u202c \u2066\u200b \x00 \x1b[2J \x85 \ud800 \U000e0041 =cmd|' /C calc'!A0"
)
BODY = "\n\n".join(paragraphs("evil", 4))
TITLES = [
    "<script>alert('title')</script>",
    '"><img src=x onerror=alert(5)>',
    "\u202e\x00\ud800</title><h1>evil",
    "=1+1",
]
URLS = [
    "javascript:alert(document.domain)",
    'https://evil.example/"><script>alert(6)</script>',
    "data:text/html,<script>alert(7)</script>",
    "https://user:secret@evil.example:99999/\u202e\ud800",
    "file:///etc/passwd",
    "https://evil.example/javascript:alert(8)//\nhttp://evil.example/",
]

PAGES = [
    *(
        Page(
            url,
            text=f"{EVIL}\n\n{BODY}\n\n{EVIL} {number}",
            title=TITLES[number % len(TITLES)],
            fetched_at=at(1 + number),
        )
        for number, url in enumerate(URLS)
    ),
    Page(URLS[1], text=f"{EVIL}\n\n{BODY}", title="evil " * 5_000, fetched_at=at(11)),  # a later capture
    Page("https://evil.example/wide", text=f"evil {'x' * 1_000_000}", title="y" * 5_000, fetched_at=at(9)),
    Page(
        "https://evil.example/" + "z" * 3_000,
        html=f"<title>&lt;script&gt;alert(9)&lt;/script&gt;</title><p>evil <script>alert(10)</script>{BODY}",
        fetched_at=at(10),
    ),
]
IDS = [capture_id(page.url, page.fetched_at) for page in PAGES]
WIDE = IDS[-2]
