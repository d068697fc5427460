"""winnow serve: serve the search UI and the JSON API of a store."""

from __future__ import annotations

import json
import secrets
import sys
import webbrowser
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from opensearch_winnow.answers.display_text import UNSAFE, printable
from opensearch_winnow.cli.command_group import CANNOT_BE_DONE, NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.store_option import store_option
from opensearch_winnow.cli.server_log import start_log
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.cli.typed_options import typed_options
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.listening import ServeError
from opensearch_winnow.foundation.option_kinds import FLAG, text
from opensearch_winnow.foundation.options import option
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.scheme_choice import SchemeChoice
from opensearch_winnow.index import Index
from opensearch_winnow.web.server_options import ServerOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.applications import Starlette


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions(ServerOptions):
    """The options of a server, and of the command that starts it."""

    open: bool = option(False, FLAG, "Open the search UI in a browser.", flag="-o --open")
    get: str | None = option(
        None,
        text("PATH", 10_000),
        "Print the answer to one request, such as /api/v1/search?words=mill, and exit.",
        advanced=True,
    )
    stateless: bool = option(
        False,
        FLAG,
        "Serve no store: only POST /api/v1/fields and POST /api/v1/compare, with the scheme that the options choose.",
    )

    def __post_init__(self) -> None:
        super(ServeOptions, self).__post_init__()
        if self.stateless and (self.write or self.open):
            raise ServeError("a server without a store has no screens, and nothing to change: leave out open and write")


@click.command("serve", cls=DescribedCommand, short_help="Serve the search UI and the JSON API of a store.")
@store_option(required=False)
@declared_options(ServeOptions, "options")
@declared_options(SchemeChoice, "choice")
def command(store: str | None, options: ServeOptions, choice: SchemeChoice) -> None:
    """\b
    Examples:
      winnow serve --store crawl.winnow --open
      winnow serve --store http://localhost:9200/pages --port 8000
      winnow serve --store crawl.winnow --get '/api/v1/search?words=mill'
      winnow serve --store crawl.winnow --host 0.0.0.0 --token "$(openssl rand -hex 16)"
      winnow serve --stateless --preset passages

    Serves grouped search results, pages with their near-duplicates and history, two texts side by side, pages that
    quote a pasted text, clusters, statistics and watches: in a browser, and as JSON and CSV at the same addresses.

    With --stateless, it only computes: fields for documents of an index of your own, and comparisons of texts that are
    sent. Nothing is kept.

    By default only this machine can connect, and visitors cannot change the store. Ctrl-C stops the server; a second
    one ends it at once. With --get, the exit code is 1 if the request is refused, and 2 if the store cannot answer it.
    """
    # Imported here, because they are slow to load.
    with extra("web"):
        from opensearch_winnow.web.app import make_app, make_stateless_app  # noqa: PLC0415
        from opensearch_winnow.web.served import ServedStore  # noqa: PLC0415
        from opensearch_winnow.web.serving.server import serve  # noqa: PLC0415

    make: Callable[[ServerOptions], Starlette]
    name = "Fields and comparisons, without a store,"
    if options.stateless:
        if "store" in typed_options():
            raise click.UsageError("--stateless serves no store: leave out --store")
        make = partial(make_stateless_app, with_key(choice.scheme or Scheme()))
    elif store is None:
        raise click.UsageError("name the store with --store, or add --stateless to serve none")
    elif choice.scheme is not None:
        raise click.UsageError("a store has its scheme: --preset and the like are for --stateless")
    else:
        with Index.open(store, create=False) as index:  # fails now if there is no store, not at the first request
            name = index.name
        make = partial(make_app, ServedStore.named(store))
    if options.get is not None:
        end(print_answer(make(replace(options, token=None)), options.get))
    shown = "…"  # a chosen token is not printed: printed lines often end in a log
    if options.token is None and not options.is_local:
        shown = secrets.token_urlsafe(18)
        options = replace(options, token=shown)
    # A signal shuts the server down gracefully, and is raised again after that.
    with suppress(KeyboardInterrupt), options.listener() as listener:
        address = f"http://{options.reachable_host}:{listener.getsockname()[1]}/"

        def with_token(token: str) -> str:
            return address if options.token is None else f"{address}?token={token}"

        def ready() -> None:
            may_write = "Visitors may change it. " if options.write else ""
            say(f"{name} at {with_token(shown)}\n{may_write}Ctrl-C stops the server.")
            if options.open:
                opened = with_token(quote(options.token or "", safe=""))
                Thread(target=webbrowser.open, args=[opened], daemon=True).start()

        start_log("opensearch")  # its client would print a line for each missing page
        serve(make(options), listener, ready)


def print_answer(app: Starlette, path: str) -> int:
    """Print the answer to one request, and return the exit code."""
    from opensearch_winnow.web.one_request import one_request  # noqa: PLC0415

    status, body = one_request(app, path)
    if sys.stdout.isatty():
        sys.stdout.write(for_terminal(body))
    else:
        sys.stdout.buffer.write(body)
        sys.stdout.buffer.flush()
    return 0 if status < 400 else NOTHING_FOUND if status < 500 else CANNOT_BE_DONE


def for_terminal(body: bytes) -> str:
    """Return an answer with its control characters made visible; in JSON, escaped."""
    text = body.decode("utf-8", "replace")
    if text.startswith("{"):
        return UNSAFE.sub(lambda unsafe: json.dumps(unsafe[0])[1:-1], text)
    return printable(text.replace("\r\n", "\n"))
