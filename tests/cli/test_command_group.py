"""All commands: their help, and what a wrong name, a wrong option or an unknown page gets."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from opensearch_winnow.cli import main
from opensearch_winnow.cli.command_help import GROUPS, MAX_LINES, AdvancedOption, DescribedCommand
from tests.cli.conftest import Winnow

LINES_OF_HELP = 61  # about one screen: 30 commands, under 7 headings
GROUPED = [name for names in GROUPS.values() for name in names]


def commands() -> dict[str, click.Command]:
    """Return all commands that do something, by what is typed."""
    found: dict[str, click.Command] = {}
    for name in main.command_modules:
        command = main.get_command(click.Context(main), name)
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": each for inner, each in command.commands.items()}
        elif command is not None:
            found[name] = command
    return found


COMMANDS = commands()


def shown_help(command: str, flag: str = "--help") -> str:
    """Return the help of a command as a terminal of 80 columns shows it: click leaves two of them empty."""
    return CliRunner().invoke(main, [*command.split(), flag], prog_name="winnow", terminal_width=78).stdout


def test_every_command_is_under_one_heading(root: Path) -> None:
    listed = [module for modules in main.subjects.values() for module in modules.values()]
    files = [file for file in (root / "cli").rglob("*.py") if "\ndef command(" in file.read_text(encoding="utf-8")]
    parts = [file.relative_to(root).with_suffix("").parts for file in files]
    assert sorted(listed) == sorted(".".join(("opensearch_winnow", *each)).removesuffix(".__init__") for each in parts)
    assert len(main.command_modules) == len(listed)
    shown = shown_help("")
    assert all(shown.count(f"\n  {name} ") == 1 for name in main.command_modules)
    assert all(f"\n\n{heading}:\n" in shown for heading in main.subjects)
    assert len(shown.splitlines()) <= LINES_OF_HELP
    assert max(map(len, shown.splitlines())) < 80


@pytest.mark.parametrize("command", [*main.command_modules, "watch add", "engine stop"])
def test_help_says_what_a_command_does_before_it_shows_examples(command: str) -> None:
    usage, description, *rest = shown_help(command).split("\n\n")
    assert usage.startswith(f"Usage: winnow {command} ")
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
    assert winnow.refused(*arguments).endswith(message)


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("dedup a.jsonl --text-field a --dry-run --text-field b", "--text-field"),
        ("index a.jsonl --id-field=a --store s.winnow --id-field=a", "--id-field"),
        ("contaminated a --against b c --eval-id-field a --eval-id-field b", "--eval-id-field"),
        ("watch list --store a --store b", "--store"),
    ],
)
def test_an_option_with_one_value_is_given_once(winnow: Winnow, arguments: str, option: str) -> None:
    assert f"Error: {option} is given twice" in winnow.refused(*arguments.split())


def test_flags_and_lists_may_be_repeated(winnow: Winnow, tmp_path: Path) -> None:
    rows = tmp_path / "a.jsonl"
    rows.write_text('{"id": 1, "text": "x"}\n')
    again = ("--against", rows, "--against", rows, "--quiet", "--quiet")
    assert winnow("dedup", rows, *again, "--dry-run").exit_code == 0


@pytest.mark.parametrize(
    "command",
    [
        *("similar", "history", "locate", "versions"),
        *("compare http://example.org/mill", "boilerplate add", "watch add name"),
    ],
)
def test_a_page_that_is_not_in_the_store_is_an_error(winnow: Winnow, crawl: Path, command: str) -> None:
    for options in ([], ["--json"]):
        said = winnow.refused(*command.split(), "http://example.org/mil", "--store", crawl, *options)
        assert said == f"Error: {crawl} has no page http://example.org/mil"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_about_one_screen_and_help_all_is_whole(command: str) -> None:
    short, whole = shown_help(command), shown_help(command, "--help-all")
    assert len(short.splitlines()) <= MAX_LINES + 2
    assert "--help-all" in short
    flags = {max(each.opts, key=len): each for each in COMMANDS[command].params if isinstance(each, click.Option)}
    assert {*flags} <= set(re.findall(r"--[a-z][a-z-]*", whole))
    assert {flag for flag, each in flags.items() if each.required} <= set(re.findall(r"--[a-z][a-z-]*", short))


@pytest.mark.parametrize("command", COMMANDS)
def test_options_of_groups_are_in_one_order_behind_the_others(command: str) -> None:
    sections = re.findall(r"^([A-Z][\w ]+):$", shown_help(command, "--help-all"), re.MULTILINE)
    shown_headings = [each for each in sections if each in ("Options", *GROUPS)]
    assert shown_headings == [each for each in ("Options", *GROUPS) if each in shown_headings]
    described = COMMANDS[command]
    assert isinstance(described, DescribedCommand)
    parameters = described.get_params(click.Context(described))
    grouped = [each.name for each in parameters if each.name in described.headings()]
    assert grouped == [name for name in GROUPED if name in grouped]


def test_what_few_people_need_is_left_out_of_a_short_help() -> None:
    (advanced,) = (each for each in COMMANDS["index"].params if each.name == "max_page_seconds")
    assert isinstance(advanced, AdvancedOption)
    assert "--max-page-seconds" not in shown_help("index")
    assert "--crawl" in shown_help("index")  # alone, it is in no group
    assert "--crawl" not in shown_help("similar")
    assert shown_help("history") == shown_help("history", "--help-all")  # which is short anyway
