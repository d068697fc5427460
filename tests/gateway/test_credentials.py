"""The engine checks the credentials of each client. The gateway uses its own only to look up indices."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

import pytest

from opensearch_winnow import Scheme
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.checked_stamps import has_fitting_stamp, pages_of
from tests.gateway.running_gateway import ask, bulk_lines, running_gateway
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway
from tests.stores.opensearch.own_articles import OwnIndex, article


def login(user: str) -> str:
    return f"Basic {b64encode(f'{user}:secret'.encode()).decode()}"


def users(**may: Callable[[Arrived], bool]) -> Callable[[Arrived], Answer | None]:
    """Return a check that knows users by name, and what each may do."""

    def check(arrived: Arrived) -> Answer | None:
        for user, is_allowed in may.items():
            if arrived.headers.get("authorization") == login(user):
                return None if is_allowed(arrived) else Answer(403, b'{"status": 403}')
        return Answer(401, b'{"status": 401}')

    return check


def is_lookup(arrived: Arrived) -> bool:
    return arrived.method == "GET"


def fits(own: OwnIndex, id_: str) -> bool:
    return has_fitting_stamp(pages_of(own), own.client.get(index=own.name, id=id_))


def test_the_credentials_of_a_client_pass(engine: Running, attached: OwnIndex) -> None:
    front = Gateway(engine.url, users(ada=lambda _: True))
    with front, running_gateway(front.url) as gateway:
        path = f"/{attached.name}/_doc/1"
        assert ask(gateway, "PUT", path, article(1)).status == 401
        assert ask(gateway, "PUT", path, article(1), authorization=login("ada")).status == 201
        assert fits(attached, "1")
        assert ask(gateway, "PUT", path, article(2), authorization=login("eve")).status == 401


def test_whoever_may_not_look_up_an_index_writes_without_fields(engine: Running, attached: OwnIndex) -> None:
    front = Gateway(engine.url, users(ada=lambda arrived: not is_lookup(arrived), ben=lambda _: True))
    with front, running_gateway(front.url) as gateway:
        answer = ask(gateway, "PUT", f"/{attached.name}/_doc/1", article(1), authorization=login("ada"))
        assert answer.status == 201
        assert "cannot be looked up: the engine answers with status 403" in answer.headers["warning"]
        ask(gateway, "PUT", f"/{attached.name}/_doc/2", article(1), authorization=login("ben"))
    assert attached.client.get(index=attached.name, id="1")["_source"] == article(1)
    assert fits(attached, "2")


def test_whoever_may_not_look_up_an_index_gets_the_status_of_that_for_a_grouped_search(
    engine: Running, attached: OwnIndex
) -> None:
    front = Gateway(engine.url, users(ada=lambda arrived: not is_lookup(arrived)))
    path = f"/{attached.name}/_search?winnow=group"
    with front, running_gateway(front.url) as gateway:
        answer = ask(gateway, "POST", path, {}, authorization=login("ada"))
        assert (answer.status, answer.json()["error"]["type"]) == (403, "security_exception")
        assert "needs view_index_metadata" in answer.json()["error"]["reason"]
        assert ask(gateway, "POST", path, {}).status == 401
        assert ask(gateway, "POST", path.replace("_search", "_msearch"), bulk_lines({}, {})).status == 401


@pytest.mark.parametrize("place", ["address", "environment"])
def test_the_gateway_looks_up_with_credentials_of_its_own_and_lends_them_to_nobody(
    engine: Running, attached: OwnIndex, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    front = Gateway(engine.url, users(ada=lambda arrived: not is_lookup(arrived), gate=is_lookup))
    to = front.url
    if place == "address":
        to = to.replace("://", "://gate:secret@")
    else:
        monkeypatch.setenv("WINNOW_USER", "gate")
        monkeypatch.setenv("WINNOW_PASSWORD", "secret")
    with front, running_gateway(to) as gateway:
        path = f"/{attached.name}/_doc/1"
        assert ask(gateway, "PUT", path, article(1), authorization=login("ada")).status == 201
        assert fits(attached, "1")
        assert ask(gateway, "GET", path).status == 401
        assert "secret" not in ask(gateway, "GET", "/_winnow").body.decode()


def test_without_versions_the_stamp_fits_none(engine: Running, attached: OwnIndex) -> None:
    front = Gateway(engine.url, users(ada=lambda arrived: arrived.path != "/_mget"))
    with front, running_gateway(front.url) as gateway:
        lines = bulk_lines({"index": {"_id": "1"}}, article(1), {"create": {"_id": "2"}}, article(2))
        path = f"/{attached.name}/_bulk"
        assert ask(gateway, "POST", path, lines, authorization=login("ada")).status == 200
    assert not fits(attached, "1")
    assert fits(attached, "2")
    written = attached.client.get(index=attached.name, id="1")["_source"]
    assert written["winnow"]["stamp"] == Scheme().id
    assert written["winnow.cluster"] != written["winnow"]["id"]  # others may be in a cluster of this name
