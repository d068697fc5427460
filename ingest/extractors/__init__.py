"""From HTML to the text that a reader sees: by one of several extractors, ours or of other packages.

An extractor is found by its name, as an entry point of the group `opensearch_winnow.extractors`: a function that takes
`alt` and returns the extractor.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import NamedTuple, Protocol

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.extras import PACKAGE_NAME

GROUP = "opensearch_winnow.extractors"


class Extracted(NamedTuple):
    text: str  # "" when there is none
    title: str | None


Extractor = Callable[[bytes], Extracted]
"""Takes HTML in UTF-8."""


class Factory(Protocol):
    def __call__(self, alt: bool) -> Extractor:
        """`alt`: the words that stand for pictures are text too, if it knows how."""


class ExtractError(WinnowError):
    """A page that the extractor could not read. The message is short, to be counted with others."""


def extractor_names() -> list[str]:
    """The extractors there are, though the package that one needs may be missing."""
    return sorted(entry_points(group=GROUP).names)


def extractor(name: str, alt: bool = False) -> Extractor:
    """The extractor of this name. What it raises is an ExtractError, whatever went wrong."""
    found = entry_points(group=GROUP, name=name)
    if not found:
        raise WinnowError(f"there is no extractor {name!r}: choose one of {', '.join(extractor_names())}")
    entry = next(iter(found))
    try:
        factory: Factory = entry.load()
        extract = factory(alt=alt)
    except ImportError as error:
        theirs = entry.dist.name if entry.dist else PACKAGE_NAME
        package = f'"{PACKAGE_NAME}[{name}]"' if theirs == PACKAGE_NAME else error.name or theirs
        why = str(error).partition("\n")[0]
        raise WinnowError(
            f"the extractor {name!r} needs what is not installed ({why}): pip install {package}"
        ) from error

    def guarded(html: bytes) -> Extracted:
        try:
            text, title = extract(html)
        except ExtractError:
            raise
        except Exception as error:  # of others' code, on pages that nobody has seen before
            raise ExtractError(f"extractor {name}: {type(error).__name__}") from error
        if not isinstance(text, str):
            raise ExtractError(f"extractor {name}: gives {type(text).__name__} for a text")
        return Extracted(text, title)

    return guarded
