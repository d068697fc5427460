"""What visible_text.pyx computes, in plain Python: short, slow, and written to be read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def names(text: str) -> set[str]:
    return set(text.split())


# Elements on lines of their own.
LINE = names(
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html isindex legend li main marquee menu multicol"
    " nav noframes ol optgroup option p search section select summary table tbody tfoot thead title tr ul"
)
# Elements that preserve white space, on lines of their own.
VERBATIM = names("listing plaintext pre textarea xmp")
# Elements that are drawn apart from the text around them, so words end there. `noscript` holds the whole text of some
# pages that scripts draw. A `template` reaches this code only if it is drawn, or never closed. Other names are inline.
WORD = names(
    "area audio button canvas embed image img input label meter noscript object progress svg td template text th tspan"
    " video"
)
IMAGE = {"area", "image", "img", "input"}
# Invisible elements, and those whose markup libxml2 reports as text. `annotation` is the source of a formula.
SKIPPED = {"annotation", "annotation-xml", "iframe", "noembed", "script", "style"}
SVG_ONLY = {"title", "desc", "metadata"}  # skipped inside an svg element

SPACE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85"
HARD_SPACE = "\xa0"  # a space that does not collapse
GAP = "\0"  # marks the end of a word
DROPPED = {code: None for code in [*range(0x20), *range(0x7F, 0xA0)] if chr(code) not in SPACE}


class VisibleText:
    """Collects the text of a page from parser events, as the compiled class does."""

    def __init__(self, *, alt: bool = False) -> None:
        self.alt = alt
        self.clear()

    def clear(self) -> None:
        self.blocks: list[tuple[str, bool]] = []  # each with whether it is verbatim
        self.block = ""
        self.titles: list[str] = []
        self.noframes = ""
        self.links: dict[str, str] = {}  # the addresses of a canonical link, and of a base
        self.verbatim = self.svg = 0
        self.after_link = False
        self.inside: list[str] = []  # open elements of the same name whose content is not text of the page

    def start(self, tag: str, attrib: Mapping[str, str]) -> None:
        if self.inside:
            self.inside += [tag] * (tag == self.inside[0])
            return
        self.boundary(tag)
        if tag == "a" and self.after_link:
            self.block += GAP
        elif tag in VERBATIM:
            self.verbatim += 1
        elif tag == "svg":
            self.svg += 1
        elif tag in SKIPPED or tag in ("title", "noframes") or (self.svg and tag in SVG_ONLY):
            self.inside = [tag]
            if tag == "title" and not self.svg:
                self.titles.append("")
            elif tag == "noframes":
                self.noframes += "\n"
        elif tag == "link" and "canonical" in attrib.get("rel", "").lower().split() and "href" in attrib:
            self.links.setdefault("canonical", attrib["href"])
        elif tag == "base" and "href" in attrib:
            self.links.setdefault("base", attrib["href"])
        elif self.alt and tag in IMAGE and (tag != "input" or attrib.get("type", "").lower() == "image"):
            self.data(attrib.get("alt", ""))
            self.block += GAP

    def end(self, tag: str) -> None:
        if self.inside:
            if tag == self.inside[0]:
                self.inside.pop()
            return
        self.boundary(tag)
        if tag == "a":
            self.after_link = True
        elif tag in VERBATIM:
            self.verbatim = max(0, self.verbatim - 1)
        elif tag == "svg":
            self.svg = max(0, self.svg - 1)

    def boundary(self, tag: str) -> None:
        if tag in LINE or tag in VERBATIM:
            self.blocks.append((self.block, self.verbatim > 0))
            self.block = ""
        elif tag in WORD:
            self.block += GAP

    def data(self, text: str) -> None:
        kept = text.translate(DROPPED)
        if not self.inside:
            self.block += kept
            if kept.strip(SPACE + HARD_SPACE):
                self.after_link = False
        elif self.inside[0] == "title" and not self.svg:
            self.titles[-1] += kept
        elif self.inside[0] == "noframes":
            self.noframes += text

    def close(self) -> tuple[str, str, str, str, str]:
        blocks = [*self.blocks, (self.block, self.verbatim > 0)]
        lines = [verbatim_text(block) if verbatim else collapse(block) for block, verbatim in blocks]
        titles = [*filter(None, map(collapse, self.titles)), ""]
        links = self.links.get("canonical", ""), self.links.get("base", "")
        result = "\n".join(filter(None, lines)), titles[0], self.noframes.strip(), *links
        self.clear()
        return result


def fill_gaps(block: str) -> str:
    """Replace each GAP by a space, unless there is white space beside it."""
    gaps = f"[{SPACE}{HARD_SPACE}{GAP}]*{GAP}[{SPACE}{HARD_SPACE}{GAP}]*"
    return re.sub(gaps, lambda gap: gap[0].replace(GAP, "") or " ", block.strip(GAP))


def collapse(block: str) -> str:
    return re.sub(f"[{SPACE}]+", " ", fill_gaps(block)).replace(HARD_SPACE, " ").strip(" ")


def verbatim_text(block: str) -> str:
    block = re.sub(f"[{HARD_SPACE}\v\f\x1c-\x1f\x85]", " ", fill_gaps(block).replace("\r", "\n"))
    return block.lstrip("\n").rstrip("\t\n ")
