"""What was found, in words; and where nothing was, why, and what would find something."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.answers.lower_threshold import LOOKED_AT, lower_threshold
from opensearch_winnow.answers.percent import compact_percent
from opensearch_winnow.cli.filter_options import chosen
from opensearch_winnow.cli.match_table import HEADS, score
from opensearch_winnow.index import Index
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.matches import Matches, Score


def pages_found(matches: Matches) -> str:
    if not matches.threshold:
        return f"{_share(matches.total)} a passage with it"
    count = "1 page" if matches.total == 1 else f"{matches.total:,} pages"
    return f"{count} {_condition(matches.score, matches.threshold)}"


def why_nothing(index: Index, question: dict[str, Any], minima: dict[str, float | None], matches: Matches) -> list[str]:
    """The reason in one line, and in another what would find something, if anything would."""
    pages = index.store.count()
    if not pages:
        return [f"No page found: {index.name} has none yet; winnow index SOURCE --store {index.name} puts them there"]
    reasons = [f"No page {_condition(matches.score, matches.threshold)}"]
    given = [name for name, value in minima.items() if value is not None]
    options = chosen(question["where"])
    if options:
        anywhere = index.similar(**question | minima | {"where": Filters(), "limit": 1}).total
        if anywhere:
            return [*reasons, f"Without {options} there {_are(anywhere)}"]
        reasons[0] += f", nor without {options}"
    if len(given) > 1:
        reasons[0] += f", with all of {', '.join(map(_option, given))}"
    nearest = index.similar(**question | {f"min_{matches.score}": 0.0, "limit": LOOKED_AT})
    if not nearest.matches:
        scheme = index.scheme
        run = f"{question['guarantee'] or scheme.t:,} {'tokens' if scheme.form == 'code' else 'canonical characters'}"
        reasons[0] += f": none of {pages:,} shares a passage with it (a run of {run} would be found for sure)"
    elif len(given) > 1:
        reasons.append(f"{_share(nearest.total)} a passage with it: --min-containment 0 alone lists them")
    else:
        reasons.append(_offer(nearest))
    return reasons


def _offer(nearest: Matches) -> str:
    """The highest round threshold that finds a page, and how many it finds."""
    scores = [score(match, nearest.score) for match in nearest]
    best = f"The nearest has {compact_percent(scores[0])}"
    lower = lower_threshold(scores, nearest.total)
    if lower is None:
        return f"{_share(nearest.total)} a passage with it: --min-containment 0 lists them"
    are = _are(lower.pages, "at least " * lower.at_least)
    option = f"{_option(f'min_{nearest.score}')} {lower.threshold:g}"
    return f"{best}; at {compact_percent(lower.threshold)} there {are}: {option}"


def _condition(asked: Score, threshold: float) -> str:
    if not threshold:
        return "that shares a passage with it"
    least = f"≥ {compact_percent(threshold)}"
    return {
        "resemblance": f"with {HEADS['resemblance']} {least}",
        "containment": f"with {least} of it",
        "contained": f"of which {least} is in it",
    }[asked]


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _are(count: int, about: str = "") -> str:
    return f"{'is' if count == 1 else 'are'} {about}{count:,}"


def _share(count: int) -> str:
    return "1 page shares" if count == 1 else f"{count:,} pages share"
