"""From a text and a scheme to its canonical text: the one place that knows all forms."""

from __future__ import annotations

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.foundation.scheme import Scheme


def canonical(text: str, scheme: Scheme, *, name: str | None = None) -> CanonicalText:
    """The text as the scheme compares it.

    `name` is the path or URL that it came from, which tells the language of code; other forms do not look at it.
    """
    if scheme.form != "code" or not isinstance(text, str):  # who gives bytes is told so there
        return canonical_text(text, consonants=scheme.consonants)
    from opensearch_winnow.foundation.code_tokens import code_text  # noqa: PLC0415 (only who compares code waits for Pygments)

    return code_text(text, name)
