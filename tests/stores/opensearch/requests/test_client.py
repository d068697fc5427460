"""Addresses of stores, and the clients made from them."""

from __future__ import annotations

import base64
import os
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
from opensearch_winnow.stores.opensearch.requests.client import Address, Engine, connect, engine_of
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
    assert (address.user, address.password, str(address)) == ("me", SECRET, "https://a:9200,b/pages")
    assert ("me" in repr(address), SECRET in repr(address)) == (False, False)


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
    assert ("hush" in message, "\n" in message, len(message) < 350) == (False, False, True)


@pytest.mark.parametrize("name", [".ds-logs-{}-000001", ".ds-logs-{}-2026.11.18-000012"])
def test_an_index_behind_a_data_stream_is_told_from_a_wrong_name(name: str) -> None:
    for part, words in (("eu", "logs-eu: .* http://h:9200/logs-eu$"), ("E%1bU", "is not a valid name of an index")):
        with pytest.raises(StoreError, match=words):
            Address.of(f"http://h/{name.format(part)}")


def of_pages(url: str, **options: Any) -> OpenSearch:
    return connect(Address.of(f"{url}/pages"), **options)


def test_the_engine_accepts_the_same_names(engine: Running) -> None:
    with of_pages(engine.url) as client:
        for name in ("0a_b-c.d+e-ü-页面", "a" * 246):
            made = f"{Address.of(f'{engine.url}/{name}').index}.settings"
            client.indices.create(index=made, body={"settings": {"number_of_shards": 1, "number_of_replicas": 0}})
            client.indices.delete(index=made)


def test_the_product_and_version_are_recognized(engine: Running) -> None:
    with Gateway(engine.url) as gateway, of_pages(gateway.url) as client:
        found = engine_of(client)
        assert (found.product, ".".join(map(str, found.version))) == (engine.product.lower(), engine.version)
        assert engine_of(client) is found
        assert len(gateway.arrived) == 1


@pytest.mark.parametrize(
    ("number", "points", "doc_values", "scripts"),
    [
        ("7.10.2", False, False, True),
        ("7.17.29", False, False, True),
        ("8.0.1", True, False, False),
        ("8.19.8", True, True, False),
        ("9.3.1", True, True, False),
        ("10.0.0-SNAPSHOT", True, True, False),  # newer than any that we know
    ],
)
def test_versions_of_elasticsearch(number: str, points: bool, doc_values: bool, scripts: bool) -> None:
    found = Engine.of({"version": {"number": number, "build_flavor": "default"}})
    assert (found.supported, found.search_pipelines) == (True, False)
    assert (found.point_in_time, found.searches_doc_values, found.uses_scripts) == (points, doc_values, scripts)


UNAUTHORIZED = b"action [cluster:monitor/main] is unauthorized for API key id [x]"


@pytest.mark.parametrize(
    ("status", "body", "assumed"),
    [
        (403, b"{}", Engine("opensearch", (3, 0))),
        (404, b"{}", Engine("opensearch", (3, 0))),
        (
            403,
            b'{"error": {"type": "security_exception", "reason": "%s"}, "status": 403}' % UNAUTHORIZED,
            Engine("elasticsearch", (8, 0)),
        ),
    ],
)
def test_an_engine_that_does_not_say_what_it_is(engine: Running, status: int, body: bytes, assumed: Engine) -> None:
    with Gateway(engine.url, lambda _: Answer(status, body)) as gateway, of_pages(gateway.url) as client:
        assert engine_of(client) == assumed


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
    with (
        Gateway(engine.url, lambda _: answer) as gateway,
        of_pages(gateway.url) as client,
        pytest.raises(StoreError, match=words),
    ):
        engine_of(client, "here")


def wanting(header: str) -> Check:
    return lambda arrived: None if arrived.headers.get("authorization") == header else REFUSED


def test_the_precedence_of_credentials(engine: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials of the options take precedence over the address, and the address over the environment."""

    def works(host: str = "localhost", **options: Any) -> bool:
        with of_pages(f"http://{host}:{gateway.port}", **options) as client:
            return bool(client.ping())

    basic = base64.b64encode(f"me:{SECRET}".encode()).decode()
    with Gateway(engine.url, wanting(f"Basic {basic}")) as gateway:
        named = f"me:{IN_URL}@localhost"
        assert [works(), works(named)] == [False, True]
        assert works(http_auth=("me", SECRET))
        assert not works(named, http_auth=("me", "other"))
        assert not works(named, headers={"Authorization": "Bearer x"})
        monkeypatch.setenv("WINNOW_USER", "me")
        assert not works()
        monkeypatch.setenv("WINNOW_PASSWORD", SECRET)
        assert [works(), works(headers={"x-other": "1"})] == [True, True]
        assert not works(headers={"authorization": "Bearer x"})
        assert not works("you:x@localhost")


@pytest.mark.parametrize("key", ["b3BlbjpzZXNhbWU=", "open:sesame"])
def test_an_api_key(engine: Running, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("WINNOW_API_KEY", key)
    with Gateway(engine.url, wanting("ApiKey b3BlbjpzZXNhbWU=")) as gateway, of_pages(gateway.url) as client:
        assert client.ping()


def test_a_private_key_that_others_can_read_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    certificate, key, both = (tmp_path / name for name in ("certificate.pem", "key.pem", "both.pem"))
    for file in (certificate, key, both):
        file.touch()
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
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    nothing = {"AWS_SHARED_CREDENTIALS_FILE": "/nowhere", "AWS_CONFIG_FILE": "/nowhere"}
    for name, value in (nothing | {"AWS_EC2_METADATA_DISABLED": "true"} | variables).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(StoreError, match=words):
        of_pages("http://localhost")


def signed(service: str) -> Check:
    """Check the signature as AWS does: compute it from the request that arrived, with the same secret."""
    auth = SigV4Auth(Credentials("AKIDEXAMPLE", "a secret", "a token"), service, "eu-west-1")

    def check(arrived: Arrived) -> Answer | None:
        sent = arrived.headers["authorization"].removeprefix("AWS4-HMAC-SHA256 ")
        scope, names, signature = (part.partition("=")[2] for part in sent.split(", "))
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
    names = ("WINNOW_AWS_REGION", "WINNOW_AWS_SERVICE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    for name, value in zip(names, ("eu-west-1", service, "AKIDEXAMPLE", "a secret"), strict=True):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a token")
    search: dict[str, Any] = {"index": "no-*", "body": {"query": {"match_all": {}}}, "allow_no_indices": True}

    with Gateway(engine.url, signed(service)) as gateway:
        with of_pages(gateway.url) as client:
            assert client.count(**search)["count"] == 0
        assert len(gateway.arrived) == 1
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another secret")
        with of_pages(gateway.url) as client:
            assert not client.ping()


@pytest.fixture
def tls(engine: Running, authority: trustme.CA) -> Iterator[Gateway]:
    """The engine behind TLS that requires client certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_OPTIONAL
    with Gateway(engine.url, tls=context) as gateway:
        yield gateway


def test_tls(tls: Gateway, authority_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answers() -> bool:
        with of_pages(tls.url) as client:
            return bool(client.ping())

    assert not answers()
    monkeypatch.setenv("WINNOW_INSECURE", "0")
    assert not answers()
    monkeypatch.setenv("WINNOW_INSECURE", "1")
    assert answers()
    monkeypatch.delenv("WINNOW_INSECURE")
    monkeypatch.setenv("WINNOW_CA_CERTS", str(authority_file))
    assert answers()


def test_a_package_that_is_not_installed() -> None:
    code = (
        "import sys; sys.modules['botocore'] = None; from opensearch_winnow.stores.opensearch.requests import client;"
        "client.connect(client.Address.of('http://localhost/pages'))"
    )
    environment = os.environ | {"WINNOW_AWS_REGION": "eu-west-1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "botocore is not installed: pip install 'opensearch-winnow[aws]'" in done.stderr.splitlines()[-1]


def test_a_prefix_and_a_compressed_body(engine: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_COMPRESS", "yes")
    seven = Answer(200, b'{"count": 7}')
    with Gateway(engine.url, lambda _: seven, prefix="/a/b") as gateway, of_pages(f"{gateway.url}/a/b") as client:
        assert client.count(index="pages", body={"query": {"match_all": {}}}) == {"count": 7}
    (arrived,) = gateway.arrived
    assert (arrived.path, arrived.headers["content-encoding"]) == ("/a/b/pages/_count", "gzip")


def test_a_node_that_is_down_is_skipped(engine: Running, closed_port: int) -> None:
    """Any request moves on, since nothing was sent to the dead node. Each client has its own order of nodes."""
    alias: dict[str, Any] = {"index": "no-such", "name": "x", "ignore": 404}
    with Gateway(engine.url) as gateway:
        url = f"http://127.0.0.1:{closed_port},localhost:{gateway.port}"
        for _ in range(8):
            with of_pages(url) as client:
                assert [client.indices.put_alias(**alias)["status"] for _ in range(2)] == [404, 404]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_be_repeated_is_repeated_for_a_moment(
    engine: Running, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RetryingTransport, "patience", Patience(0.0, tries=2))
    answers: list[Answer] = []
    search = {"index": "no-*", "body": {"query": {"match_all": {}}}, "request_timeout": 30}
    with Gateway(engine.url, lambda _: answers.pop() if answers else None) as gateway, of_pages(gateway.url) as client:
        answers += [Answer(status)]
        assert client.count(**search)["count"] == 0
        answers += [Answer(status)]
        with pytest.raises(Exception, match=str(status)):
            client.index(index="Never", body={})
        assert [arrived.path for arrived in gateway.arrived] == ["/no-*/_count"] * 2 + ["/Never/_doc"]
        answers += [Answer(status)] * 2
        with pytest.raises(Exception, match=str(status)):
            client.count(**search)
