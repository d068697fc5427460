"""The options of `winnow index` that say whom to tell about findings. Only who runs the command can set them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from opensearch_winnow.operations.notifier import Notifier
from opensearch_winnow.operations.webhook import Webhook

Command = TypeVar("Command", bound=Callable[..., Any])


def finding_options(command: Command) -> Command:
    """Give a command --on-finding, --webhook and --webhook-private; `open_notifier` takes their values."""
    for option in (
        click.option(
            "--webhook-private",
            envvar="WINNOW_WEBHOOK_PRIVATE",
            show_envvar=True,
            is_flag=True,
            help="Allow a webhook on this machine or in a private network.",
        ),
        click.option(
            "--webhook",
            metavar="URL",
            envvar="WINNOW_WEBHOOK",
            show_envvar=True,
            help="Post the findings of watches to this address, as JSON.",
        ),
        click.option(
            "--on-finding",
            metavar="COMMAND",
            envvar="WINNOW_ON_FINDING",
            show_envvar=True,
            help="Run this command when watches find new pages. It gets the findings on stdin, one JSON object a line.",
        ),
    ):
        command = option(command)
    return command


def open_notifier(on_finding: str | None, webhook: str | None, *, private: bool) -> Notifier:
    return Notifier(on_finding or None, Webhook(webhook, private=private) if webhook else None)
