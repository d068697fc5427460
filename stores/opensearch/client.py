"""From the address of a store to a client of opensearch-py."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self
from urllib.parse import unquote, urlsplit
from weakref import WeakKeyDictionary

import urllib3
from opensearchpy import OpenSearch
from opensearchpy.exceptions import AuthorizationException, NotFoundError

from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.stores.opensearch.connection_options import environment_options
from opensearch_winnow.stores.opensearch.errors import told
from opensearch_winnow.stores.opensearch.refusals import short
from opensearch_winnow.stores.opensearch.transport import ReadsAgain
from opensearch_winnow.stores.store import StoreError

if TYPE_CHECKING:
    from opensearchpy import AsyncOpenSearch

EXAMPLE = "http://localhost:9200/pages"
PORTS = {"http": 9200, "https": 443}  # of a cluster of one's own, and of the managed services
NOT_IN_A_NAME = frozenset('\\/*?"<>| ,#:')  # of an index, by the engines
LONGEST_NAME = 255 - len(".settings")  # bytes; the longest name that we make of it is still one

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0
CONNECTIONS = 10  # to each node: at least as many as there are requests in flight
DEAD_SECONDS = 5.0  # that a node which did not answer is left alone for, if there are others; doubled each time

# An engine that does not say what it is, as the serverless ones, is taken for this one.
RECENT = (3, 0)


@dataclass(frozen=True, slots=True)
class Address:
    """http(s)://[user:password@]host[:port][,host[:port]…][/prefix]/index. As a string it is without credentials."""

    secure: bool
    nodes: tuple[tuple[str, int], ...]  # host and port
    prefix: str  # of all paths: where a proxy has the cluster; mostly empty
    index: str
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def of(cls, text: str) -> Self:
        protocol, separator, rest = text.strip().partition("://")
        protocol = protocol.lower()
        # All up to the last @: a password may have any character, even if it should be quoted.
        credentials, _, rest = rest.rpartition("@")
        user, _, password = map(unquote, credentials.partition(":"))
        if not separator or protocol not in PORTS:
            raise StoreError(f"the address of a store starts with http:// or https://, as {EXAMPLE}")
        hosts, _, path = rest.partition("/")
        *prefix, index = path.strip("/").split("/")
        nodes = tuple(_node(host, PORTS[protocol]) for host in hosts.split(","))
        address = cls(protocol == "https", nodes, "/".join(prefix), unquote(index), user, password)
        address._check_index()
        return address

    @property
    def hosts(self) -> list[dict[str, Any]]:
        """As opensearch-py wants them."""
        common = {"use_ssl": self.secure, "url_prefix": self.prefix}
        return [{"host": host, "port": port} | common for host, port in self.nodes]

    def __str__(self) -> str:
        hosts = ",".join(map(self._shown, self.nodes))
        return "/".join(filter(None, (f"http{'s' * self.secure}://{hosts}", self.prefix, self.index)))

    def _shown(self, node: tuple[str, int]) -> str:
        host, port = node
        host = f"[{host}]" if ":" in host else host
        return host if self.secure and port == PORTS["https"] else f"{host}:{port}"

    def _check_index(self) -> None:
        name = self.index
        if not name:
            raise StoreError(f"{self} names no index: put one at its end, as {EXAMPLE}")
        if (
            name != name.lower()
            or not name.isprintable()
            or name.startswith(("_", "-", "+", "."))
            or NOT_IN_A_NAME.intersection(name)
            or len(name.encode()) > LONGEST_NAME
        ):
            raise StoreError(
                f"{short(name)} is no name of an index: it is of lower-case letters, digits, - and _, and starts with a"
                " letter or a digit"
            )


class Engine(NamedTuple):
    """What runs there."""

    product: Literal["opensearch", "elasticsearch"]
    version: tuple[int, ...]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        """By what it says of itself at its root."""
        about = answer["version"]
        numbers = tuple(int(part) for part in about["number"].partition("-")[0].split("."))
        return cls("opensearch" if about.get("distribution") == "opensearch" else "elasticsearch", numbers)

    @property
    def point_in_time(self) -> bool:
        """Whether it has OpenSearch's requests for it."""
        return self.product == "opensearch" and self.version >= (2, 4)

    @property
    def search_pipelines(self) -> bool:
        """Whether it has those that change the number of hits."""
        return self.product == "opensearch" and self.version >= (2, 12)

    @property
    def supported(self) -> bool:
        return self.product == "opensearch" or (7, 10) <= self.version < (8,)


_engines: WeakKeyDictionary[OpenSearch, Engine] = WeakKeyDictionary()


def connect(address: Address, **options: Any) -> OpenSearch:
    """A client for the cluster. Options are opensearch-py's, and come before those of address and environment."""
    usual = {"timeout": urllib3.Timeout(connect=CONNECT_SECONDS, read=ANSWER_SECONDS), "transport_class": ReadsAgain}
    chosen = _options(address, usual, options)
    if isinstance(chosen["timeout"], float):
        chosen["timeout"] = urllib3.Timeout(connect=CONNECT_SECONDS, read=chosen["timeout"])
    with told(str(address)):
        return OpenSearch(**chosen)


def connect_async(address: Address, **options: Any) -> AsyncOpenSearch:
    """As `connect`. It is closed by awaiting its `close()`, or used as an asynchronous context."""
    with extra("async"):
        import aiohttp  # noqa: F401, PLC0415 (without it, opensearch-py does not say what is missing)

        from opensearch_winnow.stores.opensearch.async_transport import (  # noqa: PLC0415
            AsyncHttpConnection,
            AsyncOpenSearch,
            AsyncReadsAgain,
        )
    usual = {"timeout": ANSWER_SECONDS, "transport_class": AsyncReadsAgain}
    chosen = _options(address, usual, options)
    if callable(chosen.get("http_auth")):  # the usual connection cannot sign
        chosen = {"connection_class": AsyncHttpConnection} | chosen
    with told(str(address)):
        return AsyncOpenSearch(**chosen)


def engine_of(client: OpenSearch, name: str = "the cluster") -> Engine:
    """What runs there; asked once for each client. Refused if it is nothing that winnow works with."""
    if client not in _engines:
        _engines[client] = _ask(client, name)
    return _engines[client]


def _ask(client: OpenSearch, name: str) -> Engine:
    with told(name):
        try:
            answer = client.info()
        except (AuthorizationException, NotFoundError):  # it does not say, and what is asked next tells more
            return Engine("opensearch", RECENT)
    try:
        engine = Engine.of(answer)
    except (LookupError, TypeError, ValueError):
        raise StoreError(f"{name} cannot be used: what answers there is no OpenSearch; look at the address") from None
    if not engine.supported:
        raise StoreError(
            f"{name} cannot be used: it is Elasticsearch {'.'.join(map(str, engine.version))}, and winnow works with"
            " OpenSearch, and with Elasticsearch 7.10"
        )
    return engine


def _options(address: Address, usual: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    ours: dict[str, Any] = {
        "hosts": address.hosts,
        "pool_maxsize": CONNECTIONS,
        # What may be sent again is for us to say: ReadsAgain does for reading, and the bulk loop for writing.
        "max_retries": 0,
        "retry_on_timeout": False,
        "dead_timeout": DEAD_SECONDS,
    }
    headers = given.get("headers") or {}
    told_who = "http_auth" in given or "authorization" in map(str.lower, headers)
    if address.user and not told_who:
        ours["http_auth"] = (address.user, address.password)
    environment = environment_options(os.environ, credentials=not (told_who or address.user))
    return ours | usual | environment | given | {"headers": environment.get("headers", {}) | headers}


def _node(host: str, port: int) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{host}")
        if parts.hostname and not parts.query and not parts.fragment:
            return parts.hostname, parts.port or port
    except ValueError:
        pass
    # Without showing it: it may be half of a password.
    raise StoreError(f"the address of a store has a host, and the port as a number, as {EXAMPLE}")
