"""The options that choose a fingerprinting scheme, by names. Commands take `declared_options(SchemeChoice)` instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.scheme_choice import SchemeChoice, SourceSchemeChoice, TextSchemeChoice

noise, guarantee, preset, preset_by_names = "noise", "guarantee", "preset", "preset_by_names"
selection, fold_confusables = "selection", "fold_confusables"


def scheme_options(*names: str, optional: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these options; its function gets the resulting `scheme`.

    With `optional`, it gets None if the user gave none of the options.
    """
    by_names = SourceSchemeChoice if selection in names else TextSchemeChoice
    cls = by_names if preset_by_names in names else SchemeChoice

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_scheme(choice: TextSchemeChoice, **arguments: Any) -> Any:
            return function(scheme=choice.scheme or (None if optional else Scheme()), **arguments)

        return declared_options(cls, "choice")(with_scheme)

    return decorate
