"""No message contains the password of an address, however the address was mistyped."""

from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.index import Index
from opensearch_winnow.stores.opening import is_address
from opensearch_winnow.stores.store import StoreError
from tests.cli.conftest import Process, Winnow

SECRET = "open-sesame"
SHAPES = [
    f"ftp://me:{SECRET}@h/pages",
    f"me:{SECRET}@h",
    f"me:{SECRET}@h:9200/pages",
    f"http:/me:{SECRET}@h/pages",
    f"http:me:{SECRET}@h/pages",
    f"https//me:{SECRET}@h/pages",
    f"http;//me:{SECRET}@h/pages",
    f"htp:\\\\me:{SECRET}@h/pages",
    f"//me:{SECRET}@h/pages",
    f"://me:{SECRET}@h/pages",
    f" http://me:{SECRET}@h/pages",
    f"http://me:{SECRET}@h:port/pages",
    f"http://me:{SECRET}@h:9200:9200/pages",
    f"http://me:{SECRET}@",
    f"http://me:{SECRET}/pages",
    f"http://me:{SECRET}@h:9200/Pages",
    f"http://me:{SECRET}@h:9200/a b",
    f"http://me:{SECRET}@[::1/pages",
    f"http://me:a/{SECRET}@h:x/pages",
    f"http://me:a@{SECRET}@h:x/pages",
    f"http://me:a {SECRET}'\"@h:x/pages",
    f"http://unit/me:{SECRET}@h:x/pages",
    f"ftp://{SECRET}@h/pages",
    f"http://http://me:{SECRET}@h/pages",
]
# Wherever a store, a source or a page may be named. A file to write, as with --html, is named as it was typed.
COMMANDS: dict[str, list[str]] = {
    "index": ["index", "a.txt", "--store", "{}"],
    "index-json": ["index", "a.txt", "--json", "--store={}"],
    "index-source": ["index", "{}", "--store", "new.winnow"],
    "index-to": ["index", "a.txt", "--to", "{}"],
    "similar": ["similar", "--text", "words", "--store", "{}"],
    "similar-url": ["similar", "{}", "--store", "crawl.winnow"],
    "similar-file": ["similar", "--file", "{}", "--store", "crawl.winnow"],
    "search": ["search", "words", "--store", "{}"],
    "search-stable": ["search", "words", "--stable", "--store", "{}"],
    "compare": ["compare", "{}", "a.txt"],
    "compare-store": ["compare", "{}", "a.txt", "--store", "crawl.winnow"],
    "history": ["history", "{}", "--store", "crawl.winnow"],
    "history-store": ["history", "http://example.org/mill", "--store", "{}"],
    "locate": ["locate", "{}", "--store", "crawl.winnow"],
    "locate-store": ["locate", "http://example.org/mill", "--store", "{}"],
    "versions": ["versions", "{}", "--store", "crawl.winnow"],
    "versions-file": ["versions", "--file", "{}", "--store", "crawl.winnow"],
    "watch": ["watch", "check", "--store", "{}"],
    "watch-add": ["watch", "add", "name", "{}", "--store", "crawl.winnow"],
    "serve": ["serve", "--get", "/", "--store", "{}"],
    "cluster": ["cluster", "--store", "{}"],
    "cluster-records": ["cluster", "{}"],
    "stats": ["stats", "--json", "--store", "{}"],
    "boilerplate": ["boilerplate", "list", "--store", "{}"],
    "fingerprint": ["fingerprint", "{}"],
    "export": ["export", "--to", "-", "--store", "{}"],
    "export-records": ["export", "{}", "--to", "-"],
    "export-to": ["export", "--store", "crawl.winnow", "--to", "{}"],
    "setup": ["setup", "--store", "{}"],
    "setup-dry-run": ["setup", "--dry-run", "--json", "--store", "{}"],
    "migrate": ["migrate", "--json", "--store", "{}"],
    "attach": ["attach", "{}", "--text", "body"],
    "attach-dry-run": ["attach", "{}", "--text", "body", "--dry-run"],
    "detach": ["detach", "{}", "--json"],
    "engine": ["engine", "status", "--home", "{}"],
    "demo": ["demo", "--to", "a.txt", "--store", "{}"],
    "no-such-command": ["{}"],
    "no-such-option": ["stats", "--stroe={}"],
    "one-too-many": ["stats", "--store", "crawl.winnow", "{}"],
    "not-a-number": ["search", "words", "--store", "crawl.winnow", "--limit", "{}"],
    "not-a-choice": ["search", "words", "--store", "crawl.winnow", "--color", "{}"],
}


@pytest.mark.check
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
@pytest.mark.usefixtures("crawl")
def test_no_message_contains_it(winnow: Winnow, command: list[str], here: Path) -> None:
    (here / "a.txt").write_text("some words of a text")
    for shape in SHAPES:
        done = winnow(*(word.replace("{}", shape) for word in command))
        assert SECRET not in done.output, shape
        assert done.exit_code in (1, 2), shape
    created = {path.name for path in here.rglob("*") if SECRET in str(path)}
    assert not created, "a mistyped address was taken for the name of a file"


@pytest.mark.parametrize("shape", SHAPES)
def test_the_environment_and_python(winnow: Winnow, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError) as caught:
        Index.open(shape)
    assert SECRET not in str(caught.value)
    monkeypatch.setenv("WINNOW_STORE", shape)
    assert SECRET not in winnow("stats").output


def test_what_is_shown_instead() -> None:
    secrets = {"http://me:secret@h:9200/pages": "http://h:9200/pages", "me:secret@h/pages": "h/pages"}
    for name, shown in (secrets | {"ftp://key@h": "ftp://h"}).items():
        assert without_credentials(name) == shown
    for name in ("https://example.org/@user", "me@home.winnow", "/data/2024:05@home/crawl.winnow", "./a:b@c.winnow"):
        assert without_credentials(name) == name


def test_mistyped_addresses_are_not_taken_for_files() -> None:
    for name in ("http.winnow", "https-pages", "a:b.winnow", "//tmp/a.winnow", "a/b@c", "./a:/b"):
        assert not is_address(name)
    for name in ("ftp://h/pages", "http:/h/pages", "https//h/pages", "http:h/pages", " http://h/pages"):
        with pytest.raises(StoreError, match="an address starts with http:// or https://"):
            is_address(name)


@pytest.mark.usefixtures("here")
def test_a_file_with_such_a_name(winnow: Winnow, crawl: Path) -> None:
    odd = crawl.rename("a:b@c.winnow")
    assert winnow("stats", "--store", odd.name).exit_code == 0, "it exists"
    odd.unlink()
    assert "for a file, write ./ before its name" in winnow.refused("stats", "--store", odd.name)
    assert "./a:b@c.winnow" in winnow("stats", "--store", f"./{odd.name}").stderr


@pytest.mark.check
def test_the_process_list(process: Process) -> None:
    """Credentials can be given in the environment, and a store as well: then no argument contains them."""
    settings = {"WINNOW_STORE": "http://127.0.0.1:1/pages", "WINNOW_TIMEOUT": "5"}
    done = process("stats", **settings, WINNOW_USER="me", WINNOW_PASSWORD=SECRET)
    assert done.returncode == 2
    assert SECRET.encode() not in done.stdout + done.stderr
