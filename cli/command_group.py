"""The group of all commands: imports a command when it is called, and turns errors into messages and exit codes."""

from __future__ import annotations

import inspect
import io
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

from opensearch_winnow.cli.command_help import examples_last
from opensearch_winnow.cli.options.store_option import STORE_VARIABLE
from opensearch_winnow.cli.terminal import TYPED_WORDS, presentable, say
from opensearch_winnow.foundation.errors import WinnowError

NOTHING_FOUND = 1
SOME_FAILED = 1
CANNOT_BE_DONE = 2
# The exit codes that a shell reports after SIGINT (Ctrl-C) and SIGPIPE (the reader of the output has gone).
INTERRUPTED = 130
PIPE_CLOSED = 141


class CommandFailedError(click.ClickException):
    """A command that failed, with a message for the user."""

    exit_code = CANNOT_BE_DONE


def end(code: int, *reasons: str) -> NoReturn:
    """End the command with this exit code, and print the reasons."""
    for reason in reasons:
        say(reason)
    raise click.exceptions.Exit(code)


class CommandGroup(click.Group):
    """A click group that imports commands lazily, and lists them by subject.

    `subjects` maps the heading of each subject to its commands: their names, and the modules that define them as
    `command`.
    """

    def __init__(self, *args: Any, subjects: dict[str, dict[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.subjects = subjects
        self.command_modules = {name: module for modules in subjects.values() for name, module in modules.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.command_modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.command_modules:
            return None
        command = import_module(self.command_modules[cmd_name]).command
        assert isinstance(command, click.Command)
        if isinstance(command, click.Group):
            command.help = examples_last(command.help or "")
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a description of the program, its usage and examples, the commands by subject, and its options."""
        purpose, _, examples = inspect.cleandoc(self.help or "").partition("\n\n")
        formatter.write_text(purpose)
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(examples)
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)  # a group's would list the commands, too
        formatter.write_paragraph()
        formatter.write_text(inspect.cleandoc(self.epilog or ""))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.command_modules))  # one column for all subjects
        for subject, names in self.subjects.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(subject):
                formatter.write_dl(
                    [(name.ljust(width), command.get_short_help_str()) for name, command in commands if command]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Look up the command named by `args[0]`; suggest the nearest name if there is none."""
        similar = get_close_matches(args[0], self.command_modules, n=1)
        if similar and args[0] not in self.command_modules and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {similar[0]!r}?")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            refuse_repeated_options(command, rest, click.Context(command, ctx, name, resilient_parsing=True))
        return name, command, rest

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta.setdefault(TYPED_WORDS, [*args, os.environ.get(STORE_VARIABLE, "")])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and turn errors into messages that are safe to show."""
        try:
            return self._invoke(ctx)
        except click.ClickException as error:
            error.message = presentable(error.message)  # type: ignore[misc]  # click declares it final
            raise

    def _invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that is not UTF-8 shows ? instead of a traceback
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # here, where a failure can still be reported
        except WinnowError as error:
            raise CommandFailedError(str(error)) from error
        except BrokenPipeError:
            discard_stdout()
            ctx.exit(PIPE_CLOSED)
        except OSError as error:
            discard_stdout()
            raise CommandFailedError(f"{error.strerror or error}: {error.filename or 'the output'}") from error
        except MemoryError as error:
            raise CommandFailedError("not enough memory for texts of this size") from error
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


def refuse_repeated_options(command: click.Command, args: list[str], ctx: click.Context) -> None:
    """Refuse an option that is given twice though it takes one value: click would silently take the last."""
    _, rest, order = command.make_parser(ctx).parse_args(list(args))
    for param in order:
        takes_one = isinstance(param, click.Option) and not (param.multiple or param.is_flag or param.count)
        if takes_one and order.count(param) > 1:
            ctx.fail(f"{max(param.opts, key=len)} is given twice, but takes one value.")
    inner = command.get_command(ctx, rest[0]) if rest and isinstance(command, click.Group) else None
    if inner is not None:
        refuse_repeated_options(inner, rest[1:], click.Context(inner, ctx, rest[0], resilient_parsing=True))


def discard_stdout() -> None:
    """Send buffered output to the null device: Python would otherwise write it again at exit, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
