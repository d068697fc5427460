"""The help of commands: short with --help, whole with --help-all, and in the same order everywhere."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from opensearch_winnow.cli import main
from opensearch_winnow.cli.command_help import GROUPS, MAX_LINES, AdvancedOption, DescribedCommand

CONTEXT = click.Context(main)
GROUPED = [name for names in GROUPS.values() for name in names]


def commands() -> dict[str, click.Command]:
    """Return all commands that do something, by what is typed."""
    found: dict[str, click.Command] = {}
    for name in main.command_modules:
        command = main.get_command(CONTEXT, name)
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": each for inner, each in command.commands.items()}
        elif command is not None:
            found[name] = command
    return found


COMMANDS = commands()


def shown(command: str, flag: str) -> str:
    return CliRunner().invoke(main, [*command.split(), flag], prog_name="winnow", terminal_width=78).stdout


def flags(command: str) -> set[str]:
    return {max(each.opts, key=len) for each in COMMANDS[command].params if isinstance(each, click.Option)}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_about_one_screen_and_help_all_is_whole(command: str) -> None:
    short, whole = shown(command, "--help"), shown(command, "--help-all")
    assert len(short.splitlines()) <= MAX_LINES + 2
    assert flags(command) <= set(re.findall(r"--[a-z][a-z-]*", whole))
    required = {
        max(each.opts, key=len) for each in COMMANDS[command].params if each.required and each.opts[0][0] == "-"
    }
    assert required <= set(re.findall(r"--[a-z][a-z-]*", short))
    assert "--help-all" in short


@pytest.mark.parametrize("command", COMMANDS)
def test_options_of_groups_are_in_one_order_behind_the_others(command: str) -> None:
    sections = re.findall(r"^([A-Z][\w ]+):$", shown(command, "--help-all"), re.MULTILINE)
    shown_headings = [each for each in sections if each in ("Options", *GROUPS)]
    assert shown_headings == [each for each in ("Options", *GROUPS) if each in shown_headings]
    described = COMMANDS[command]
    assert isinstance(described, DescribedCommand)
    grouped = [
        each.name for each in described.get_params(click.Context(described)) if each.name in described.headings()
    ]
    assert grouped == [name for name in GROUPED if name in grouped]


def test_what_few_people_need_is_left_out_of_a_short_help() -> None:
    (advanced,) = (each for each in COMMANDS["index"].params if each.name == "max_page_seconds")
    assert isinstance(advanced, AdvancedOption)
    assert "--max-page-seconds" not in shown("index", "--help")
    assert "--crawl" in shown("index", "--help")  # alone, it is in no group
    assert "--crawl" not in shown("similar", "--help")
    assert shown("history", "--help") == shown("history", "--help-all")  # which is short anyway
