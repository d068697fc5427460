"""Addresses of stores, and the clients made from them."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address, Engine, connect, connect_async, engine_of
from opensearch_winnow.stores.opensearch.requests.connection_options import environment_options
from opensearch_winnow.stores.opensearch.requests.retries import Patience
from opensearch_winnow.stores.opensearch.requests.transport import RetryingTransport
from opensearch_winnow.stores.store import StoreError
from tests.stores.opensearch.gateway import Answer, Arrived, Check, Gateway

SECRET = "p@ss/w#r?d:%"
IN_URL = "p%40ss%2Fw%23r%3Fd%3A%25"
VARIABLES = ("USER", "PASSWORD", "API_KEY", "CA_CERTS", "CLIENT_CERT", "CLIENT_KEY", "INSECURE", "COMPRESS", "TIMEOUT")
REFUSED = Answer(401, b"Unauthorized", "text/plain; charset=UTF-8")


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "AWS_REGION", "AWS_SERVICE"):
        monkeypatch.delenv(f"WINNOW_{name}", raising=False)


@pytest.mark.parametrize(
    ("text", "shown", "hosts"),
    [
        ("http://localhost:9200/pages", "http://localhost:9200/pages", [("localhost", 9200, False, "")]),
        ("HTTP://Host/pages/", "http://host:9200/pages", [("host", 9200, False, "")]),
        ("https://host/pages", "https://host/pages", [("host", 443, True, "")]),
        ("https://host:9200/pages", "https://host:9200/pages", [("host", 9200, True, "")]),
        ("http://[::1]/pages", "http://[::1]:9200/pages", [("::1", 9200, False, "")]),
        ("http://[fe80::1]:93/pages", "http://[fe80::1]:93/pages", [("fe80::1", 93, False, "")]),
        ("https://host/a/b/pages", "https://host/a/b/pages", [("host", 443, True, "a/b")]),
        (
            "http://a:9200,b:9201,c/pages",
            "http://a:9200,b:9201,c:9200/pages",
            [("a", 9200, False, ""), ("b", 9201, False, ""), ("c", 9200, False, "")],
        ),
    ],
)
def test_an_address(text: str, shown: str, hosts: list[tuple[str, int, bool, str]]) -> None:
    address = Address.of(text)
    assert str(address) == shown
    assert address.index == "pages"
    assert [(each["host"], each["port"], each["use_ssl"], each["url_prefix"]) for each in address.hosts] == hosts
    assert Address.of(shown) == address


@pytest.mark.parametrize("password", [SECRET.replace("%", "%25"), IN_URL])
def test_the_password_is_taken_and_not_shown(password: str) -> None:
    address = Address.of(f"https://me:{password}@a:9200,b/pages")
    assert (address.user, address.password) == ("me", SECRET)
    assert str(address) == "https://a:9200,b/pages"
    assert "me" not in repr(address)
    assert SECRET not in repr(address)


@pytest.mark.parametrize(
    "text",
    [
        "ftp://me:hush@host/pages",
        "me:hush@host/pages",
        "http://me:hush@/pages",
        "http://me:hush@host:port/pages",
        "http://me:hush@host:99999/pages",
        "http://me:hush@[::1/pages",
        "http://me:hush@host:9200",
        "http://me:hush@host:9200/",
        "http://me:hush@a,,b/pages",
        "http://me:hush/pages",  # the @ was forgotten
        *(f"http://me:hush@host/{name}" for name in ("Pages", "_pages", "-pages", "+pages", ".pages", "a%20b", "a:b")),
        *(f"http://me:hush@host/{name}" for name in ("a*", "a?b", "a#b", "a,b", "a%2Fb", "a%00", "a" * 247)),
    ],
)
def test_invalid_addresses_are_refused(text: str) -> None:
    with pytest.raises(StoreError) as refusal:
        Address.of(text)
    message = str(refusal.value)
    assert "hush" not in message
    assert "\n" not in message
    assert len(message) < 350


@pytest.mark.parametrize("name", [".ds-logs-eu-000001", ".ds-logs-eu-2026.11.18-000012"])
def test_an_index_behind_a_data_stream_is_told_from_a_wrong_name(name: str) -> None:
    with pytest.raises(StoreError, match=r"behind the data stream logs-eu: name that, as in http://h:9200/logs-eu$"):
        Address.of(f"http://h/{name}")
    with pytest.raises(StoreError, match="is not a valid name of an index"):
        Address.of(f"http://h/{name.replace('eu', 'E%1bU')}")


def test_the_engine_accepts_the_same_names(engine: Running) -> None:
    client = connect(Address.of(f"{engine.url}/pages"))
    for name in ("0a_b-c.d+e-ü-页面", "a" * 246):
        made = f"{Address.of(f'{engine.url}/{name}').index}.settings"
        client.indices.create(index=made, body={"settings": {"number_of_shards": 1, "number_of_replicas": 0}})
        client.indices.delete(index=made)
    client.close()


def test_the_product_and_version_are_recognized(engine: Running) -> None:
    with Gateway(engine.url) as gateway:
        client = connect(Address.of(f"{gateway.url}/pages"))
        found = engine_of(client)
        assert ".".join(map(str, found.version)) == engine.version
        assert found.product == engine.product.lower()
        assert engine_of(client) is found
        assert len(gateway.arrived) == 1
        client.close()


@pytest.mark.parametrize("status", [403, 404])
def test_an_engine_that_does_not_say_what_it_is(engine: Running, status: int) -> None:
    with Gateway(engine.url, lambda _: Answer(status, b"{}")) as gateway:
        client = connect(Address.of(f"{gateway.url}/pages"))
        assert engine_of(client) == Engine("opensearch", (3, 0))
        client.close()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(200, b"<p>Welcome", "text/html"), "is not OpenSearch"),
        (Answer(200, b'{"hello": "world"}'), "is not OpenSearch"),
        (Answer(200, b'{"version": {"number": "8.11.0", "build_flavor": "serverless"}}'), "serverless Elasticsearch"),
        (Answer(200, b'{"version": {"number": "6.8.23"}}'), "Elasticsearch 6.8.23, but .* from 7.10 on"),
        (Answer(200, b'{"version": {"number": "7.9.3"}}'), "Elasticsearch 7.9.3"),
        (REFUSED, "credentials"),
    ],
)
def test_another_service_at_the_address_is_reported(engine: Running, answer: Answer, words: str) -> None:
    with Gateway(engine.url, lambda _: answer) as gateway:
        client = connect(Address.of(f"{gateway.url}/pages"))
        with pytest.raises(StoreError, match=words):
            engine_of(client, "here")
        client.close()


def wanting(header: str) -> Check:
    return lambda arrived: None if arrived.headers.get("authorization") == header else REFUSED


def basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def test_the_precedence_of_credentials(engine: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials of the options take precedence over the address, and the address over the environment."""

    def works(url: str, **options: Any) -> bool:
        client = connect(Address.of(url), **options)
        try:
            return bool(client.ping())
        finally:
            client.close()

    with Gateway(engine.url, wanting(basic("me", SECRET))) as gateway:
        plain, named = f"{gateway.url}/pages", f"http://me:{IN_URL}@localhost:{gateway.port}/pages"
        assert [works(plain), works(named)] == [False, True]
        assert works(plain, http_auth=("me", SECRET))
        assert not works(named, http_auth=("me", "other"))
        assert not works(named, headers={"Authorization": "Bearer x"})
        monkeypatch.setenv("WINNOW_USER", "me")
        assert not works(plain)
        monkeypatch.setenv("WINNOW_PASSWORD", SECRET)
        assert [works(plain), works(plain, headers={"x-other": "1"})] == [True, True]
        assert not works(plain, headers={"authorization": "Bearer x"})
        assert not works(f"http://you:x@localhost:{gateway.port}/pages")


@pytest.mark.parametrize(
    ("key", "sent"), [("b3BlbjpzZXNhbWU=", "b3BlbjpzZXNhbWU="), ("open:sesame", "b3BlbjpzZXNhbWU=")]
)
def test_an_api_key(engine: Running, monkeypatch: pytest.MonkeyPatch, key: str, sent: str) -> None:
    monkeypatch.setenv("WINNOW_API_KEY", key)
    with Gateway(engine.url, wanting(f"ApiKey {sent}")) as gateway:
        client = connect(Address.of(f"{gateway.url}/pages"))
        assert client.ping()
        client.close()


def test_a_private_key_that_others_can_read_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    certificate, key, both = (tmp_path / name for name in ("certificate.pem", "key.pem", "both.pem"))
    for file in (certificate, key, both):
        file.write_text("")
        file.chmod(0o644)
    environment_options({"WINNOW_CLIENT_CERT": str(certificate), "WINNOW_CLIENT_KEY": str(key)})
    environment_options({"WINNOW_CLIENT_CERT": str(both)})
    assert [message.split(": ")[-1] for message in caplog.messages] == [f"chmod 600 {key}", f"chmod 600 {both}"]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"WINNOW_USER": "me", "WINNOW_API_KEY": "key"}, "WINNOW_USER and WINNOW_API_KEY are set"),
        ({"WINNOW_CA_CERTS": "nowhere.pem"}, "there is no file nowhere.pem, which WINNOW_CA_CERTS names"),
        ({"WINNOW_CLIENT_KEY": "nowhere.pem"}, "there is no file nowhere.pem"),
        ({"WINNOW_TIMEOUT": "soon"}, "WINNOW_TIMEOUT is soon"),
        ({"WINNOW_TIMEOUT": "nan"}, "WINNOW_TIMEOUT is nan"),
        ({"WINNOW_AWS_REGION": "eu-west-1"}, "there are no AWS credentials"),
        ({"WINNOW_AWS_REGION": "eu-west-1", "AWS_PROFILE": "nobody"}, r"no AWS credentials \(.*nobody"),
    ],
)
def test_invalid_variables_are_refused(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], words: str) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StoreError, match=words):
        connect(Address.of("http://localhost/pages"))


def signed(service: str) -> Check:
    """Check the signature as AWS does: compute it from the request that arrived, with the same secret."""
    auth = SigV4Auth(Credentials("AKIDEXAMPLE", "a secret", "a token"), service, "eu-west-1")

    def check(arrived: Arrived) -> Answer | None:
        scope, names, signature = (
            part.partition("=")[2]
            for part in arrived.headers["authorization"].removeprefix("AWS4-HMAC-SHA256 ").split(", ")
        )
        assert scope.startswith("AKIDEXAMPLE/")
        assert {"host", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"} <= set(names.split(";"))
        headers = {name: arrived.headers[name] for name in names.split(";")}
        request = AWSRequest(arrived.method, f"http://{arrived.headers['host']}{arrived.path}", headers, arrived.body)
        request.context["timestamp"] = arrived.headers["x-amz-date"]
        expected = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
        return None if signature == expected else Answer(403, b'{"message": "The signature does not match."}')

    return check


@pytest.mark.parametrize("service", ["es", "aoss"])
def test_requests_are_signed_for_aws(engine: Running, monkeypatch: pytest.MonkeyPatch, service: str) -> None:
    monkeypatch.setenv("WINNOW_AWS_REGION", "eu-west-1")
    monkeypatch.setenv("WINNOW_AWS_SERVICE", service)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a token")

    async def ask(url: str) -> int:
        async with connect_async(Address.of(url)) as client:
            found = await client.count(index="no-*", body={"query": {"match_all": {}}}, allow_no_indices=True)
            return int(found["count"])

    with Gateway(engine.url, signed(service)) as gateway:
        client = connect(Address.of(f"{gateway.url}/pages"))
        assert client.count(index="no-*", body={"query": {"match_all": {}}}, allow_no_indices=True)["count"] == 0
        client.close()
        assert asyncio.run(ask(f"{gateway.url}/pages")) == 0
        assert len(gateway.arrived) == 2
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another secret")
        client = connect(Address.of(f"{gateway.url}/pages"))
        assert not client.ping()
        client.close()


@pytest.fixture
def tls(engine: Running, authority: trustme.CA) -> Iterator[Gateway]:
    """The engine behind TLS that requires client certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_OPTIONAL
    with Gateway(engine.url, tls=context) as gateway:
        yield gateway


async def pinged(url: str) -> bool:
    async with connect_async(Address.of(url)) as client:
        return bool(await client.ping())


def test_tls(tls: Gateway, authority_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def both() -> list[bool]:
        client = connect(Address.of(f"{tls.url}/pages"))
        try:
            return [bool(client.ping()), asyncio.run(pinged(f"{tls.url}/pages"))]
        finally:
            client.close()

    assert both() == [False, False]
    monkeypatch.setenv("WINNOW_INSECURE", "0")
    assert both() == [False, False]
    monkeypatch.setenv("WINNOW_INSECURE", "1")
    assert both() == [True, True]
    monkeypatch.delenv("WINNOW_INSECURE")
    monkeypatch.setenv("WINNOW_CA_CERTS", str(authority_file))
    assert both() == [True, True]


@pytest.mark.parametrize(
    ("missing", "statement", "words"),
    [
        (
            "aiohttp",
            "client.connect_async(address)",
            "aiohttp is not installed: pip install 'opensearch-winnow[async]'",
        ),
        ("botocore", "client.connect(address)", "botocore is not installed: pip install 'opensearch-winnow[aws]'"),
    ],
)
def test_a_package_that_is_not_installed(missing: str, statement: str, words: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from opensearch_winnow.stores.opensearch.requests import client;"
        f"address = client.Address.of('http://localhost/pages'); {statement}"
    )
    environment = os.environ | {"WINNOW_AWS_REGION": "eu-west-1" * (missing == "botocore")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert words in done.stderr.splitlines()[-1]


def test_a_prefix_and_a_compressed_body(engine: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_COMPRESS", "yes")
    with Gateway(engine.url, lambda _: Answer(200, b'{"count": 7}'), prefix="/a/b") as gateway:
        client = connect(Address.of(f"{gateway.url}/a/b/pages"))
        assert client.count(index="pages", body={"query": {"match_all": {}}}) == {"count": 7}
        client.close()
    (arrived,) = gateway.arrived
    assert arrived.path == "/a/b/pages/_count"
    assert arrived.headers["content-encoding"] == "gzip"


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def test_a_node_that_is_down_is_skipped(engine: Running, closed_port: int) -> None:
    """Any request moves on, since nothing was sent to the dead node. Each client has its own order of nodes."""
    with Gateway(engine.url) as gateway:
        url = f"http://127.0.0.1:{closed_port},localhost:{gateway.port}/pages"

        async def both(times: int) -> list[object]:
            answers: list[object] = []
            for _ in range(times):
                async with connect_async(Address.of(url)) as client:
                    answers.append((await client.indices.put_alias(index="no-such", name="x", ignore=404))["status"])
            return answers

        for _ in range(8):
            client = connect(Address.of(url))
            assert client.indices.put_alias(index="no-such", name="x", ignore=404)["status"] == 404
            assert client.indices.put_alias(index="no-such", name="x", ignore=404)["status"] == 404
            client.close()
        assert asyncio.run(both(8)) == [404] * 8


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_be_repeated_is_repeated_for_a_moment(
    engine: Running, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RetryingTransport, "patience", Patience(0.0, tries=2))
    answers: Iterator[Answer] = iter(())

    def check(_: Arrived) -> Answer | None:
        return next(answers, None)

    def counted(client: OpenSearch) -> int:
        return int(client.count(index="no-*", body={"query": {"match_all": {}}}, request_timeout=30)["count"])

    with Gateway(engine.url, check) as gateway:
        client = connect(Address.of(f"{gateway.url}/pages"))
        answers = iter([Answer(status)])
        assert counted(client) == 0
        answers = iter([Answer(status)])
        with pytest.raises(Exception, match=str(status)):
            client.index(index="Never", body={})
        assert [arrived.path for arrived in gateway.arrived] == ["/no-*/_count"] * 2 + ["/Never/_doc"]
        answers = iter([Answer(status), Answer(status)])
        with pytest.raises(Exception, match=str(status)):
            counted(client)
        client.close()
