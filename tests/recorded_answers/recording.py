"""Recorded answers: how they are written, read and compared, and which differences are intended.

A recording is a folder with a file for each kind of question. A line has a question and its answer. Numbers have six
digits, and a long list is its length, its first entries, and a digest of all values in it. Since the digest leaves out
the names of values, a key of JSON can be renamed by one intended difference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recorded"
DIGITS = 6  # of a number: the last bits of a logarithm differ between machines
MAX_WHOLE_LIST = 4
MAX_WHOLE_TEXT = 200
SHOWN = 3  # entries of a longer list

Answers = dict[str, Any]  # by question; a question begins with its kind: "similar url=…"
Change = Callable[[Any], Any]


def compact(value: Any) -> Any:
    """Return an answer as it is recorded."""
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case str() if len(value) > MAX_WHOLE_TEXT:
            return f"{value[:MAX_WHOLE_TEXT]}… {len(value)} characters, {_digest([value])}"
        case Mapping():
            return {key: compact(each) for key, each in value.items()}
        case list() | tuple() if len(value) > MAX_WHOLE_LIST:
            shown = [compact(each) for each in value[:SHOWN]]
            return {"length": len(value), "digest": _digest(_leaves(value)), "first": shown}
        case list() | tuple():
            return [compact(each) for each in value]
        case _:
            return value


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the values in an answer, in order, without the keys that lead to them."""
    match value:
        case Mapping():
            for each in value.values():
                yield from _leaves(each)
        case list() | tuple():
            yield len(value)
            for each in value:
                yield from _leaves(each)
        case float():
            yield float(f"{value:.{DIGITS}g}")
        case _:
            yield value


def _digest(values: Iterable[Any]) -> str:
    return blake2b(json.dumps(list(values)).encode(), digest_size=6).hexdigest()


def read(name: str, folder: Path = FOLDER) -> Answers:
    """Read the recording of this name."""
    answers: Answers = {}
    for path in sorted((folder / name).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            question, answer = json.loads(line)
            answers[question] = answer
    return answers


def write(name: str, answers: Answers, folder: Path = FOLDER) -> None:
    """Write a recording, in place of the one of this name."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    for path in (folder / name).glob("*.jsonl"):
        path.unlink()
    kinds: dict[str, list[str]] = {}
    for question, answer in answers.items():
        line = json.dumps([question, answer], ensure_ascii=False, separators=(",", ":"))
        kinds.setdefault(kind_of(question), []).append(line)
    for kind, lines in kinds.items():
        text = "".join(f"{line}\n" for line in sorted(lines))
        (folder / name / f"{kind.replace(' ', '-')}.jsonl").write_text(text, encoding="utf-8")


def kind_of(question: str) -> str:
    """Return the kind of a question, which is written before its parameters: "similar: url=…"."""
    return question.partition(":")[0]


@dataclass(frozen=True)
class Difference:
    """An intended difference between the recorded answers and those of today, and the reason for it.

    `recorded` changes each recorded answer to a matching question, and `today` each of today's, so that they are equal.
    """

    reason: str
    questions: str  # a pattern of their names, such as "json:*"
    recorded: Change = lambda answer: answer
    today: Change = lambda answer: answer

    def matches(self, question: str) -> bool:
        return fnmatchcase(question, self.questions)


def renamed(key: str, to: str) -> Change:
    """Return a change that renames a key, wherever it is in an answer."""
    return lambda answer: _with_keys(answer, lambda each: to if each == key else each)


def without(*keys: str) -> Change:
    """Return a change that removes keys, wherever they are in an answer."""
    return lambda answer: _with_keys(answer, lambda each: None if each in keys else each)


def _with_keys(answer: Any, name: Callable[[str], str | None]) -> Any:
    if isinstance(answer, dict):
        return {new: _with_keys(value, name) for key, value in answer.items() if (new := name(key)) is not None}
    return [_with_keys(each, name) for each in answer] if isinstance(answer, list) else answer


def differences(recorded: Answers, today: Answers, intended: Sequence[Difference] = ()) -> list[str]:
    """Return, for readers, each difference that is not intended, and each intended one that is no longer there."""
    lines: list[str] = []
    needed: set[int] = set()
    for question in sorted(recorded.keys() | today.keys()):
        if question not in today:
            lines.append(f"no longer a question: {question}")
        elif question not in recorded:
            lines.append(f"not recorded: {question}")
        else:
            matching = [each for each in intended if each.matches(question)]
            before, now = _changed(recorded[question], today[question], matching)
            if before != now:
                lines.append(question)
                lines += [f"    {line}" for line in _differing_values(before, now)]
                continue
            for each in matching:
                others = [other for other in matching if other is not each]
                one, other_one = _changed(recorded[question], today[question], others)
                if one != other_one:
                    needed.add(id(each))
    for each in intended:
        if id(each) not in needed:
            lines.append(f"this intended difference does not occur, remove it: {each.questions}: {each.reason}")
    return lines


def _changed(before: Any, now: Any, intended: Iterable[Difference]) -> tuple[Any, Any]:
    for each in intended:
        before, now = each.recorded(before), each.today(now)
    return before, now


def _differing_values(before: Any, now: Any, place: str = "") -> Iterator[str]:
    """Yield a line for each value that differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*before, *now]):
            if key not in now:
                yield f"{place}.{key}: was {_shown(before[key])}, is gone"
            elif key not in before:
                yield f"{place}.{key}: is new, {_shown(now[key])}"
            else:
                yield from _differing_values(before[key], now[key], f"{place}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _differing_values(one, other, f"{place}[{number}]")
    elif before != now:
        yield f"{place or 'answer'}: was {_shown(before)}, is {_shown(now)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_WHOLE_TEXT else f"{text[:MAX_WHOLE_TEXT]}…"
