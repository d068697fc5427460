"""The public formats of answers: the keys of JSON, and the columns of tables (tab-separated, CSV, JSON lines, Parquet).

They are recorded in tests/answer_formats.txt. A change there is a change of a public format, and needs a reason in
CHANGELOG.md. To record it, run `python -m tests.test_answer_formats`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, get_args

import opensearch_winnow
from opensearch_winnow.foundation.answer_keys import columns_of, is_answer, keys_of
from opensearch_winnow.foundation.answers import Answer, Listing, Tabular, row_class

RECORDED = Path(__file__).parent / "answer_formats.txt"
BASES = {Answer, Tabular, Listing}
OTHER_LIBRARIES = ("opensearch_winnow.clusters.spark", "opensearch_winnow.ingest.scrapy")  # which need not be there


def answer_classes() -> list[Any]:
    """Return all classes of answers of the package, by name, and the named tuples inside them."""
    for module in walk_packages(opensearch_winnow.__path__, "opensearch_winnow."):
        if not module.name.startswith(OTHER_LIBRARIES) and not module.name.endswith("__main__"):
            import_module(module.name)
    found: dict[str, Any] = {}
    waiting: list[Any] = list(subclasses(Answer))
    while waiting:
        cls = waiting.pop()
        if found.setdefault(cls.__name__, cls) is cls:
            inside = {each for key in keys_of(cls) for each in classes_in(key.type)}
            waiting += inside - set(found.values())
    return [found[name] for name in sorted(found)]


def subclasses(cls: Any) -> Iterator[Any]:
    for each in cls.__subclasses__():
        if each not in BASES and each.__module__.startswith("opensearch_winnow.") and keys_of(each):
            yield each
        yield from subclasses(each)


def classes_in(kind: Any) -> Iterator[type]:
    """Yield the classes of answers in a type."""
    if is_answer(kind):
        yield kind
    for each in get_args(kind):
        yield from classes_in(each)


def described(cls: Any) -> Iterator[str]:
    """Yield the lines that describe the formats of a class: its keys with their types, and the columns of its table."""
    yield cls.__name__
    for key in keys_of(cls):
        kind = key.type.__name__ if isinstance(key.type, type) else str(key.type)
        yield f"  {key.name}: {kind.replace('opensearch_winnow.', '').replace('typing.', '')}"
    if issubclass(cls, Tabular):
        row = row_class(cls)
        columns = ", ".join(f"{each.name} {each.type.__name__}" for each in columns_of(row))
        yield f"  table of {row.__name__}: {columns}"


def todays_formats() -> str:
    return "\n".join(line for cls in answer_classes() for line in described(cls)) + "\n"


def test_public_formats_are_those_that_are_recorded() -> None:
    assert todays_formats() == RECORDED.read_text(encoding="utf-8")


def test_every_key_of_an_answer_says_what_it_is() -> None:
    declared = [cls for cls in answer_classes() if issubclass(cls, Answer)]
    assert [f"{cls.__name__}.{key.name}" for cls in declared for key in keys_of(cls) if not key.help] == []


if __name__ == "__main__":
    RECORDED.write_text(todays_formats(), encoding="utf-8")
    sys.stdout.write(f"{RECORDED}\n")
