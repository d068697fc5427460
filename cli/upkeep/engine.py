"""winnow engine: start, stop and look at an OpenSearch on this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from opensearch_winnow.answers.formatting import byte_size
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.answer_output import JsonOutput
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.terminal import say, suggest
from opensearch_winnow.cli.upkeep.engine_progress import showing_steps
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.stores.engine.engine_status import EngineStatus, StartedEngine, StoppedEngine
from opensearch_winnow.stores.engine.options import EngineHome, EngineOptions

if TYPE_CHECKING:
    from opensearch_winnow.stores.engine.local_engine import LocalEngine


@click.group("engine", short_help="A real OpenSearch on this machine: start, stop, status.")
def command() -> None:
    """\b
    Examples:
      winnow engine start
      winnow engine start --nodes 3 --heap 512m
      winnow engine start --version 2.19.1 --port 9400 --home old
      winnow engine status
      winnow engine stop

    Runs a real OpenSearch on this machine. You need no Docker, no Java and no other server. The first start downloads
    it.

    It accepts connections from this machine only, has no password, and keeps its data from one start to the next.
    """


@command.command("start", cls=DescribedCommand, short_help="Start the engine, and wait until it answers.")
@declared_options(EngineOptions, "options")
@declared_options(EngineHome, "folder")
@declared_options(JsonOutput, "output")
def start(options: EngineOptions, folder: EngineHome, output: JsonOutput) -> None:
    """\b
    Examples:
      winnow engine start
      winnow engine start --nodes 3 --heap 512m
      winnow engine start --setting action.destructive_requires_name=true

    Starts an engine in the background, and waits until it answers. If it is already running, the command says so, and
    restarts nodes that have died. If all have died, it starts the same number again, with the same version, heap and
    port.
    """
    engine = local_engine(folder)
    before = engine.status()
    with showing_steps() as progress:
        running = engine.start(replace(options, progress=progress))
    already = before is not None and before.pids == running.pids
    status = EngineStatus.of(engine.home, running)
    if not output.prints(StartedEngine(already, status)):
        show(status, "runs already" if already else "runs")
    suggest("engine", "stop", *home_words(folder))


@command.command("stop", cls=DescribedCommand, short_help="Stop the engine; its data is kept.")
@declared_options(EngineHome, "folder")
@declared_options(JsonOutput, "output")
def stop(folder: EngineHome, output: JsonOutput) -> None:
    """\b
    Example:
      winnow engine stop

    Stops the engine, which closes its files first. A node that does not stop within a minute is killed. The data is
    kept.
    """
    engine = local_engine(folder)
    if not output.prints(StoppedEngine.of(engine.home, stopped := engine.stop())):
        say(f"Stopped {stopped.product} {stopped.version}" if stopped else f"No engine runs in {engine.home}")


@command.command("status", cls=DescribedCommand, short_help="Show whether the engine runs, where, and its health.")
@declared_options(EngineHome, "folder")
@declared_options(JsonOutput, "output")
def status(folder: EngineHome, output: JsonOutput) -> None:
    """\b
    Examples:
      winnow engine status
      winnow engine status --json | jq -r .url

    Shows which engine runs, at which address, and its health. The exit code is 1 if none runs.
    """
    engine = local_engine(folder)
    found = EngineStatus.of(engine.home, engine.status())
    if not output.prints(found):
        if found.running:
            show(found, "runs")
            click.echo(f"health {found.health}")
            click.echo(f"data   {byte_size(found.data_bytes or 0)} in {engine.home / (found.version or '')}")
        else:
            say(f"No engine runs in {found.home}")
    if not found.running:
        suggest("engine", "start", *home_words(folder))
        end(NOTHING_FOUND)


def local_engine(folder: EngineHome) -> LocalEngine:
    with extra("engine"):
        from opensearch_winnow.stores.engine.local_engine import LocalEngine  # noqa: PLC0415 (also slow to import)
    return LocalEngine(folder.home)


def show(engine: EngineStatus, state: str) -> None:
    click.echo(f"{engine.product} {engine.version} {state} at {engine.url}: Java {engine.java}, heap {engine.heap}")
    for node in engine.nodes:
        process = f"process {node.pid}" if node.alive else "dead"
        click.echo(f"{node.name} {node.url}, {process}, log {node.log}")


def home_words(folder: EngineHome) -> tuple[str, ...]:
    """Return the option --home for the next command, if this one was called with it."""
    return ("--home", folder.home) if folder.home else ()
