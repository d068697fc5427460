"""docs/names.md matches the code, and a thing has one name. `make docs` writes the page again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.names_reference import PAGE, updated
from tools.public_names import keys, option_names, parameters

pytestmark = pytest.mark.check  # the names of Spark's functions are read from them, too

# Other spellings of a name, which no parameter may have, and no key of an answer.
FORBIDDEN = {
    "t": "min_resemblance",
    "threshold": "min_resemblance or min_containment",
    "min_share": "min_containment",
    "minimum": "min_similarity, min_longest or min_score",
    "min": "min_words, min_pages, min_urls or min_similarity",
    "least": "min_urls or the like",
    "q": "words",
    "any": "any_word",
    "sort": "order",
    "out": "to",
    "output": "to",
}
# A clustering has a threshold, and writes its table to an output: these names had been fixed before.
EXCEPTIONS = {
    "threshold": ("winnow cluster", "Index.cluster", "GET /clusters", "Cluster", "LastClustering", "DemoReport"),
    "output": ("winnow cluster", "Index.cluster"),
    "min_share": ("Index.learn_boilerplate", "winnow boilerplate learn"),  # of the pages of a site, and no score
    "minimum": ("ApiParameter",),  # as in JSON Schema
}
# Parameters of a screen, which say how it shows an answer that has other options.
OF_SCREENS = {
    "page": "the part of a list",
    "from": "the first entry of a part",
    "view": "the tab",
    "others": "the pages in the columns of a table",
    "change": "the kind that is listed, of those that were counted",
    "watch": "the watch whose findings are listed",
}


def uses() -> Iterator[tuple[str, str]]:
    """Yield each name, and what has it: a function, a command, an address of the API or an answer."""
    for name, meanings in parameters().items():
        for each in meanings:
            yield from ((name, use) for use in (*each.python, *each.commands, *each.api))
            # The last spelling of a flag, such as --any of any_word.
            if spelt := max(each.flags, key=len, default="").lstrip("-").replace("-", "_"):
                yield from ((spelt, use) for use in each.commands)
    for name, described in keys().items():
        yield from ((name, f"{{{use}}}") for each in described for use in each.answers)


def test_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == updated(page), "run make docs to write it again"


def test_nothing_has_two_names() -> None:
    left = {
        (name, use)
        for name, use in uses()
        if name in FORBIDDEN and not use.lstrip("{").startswith(EXCEPTIONS.get(name, ()))
    }
    assert left == set()


def test_parameters_of_the_api_are_options() -> None:
    named = {name for name, meanings in parameters().items() if any(each.api for each in meanings)}
    assert named - option_names() - OF_SCREENS.keys() == set()
