"""All commands: what a wrong name, a wrong option or an unknown page gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Winnow = Callable[..., Result]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simlar"], "No such command 'simlar'. Did you mean 'similar'?"),
        (["boilerplat", "list"], "No such command 'boilerplat'. Did you mean 'boilerplate'?"),
        (["xyzzy"], "No such command 'xyzzy'."),
        (["similar", "--min-resemblence", "1"], "Did you mean '--min-resemblance'?"),
    ],
)
def test_misspelt_names_get_a_suggestion(winnow: Winnow, arguments: list[str], message: str) -> None:
    done = winnow(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith(f"{message}\n")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["dedup", "a.jsonl", "--text-field", "a", "--dry-run", "--text-field", "b"], "--text-field"),
        (["index", "a.jsonl", "--id-field=a", "--store", "s.winnow", "--id-field=a"], "--id-field"),
        (
            ["contaminated", "a", "--against", "b", "c", "--eval-id-field", "a", "--eval-id-field", "b"],
            "--eval-id-field",
        ),
        (["watch", "list", "--store", "a", "--store", "b"], "--store"),
    ],
)
def test_an_option_with_one_value_is_given_once(winnow: Winnow, arguments: list[str], option: str) -> None:
    done = winnow(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith(f"Error: {option} is given twice, but takes one value.\n")


def test_flags_and_lists_may_be_repeated(winnow: Winnow, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1, "text": "x"}\n')
    again = ("--against", tmp_path / "a.jsonl", "--against", tmp_path / "a.jsonl", "--quiet", "--quiet")
    assert winnow("dedup", tmp_path / "a.jsonl", *again, "--dry-run").exit_code == 0


@pytest.mark.parametrize(
    "command",
    [
        ["similar"],
        ["history"],
        ["locate"],
        ["versions"],
        ["compare", "http://example.org/mill"],
        ["boilerplate", "add"],
        ["watch", "add", "name"],
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_page_that_is_not_in_the_store_is_an_error(
    winnow: Winnow, crawl: Path, command: list[str], options: list[str]
) -> None:
    done = winnow(*command, "http://example.org/mil", "--store", crawl, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"Error: {crawl} has no page http://example.org/mil\n"
