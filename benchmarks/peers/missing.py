"""Peers are optional: one that cannot be had here is a row that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Peer = TypeVar("Peer")


class MissingError(Exception):
    """The message says why."""


def available(peers: Mapping[str, Callable[[], Peer]]) -> tuple[dict[str, Peer], list[str]]:
    """Those that can be had, by name, and a line for each that cannot."""
    found, missing = {}, []
    for name, get in peers.items():
        try:
            found[name] = get()
        except ImportError:
            missing.append(f"{name}: not installed")
        except MissingError as why:
            missing.append(f"{name}: {why}")
    return found, missing
