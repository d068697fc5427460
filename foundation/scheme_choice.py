"""The options that choose a fingerprinting scheme."""

from __future__ import annotations

from dataclasses import dataclass, replace

from opensearch_winnow.foundation.errors import SchemeError
from opensearch_winnow.foundation.option_kinds import FLAG, Kind, number, one_of
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.scheme import PRESETS, SELECTIONS, Scheme

DEFAULT = Scheme()
PRESET = one_of(*PRESETS)
SELECTION = replace(one_of(*SELECTIONS), allows=lambda _value: True)  # the scheme checks it
FIGURES = ", ".join(f"{name} {each.noise} and {each.guarantee}" for name, each in PRESETS.items())
START = f"Scheme to start from; other options override it. K and T of each: {FIGURES}."


def _length(most: int, metavar: str) -> Kind[int]:
    """Make a kind of lengths. The scheme checks them, not the kind: it reports all errors at once."""
    return replace(number(1, most, metavar), parse=int, allows=lambda _value: True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSchemeChoice(Options):
    """The choice of a scheme to compare texts with. If nothing is chosen, it may depend on their names."""

    error = SchemeError

    noise: int | None = option(
        None,
        _length(1_000_000, "K"),
        "Ignore shared runs of fewer than K canonical characters (letters and digits; tokens of code).",
        unset=f"{DEFAULT.noise}, or the preset's",
    )
    guarantee: int | None = option(
        None,
        _length(2_000_000, "T"),
        "Find every shared run of at least T canonical characters.",
        unset=f"{DEFAULT.guarantee}, or the preset's",
    )
    preset: str | None = option(
        None, PRESET, START, unset="programs for programs, otherwise pages, or that of the store"
    )
    fold_confusables: bool = option(
        False, FLAG, "Treat letters that look alike as one, such as a Cyrillic а and a Latin a (UTS #39)."
    )

    @property
    def scheme(self) -> Scheme | None:
        """The scheme; None if nothing was chosen."""
        chosen = {name: value for name, value in self.keywords().items() if value is not None and value is not False}
        return replace(Scheme.preset(chosen.pop("preset", "pages")), **chosen) if chosen else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSchemeChoice(TextSchemeChoice):
    """The choice of a scheme to index a source with. If nothing is chosen, it may depend on the names of its files."""

    selection: str | None = option(
        None, SELECTION, "How to select fingerprints from the k-grams.", unset=DEFAULT.selection
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeChoice(SourceSchemeChoice):
    """The choice of a scheme."""

    preset: str | None = option(None, PRESET, START, unset="pages")
