"""Answers that are described once: their classes declare keys, types and sentences.

JSON values, the schema of the API, the columns of tables (tab-separated, CSV, Parquet) and the reference pages are made
from the declarations by `foundation/answer_keys.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    get_type_hints,
    overload,
)

from opensearch_winnow.foundation.answer_keys import KEY, Declared, HasKeys, ToCell, columns_of, to_json_object
from opensearch_winnow.foundation.extras import extra

if TYPE_CHECKING:
    import pandas
    import pyarrow

T = TypeVar("T")
Entry_co = TypeVar("Entry_co", covariant=True)
Method = TypeVar("Method", bound=Callable[[Any], Any])


@overload
def key(help: str, *, name: str = "", column: ToCell | None = None) -> Any: ...
@overload
def key(help: str, *, name: str = "", column: ToCell | None = None, optional: bool = False, default: T) -> T: ...
@overload
def key(help: str, *, name: str = "", column: ToCell | None = None, default_factory: Callable[[], T]) -> T: ...
def key(
    help: str,  # noqa: A002 (as in an option)
    *,
    name: str = "",
    column: ToCell | None = None,
    optional: bool = False,
    default: Any = MISSING,
    default_factory: Any = MISSING,
) -> Any:
    """Declare a field of an answer as a key. `help` is a sentence.

    The key has the name of the field, or `name`. `column` makes a cell of a value that is not a cell, such as a
    list. An `optional` key is absent from a JSON object, instead of null.
    """
    declared = Declared(help, name, column, optional=optional)
    return field(default=default, default_factory=default_factory, metadata={KEY: declared})


def listed(help: str) -> Any:  # noqa: A002
    """Declare the field with the entries of a `Listing` as a key."""
    return field(metadata={KEY: Declared(help, listed=True)})


def inlined(*names: str, optional: bool = False) -> Any:
    """Declare a field of an answer whose own keys, or fields and properties with these names, are keys of that answer.

    The answer's own key replaces an inlined key of the same name. If the field is None, the keys are null; `optional`
    keys are absent then.
    """
    return field(metadata={KEY: Declared(inlined=True, names=names, optional=optional)})


@overload
def derived(function: Method) -> Method: ...
@overload
def derived(*, name: str = "", column: ToCell | None = None, first: bool = False) -> Callable[[Method], Method]: ...
def derived(function: Any = None, *, name: str = "", column: ToCell | None = None, first: bool = False) -> Any:
    """Declare a property of an answer as a key; its docstring describes the key. Write `@property` above it.

    The key has the name of the property, or `name`. It comes after the fields, unless it is `first`.
    """

    def decorate(method: Any) -> Any:
        sentence = " ".join((inspect.getdoc(method) or "").split())
        setattr(method, KEY, Declared(sentence, name, column, first=first))
        return method

    return decorate if function is None else decorate(function)


@overload
def answer(cls: type[T], /) -> type[T]: ...
@overload
def answer(*, frozen: bool) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(key, listed, inlined, field))
def answer(cls: Any = None, /, *, frozen: bool = True) -> Any:
    """Make a class a dataclass whose fields may be keys. It is frozen, unless a run counts up the values."""
    decorate = dataclass(frozen=frozen, slots=True)
    return decorate if cls is None else decorate(cls)


class Answer(HasKeys):
    """Base class of answers. Their keys are fields declared with `key`, and properties declared with `derived`.

    Usage:

        @answer
        class Match(Answer):
            card: Card = inlined()
            resemblance: float = key("The shared text, as a share of the text of both.")

            @property
            @derived(column=len)
            def passages(self) -> list[Passage]: ...
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return to_json_object(self)

    def extended(self, cls: type[T], **others: Any) -> T:
        """Return an answer of a subclass with the values of this answer and `others`."""
        own: Any = self
        return cls(**{each.name: getattr(self, each.name) for each in fields(own)}, **others)


class Tabular(Answer):
    """An answer that is also a table."""

    __slots__ = ()
    row: ClassVar[type | None] = None  # the class of the rows; a listing sets it only if its rows are not its entries

    def rows(self) -> Iterable[Any]:
        """Return the rows of a table of this answer."""
        raise NotImplementedError

    def to_arrow(self) -> pyarrow.Table:
        """Return the rows as an Arrow table (extra `parquet`)."""
        with extra("parquet"):
            import pyarrow as pa  # noqa: PLC0415 (an extra)
        columns = columns_of(row_class(type(self)))
        kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
        schema = pa.schema([(each.name, kinds[each.type]) for each in columns])
        rows = [[each.cell(row) for each in columns] for row in self.rows()]
        cells = zip(*rows, strict=True) if rows else ([] for _ in columns)
        return pa.table([pa.array(some, kind.type) for some, kind in zip(cells, schema, strict=True)], schema=schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a data frame of pandas (extra `parquet`, and pandas)."""
        return self.to_arrow().to_pandas()


class Listing(Tabular, Generic[Entry_co]):
    """An answer that is a list of others, and behaves like one. They are in the field declared with `listed`."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry_co]:
        return iter(self._entries)

    @overload
    def __getitem__(self, index: int) -> Entry_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry_co]: ...
    def __getitem__(self, index: int | slice) -> Entry_co | Sequence[Entry_co]:
        return self._entries[index]

    @property
    def _entries(self) -> Sequence[Entry_co]:
        own: Any = type(self)
        return cast("Sequence[Entry_co]", getattr(self, listed_name(own)))

    def rows(self) -> Iterable[Any]:
        """Return the rows of a table of this answer: its entries, unless a subclass says otherwise."""
        return self


@cache
def listed_name(cls: Any) -> str:
    """Return the name of the field that has the entries of a listing."""
    (found,) = (each.name for each in fields(cls) if (some := each.metadata.get(KEY)) is not None and some.listed)
    return found


def row_class(cls: Any) -> type:
    """Return the class of the rows of a table."""
    return cast("type", cls.row or get_args(get_type_hints(cls)[listed_name(cls)])[0])
