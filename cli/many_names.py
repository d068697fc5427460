"""A command with options that take several names, up to the next option: --against a.jsonl b.jsonl."""

from __future__ import annotations

from collections.abc import Sequence

import click


class ManyNamesCommand(click.Command):
    """Lets the options in `many_names` take all words up to the next option, so that a shell may expand a pattern."""

    many_names: Sequence[str] = ("--against",)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given: list[str] = []
        option = ""
        for i, word in enumerate(args):
            if word == "--":
                given += args[i:]
                break
            if word.startswith("-") and word != "-":
                option = word if word in self.many_names else ""
                given.append(word)
            else:
                # The word right after the option is its value; the others get the option again.
                given += [option, word] if option and given[-1] != option else [word]
        return super().parse_args(ctx, given)
