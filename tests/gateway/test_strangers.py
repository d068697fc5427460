"""Whoever the engine does not accept learns nothing from the gateway, and costs it nothing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme
from opensearch_winnow.gateway import accepted_clients
from opensearch_winnow.gateway.limits import Limits
from opensearch_winnow.gateway.searching.group_options import is_ours, without_options
from opensearch_winnow.mappings.attached_fields import Attachment
from tests.gateway.running_gateway import ask, bulk_lines, running_gateway
from tests.gateway.test_credentials import login
from tests.stores.opensearch.gateway import Answer, Arrived, Check, Gateway, nothing_to_check
from tests.stores.opensearch.own_articles import FIELDS

NO_HITS = b'{"took": 1, "timed_out": false, "_shards": {"failed": 0}, "hits": {"hits": []}}'
REFUSED = Answer(401, b'{"status": 401, "error": "who are you?"}')
FORBIDDEN = Answer(403, b'{"status": 403, "error": "not for you"}')
BOMB = gzip.compress(b"{}\n" * 100_000)
HIDDEN = ("secret-merger", "secret-layoffs")


def mapping(below: str, **changed: Any) -> dict[str, Any]:
    meta = Attachment.of(replace(FIELDS, below=below), Scheme(), "settings").meta() | changed
    return {"mappings": {"_meta": {"winnow": meta}}, "settings": {"index.uuid": "1"}}


def is_lookup(arrived: Arrived) -> bool:
    return arrived.method == "GET" and "?flat_settings" in arrived.path


class GuardedEngine:
    """Answers look-ups of two indices for the gateway's own user, and searches for others, as `may` decides."""

    def __init__(self, found: dict[str, Any] | None = None, **may: Check) -> None:
        both = {HIDDEN[0]: mapping("winnow"), HIDDEN[1]: mapping("other")}
        self.found = both if found is None else found
        self.refused_lookup: Answer | None = None
        self.may = {login(user): answer for user, answer in may.items()}

    def __call__(self, arrived: Arrived) -> Answer:
        user = arrived.headers.get("authorization", "")
        if user == login("gate"):
            assert is_lookup(arrived), "the gateway's own credentials are for look-ups"
            if arrived.path.startswith("/hers?"):
                return Answer(404, b"{}")
            return self.refused_lookup or Answer(200, json.dumps(self.found).encode())
        if user not in self.may:
            return REFUSED
        return self.may[user](arrived) or Answer(200, NO_HITS)


@contextmanager
def guarded(engine: GuardedEngine) -> Iterator[tuple[Gateway, str]]:
    """Run a gateway with credentials of its own."""
    front = Gateway("http://127.0.0.1:1", engine)
    with front, running_gateway(front.url.replace("://", "://gate:secret@")) as gateway:
        yield front, gateway


GROUPED: dict[str, tuple[str, Any]] = {
    "path": ("/*/_search?winnow=group", {}),
    "parameter": ("/_search?winnow=group&winnow_index=_all", {}),
    "several": ("/*/_msearch?winnow=group", bulk_lines({}, {})),
    "body": ("/secret-*/_search", {"ext": {"winnow": {"group": True}}}),
    "nonsense": ("/*/_search?winnow=group&winnow_members=-7", b"no JSON"),
}


@pytest.mark.parametrize(("path", "body"), GROUPED.values(), ids=GROUPED)
def test_a_stranger_gets_the_answer_of_the_engine_and_nothing_is_looked_up(path: str, body: Any) -> None:
    with guarded(GuardedEngine()) as (front, gateway):
        for headers in ({}, {"authorization": login("eve")}):
            answer = ask(gateway, "POST", path, body, **headers)
            assert (answer.status, answer.body) == (REFUSED.status, REFUSED.body)
        assert not any(map(is_lookup, front.arrived))
        assert not any("winnow" in arrived.path for arrived in front.arrived)


def check_that_bombs_pass(front: Gateway, gateway: str, **headers: str) -> None:
    """Check that the bodies of somebody whom the engine refuses pass unread, to an engine that looks up nothing."""
    for path in ("/a/_msearch?winnow=group", "/a/_search", "/a/_bulk", "/_bulk", "/a/_doc/1"):
        answer = ask(gateway, "POST", path, BOMB, content_encoding="gzip", **headers)
        assert (path, answer.status, answer.body) == (path, REFUSED.status, REFUSED.body)
        assert front.arrived[-1].body == BOMB
        assert front.arrived[-1].headers["content-encoding"] == "gzip"
    assert not any(map(is_lookup, front.arrived))


def test_the_body_of_a_stranger_passes_unread() -> None:
    with guarded(GuardedEngine()) as (front, gateway):
        check_that_bombs_pass(front, gateway)
        assert ask(gateway, "GET", "/_winnow").json() == {"documents": 0, "without_fields": 0, "unread": 0, "passed": 5}


@pytest.mark.parametrize("changed", [{}, {"attached": 99}, {"scheme_id": "another"}])
def test_whoever_may_not_search_an_index_is_told_so_by_the_engine_only(changed: dict[str, Any]) -> None:
    engine = GuardedEngine(ada=lambda arrived: FORBIDDEN if "_search" in arrived.path else None, ben=nothing_to_check)
    engine.found[HIDDEN[0]] = mapping("winnow", **changed)
    with guarded(engine) as (_, gateway):
        for path in ("/secret-*/_search?winnow=group", "/_search?winnow=group&winnow_index=secret-*"):
            answer = ask(gateway, "POST", path, {"query": {"match_all": {}}}, authorization=login("ada"))
            assert (answer.status, answer.body) == (FORBIDDEN.status, FORBIDDEN.body)
        said = ask(gateway, "POST", "/secret-*/_search?winnow=group", {}, authorization=login("ben")).reason
    assert said.startswith("this search cannot be grouped: ")
    assert not any(name in said for name in HIDDEN)


def test_a_search_at_a_point_in_time_needs_the_right_to_search_the_index_that_it_names() -> None:
    """Otherwise whoever may search anything could find out which other indices are attached."""
    path, body = "/_search?winnow=group&winnow_index=secret-*", {"pit": {"id": "of another index"}}
    for found in ({}, {HIDDEN[0]: mapping("winnow")}, None):
        engine = GuardedEngine(found, ada=lambda arrived: FORBIDDEN if "secret" in arrived.path else None)
        with guarded(engine) as (front, gateway):
            answer = ask(gateway, "POST", path, body, authorization=login("ada"))
            assert (answer.status, answer.body) == (FORBIDDEN.status, FORBIDDEN.body)
            assert not any(map(is_lookup, front.arrived))


def test_the_sentence_about_indices_attached_in_different_ways_names_none() -> None:
    with guarded(GuardedEngine(ada=nothing_to_check)) as (front, gateway):
        answer = ask(gateway, "POST", "/*/_search?winnow=group&size=7", {"from": 3}, authorization=login("ada"))
        assert answer.status == 400
        assert answer.reason.endswith("* has indices that were attached in different ways; name one of them")
        assert front.arrived[-1].path == "/*/_search?size=0"  # the search itself, for no hits


@pytest.mark.parametrize(("status", "shown"), [(401, 403), (403, 403), (429, 429), (503, 503)])
def test_what_the_engine_says_to_the_gateway_is_not_for_clients(status: int, shown: int) -> None:
    engine = GuardedEngine(ada=nothing_to_check)
    engine.refused_lookup = Answer(status, b'{"error": {"reason": "no permissions for user gate"}, "status": 1}')
    with guarded(engine) as (_, gateway):
        answer = ask(gateway, "POST", "/a/_search?winnow=group", {}, authorization=login("ada"))
        assert answer.status == shown
        assert f"a cannot be looked up: the engine answers with status {status}" in answer.reason
        assert "gate" not in answer.reason


# --- writes to indices that a client may not write to -----------------------------------------------------------------

NAME = HIDDEN[0]
REFUSAL = {"type": "security_exception", "reason": "no permissions"}
UNNAMED = {"index": {"_index": NAME}}
DOCUMENT = {"body": "The miller of the valley ground his grain."}
STATES: dict[str, dict[str, Any] | None] = {"unknown": None, "usable": {}, "another scheme": {"scheme_id": "another"}}
PROBES: dict[str, tuple[str, bytes, dict[str, str]]] = {
    "bulk": ("/_bulk", bulk_lines(UNNAMED, DOCUMENT), {}),
    "bulk, pretty": ("/_bulk?pretty", bulk_lines(UNNAMED, DOCUMENT), {}),
    "bulk of a path": (f"/{NAME}/_bulk", bulk_lines({"index": {}}, DOCUMENT, {"create": {"_id": "1"}}, DOCUMENT), {}),
    "bulk beside an own index": (
        "/_bulk",
        bulk_lines({"index": {"_index": "hers", "_id": "1"}}, DOCUMENT, UNNAMED, DOCUMENT),
        {"accept_encoding": "gzip"},
    ),
    "bulk with gzip": ("/_bulk", gzip.compress(bulk_lines(UNNAMED, DOCUMENT), mtime=0), {"content_encoding": "gzip"}),
    "bulk with an unread body": (f"/{NAME}/_bulk", b"", {"content_type": "application/cbor"}),
    "bulk with an unread answer": ("/_bulk", bulk_lines(UNNAMED, DOCUMENT), {"accept": "application/cbor"}),
    "document": (f"/{NAME}/_doc", json.dumps(DOCUMENT).encode(), {"accept_encoding": "gzip"}),
    "document with an id": (f"/{NAME}/_doc/1", json.dumps(DOCUMENT).encode(), {}),
}


def without_rights(arrived: Arrived) -> Answer | None:
    """Answer as an engine does that lets its client write to the index `hers` only."""
    path = arrived.path.partition("?")[0]
    if path == "/":
        return None
    if path == "/_msearch":
        names = [json.loads(line)["index"] for line in arrived.body.splitlines()[::2]]
        responses = [{"status": 200 if name == "hers" else 403} for name in names]
        return Answer(200, json.dumps({"responses": responses}).encode())
    if not path.endswith("/_bulk"):
        return FORBIDDEN
    lines = gzip.decompress(arrived.body) if "content-encoding" in arrived.headers else arrived.body
    items = []
    for action in map(json.loads, lines.splitlines()[::2]):
        ((kind, options),) = action.items()
        name = options.get("_index", NAME)
        done = {"status": 201} if name == "hers" else {"status": 403, "error": REFUSAL}
        items.append({kind: {"_index": name, "_id": options.get("_id"), **done}})
    indent = 2 if "pretty" in arrived.path else None
    return Answer(200, json.dumps({"took": 1, "errors": True, "items": items}, indent=indent).encode())


@pytest.mark.parametrize(("path", "body", "headers"), PROBES.values(), ids=PROBES)
def test_whoever_may_not_write_to_an_index_does_not_learn_that_it_is_attached(
    path: str, body: bytes, headers: dict[str, str]
) -> None:
    seen = {}
    for state, changed in STATES.items():
        found = {} if changed is None else {NAME: mapping("winnow", **changed)}
        engine = GuardedEngine(found, alice=without_rights)
        engine.refused_lookup = Answer(404, b"{}") if changed is None else None
        with guarded(engine) as (front, gateway):
            answer = ask(gateway, "POST", path, body, authorization=login("alice"), **headers)
            accepted = front.arrived[-1].headers.get("accept-encoding")  # which the answer shows
            told = answer.headers.get("warning"), answer.headers.get("content-type")
            seen[state] = answer.status, answer.body, told, accepted, ask(gateway, "GET", "/_winnow").json()
    assert seen["usable"] == seen["another scheme"] == seen["unknown"]


def test_whoever_may_write_to_an_index_is_told_why_documents_got_no_fields() -> None:
    def items(arrived: Arrived) -> Answer | None:
        if "_bulk" not in arrived.path:
            return None
        done = [{"index": {"_index": NAME, "_id": "1", "status": status}} for status in (201, 403)]
        return Answer(200, json.dumps({"took": 1, "errors": True, "items": done}).encode())

    with guarded(GuardedEngine({NAME: mapping("winnow", scheme_id="another")}, ben=items)) as (_, gateway):
        body = bulk_lines(UNNAMED, DOCUMENT, UNNAMED, DOCUMENT)
        answer = ask(gateway, "POST", "/_bulk", body, authorization=login("ben"))
        assert f"no fields for 1 document of {NAME}" in answer.headers["warning"]
        assert ask(gateway, "GET", "/_winnow").json()["without_fields"] == 1


# --- one check for a client and a second ------------------------------------------------------------------------------


def checks(front: Gateway) -> int:
    return sum((arrived.method, arrived.path) == ("GET", "/") for arrived in front.arrived)


def test_a_client_is_checked_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accepted_clients, "REMEMBERED_SECONDS", 60.0)
    with guarded(GuardedEngine({}, ada=nothing_to_check, ben=nothing_to_check)) as (front, gateway):
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda _: ask(gateway, "POST", "/_bulk", b"", authorization=login("ada")), range(6)))
        assert checks(front) == 1
        for number in range(5):
            for path, body in (("/_bulk", b'{"delete": {}}\n'), ("/a/_search?winnow=group", b"{}"), ("/a/_doc", b"{}")):
                ask(gateway, "POST", path, body, authorization=login("ada"), x_opaque_id=str(number))
        assert checks(front) == 1
        ask(gateway, "POST", "/_bulk", b"", authorization=login("ben"))
        ask(gateway, "POST", "/_bulk", b"", authorization=login("ben"), x_proxy_user="cleo")
        assert checks(front) == 3
        monkeypatch.setattr(accepted_clients, "REMEMBERED_SECONDS", 0.0)
        for _ in range(3):
            ask(gateway, "POST", "/_bulk", b"", authorization=login("eve"))
        assert checks(front) == 6


@pytest.mark.parametrize("path", ["/a/_search", "/_search?q=winnow", "/a/_doc/1", "/", "/a/_count"])
def test_what_costs_nothing_is_not_checked(path: str) -> None:
    with guarded(GuardedEngine()) as (front, gateway):
        assert ask(gateway, "GET", path).status == 401
        assert [arrived.path for arrived in front.arrived] == [path]


def test_no_more_clients_are_remembered_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accepted_clients, "MAX_CLIENTS", 3)
    held: list[int] = []
    remember = accepted_clients.AcceptedClients.accepts

    async def watched(self: accepted_clients.AcceptedClients, request: Any) -> bool:
        accepted = await remember(self, request)
        held.append(len(self._checks))
        return accepted

    monkeypatch.setattr(accepted_clients.AcceptedClients, "accepts", watched)
    with guarded(GuardedEngine()) as (_, gateway):
        for number in range(6):
            assert ask(gateway, "POST", "/_bulk", b"", authorization=f"Basic {number}").status == 401
    assert max(held) == 3


def test_the_check_is_never_itself_an_answer() -> None:
    """An engine that refuses GET / only: documents are written, with a warning, and nothing is said to be grouped."""
    engine = GuardedEngine(ada=lambda arrived: REFUSED if arrived.path == "/" else None)
    with guarded(engine) as (_, gateway):
        ada = {"authorization": login("ada")}
        assert ask(gateway, "POST", "/a/_search", {}, **ada).body == NO_HITS
        assert ask(gateway, "POST", "/a/_search", gzip.compress(b"{}"), content_encoding="gzip", **ada).body == NO_HITS
        written = ask(gateway, "PUT", "/a/_doc/1", {}, **ada)
        assert written.status == 200
        assert "does not accept the client's credentials for GET /" in written.headers["warning"]
        assert ask(gateway, "GET", "/_winnow").json()["unread"] == 1
        grouped = ask(gateway, "POST", "/a/_search?winnow=group", {}, **ada)
        assert str(grouped) == "403 `security_exception`"
        assert "this search cannot be grouped" in grouped.reason


def test_a_client_of_which_nobody_knows_whether_it_is_accepted_passes_unread() -> None:
    """An engine, or what is in front of it, may answer GET / with more than the gateway reads, or not at all."""
    large = Answer(200, b" " * (Limits().max_gateway_answer + 1))
    engine = GuardedEngine(eve=lambda arrived: large if arrived.path == "/" else REFUSED)
    with guarded(engine) as (front, gateway):
        check_that_bombs_pass(front, gateway, authorization=login("eve"))
        engine.may[login("eve")] = lambda arrived: large if arrived.path == "/" else None
        answer = ask(gateway, "POST", "/a/_bulk", BOMB, content_encoding="gzip", authorization=login("eve"))
        assert answer.status == 200  # a document is never refused
        assert front.arrived[-1].body == BOMB
        assert not any(map(is_lookup, front.arrived))


# --- the address of a search that passes unread -----------------------------------------------------------------------

PARAMETERS = st.lists(st.sampled_from(["winnow=group", "winnow_index=a%26b", "w%69nnow=x", "q=a+b%2B", "winnowed", ""]))


@given(PARAMETERS)
def test_only_what_is_meant_for_winnow_is_taken_out_of_an_address(parameters: list[str]) -> None:
    left = without_options(f"/a%2Fb/_search?{'&'.join(parameters)}").partition("?")
    assert left[0] == "/a%2Fb/_search"
    assert not any(is_ours(name) for name, _ in parse_qsl(left[2], keep_blank_values=True))
    assert [each for each in left[2].split("&") if each] == [
        each for each in parameters if each and not each.startswith(("winnow=", "winnow_", "w%69nnow="))
    ]
