"""A small crawl of known near-duplicates: this file alone says which page has which paragraphs."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import capture_id

# None of them is a word that a family is searched by.
WORDS = """
able acre amber anchor answer apple arrow autumn baker barley basket beacon beech bell birch bishop blanket border
bottle branch bread bridge bright broad bronze brook brother bucket butter candle canvas carpet carriage castle cedar
chalk chapel cheese cherry chestnut church circle clay clerk cliff clock clover cobble copper corner cottage cotton
cradle cream crown cup daisy dawn deep desk distant dove drum dusk early east elder ember evening fair farmer feather
fence fern fiddle field flint flour forest forge fountain fox garden gate gentle glass golden grain granite grass
gravel green guild hammer hazel heather hedge heron hill hollow honey horse hour house island ivory ivy juniper kettle
kitchen ladder lake lamp lantern larch late lawn leather ledge letter lime linen little long maple marble market
marsh mason meadow merchant middle mirror morning moss mountain narrow needle nettle north oak oat old olive open
oven paper parish path pear pebble pencil pewter pigeon pine plain plank plough pond poplar porch quarry quiet quill
rafter rain raven reed ribbon ridge river road robin roof rope round rowan saddle salt sand sexton shallow shepherd
shingle shoulder shutter silver simple slate slope small smith smoke sparrow spire spring square stable stair station
steady stone stove straw stream street summer swallow table tailor tall tanner thatch thicket thistle thorn tide
timber tower trout tunnel upper valley velvet village vine violet wagon walnut warm wattle weaver well west wheat
wheel white wicker wide willow window winter wood wool yard yellow yew
""".split()  # noqa: SIM905 (so it can be read)


def paragraph(name: str, words: int = 60) -> str:
    """Return the same paragraph for the same name. Its first word is that of the name, so that a search finds it."""
    source = Random(name)
    chosen = [name.partition(" ")[0], *source.choices(WORDS, k=words - 1)]
    sentences = [chosen[start : start + 12] for start in range(0, words, 12)]
    return " ".join(" ".join(each).capitalize() + "." for each in sentences)


def paragraphs(name: str, count: int, first: int = 0) -> list[str]:
    return [paragraph(f"{name} {number}") for number in range(first, first + count)]


def at(month: int, day: int = 1) -> datetime:
    return datetime(2024, month, day, 12, tzinfo=UTC)


def capture(url: str, title: str | None, parts: list[str], fetched_at: datetime | None) -> Page:
    return Page(url, text="\n\n".join(parts), title=title, fetched_at=fetched_at)


MILL_TEXT = paragraphs("mill", 8)
HARBOUR_TEXT = paragraphs("harbour", 10)
SHUFFLED = [3, 0, 5, 1, 7, 2, 6, 4]  # the order of the mill's paragraphs there
QUOTE = " ".join(MILL_TEXT[4].split()[9:50])  # 41 words

MILL = "https://mill.example/"
MIRROR = "https://mirror.example/mill"  # an exact copy
SHOUTED = "https://copies.example/mill"  # the same letters, in capitals
NEAR = "https://news.example/mill"  # one paragraph of eight is another
MOVED = "https://blog.example/shuffled"  # all of it, in another order
CONTAINS = "https://archive.example/everything"  # all of it, and more than as much besides
CONTAINED = "https://school.example/extract"  # two paragraphs of it
QUOTES = "https://letters.example/quote"  # 41 words of it
HARBOUR = "https://harbour.example/"  # and below it, ever less of it
HARBOURS = ["https://sea.example/harbour", "https://coast.example/harbour", "https://port.example/harbour"]
ALONE = [f"https://farm.example/mill-{number}" for number in range(4)]  # each of its own words
NO_TIME = "https://orchard.example/someday"
NO_TITLE = "https://orchard.example/nameless"
SHORT = "https://orchard.example/short"  # too short for a fingerprint

PAGES = [
    capture(MILL, "The mill", [*MILL_TEXT[:6], *paragraphs("mill draft", 2)], at(1)),
    capture(MILL, "The mill", [*MILL_TEXT[:6], *paragraphs("mill draft", 2)], at(2)),  # unchanged
    capture(MILL, "The mill", [*MILL_TEXT[:7], *paragraphs("mill draft", 1, 1)], at(3)),
    capture(MILL, "The mill in the valley", MILL_TEXT, at(6)),
    capture(MIRROR, "The mill in the valley", MILL_TEXT, at(7)),
    capture(SHOUTED, "THE MILL", [each.upper() for each in MILL_TEXT], at(8)),
    capture(NEAR, "News of the mill", [*MILL_TEXT[:7], paragraph("mill news")], at(7, 15)),
    capture(
        MOVED,
        "The mill, told otherwise",
        [paragraph("mill before"), *(MILL_TEXT[number] for number in SHUFFLED), paragraph("mill after")],
        at(9),
    ),
    capture(CONTAINS, "Everything about the mill", [*paragraphs("mill archive", 12), *MILL_TEXT], at(9, 20)),
    capture(CONTAINED, "From the mill", MILL_TEXT[2:4], at(8, 9)),
    capture(QUOTES, "Letters", [*paragraphs("letters", 2), QUOTE, *paragraphs("letters", 2, 2)], at(10)),
    capture(HARBOUR, "The harbour", HARBOUR_TEXT, at(2, 3)),
    *(
        capture(url, f"Harbour, {left} of 10", [*HARBOUR_TEXT[:left], *paragraphs(f"harbour {left}", 10 - left)], at(3))
        for url, left in zip(HARBOURS, (9, 8, 7), strict=True)
    ),
    *(capture(url, f"Mill {number}", paragraphs(f"mill alone {number}", 3), at(4)) for number, url in enumerate(ALONE)),
    capture(NO_TIME, "An orchard", paragraphs("orchard", 3), None),
    capture(NO_TITLE, None, paragraphs("orchard nameless", 3), at(5)),
    capture(SHORT, "Short", ["An orchard, once."], at(5, 2)),
]  # fmt: skip

IDS = {page.url: capture_id(page.url, page.fetched_at) for page in PAGES}  # of the latest capture of each URL
TEXTS = {page.url: page.text or "" for page in PAGES}
EARLIER = [capture_id(page.url, page.fetched_at) for page in PAGES[:3]]  # captures of the mill
