"""The options of a gateway."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from opensearch_winnow.foundation.key_file import warn_if_open_to_others
from opensearch_winnow.foundation.listening import ListenOptions, ServeError
from opensearch_winnow.foundation.option_kinds import number, path, text
from opensearch_winnow.foundation.options import option, option_of
from opensearch_winnow.gateway.limits import MAX_BODY, MB, Limits

PORT = 9201


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayOptions(ListenOptions):
    """The options of a gateway: its port, its cluster, TLS, and the memory it may use."""

    to: str = option(
        "",
        text("http://HOST:9200", 10_000),
        "Address of the cluster. Name several nodes as in http://a:9200,b:9200.",
        variable="WINNOW_CLUSTER",
        required=True,
    )
    port: int = option_of(ListenOptions, "port", PORT)
    tls_cert: str | None = option(None, path("FILE", "file"), "Certificate to serve TLS with, as PEM.", advanced=True)
    tls_key: str | None = option(
        None, path("FILE", "file"), "Its private key, if it is not in the same file.", advanced=True
    )
    max_body: int = option(
        MAX_BODY // MB,
        number(1, 2_000, "MB"),
        "Largest request whose documents get fields; best the cluster's http.max_content_length. Larger ones pass"
        " without fields.",
        advanced=True,
    )
    max_memory: int | None = option(
        None,
        number(1, 1_000_000, "MB"),
        "Memory for all requests together. If none is left, writes pass without fields, and grouped searches get status"
        " 429.",
        unset="1,000, or 6 times --max-body if that is more",
        advanced=True,
    )

    def __post_init__(self) -> None:
        super(GatewayOptions, self).__post_init__()
        if self.tls_key is not None and self.tls_cert is None:
            raise ServeError("tls_key needs tls_cert, the certificate")

    @property
    def limits(self) -> Limits:
        """The limits of the gateway."""
        return Limits(max_body=self.max_body * MB, max_memory=(self.max_memory or 0) * MB)

    def tls(self) -> ssl.SSLContext | None:
        """Load the certificate; None without one."""
        if self.tls_cert is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.tls_cert, self.tls_key)
        except (OSError, ssl.SSLError) as error:
            raise ServeError(f"the certificate {self.tls_cert} cannot be used: {error.strerror or error}") from None
        warn_if_open_to_others(self.tls_key or self.tls_cert, "private key")
        return context
