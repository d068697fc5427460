"""Questions to the command line and to the API of `winnow serve`, whose answers are JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from click.testing import CliRunner

from opensearch_winnow import Page
from opensearch_winnow.cli import main
from opensearch_winnow.web.app import make_app
from opensearch_winnow.web.served import ServedStore
from tests.recorded_answers.question import Question
from tests.recorded_answers.result_values import json_document
from tests.recorded_answers.two_crawls import FIRST, SECOND, crawls, licences, plain_text
from tests.web.served_fixture import Asking, serving_app

API = "/api/v1"
FORM = "application/x-www-form-urlencoded"


def chosen_pages() -> tuple[list[str], Page, str]:
    """Return the addresses of the first crawl, a page of quotes in the second, and an address that is gone there."""
    made = crawls()
    earlier = [page.url for page in made[FIRST]]
    gone = next(url for url in earlier if url not in {page.url for page in made[SECOND]})
    return earlier, next(page for page in made[SECOND] if "notes." in page.url), gone


def command_questions(store: Path, folder: Path) -> Iterator[Question]:
    """Yield commands on a store, with `--json`."""
    earlier, note, gone = chosen_pages()
    text = folder / "question.txt"
    text.write_text(plain_text(note), encoding="utf-8")
    other = folder / "other.txt"
    other.write_text(plain_text(note)[300:], encoding="utf-8")
    on_the_store = (
        *(f"similar {note.url} --min-containment 0", f"similar --file {text} --estimate --limit 2"),
        *(f"similar {earlier[0]}", "search license --limit 3 --facets site,year", "search index reader --no-group"),
        "search the --by both --limit 2 --page 2",
        f"compare {earlier[0]} {earlier[0].replace('lucene.', 'mirror.')}",
        *(f"history {earlier[3]}", f"locate {gone} --at 2022-12", f"versions {earlier[0]}"),
        f"changes --from {FIRST} --to {SECOND} --limit 1",
        f"changes --from {FIRST} --to {SECOND} --change split --passages --limit 1",
        *("stats", "watch list", "watch check text", "boilerplate list", "cluster --dry-run --threshold 0.7"),
    )
    without_a_store = (
        f"compare {text} {other}",
        f"pairs {text} {other}",
        f"fingerprint {text} --noise 400 --guarantee 900",
    )
    for command in (*(f"{command} --store {store}" for command in on_the_store), *without_a_store):
        yield _command(command.split(), folder)


def _command(arguments: list[str], folder: Path) -> Question:
    shown = " ".join(arguments).replace(f"{folder}/", "")
    return Question(f"command: winnow {shown}", partial(_answer_of_command, [*arguments, "--json"]))


def _answer_of_command(arguments: list[str], _: object) -> Any:
    done = CliRunner().invoke(main, arguments, prog_name="winnow", catch_exceptions=False)
    return {"exit": done.exit_code, "json": json_document(json.loads(done.stdout)) if done.stdout else None}


@contextmanager
def served(store: Path) -> Iterator[Asking]:
    """Serve a store until the block ends."""
    with serving_app(make_app(ServedStore.named(str(store)))) as found:
        yield found


def api_questions(server: Asking) -> Iterator[Question]:
    """Yield requests to the API."""
    earlier, note, gone = chosen_pages()
    ids = [server.json(f"{API}/pages?{urlencode({'url': url})}")["id"] for url in (note.url, earlier[0])]
    cluster = server.json(f"{API}/clusters?limit=1")["clusters"][0]["id"]
    gets: tuple[tuple[str, dict[str, Any]], ...] = (
        ("/search", {"words": "license", "limit": 3}),
        ("/search", {"words": "the", "by": "both", "limit": 2, "page": 2}),
        ("/suggest", {"words": "https://spdx.example/A"}),
        ("/pages", {"url": note.url}),
        (f"/pages/{ids[0]}", {}),
        (f"/pages/{ids[0]}/similar", {}),
        (f"/pages/{ids[1]}/history", {}),
        (f"/pages/{ids[1]}/versions", {}),
        (f"/pages/{ids[1]}/differences", {"others": ids[0]}),
        ("/versions", {"url": earlier[0]}),
        ("/locate", {"url": gone}),
        ("/compare", {"a": earlier[0], "b": earlier[0].replace("lucene.", "mirror.")}),
        (f"/compare/{ids[0]}/{ids[1]}", {}),
        ("/clusters", {"limit": 2}),
        (f"/clusters/{cluster}", {}),
        ("/changes", {"from": FIRST, "to": SECOND}),
        ("/statistics", {}),
        ("/watches", {}),
        ("/watches/log", {}),
    )
    for path, parameters in gets:
        shown = f"{path}?{urlencode(parameters)}"
        yield Question(f"api: GET {shown}", partial(_reply, partial(server.get, f"{API}{shown}")))
    quoted = plain_text(licences()[5])[:1_200]
    form = urlencode({"text": f"{quoted} And some words of our own, which nobody has written before."}).encode()
    sent = json.dumps({"pairs": [{"a": {"text": quoted}, "b": {"text": quoted[300:]}}, {"a": {"text": "a"}}]}).encode()
    quoting = urlencode({"text": plain_text(note)}).encode()
    posts = (
        *(("/quotes?limit=3", form, FORM), ("/quotes?limit=3&min_containment=0.2", quoting, FORM)),
        *(("/versions", form, FORM), ("/compare", sent, "application/json")),
    )
    for path, body, kind in posts:
        name = f"api: POST {path} {len(body)} bytes"
        yield Question(name, partial(_reply, partial(server.send, f"{API}{path}", body, content_type=kind)))


def _reply(send: Callable[[], Any], _: object) -> Any:
    reply = send()
    return {"status": reply.status, "json": json_document(reply.json)}
