"""Reads the options of a grouped search from its address and from `ext.winnow` in its body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import unquote_plus

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.queries.dsl.pages import MAX_HITS_PER_ANSWER
from opensearch_winnow.queries.searching.search_request import DEFAULT_EXAMINE, DEFAULT_THRESHOLD

PARAMETER = "winnow"  # of the address; others start with it: winnow_min_resemblance, …
DEFAULT_MEMBERS = 5  # folded hits of a group that an answer lists
OPTIONS = ("examine", "group", "index", "members", "min_resemblance")


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """The options of a grouped search."""

    min_resemblance: float = DEFAULT_THRESHOLD
    members: int = DEFAULT_MEMBERS
    examine: int = DEFAULT_EXAMINE  # the least number of hits to group
    index: str | None = None  # for a search at a point in time, which names no index

    @classmethod
    def of(cls, query: Mapping[str, str], body: Mapping[str, Any]) -> Self | None:
        """Read the options; return None if the search is not to be grouped. The address overrides the body."""
        given = dict(_given_in_body(body))
        for name, value in query.items():
            if name == PARAMETER:
                if value != "group":
                    raise QuestionError(f"winnow={value} is unknown: write winnow=group, or leave it out")
                given["group"] = True
            elif name.startswith(f"{PARAMETER}_"):
                given[name.removeprefix(f"{PARAMETER}_")] = value
        for name in given:
            if name not in OPTIONS:
                raise QuestionError(f"winnow has no option {name}: there are {', '.join(OPTIONS)}")
        if not given:
            return None
        match given.pop("group", None):
            case True:
                pass
            case False:
                return None
            case None:
                raise QuestionError('options of winnow are for grouped searches: add winnow=group, or "group": true')
            case other:
                raise QuestionError(f"the option group of winnow is true or false, not {other!r}")
        return cls(
            min_resemblance=_number(given, "min_resemblance", DEFAULT_THRESHOLD, float, above=0, most=1),
            members=_number(given, "members", DEFAULT_MEMBERS, int, above=-1, most=MAX_HITS_PER_ANSWER),
            examine=_number(given, "examine", DEFAULT_EXAMINE, int, above=0, most=MAX_HITS_PER_ANSWER),
            index=_text(given, "index"),
        )


def is_ours(name: str) -> bool:
    """Return whether a parameter of the address is an option of winnow."""
    return name == PARAMETER or name.startswith(f"{PARAMETER}_")


def without_options(raw_path: str) -> str:
    """Return the path of a request, with its query string, without the options of winnow."""
    path, _, query = raw_path.partition("?")
    rest = "&".join(each for each in query.split("&") if not is_ours(unquote_plus(each.partition("=")[0])))
    return f"{path}?{rest}" if rest else path


def _given_in_body(body: Mapping[str, Any]) -> Mapping[str, Any]:
    ext = body.get("ext")
    if not isinstance(ext, Mapping) or PARAMETER not in ext:
        return {}
    given = ext[PARAMETER]
    if not isinstance(given, Mapping) or not given:
        raise QuestionError('ext.winnow is an object with options, as in {"ext": {"winnow": {"group": true}}}')
    return given


def _number(
    given: Mapping[str, Any], name: str, default: float, kind: type[int | float], *, above: int, most: int
) -> Any:
    value = given.get(name, default)
    try:
        number = kind(value)
        if not isinstance(value, bool) and number == float(value) and above < number <= most:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    least = f"above {above}" if kind is float else f"{above + 1}"
    raise QuestionError(f"the option {name} of winnow is a number, {least} to {most:,}, not {value!r}")


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None or (isinstance(value, str) and value):
        return value
    raise QuestionError(f"the option {name} of winnow is a name, not {value!r}")
