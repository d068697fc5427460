"""The options that name the page or text of a question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any

import click

from opensearch_winnow.cli.options.declared_options import declared_option
from opensearch_winnow.cli.text_file import file_option, read_text_or_html
from opensearch_winnow.queries.asking.similar_options import SimilarQuestion

OPTIONS = (
    click.argument("url", required=False),
    file_option("--file", help="The question is the text of a UTF-8 or HTML file; - reads from a pipe."),
    click.option("--text", metavar="T", help="The question is this text."),
    declared_option(SimilarQuestion, "at"),
)


@dataclass(frozen=True, slots=True)
class PageOrText:
    """The page or text that a question is about: its URL, a file, or a text."""

    url: str | None
    file: str | None
    text: str | None
    at: datetime | None

    def keywords(self) -> dict[str, Any]:
        """Return the values of a question about it, by field. Reads the file."""
        text, html = (self.text, None) if self.file is None else read_text_or_html(self.file)
        return {"url": self.url, "text": text, "html": html, "at": self.at}


def question_options(*instead: str, hint: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the argument URL and the options --file, --text and --at; its function gets `about`.

    Exactly one page or text must be given, or one of the options `instead`, which `hint` names.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_question(
            url: str | None, file: str | None, text: str | None, at: datetime | None, **arguments: Any
        ) -> Any:
            given = (url, file, text, *(arguments[name] for name in instead))
            if sum(each is not None for each in given) != 1:
                ways = f"the URL of a page in the store, --file, or --text{hint}"
                raise click.UsageError(f"give exactly one question: {ways}")
            if at is not None and url is None:
                raise click.UsageError("--at chooses a capture of a URL: give the URL")
            return function(about=PageOrText(url, file, text, at), **arguments)

        decorated: Any = with_question
        for each in reversed(OPTIONS):
            decorated = each(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate
