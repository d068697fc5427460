"""winnow completion: print the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from opensearch_winnow.cli.command_help import DescribedCommand


@click.command("completion", cls=DescribedCommand, short_help="Print the completion script for your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """\b
    Examples:
      eval "$(winnow completion bash)"
      winnow completion zsh > "${fpath[1]}/_winnow"
      winnow completion fish > ~/.config/fish/completions/winnow.fish

    Print the script that lets your shell complete the commands, options and file names of winnow.
    """
    chosen = get_completion_class(shell)
    assert chosen is not None
    click.echo(chosen(ctx.find_root().command, {}, "winnow", "_WINNOW_COMPLETE").source())
