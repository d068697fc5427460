"""Loads extractors, which find the visible text in HTML: our own, and plug-ins of other packages.

The name of an extractor is an entry point of the group `opensearch_winnow.extractors`: a function that takes `alt` and
returns the extractor.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import NamedTuple, Protocol

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.extras import PACKAGE_NAME

GROUP = "opensearch_winnow.extractors"


class Extracted(NamedTuple):
    """The parts of a page that an extractor finds."""

    text: str  # "" if there is none
    title: str | None
    canonical: str = ""  # the address in `<link rel="canonical">`, as it is written
    base: str = ""  # the address in `<base>`, which the canonical one may be relative to


Extractor = Callable[[bytes], Extracted]
"""Takes HTML in UTF-8."""


class Factory(Protocol):
    def __call__(self, alt: bool) -> Extractor:
        """Return an extractor. With `alt`, it takes the alternative text of images as text, if it can."""


class ExtractError(WinnowError):
    """A page that the extractor could not read. The message is a reason, by which pages are counted."""


def extractor_names() -> list[str]:
    """Return the names of all extractors. The package that one needs may be missing."""
    return sorted(entry_points(group=GROUP).names)


def extractor(name: str, alt: bool = False) -> Extractor:
    """Return the extractor `name`, wrapped so that it raises nothing but ExtractError."""
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
            f"the extractor {name!r} needs a package that is not installed ({why}): pip install {package}"
        ) from error

    def guarded(html: bytes) -> Extracted:
        try:
            found = Extracted(*extract(html))
        except ExtractError:
            raise
        except Exception as error:  # plug-ins may raise anything
            raise ExtractError(f"extractor {name}: {type(error).__name__}") from error
        if not isinstance(found.text, str):
            raise ExtractError(f"extractor {name}: gives {type(found.text).__name__} for a text")
        return found

    return guarded
