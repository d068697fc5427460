"""winnow engine: start, stop and look at an OpenSearch on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from opensearch_winnow.answers.formatting import byte_size
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.terminal import json_option, say, suggest
from opensearch_winnow.cli.upkeep.engine_progress import showing_steps
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.stores.engine.releases import DEFAULT, RELEASES

if TYPE_CHECKING:
    from opensearch_winnow.stores.engine.local_engine import LocalEngine
    from opensearch_winnow.stores.engine.running import Running

home_option = click.option(
    "--home",
    metavar="DIR",
    envvar="WINNOW_ENGINE_HOME",
    show_envvar=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for its data, logs and process ids.  [default: in the user's data folder]",
)


def parse_settings(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Parse the NAME=VALUE of a repeated option."""
    for value in values:
        if not value.partition("=")[1]:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", ctx, param)
    return {name: text for name, _, text in (value.partition("=") for value in values)}


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


@command.command("start", short_help="Start the engine, and wait until it answers.")
@click.option(
    "--version",
    type=click.Choice(list(RELEASES)),
    help=f"Version of OpenSearch; 7.10.2 is Elasticsearch.  [default: {DEFAULT}]",
)
@click.option(
    "--nodes",
    type=click.IntRange(1, 99),
    metavar="N",
    help="Number of nodes; each is a process.  [default: as before, or 1]",
)
@click.option(
    "--heap",
    metavar="SIZE",
    help="Java heap of each node, for example 512m or 2g.  [default: 1g]",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65_000),
    metavar="P",
    help="Port of the first node; the others use the next ports. Nodes talk to each other on ports 100 higher."
    "  [default: 9200]",
)
@home_option
@click.option(
    "--setting",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    callback=parse_settings,
    help="A setting of the engine, as in opensearch.yml; may be repeated.",
)
@json_option
@click.pass_context
def start(
    ctx: click.Context,
    version: str | None,
    nodes: int | None,
    heap: str | None,
    port: int | None,
    home: Path | None,
    settings: dict[str, str],
    as_json: bool,
) -> None:
    """\b
    Examples:
      winnow engine start
      winnow engine start --nodes 3 --heap 512m
      winnow engine start --setting action.destructive_requires_name=true

    Starts an engine in the background, and waits until it answers. If it is already running, the command says so, and
    restarts nodes that have died. If all have died, it starts as many, with the same version, heap and port.
    """
    engine = local_engine(home)
    before = engine.status()
    with showing_steps() as progress:
        running = engine.start(version, nodes=nodes, heap=heap, port=port, settings=settings, progress=progress)
    already = before is not None and before.pids == running.pids
    if as_json:
        click.echo(json.dumps({"already": already} | as_document(engine, running)))
    else:
        show(running, "runs already" if already else "runs")
    suggest("engine", "stop", *home_words(ctx))


@command.command("stop", short_help="Stop the engine; its data is kept.")
@home_option
@json_option
def stop(home: Path | None, as_json: bool) -> None:
    """\b
    Example:
      winnow engine stop

    Stops the engine, which closes its files first. A node that does not stop within a minute is killed. The data is
    kept.
    """
    engine = local_engine(home)
    stopped = engine.stop()
    if as_json:
        about = {"version": stopped.version, "pids": list(stopped.pids.values())} if stopped else {}
        click.echo(json.dumps({"stopped": stopped is not None, "home": str(engine.home)} | about))
    else:
        say(f"Stopped {stopped.product} {stopped.version}" if stopped else f"No engine runs in {engine.home}")


@command.command("status", short_help="Show whether the engine runs, where, and its health.")
@home_option
@json_option
@click.pass_context
def status(ctx: click.Context, home: Path | None, as_json: bool) -> None:
    """\b
    Examples:
      winnow engine status
      winnow engine status --json | jq -r .url

    Shows which engine runs, at which address, and its health. The exit code is 1 if none runs.
    """
    engine = local_engine(home)
    running = engine.status()
    if as_json:
        click.echo(json.dumps(as_document(engine, running)))
    elif running:
        show(running, "runs")
        click.echo(f"health {health(running)}")
        click.echo(f"data   {byte_size(data_bytes(running))} in {engine.home / running.version}")
    else:
        say(f"No engine runs in {engine.home}")
    if not running:
        suggest("engine", "start", *home_words(ctx))
        ctx.exit(NOTHING_FOUND)


def local_engine(home: Path | None) -> LocalEngine:
    with extra("engine"):
        from opensearch_winnow.stores.engine.local_engine import LocalEngine  # noqa: PLC0415 (also slow to import)
    return LocalEngine(home)


def show(running: Running, state: str) -> None:
    click.echo(
        f"{running.product} {running.version} {state} at {running.url}: Java {running.java}, heap {running.heap}"
    )
    alive = running.alive
    for node in running.nodes:
        process = f"process {node.pid}" if node in alive else "dead"
        click.echo(f"{node.name} {node.url}, {process}, log {node.log}")


def as_document(engine: LocalEngine, running: Running | None) -> dict[str, Any]:
    where = {"running": running is not None, "home": str(engine.home)}
    if running is None:
        return where
    alive = running.alive
    return where | {
        "url": running.url,
        "product": running.product,
        "version": running.version,
        "java": running.java,
        "heap": running.heap,
        "health": health(running),
        "data_bytes": data_bytes(running),
        "nodes": [
            {
                "name": node.name,
                "url": node.url,
                "pid": node.pid,
                "alive": node in alive,
                "data": node.folder,
                "log": node.log,
            }
            for node in running.nodes
        ],
    }


def health(running: Running) -> str:
    """Return green, yellow or red; "no answer" if no node answers."""
    return str(running.health().get("status", "no answer"))


def data_bytes(running: Running) -> int:
    return sum(node.data_bytes for node in running.nodes)


def home_words(ctx: click.Context) -> tuple[str, ...]:
    """Return the option --home for the next command, if this one was called with it."""
    given = ctx.get_parameter_source("home") is ParameterSource.COMMANDLINE
    return ("--home", str(ctx.params["home"])) if given else ()
