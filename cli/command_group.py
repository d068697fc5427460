"""All commands: each is loaded when it is called, and what goes wrong in it becomes words and an exit code."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from typing import Any

import click

from opensearch_winnow.answers.display_text import printable
from opensearch_winnow.foundation.errors import WinnowError

NOTHING_FOUND = 1
CANNOT_BE_DONE = 2
# What a shell reports of a program that was ended by Ctrl-C, or that wrote to a pipe which nobody reads any more.
INTERRUPTED = 130
PIPE_CLOSED = 141


class CannotBeDone(click.ClickException):
    exit_code = CANNOT_BE_DONE


class CommandGroup(click.Group):
    """`commands_by_module` names the module of each command, which holds it as `command`."""

    def __init__(self, *args: Any, commands_by_module: dict[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands_by_module = commands_by_module

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands_by_module)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.commands_by_module:
            return None
        command = import_module(self.commands_by_module[cmd_name]).command
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that is not UTF-8 shows ?, and no traceback
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # here, where a failure is still ours to report
        except WinnowError as error:
            raise CannotBeDone(printable(str(error))) from error
        except BrokenPipeError:
            let_go_of_stdout()
            ctx.exit(PIPE_CLOSED)
        except OSError as error:
            let_go_of_stdout()
            raise CannotBeDone(printable(f"{error.strerror or error}: {error.filename or 'the output'}")) from error
        except MemoryError as error:
            raise CannotBeDone("not enough memory for texts of this size") from error
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)


def let_go_of_stdout() -> None:
    """What is still buffered goes nowhere: Python would try to write it again at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
