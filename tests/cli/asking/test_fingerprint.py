"""winnow fingerprint: the table, the rows and the JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow import Scheme, fingerprint
from opensearch_winnow.types import Fingerprints
from tests.cli.conftest import Winnow


def as_json(prints: Fingerprints) -> dict[str, Any]:
    hashes = [[str(hash_), at] for hash_, at in zip(prints.hashes, prints.positions, strict=True)]
    return {"scheme": prints.scheme.id, "fingerprints": hashes}


def test_json_equals_the_answer_of_the_library(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    options = ("--json", "--noise", "20", "--guarantee", "40", "--selection", "open-closed")
    done = winnow("fingerprint", pair[0], *options)
    prints = fingerprint(pair[0].read_text(), Scheme(noise=20, guarantee=40, selection="open-closed"))
    assert (done.exit_code, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert json.loads(done.stdout) == as_json(prints)
    assert winnow("fingerprint", "-", *options, stdin=pair[0].read_bytes()).stdout == done.stdout


def test_rows_have_hash_position_offsets_and_text(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    text = pair[0].read_text()
    prints = fingerprint(text)
    head, *rows = winnow.rows("fingerprint", pair[0])
    assert head == ["hash", "position", "start", "end", "text"]
    assert [(int(row[0], 16), int(row[1])) for row in rows] == list(zip(prints.hashes, prints.positions, strict=True))
    assert [(int(row[2]), int(row[3])) for row in rows] == prints.spans
    assert all(row[4] == " ".join(text[int(row[2]) : int(row[3])].split()) for row in rows)


def test_options_override_a_preset(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    for options, scheme in (
        ((), Scheme()),
        (("--preset", "passages"), Scheme.preset("passages")),
        (
            ("--preset", "consonants", "--guarantee", "60"),
            Scheme(form="consonants", noise=20, guarantee=60),
        ),
    ):
        assert winnow.json("fingerprint", pair[0], *options)["scheme"] == scheme.id


def test_letters_that_look_alike_are_one_on_request(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    disguised = pair[0].with_name("disguised.txt")
    disguised.write_text(pair[0].read_text().replace("e", "е").replace("o", "о"), encoding="utf-8")
    plain, folded = (
        [winnow.json("fingerprint", file, *options) for file in (pair[0], disguised)]
        for options in ((), ("--fold-confusables",))
    )
    assert plain[0] != plain[1]
    assert folded[0] == folded[1]
    assert folded[0]["scheme"] == Scheme(fold_confusables=True).id
    assert winnow.json("compare", pair[0], disguised)["resemblance"] < 1
    assert winnow.json("compare", pair[0], disguised, "--fold-confusables")["resemblance"] == 1
    store = disguised.with_name("folded.winnow")
    assert winnow("index", disguised.parent, "--store", store, "--fold-confusables").exit_code == 0
    assert winnow.json("stats", "--store", store)["scheme"]["fold_confusables"] is True
    assert winnow("similar", "--file", disguised, "--store", store).exit_code == 0


def test_a_text_that_is_too_short_gets_an_explanation(winnow: Winnow, tmp_path: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("a b c " * 16)
    done = winnow("fingerprint", short)
    assert (done.exit_code, done.stdout) == (1, "hash\tposition\tstart\tend\ttext\n")
    assert "48 canonical characters; at least 50 are needed (--noise)" in done.stderr
    assert winnow.json("fingerprint", short, code=1)["fingerprints"] == []
    assert winnow("fingerprint", short, "--noise", "48").exit_code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--noise 0 --guarantee -3 --selection random", ["noise", "guarantee", "selection", "'random'", "-3"]),
        ("--noise many", ["many"]),
        ("--noise 2.5", ["2.5"]),
    ],
)
def test_all_errors_of_a_scheme_are_reported_at_once(
    winnow: Winnow, pair: tuple[Path, Path], options: str, words: list[str]
) -> None:
    said = winnow.refused("fingerprint", pair[0], *options.split())
    assert [word for word in words if word not in said] == []


def test_a_file_name_tells_the_language_of_a_program(winnow: Winnow, tmp_path: Path) -> None:
    source = "".join(f"def f{i}(x, y={i}):\n    return x + y // {i}\n" for i in range(20))
    code = Scheme.preset("code")
    file = tmp_path / "program.py"
    file.write_text(source)
    named, nameless = fingerprint(source, code, name=str(file)), fingerprint(source, code)
    assert winnow.json("fingerprint", file, "--preset", "code") == as_json(named)
    assert winnow.json("fingerprint", "-", "--preset", "code", stdin=source) == as_json(nameless)
    assert named.hashes != nameless.hashes
