"""The comparison of two texts as one HTML file: no script, and nothing from outside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice

from opensearch_winnow import __version__
from opensearch_winnow.answers.comparison_words import answer, three_numbers
from opensearch_winnow.answers.percent import percent
from opensearch_winnow.answers.printable import one_line
from opensearch_winnow.queries.compare import Comparison, Passage
from opensearch_winnow.queries.numbered_passages import NumberedPassage, numbered_passages
from opensearch_winnow.scheme import Scheme
from opensearch_winnow.web.compare_style import STYLE
from opensearch_winnow.web.marked_text import COLOURS, marked_text

CHIPS = 40  # passages that the head of the page lists; the rest is folded
RIBBONS = 150  # drawn, the longest first; more would be one grey block
# Each takes a rule of style, to show both sides of the passage that was jumped to; beyond, only the one side is shown.
OUTLINED = 200


def compare_html(
    a: tuple[str, str], b: tuple[str, str], comparison: Comparison, passages: Sequence[NumberedPassage], scheme: Scheme
) -> Iterator[str]:
    """The page in pieces. A and B are names and texts."""
    (name, text), (other_name, other) = a, b
    title = answer(text, other, comparison, passages)
    style = STYLE + "".join(islice(map(_outline, passages), OUTLINED))
    # Nothing may be loaded or run, but for the style of this page.
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    yield f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}: {_name(name)} and {_name(other_name)}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<dl class="numbers">
"""
    yield from (_number(label, share) for label, share in three_numbers(comparison))
    yield "</dl>\n"
    grey = numbered_passages(text, comparison.boilerplate)  # for their sizes: the numbers are not shown
    yield from _chips(passages, grey)
    yield '</header>\n<main class="panes">\n'
    yield from _pane("A", name, text, [each.passage[:2] for each in passages], [each.passage[:2] for each in grey])
    yield from _ribbons(len(text), len(other), passages, grey)
    yield from _pane(
        "B", other_name, other, [each.passage[2:] for each in passages], [each.passage[2:] for each in grey]
    )
    character, word = ("tokens", "tokens") if scheme.form == "code" else ("letters and digits", "words")
    rule = f"no run below {scheme.noise:,} {character} is shown, none of {scheme.guarantee:,} or more is missed"
    without = ", and no boilerplate: what is grey is in both, but no evidence" if grey else ""
    yield f"""</main>
<footer>Compared by winnow {escape(__version__)}, scheme {escape(scheme.id)}: {rule}. The percentages count runs of
{scheme.shingle:,} {word}{without}.</footer>
</body>
</html>
"""


def _name(name: str) -> str:
    return escape(one_line(name))


def _outline(each: NumberedPassage) -> str:
    number = each.number
    return f":root:has(#a{number}:target, #b{number}:target) .p{number} {{ outline: 2px solid var(--ink); }}\n"


def _number(label: str, share: float) -> str:
    bar = f'<rect class="track" width="100" height="5"/><rect class="fill" width="{100 * share:.1f}" height="5"/>'
    svg = f'<svg class="bar" viewBox="0 0 100 5" preserveAspectRatio="none" aria-hidden="true">{bar}</svg>'
    return f"<div><dt>{label[0].upper()}{label[1:]}</dt><dd>{percent(share)} {svg}</dd></div>\n".replace(
        " %", "&nbsp;%"
    )


def _chips(passages: Sequence[NumberedPassage], grey: Sequence[NumberedPassage]) -> Iterator[str]:
    if not passages and not grey:
        return
    yield '<nav class="chips" aria-label="Shared passages">\n'
    for index, each in enumerate(passages):
        if index == CHIPS:
            yield f"<details><summary>{len(passages) - CHIPS:,} more</summary>\n"
        colour = (each.number - 1) % COLOURS + 1
        facts = each.size + ", moved" * each.moved
        yield f'<a class="chip c{colour} p{each.number}" href="#a{each.number}"><b>{each.number}</b> {facts}</a>\n'
    yield "</details>\n" * (len(passages) > CHIPS)
    if grey:
        words = sum(each.words for each in grey)
        runs = "1 run" if len(grey) == 1 else f"{len(grey):,} runs"
        yield f'<span class="chip boilerplate">boilerplate: {runs}, {words:,} words</span>\n'
    yield "</nav>\n"


def _pane(
    letter: str, name: str, text: str, spans: Sequence[tuple[int, int]], boilerplate: Sequence[tuple[int, int]]
) -> Iterator[str]:
    yield f'<section class="pane" aria-label="Text {letter}" tabindex="0">\n<h2><b>{letter}</b>{_name(name)}</h2>\n'
    yield '<div class="text" lang="" dir="auto">'  # nothing is known of its language
    yield from marked_text(text, spans, side=letter.lower(), boilerplate=boilerplate)
    yield "</div>\n</section>\n"


def _ribbons(
    length: int, other_length: int, passages: Sequence[NumberedPassage], grey: Sequence[NumberedPassage]
) -> Iterator[str]:
    """Where each passage is in the one text and in the other, as in a map: the whole texts are as high as the panes."""
    yield '<svg class="ribbons" viewBox="0 0 100 1000" preserveAspectRatio="none" aria-hidden="true">\n'
    for each in _longest(grey):
        tip = f"<title>boilerplate: {each.size}</title>"
        yield f'<path class="boilerplate" d="{_ribbon(each.passage, length, other_length)}">{tip}</path>\n'
    for each in _longest(passages):
        colour = (each.number - 1) % COLOURS + 1
        tip = f"<title>{each.number}: {each.size}</title>"
        path = f'<path class="c{colour}" d="{_ribbon(each.passage, length, other_length)}">{tip}</path>'
        yield f'<a href="#b{each.number}" tabindex="-1">{path}</a>\n'
    yield "</svg>\n"


def _longest(passages: Sequence[NumberedPassage]) -> Sequence[NumberedPassage]:
    return sorted(passages, key=lambda each: each.passage.start - each.passage.end)[:RIBBONS]


def _ribbon(passage: Passage, length: int, other_length: int) -> str:
    start, end, other_start, other_end = passage
    top, bottom = 1000 * start / length, max(1000 * end / length, 1000 * start / length + 2)
    right, right_bottom = 1000 * other_start / other_length, 1000 * other_end / other_length
    right_bottom = max(right_bottom, right + 2)
    return (
        f"M0 {top:.1f}H15C50 {top:.1f} 50 {right:.1f} 85 {right:.1f}H100V{right_bottom:.1f}"
        f"H85C50 {right_bottom:.1f} 50 {bottom:.1f} 15 {bottom:.1f}H0Z"
    )
