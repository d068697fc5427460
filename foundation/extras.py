"""Packages that not every installation has, and the extra that brings each of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opensearch_winnow.foundation.errors import WinnowError

OURS = "opensearch-winnow"


class MissingExtraError(WinnowError, ImportError):
    """A package is missing that comes with an extra; the message says how to install it."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Name the extra to install if an import fails for want of a package.

    >>> with extra("web"):
    ...     import starlette
    """
    try:
        yield
    except MissingExtraError:
        raise
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "opensearch_winnow"):  # no package is missing: the fault is ours
            raise
        raise MissingExtraError(f"{package} is not installed: pip install '{OURS}[{name}]'", name=error.name) from error
