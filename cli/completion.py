"""winnow completion: what a shell needs to complete the commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion", short_help="The completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """\b
    Examples:
      eval "$(winnow completion bash)"
      winnow completion zsh > "${fpath[1]}/_winnow"
      winnow completion fish > ~/.config/fish/completions/winnow.fish

    The script that completes commands, options and file names of winnow in a shell.
    """
    chosen = get_completion_class(shell)
    assert chosen is not None
    click.echo(chosen(ctx.find_root().command, {}, "winnow", "_WINNOW_COMPLETE").source())
