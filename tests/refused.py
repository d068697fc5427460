"""Checks that calls are refused, one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def refused(
    error: type[BaseException], words: str, call: Callable[..., object], *arguments: Any, **options: Any
) -> None:
    """Check that a call raises `error`, and that its message has `words`, a regular expression."""
    with pytest.raises(error, match=words or None):
        call(*arguments, **options)
