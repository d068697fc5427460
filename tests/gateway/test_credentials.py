"""The engine checks the credentials of each client. The gateway uses its own only to look up indices."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

import pytest

from opensearch_winnow import Scheme
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.checked_stamps import fits
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


def test_the_credentials_of_a_client_pass(engine: Running, attached: OwnIndex) -> None:
    with Gateway(engine.url, users(ada=lambda _: True)) as front, running_gateway(front.url) as gateway:
        path = f"/{attached.name}/_doc/1"
        assert ask(gateway, "PUT", path, article(1)).status == 401
        assert ask(gateway, "PUT", path, article(1), authorization=login("ada")).status == 201
        assert fits(attached, "1")
        assert ask(gateway, "PUT", path, article(2), authorization=login("eve")).status == 401


def test_whoever_may_not_look_up_an_index_gets_neither_fields_nor_groups(engine: Running, attached: OwnIndex) -> None:
    front = Gateway(engine.url, users(ada=lambda arrived: not is_lookup(arrived), ben=lambda _: True))
    search = f"/{attached.name}/_search?winnow=group"
    with front, running_gateway(front.url) as gateway:
        written = ask(gateway, "PUT", f"/{attached.name}/_doc/1", article(1), authorization=login("ada"))
        assert written.status == 201
        assert "the engine answers with status 403" in written.headers["warning"]
        ask(gateway, "PUT", f"/{attached.name}/_doc/2", article(1), authorization=login("ben"))
        grouped = ask(gateway, "POST", search, {}, authorization=login("ada"))
        assert str(grouped) == "403 `security_exception`"
        assert "needs view_index_metadata" in grouped.reason
        assert ask(gateway, "POST", search, {}).status == 401
        assert ask(gateway, "POST", search.replace("_search", "_msearch"), bulk_lines({}, {})).status == 401
    assert attached.client.get(index=attached.name, id="1")["_source"] == article(1)
    assert fits(attached, "2")


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
    lines = bulk_lines({"index": {"_id": "1"}}, article(1), {"create": {"_id": "2"}}, article(2))
    with front, running_gateway(front.url) as gateway:
        assert ask(gateway, "POST", f"/{attached.name}/_bulk", lines, authorization=login("ada")).status == 200
    assert not fits(attached, "1")
    assert fits(attached, "2")
    written = attached.client.get(index=attached.name, id="1")["_source"]
    assert written["winnow"]["stamp"] == Scheme().id
    assert written["winnow.cluster"] != written["winnow"]["id"]  # others may be in a cluster of this name
