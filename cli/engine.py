"""winnow engine: a real OpenSearch on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from opensearch_winnow.answers.formatting import byte_size
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.engine_progress import shown_steps
from opensearch_winnow.cli.terminal import json_option, say, suggest
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
    help="Where its data, logs and process numbers are.  [default: in the user's data folder]",
)


def pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE, as often as it is given."""
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

    A real OpenSearch on this machine, with no Docker, no Java and no other server. The first start fetches it.

    It listens on this machine alone, asks nobody for a password, and keeps its data from one start to the next.
    """


@command.command("start", short_help="Start it, and wait until it answers.")
@click.option(
    "--version", type=click.Choice(list(RELEASES)), default=DEFAULT, show_default=True, help="7.10.2 is Elasticsearch."
)
@click.option(
    "--nodes", type=click.IntRange(1, 99), metavar="N", default=1, show_default=True, help="Each is a process."
)
@click.option("--heap", metavar="SIZE", default="1g", show_default=True, help="Of each node: 512m, 2g.")
@click.option(
    "--port",
    type=click.IntRange(1, 65_000),
    metavar="P",
    default=9200,
    show_default=True,
    help="Of the first node; the others have the next ones, and nodes talk to each other 100 above.",
)
@home_option
@click.option(
    "--setting",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    callback=pairs,
    help="A setting of the engine, as in opensearch.yml; may be given often.",
)
@json_option
@click.pass_context
def start(
    ctx: click.Context,
    version: str,
    nodes: int,
    heap: str,
    port: int,
    home: Path | None,
    settings: dict[str, str],
    as_json: bool,
) -> None:
    """\b
    Examples:
      winnow engine start
      winnow engine start --nodes 3 --heap 512m
      winnow engine start --setting action.destructive_requires_name=true

    Starts an engine that goes on in the background, and waits until it answers. If it runs already, it says so, and
    starts nodes again that have died.
    """
    engine = local_engine(home)
    before = engine.status()
    with shown_steps() as progress:
        running = engine.start(version, nodes=nodes, heap=heap, port=port, settings=settings, progress=progress)
    already = before is not None and before.pids == running.pids
    if as_json:
        click.echo(json.dumps({"already": already} | as_object(engine, running)))
    else:
        show(running, "runs already" if already else "runs")
    suggest("engine", "stop", *home_words(ctx))


@command.command("stop", short_help="End it; its data is kept.")
@home_option
@json_option
def stop(home: Path | None, as_json: bool) -> None:
    """\b
    Example:
      winnow engine stop

    Ends the engine, which closes its files first; one that does not end within a minute is killed. Data is kept.
    """
    engine = local_engine(home)
    stopped = engine.stop()
    if as_json:
        about = {"version": stopped.version, "pids": list(stopped.pids.values())} if stopped else {}
        click.echo(json.dumps({"stopped": stopped is not None, "home": str(engine.home)} | about))
    else:
        say(f"Stopped {stopped.product} {stopped.version}" if stopped else f"No engine runs in {engine.home}")


@command.command("status", short_help="Whether it runs, and how it is.")
@home_option
@json_option
@click.pass_context
def status(ctx: click.Context, home: Path | None, as_json: bool) -> None:
    """\b
    Examples:
      winnow engine status
      winnow engine status --json | jq -r .url

    What runs, where, and how it is. Exit code 1 if nothing does.
    """
    engine = local_engine(home)
    running = engine.status()
    if as_json:
        click.echo(json.dumps(as_object(engine, running)))
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
        from opensearch_winnow.stores.engine.local_engine import LocalEngine  # noqa: PLC0415 (slow, too)
    return LocalEngine(home)


def show(running: Running, how: str) -> None:
    click.echo(f"{running.product} {running.version} {how} at {running.url}: Java {running.java}, heap {running.heap}")
    alive = running.alive
    for node in running.nodes:
        process = f"process {node.pid}" if node in alive else "dead"
        click.echo(f"{node.name} {node.url}, {process}, log {node.log}")


def as_object(engine: LocalEngine, running: Running | None) -> dict[str, Any]:
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
    """green, yellow, red, or what it is if nobody says."""
    return str(running.health().get("status", "no answer"))


def data_bytes(running: Running) -> int:
    return sum(node.data_bytes for node in running.nodes)


def home_words(ctx: click.Context) -> tuple[str, ...]:
    """The option --home for the next command, where this one had it."""
    given = ctx.get_parameter_source("home") is ParameterSource.COMMANDLINE
    return ("--home", str(ctx.params["home"])) if given else ()
