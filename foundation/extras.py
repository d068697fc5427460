"""Names the extra to install when an optional package is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opensearch_winnow.foundation.errors import WinnowError

PACKAGE_NAME = "opensearch-winnow"


class MissingExtraError(WinnowError, ImportError):
    """A package of an extra is not installed. The message says how to install it."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Raise a MissingExtraError that names the extra if an import inside fails for lack of a package.

    >>> with extra("web"):
    ...     import starlette
    """
    try:
        yield
    except MissingExtraError:
        raise
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "opensearch_winnow"):  # no package is missing: this is a bug
            raise
        raise MissingExtraError(
            f"{package} is not installed: pip install '{PACKAGE_NAME}[{name}]'", name=error.name
        ) from error
