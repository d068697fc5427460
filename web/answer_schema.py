"""Converts classes of answers to types of which msgspec makes schemas for the OpenAPI document."""

from __future__ import annotations

import types
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, NotRequired, TypedDict, Union, get_args, get_origin

from msgspec import Meta

from opensearch_winnow.foundation.answer_keys import Key, is_answer, keys_of


@cache
def json_type(kind: Any) -> Any:
    """Return the type of a type's JSON values; for an answer, a TypedDict of the same name."""
    if is_answer(kind):
        made = TypedDict(kind.__name__, {each.name: _described(each) for each in keys_of(kind)})  # type: ignore[misc]
        made.__doc__ = kind.__doc__
        return made
    if kind is datetime:
        return Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return Union[tuple(map(json_type, inside))]  # noqa: UP007 (made at run time)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, json_type(inside[1])]  # type: ignore[misc]
    if isinstance(origin, type) and inside:
        return origin[tuple(each if each is Ellipsis else json_type(each) for each in inside)]  # type: ignore[index]
    return kind


def _described(each: Key) -> Any:
    kind = json_type(each.type)
    described = Annotated[kind, Meta(description=each.help)] if each.help else kind
    return NotRequired[described] if each.optional else described
