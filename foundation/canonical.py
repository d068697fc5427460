"""Makes the canonical text of a text, in the form that a scheme sets."""

from __future__ import annotations

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.foundation.scheme import Scheme


def canonical(text: str, scheme: Scheme, *, name: str | None = None) -> CanonicalText:
    """Return the canonical text of `text` in the form of the scheme.

    `name` is its path or URL, which decides the language of code; the other forms ignore it.
    """
    if scheme.form != "code" or not isinstance(text, str):  # canonical_text refuses bytes with a clear message
        return canonical_text(text, consonants=scheme.consonants, fold_confusables=scheme.fold_confusables)
    from opensearch_winnow.foundation.code_tokens import code_text  # noqa: PLC0415 (Pygments is slow to import)

    return code_text(text, name)
