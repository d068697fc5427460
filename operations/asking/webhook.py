"""Posts JSON to an address of the operator's choice, and to no other: the address is checked when it is connected to.

A name can lead elsewhere from one moment to the next, and a server can redirect. So each connection goes to an IP
address that was checked just before, and each redirect is checked in the same way.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from opensearch_winnow.foundation.errors import WinnowError

TIMEOUT_SECONDS = 10.0  # for each step of a request: to connect, to send, to be answered
MAX_REDIRECTS = 3
MAX_TRIES = 3
FIRST_PAUSE_SECONDS = 1.0  # before the second try; twice as long before the third
# The forms of IPv6 addresses that lead to an IPv4 address, and the number of bits by which it is shifted in them.
EMBEDDING = (
    (IPv6Network("::/96"), 0),  # IPv4-compatible
    (IPv6Network("::ffff:0:0/96"), 0),  # IPv4-mapped
    (IPv6Network("::ffff:0:0:0/96"), 0),  # IPv4-translated
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64, as networks with IPv6 only write them
    (IPv6Network("2002::/16"), 80),  # 6to4
    (TEREDO := IPv6Network("2001::/32"), 64),  # the server; the client is there as well, with each bit inverted
)
ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # the third quarter of an address, below any prefix; the IPv4 address is the last
LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")  # NAT64 within an organisation; older Pythons take it for global
IPV4_BITS = 0xFFFF_FFFF
URL_CHARACTERS = "/?#[]@!$&'()*+,;=:%"  # that stay as they are
PORTS = {"http": 80, "https": 443}
REDIRECTS = (
    HTTPStatus.MOVED_PERMANENTLY,
    HTTPStatus.FOUND,
    HTTPStatus.TEMPORARY_REDIRECT,
    HTTPStatus.PERMANENT_REDIRECT,
)
TRY_AGAIN = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)  # and all 5xx

Resolve = Callable[[str, int], Sequence[str]]  # from a host and a port to IP addresses


class WebhookError(WinnowError):
    """A webhook that must not be called, or did not accept a post."""


class _TryAgainError(Exception):
    """A try that failed for a reason that may pass."""


class _Target(NamedTuple):
    """An address taken apart."""

    scheme: str
    host: str
    port: int
    path: str


class Webhook:
    """Posts JSON to `url`. Unless `private`, hosts of this machine and of private networks are refused."""

    def __init__(
        self,
        url: str,
        *,
        private: bool = False,
        resolve: Resolve | None = None,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._url = url
        self._private = private
        self._resolve = resolve or _resolved
        self._pause = pause
        self.host = _target(url).host  # as much of the address as messages show: the rest is often a secret

    def post(self, value: Any) -> None:
        """Post `value`. Raise a WebhookError if the address is refused, or if it is not accepted in three tries."""
        body = json.dumps(value).encode()
        seconds = FIRST_PAUSE_SECONDS
        for tries in range(1, MAX_TRIES + 1):
            try:
                self._follow(body)
            except (_TryAgainError, OSError, http.client.HTTPException) as error:
                if tries == MAX_TRIES:
                    reason = str(error) or type(error).__name__
                    raise WebhookError(f"{self.host} did not accept it in {tries} tries: {reason}") from None
            else:
                return
            self._pause(seconds)
            seconds *= 2

    def _follow(self, body: bytes) -> None:
        """Post to the address, and follow its redirects."""
        url = self._url
        for _ in range(MAX_REDIRECTS + 1):
            status, location = self._send(_target(url), body)
            if status not in REDIRECTS or not location:
                break
            if urlsplit(url).scheme == "https" and urlsplit(urljoin(url, location)).scheme != "https":
                raise WebhookError(f"{self.host} redirects from https to another scheme")
            url = urljoin(url, location)
        else:
            raise WebhookError(f"{self.host} redirects more than {MAX_REDIRECTS} times")
        if status in TRY_AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _TryAgainError(f"status {status}")
        if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
            raise WebhookError(f"{self.host} answered with status {status}")

    def _send(self, target: _Target, body: bytes) -> tuple[int, str | None]:
        """Post to one address, and return the status of the response and the address that it redirects to."""
        with self._connected(target) as connected:
            connection = http.client.HTTPConnection(target.host, target.port, timeout=TIMEOUT_SECONDS)
            connection.default_port, connection.sock = PORTS[target.scheme], connected
            headers = {"Content-Type": "application/json", "User-Agent": "winnow", "Connection": "close"}
            connection.request("POST", target.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location")

    def _connected(self, target: _Target) -> socket.socket:
        """Connect to an address of the host, but only to a checked one."""
        addresses = self._resolve(target.host, target.port)
        if not self._private and any(not is_public(each) for each in addresses):
            raise WebhookError(
                f"{target.host} is an address of this machine or of a private network; if you mean it, allow it"
                " with --webhook-private"
            )
        failure: OSError = OSError(f"{target.host} has no address")
        for each in addresses:
            try:
                plain = socket.create_connection((each, target.port), timeout=TIMEOUT_SECONDS)
            except OSError as error:
                failure = error
                continue
            if target.scheme == "http":
                return plain
            try:
                return ssl.create_default_context().wrap_socket(plain, server_hostname=target.host)
            except BaseException:
                plain.close()
                raise
        raise failure


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public Internet. An IPv4 address within IPv6 has to be public too."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        if parsed in LOCAL_NAT64 or any(not is_public(str(each)) for each in _embedded(parsed)):
            return False
        if any(parsed in network for network, _ in EMBEDDING):
            return True  # is_global depends on the version of Python here
    return parsed.is_global and not parsed.is_multicast


def _embedded(address: IPv6Address) -> list[IPv4Address]:
    """Return the IPv4 addresses that this one leads to."""
    number = int(address)
    found = [number >> shift for network, shift in EMBEDDING if address in network]
    if address in TEREDO:
        found.append(~number)
    if number >> 32 & IPV4_BITS in ISATAP:
        found.append(number)
    return [IPv4Address(each & IPV4_BITS) for each in found]


def _target(url: str) -> _Target:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise WebhookError("the address of a webhook is not a URL") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise WebhookError("the address of a webhook begins with https:// or http:// and a host")
    if parts.username or parts.password:
        raise WebhookError(f"the address of a webhook has no user and password: {parts.hostname}")
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    return _Target(parts.scheme, parts.hostname, port or PORTS[parts.scheme], quote(path, safe=URL_CHARACTERS))


def _resolved(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
