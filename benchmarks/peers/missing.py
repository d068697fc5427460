"""Loads optional peers. A missing one becomes a row that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Peer = TypeVar("Peer")


class MissingError(Exception):
    """Raised with the reason why a peer is missing."""


def available(peers: Mapping[str, Callable[[], Peer]]) -> tuple[dict[str, Peer], list[str]]:
    """Return the available peers by name, and a line for each missing one."""
    found, missing = {}, []
    for name, get in peers.items():
        try:
            found[name] = get()
        except ImportError:
            missing.append(f"{name}: not installed")
        except MissingError as why:
            missing.append(f"{name}: {why}")
    return found, missing
