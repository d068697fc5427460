"""What can go wrong, for whoever wants to catch it: one base class, few children."""

from __future__ import annotations


class WinnowError(Exception):
    """Something that a user can mend; the message says what was wrong, with what, and what to do."""


class SchemeError(WinnowError, ValueError):
    """A scheme that cannot be, with every complaint about it."""
