"""Sentences about the sources of a text: how much of it is on other pages, and how much is original."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import count_of, percent
from opensearch_winnow.operations.asking.sources import TextSources
from opensearch_winnow.queries.asking.matches import Matches


def quotes_summary(matches: Matches, found: TextSources) -> str:
    """Say how much of a pasted text is original: "23 % of your text is original"."""
    if matches.unscored:
        if not matches.total:
            return "No page that quotes this text was found in time"
        pages, compared = count_of(matches.total, "page quotes", "pages quote"), matches.candidates - matches.unscored
        return f"{pages} this text, of the {compared:,} that were compared in time"
    if not matches.total:
        return "No page contains that much of this text" if matches.min_score else "No page quotes this text"
    if found.original is None:
        return f"{count_of(matches.total, 'page quotes', 'pages quote')} this text"
    if not found.sources:
        return "No page quotes this text, apart from boilerplate"
    if not found.original:
        return "All of your text is on other pages" if not found.boilerplate else "None of your text is original"
    return f"{_capital(percent(found.original))} of your text is original"


def found_sentence(matches: Matches, found: TextSources) -> str:
    """Say how much of a pasted text is on how many pages: "77 % is on other pages: 2 sources, 65 pages"."""
    if not found.sources:
        return ""
    grey = f", {percent(found.boilerplate_share)} is boilerplate" if found.boilerplate else ""
    many = f"{count_of(len(found.sources), 'source')}, {count_of(matches.total, 'page')}"
    share = "" if not found.original and not grey else f"{_capital(percent(found.found))} is on other pages{grey}: "
    return f"{share}{many}"


def page_sentence(found: TextSources) -> str:
    """Say how much of a page other pages have: "38 % of this page is only here; 51 % is also on 3 other pages"."""
    if found.original is None:
        return ""
    if found.original == 1:
        return "None of this text is on the pages listed"
    parts = []
    if found.original:
        parts.append(f"{percent(found.original)} of this page is only here")
    if found.sources:
        what = "is also on" if parts else "of this page is also on"
        share = percent(found.found) if parts or found.boilerplate else "all"
        pages = sum(each.pages for each in found.sources)
        parts.append(f"{share} {what} {count_of(pages, 'other page')}")
    if found.boilerplate:
        parts.append(f"{percent(found.boilerplate_share)} is boilerplate")
    return _capital("; ".join(parts))


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
