"""winnow fingerprint: the table, the rows and the JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow import Scheme, fingerprint

Winnow = Callable[..., Result]


def test_json_equals_the_answer_of_the_library(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    done = winnow("fingerprint", pair[0], "--json", "--noise", "20", "--guarantee", "40", "--selection", "open-closed")
    prints = fingerprint(pair[0].read_text(), Scheme(noise=20, guarantee=40, selection="open-closed"))
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {
        "scheme": prints.scheme.id,
        "fingerprints": [[str(hash_), at] for hash_, at in zip(prints.hashes, prints.positions, strict=True)],
    }
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_rows_have_hash_position_offsets_and_text(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    text = pair[0].read_text()
    prints = fingerprint(text)
    head, *rows = [line.split("\t") for line in winnow("fingerprint", pair[0]).stdout.splitlines()]
    assert head == ["hash", "position", "start", "end", "text"]
    assert [(int(row[0], 16), int(row[1])) for row in rows] == list(zip(prints.hashes, prints.positions, strict=True))
    assert [(int(row[2]), int(row[3])) for row in rows] == prints.spans
    assert all(row[4] == " ".join(text[int(row[2]) : int(row[3])].split()) for row in rows)


def test_options_override_a_preset(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    schemes = [
        json.loads(winnow("fingerprint", pair[0], "--json", *options).stdout)["scheme"]
        for options in ([], ["--preset", "passages"], ["--preset", "consonants", "--guarantee", "60"])
    ]
    consonants = Scheme(form="consonants", noise=20, guarantee=60)
    assert schemes == [Scheme().id, Scheme.preset("passages").id, consonants.id]


def test_letters_that_look_alike_are_one_on_request(winnow: Winnow, pair: tuple[Path, Path], tmp_path: Path) -> None:
    disguised = tmp_path / "disguised.txt"
    disguised.write_text(pair[0].read_text().replace("e", "е").replace("o", "о"), encoding="utf-8")
    scheme = Scheme(fold_confusables=True)
    plain, folded = (
        [json.loads(winnow("fingerprint", file, "--json", *options).stdout) for file in (pair[0], disguised)]
        for options in ([], ["--fold-confusables"])
    )
    assert plain[0] != plain[1]
    assert folded[0] == folded[1]
    assert folded[0]["scheme"] == scheme.id
    assert json.loads(winnow("compare", pair[0], disguised, "--json").stdout)["resemblance"] < 1
    same = winnow("compare", pair[0], disguised, "--fold-confusables", "--json")
    assert json.loads(same.stdout)["resemblance"] == 1
    store = tmp_path / "folded.winnow"
    assert winnow("index", pair[0].parent, "--store", store, "--fold-confusables").exit_code == 0
    assert json.loads(winnow("stats", "--store", store, "--json").stdout)["scheme"]["fold_confusables"] is True
    assert winnow("similar", "--file", disguised, "--store", store, "--json").exit_code == 0


def test_a_text_that_is_too_short_gets_an_explanation(winnow: Winnow, tmp_path: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("a b c " * 16)
    done = winnow("fingerprint", short)
    assert done.exit_code == 1
    assert "48 canonical characters; at least 50 are needed (--noise)" in done.stderr
    assert done.stdout == "hash\tposition\tstart\tend\ttext\n"
    with_json = winnow("fingerprint", short, "--json")
    assert (with_json.exit_code, json.loads(with_json.stdout)["fingerprints"]) == (1, [])
    assert winnow("fingerprint", short, "--noise", "48").exit_code == 0


def test_stdin(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    piped = winnow("fingerprint", "-", "--json", stdin=pair[0].read_bytes())
    assert piped.stdout == winnow("fingerprint", pair[0], "--json").stdout


def test_all_errors_of_a_scheme_are_reported_at_once(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    done = winnow("fingerprint", pair[0], "--noise", "0", "--guarantee", "-3", "--selection", "random")
    assert done.exit_code == 2
    assert all(word in done.stderr for word in ("noise", "guarantee", "selection", "'random'", "-3"))
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("noise", ["many", "2.5"])
def test_a_threshold_is_a_whole_number(winnow: Winnow, pair: tuple[Path, Path], noise: str) -> None:
    done = winnow("fingerprint", pair[0], "--noise", noise)
    assert done.exit_code == 2
    assert noise in done.stderr


def test_a_file_name_tells_the_language_of_a_program(winnow: Winnow, tmp_path: Path) -> None:
    source = "".join(f"def f{i}(x, y={i}):\n    return x + y // {i}\n" for i in range(20))
    code = Scheme.preset("code")
    file = tmp_path / "program.py"
    file.write_text(source)
    for name, given, stdin in ((str(file), file, None), (None, "-", source.encode())):
        prints = fingerprint(source, code, name=name)
        done = winnow("fingerprint", given, "--preset", "code", "--json", stdin=stdin)
        assert json.loads(done.stdout) == {
            "scheme": code.id,
            "fingerprints": [[str(hash_), at] for hash_, at in zip(prints.hashes, prints.positions, strict=True)],
        }
    assert fingerprint(source, code, name=str(file)).hashes != fingerprint(source, code).hashes
