"""Defines the base class of all errors, and errors that several rooms raise."""

from __future__ import annotations


class WinnowError(Exception):
    """An error that a user can correct. Its message says what was wrong, with what, and what to do."""


class SchemeError(WinnowError, ValueError):
    """A scheme with impossible values. The message lists all of them."""


class QuestionError(WinnowError):
    """A question that cannot be answered."""


class FileError(WinnowError):
    """A file that cannot be read or written, or that may not be replaced."""
