"""Makes opensearch-py clients from the addresses of stores, and identifies their engines."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

import urllib3
from opensearchpy import OpenSearch
from opensearchpy.exceptions import AuthorizationException, NotFoundError

from opensearch_winnow.stores.opensearch.requests.connection_options import environment_options
from opensearch_winnow.stores.opensearch.requests.error_reasons import shorten
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.requests.transport import PatientTransport, RetryingTransport
from opensearch_winnow.stores.store import StoreError

if TYPE_CHECKING:
    pass

ENGINE_EXAMPLE = "http://localhost:9200"
EXAMPLE = f"{ENGINE_EXAMPLE}/pages"
DEFAULT_PORTS = {"http": 9200, "https": 443}  # self-hosted engines use 9200, managed services 443
FORBIDDEN_NAME_CHARS = frozenset('\\/*?"<>| ,#:')  # engines refuse them in the name of an index
# Elasticsearch puts the day before the number.
INDEX_OF_DATA_STREAM = re.compile(r"\.ds-(.+?)(-\d{4}\.\d\d\.\d\d)?-\d{6,}")
MAX_NAME_BYTES = 255 - len(".settings")  # engines allow 255; NAME.settings is the longest name derived from it

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0
CONNECTIONS_PER_NODE = 10  # at least as many as there are requests in flight
DEAD_SECONDS = 5.0  # the time to avoid a node that did not answer, if there are others; doubles each time

ELASTICSEARCH_REFUSES = "is unauthorized for"  # in its answer to a user without the privilege `monitor`
ASSUMED_ELASTICSEARCH = (8, 0)  # the version of an Elasticsearch that refuses to tell it
ASSUMED_VERSION = (3, 0)  # of an engine that does not tell its version, as the serverless ones do not


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a store: http(s)://[user:password@]host[:port][,host[:port]…][/prefix]/index.

    `str()` of it leaves out the credentials.
    """

    secure: bool
    nodes: tuple[tuple[str, int], ...]  # host and port
    prefix: str  # of every path, if a proxy serves the engine under one; usually empty
    index: str
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse the address of a store."""
        parsed = cls._parsed(text, "a store", EXAMPLE)
        *prefix, index = parsed.prefix.split("/")
        address = replace(parsed, prefix="/".join(prefix), index=unquote(index))
        address._check_index()
        return address

    @classmethod
    def of_engine(cls, text: str) -> Self:
        """Parse an address without an index: its whole path is the prefix."""
        return cls._parsed(text, "a cluster", ENGINE_EXAMPLE)

    @classmethod
    def _parsed(cls, text: str, what: str, example: str) -> Self:
        protocol, separator, rest = text.strip().partition("://")
        protocol = protocol.lower()
        # Everything up to the last @: a password may contain any character, even if it should be percent-encoded.
        credentials, _, rest = rest.rpartition("@")
        user, _, password = map(unquote, credentials.partition(":"))
        if not separator or protocol not in DEFAULT_PORTS:
            raise StoreError(f"the address of {what} starts with http:// or https://, as in {example}")
        hosts, _, path = rest.partition("/")
        try:
            nodes = tuple(_node(host, DEFAULT_PORTS[protocol]) for host in hosts.split(","))
        except ValueError:
            # The message does not show the text: it may be half of a password.
            needs = "needs a host, and a number as the port"
            raise StoreError(f"the address of {what} {needs}, as in {example}") from None
        return cls(protocol == "https", nodes, path.strip("/"), "", user, password)

    @property
    def hosts(self) -> list[dict[str, Any]]:
        """The nodes as opensearch-py expects them."""
        common = {"use_ssl": self.secure, "url_prefix": self.prefix}
        return [{"host": host, "port": port} | common for host, port in self.nodes]

    def __str__(self) -> str:
        hosts = ",".join(map(self._host_and_port, self.nodes))
        return "/".join(filter(None, (f"http{'s' * self.secure}://{hosts}", self.prefix, self.index)))

    def _host_and_port(self, node: tuple[str, int]) -> str:
        host, port = node
        host = f"[{host}]" if ":" in host else host
        return host if self.secure and port == DEFAULT_PORTS["https"] else f"{host}:{port}"

    def _check_index(self) -> None:
        name = self.index
        if not name:
            raise StoreError(f"{self} names no index: add one at the end, as in {EXAMPLE}")
        if behind := INDEX_OF_DATA_STREAM.fullmatch(name):
            stream = replace(self, index=behind[1])
            stream._check_index()
            raise StoreError(f"{name} is an index behind the data stream {behind[1]}: name that, as in {stream}")
        if (
            name != name.lower()
            or not name.isprintable()
            or name.startswith(("_", "-", "+", "."))
            or FORBIDDEN_NAME_CHARS.intersection(name)
            or len(name.encode()) > MAX_NAME_BYTES
        ):
            raise StoreError(
                f"{shorten(name)} is not a valid name of an index: use lower-case letters, digits, - and _, and start"
                " with a letter or a digit"
            )


class Engine(NamedTuple):
    """The product and version of the engine that answers."""

    product: Literal["opensearch", "elasticsearch"]
    version: tuple[int, ...]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """Read the answer to GET /."""
        about = answer["version"]
        numbers = tuple(int(part) for part in about["number"].partition("-")[0].split("."))
        return cls("opensearch" if about.get("distribution") == "opensearch" else "elasticsearch", numbers)

    @property
    def point_in_time(self) -> bool:
        """True if the engine has points in time. Free builds of Elasticsearch 7 have none."""
        return self.version >= ((2, 4) if self.product == "opensearch" else (8,))

    @property
    def searches_doc_values(self) -> bool:
        """True if a field that has doc values but is not indexed can be searched."""
        return self.version >= ((2, 19) if self.product == "opensearch" else (8, 1))

    @property
    def uses_scripts(self) -> bool:
        """True if a store sends scripts to the engine to save work. On other engines it works without them."""
        return self.product == "opensearch" or self.version < (8,)

    @property
    def search_pipelines(self) -> bool:
        """True if the engine has search pipelines whose processors change the number of hits."""
        return self.product == "opensearch" and self.version >= (2, 12)

    @property
    def supported(self) -> bool:
        """True if winnow works with the engine, or may do so because the version is newer than this package."""
        return self.product == "opensearch" or self.version >= (7, 10)


_engines: WeakKeyDictionary[OpenSearch, Engine] = WeakKeyDictionary()


def connect(address: Address, *, patient: bool = False, **options: Any) -> OpenSearch:
    """Return a client for the engine. `options` are opensearch-py's; they override the address and the environment.

    A `patient` client, for long unattended runs, repeats a request for two minutes; others do so for two seconds.
    """
    defaults = {
        "timeout": urllib3.Timeout(connect=CONNECT_SECONDS, read=ANSWER_SECONDS),
        "transport_class": PatientTransport if patient else RetryingTransport,
    }
    chosen = _options(address, defaults, options)
    if isinstance(chosen["timeout"], float):
        chosen["timeout"] = urllib3.Timeout(connect=CONNECT_SECONDS, read=chosen["timeout"])
    with reporting_engine_errors(str(address)):
        return OpenSearch(**chosen)


def engine_of(client: OpenSearch, name: str = "the cluster") -> Engine:
    """Return the engine behind a client, asking it only once. Raises StoreError if winnow does not work with it."""
    if client not in _engines:
        _engines[client] = _ask_engine(client, name)
    return _engines[client]


def _ask_engine(client: OpenSearch, name: str) -> Engine:
    with reporting_engine_errors(name):
        try:
            answer = client.info()
        except (AuthorizationException, NotFoundError) as error:  # the next request will give a more specific error
            if ELASTICSEARCH_REFUSES in str(error.info):
                return Engine("elasticsearch", ASSUMED_ELASTICSEARCH)
            return Engine("opensearch", ASSUMED_VERSION)
    try:
        engine = Engine.of(answer)
    except (LookupError, TypeError, ValueError):
        raise StoreError(f"{name} cannot be used: what answers is not OpenSearch; check the address") from None
    if answer["version"].get("build_flavor") == "serverless":
        raise StoreError(
            f"{name} cannot be used: it is serverless Elasticsearch, which tells nothing about shards (_stats,"
            " _search_shards); winnow needs that"
        )
    if not engine.supported:
        raise StoreError(
            f"{name} cannot be used: it is Elasticsearch {'.'.join(map(str, engine.version))}, but winnow works with"
            " OpenSearch, and with Elasticsearch from 7.10 on"
        )
    return engine


def _options(address: Address, defaults: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    ours: dict[str, Any] = {
        "hosts": address.hosts,
        "pool_maxsize": CONNECTIONS_PER_NODE,
        # Retries are our own: RetryingTransport repeats requests, and the bulk loop the operations of bulk requests.
        "max_retries": 0,
        "retry_on_timeout": True,  # only makes the client avoid the node: `max_retries` forbids retries
        "dead_timeout": DEAD_SECONDS,
    }
    headers = overrides.get("headers") or {}
    has_credentials = "http_auth" in overrides or "authorization" in map(str.lower, headers)
    if address.user and not has_credentials:
        ours["http_auth"] = (address.user, address.password)
    environment = environment_options(os.environ, credentials=not (has_credentials or address.user))
    return ours | defaults | environment | overrides | {"headers": environment.get("headers", {}) | headers}


def _node(host: str, port: int) -> tuple[str, int]:
    parts = urlsplit(f"//{host}")
    if not parts.hostname or parts.query or parts.fragment:
        raise ValueError
    return parts.hostname, parts.port or port
