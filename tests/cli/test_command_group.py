"""All commands: their help, and what a wrong name, a wrong option or an unknown page gets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from opensearch_winnow.cli import main

Winnow = Callable[..., Result]

ROOT = Path(__file__).resolve().parents[2]
LINES_OF_HELP = 61  # about one screen: 30 commands, under 7 headings


def shown_help(*command: str) -> str:
    """Return the help of a command as a terminal of 80 columns shows it: click leaves two of them empty."""
    return CliRunner().invoke(main, [*command, "--help"], prog_name="winnow", terminal_width=78).stdout


def test_every_command_is_under_one_heading() -> None:
    listed = [module for modules in main.subjects.values() for module in modules.values()]
    files = [file for file in (ROOT / "cli").rglob("*.py") if "\ndef command(" in file.read_text(encoding="utf-8")]
    parts = [file.relative_to(ROOT).with_suffix("").parts for file in files]
    assert sorted(listed) == sorted(".".join(("opensearch_winnow", *each)).removesuffix(".__init__") for each in parts)
    assert len(main.command_modules) == len(listed)
    shown = shown_help()
    assert all(shown.count(f"\n  {name} ") == 1 for name in main.command_modules)
    assert all(f"\n\n{heading}:\n" in shown for heading in main.subjects)


def test_the_list_of_commands_fits_a_screen() -> None:
    lines = shown_help().splitlines()
    assert len(lines) <= LINES_OF_HELP
    assert max(map(len, lines)) < 80


@pytest.mark.parametrize("command", [*((name,) for name in main.command_modules), ("watch", "add"), ("engine", "stop")])
def test_help_says_what_a_command_does_before_it_shows_examples(command: tuple[str, ...]) -> None:
    usage, description, *rest = shown_help(*command).split("\n\n")
    assert usage.startswith(f"Usage: winnow {' '.join(command)} ")
    assert "Example" not in description
    heads = [part.split(":")[0].strip() for part in rest]
    examples = next(head for head in heads if head in ("Example", "Examples"))
    assert heads.index(examples) + 1 == heads.index("Options")


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
