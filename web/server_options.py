"""The options of the server of the search UI."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opensearch_winnow.foundation.listening import ListenOptions, ServeError
from opensearch_winnow.foundation.option_kinds import FLAG, decimal, text
from opensearch_winnow.foundation.options import option, option_of

PORT = 8765
MIN_TOKEN_CHARS = 8
MAX_SECONDS = 30  # for the comparisons of one question; then the answer has the matches found so far
LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions(ListenOptions):
    """The options of a server: its port, permissions, and the time limit of a question."""

    port: int = option_of(ListenOptions, "port", PORT)
    token: str | None = option(
        None,
        text("TEXT", 1_000),
        "Secret that every visitor needs.",
        unset="a random one, if other machines can reach the server",
        variable="WINNOW_TOKEN",
    )
    max_seconds: float = option(
        MAX_SECONDS,
        decimal(0, 86_400, "S", above_least=True),
        "Compare pages for at most S seconds per question, then show the matches found so far.",
        advanced=True,
    )
    write: bool = option(False, FLAG, "Let visitors change the store: watches, boilerplate, clusters.")

    def __post_init__(self) -> None:
        super(ServerOptions, self).__post_init__()
        if self.token is not None and not re.fullmatch(rf"[!-~]{{{MIN_TOKEN_CHARS},}}", self.token):
            raise ServeError(  # without the token itself
                f"invalid token: use at least {MIN_TOKEN_CHARS} characters, ASCII letters, digits and punctuation"
            )

    @property
    def hosts(self) -> frozenset[str] | None:
        """The host names that the server answers to; None: any."""
        return LOOPBACK | {self.host.lower()} if self.is_local else None
