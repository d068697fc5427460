"""No JSON that winnow prints or serves has a number that JavaScript and jq would round: hashes are strings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from opensearch_winnow.cli import main
from tests.cli.conftest import MILL as PAGE_URL, _crawled, crawl, pair  # noqa: F401 (fixtures)
from tests.meaningless_text import sentences
from tests.web.addresses_fixture import ADDRESSES, api_address, in_format, screen_at
from tests.web.conftest import known_file, served_file  # noqa: F401 (fixtures)
from tests.web.known_crawl_fixture import IDS, MILL, MIRROR, QUOTE
from tests.web.served_fixture import Served

EXACT = 2**53  # every integer up to this one is exact as a double


def too_large(value: Any, path: str = "$") -> Iterator[str]:
    """Yield where a value has integers that are rounded."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from too_large(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from too_large(inner, f"{path}[{number}]")
    elif isinstance(value, int | float) and abs(value) > EXACT:
        yield f"{path}: {value}"


def documents(text: str) -> Iterator[Any]:
    """Yield the JSON objects in a text, one a line or over several lines."""
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
            yield value
        except ValueError:
            at += 1


# One line for each command that has --json; those that need an engine or hours print counts.
COMMANDS = (
    *("index rows.jsonl --store new.winnow", "compare a.txt b.txt", "pairs texts", "fingerprint a.txt"),
    *(f"{asking} {PAGE_URL} --store crawl.winnow" for asking in ("similar", "history", "locate", "versions")),
    *("search the --any-word --store crawl.winnow", "changes --from 2023 --to 2024 --store crawl.winnow"),
    *(f"watch add mill {PAGE_URL} --store crawl.winnow", "watch list --store crawl.winnow"),
    *("cluster --store crawl.winnow", "stats --store crawl.winnow"),
    *("boilerplate add a.txt --store crawl.winnow", "boilerplate list --store crawl.winnow"),
    *("contaminated rows.jsonl --against rows.jsonl", "fields rows.jsonl --to fields.jsonl"),
    *("dedup rows.jsonl --dry-run", "dedup rows.jsonl --passages --dry-run"),
    *("export --store crawl.winnow --to records.jsonl", f"delete {PAGE_URL} --store crawl.winnow --yes"),
)
FILES = ("fields.jsonl", "records.jsonl")  # that the commands write
COUNTS_ONLY = {"attach", "detach", "demo", "engine", "extract", "migrate", "rotate", "setup"}


def has_json(command: click.Command) -> bool:
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return any("--json" in option.opts for option in command.params) or any(map(has_json, inner))


def test_every_command_with_json(crawl: Path, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    folder = crawl.parent
    monkeypatch.chdir(folder)
    rows = ({"id": str(number), "text": sentences(200, number // 2)} for number in range(6))
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "texts").mkdir()
    for file in pair:
        (folder / "texts" / file.name).write_bytes(file.read_bytes())
    for command in COMMANDS:
        done = CliRunner().invoke(main, [*shlex.split(command), "--json"], prog_name="winnow")
        assert done.exit_code in (0, 1), f"{command}\n{done.output}"
        (document,) = documents(done.stdout)
        assert list(too_large(document)) == [], command
    for name in FILES:
        found = list(documents((folder / name).read_text()))
        assert len(found) >= 6
        assert list(too_large(found)) == [], name
    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    known = {command.split()[0] for command in COMMANDS} | COUNTS_ONLY
    assert {name for name, command in commands.items() if command and has_json(command)} <= known


FOR_PROGRAMS = [f"/api/v1/{path}" for path in ("suggest?words=mill", f"versions?url={MILL}", "health", "openapi.json")]
FOR_PROGRAMS += [f"/api/v1/pages/{IDS[MILL]}/{path}" for path in ("similar", f"differences?others={IDS[MIRROR]}")]


@pytest.mark.parametrize("address", [*ADDRESSES.values(), *FOR_PROGRAMS])
def test_every_address(served_file: Served, address: str) -> None:  # noqa: F811
    addresses = [address]
    if address not in FOR_PROGRAMS:
        addresses = [in_format(address, "json"), *([api_address(address)] if screen_at(address).api else [])]
    for each in addresses:
        assert list(too_large(served_file.json(each))) == []


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("fields", {"text": QUOTE, "id": 3}),
        ("fields", {"documents": [{"text": QUOTE * 20}]}),
        ("compare", {"a": {"url": MILL}, "b": {"url": MIRROR}}),
        ("quotes", {"text": QUOTE}),
        ("versions", {"text": QUOTE}),
    ],
)
def test_every_text_that_is_sent(served_file: Served, path: str, sent: Any) -> None:  # noqa: F811
    reply = served_file.send(f"/api/v1/{path}", json.dumps(sent).encode(), content_type="application/json")
    assert reply.status == 200, reply.text
    assert list(too_large(reply.json)) == []
