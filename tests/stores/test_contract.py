"""Counts what every store has to do."""

from __future__ import annotations

from pathlib import Path

from opensearch_winnow.stores.store import Store


def test_the_contract_is_small(root: Path) -> None:
    """A method that only some callers need is a function of others; see docs/decisions/0014-words-and-seams.md."""
    public = {name: each for name, each in vars(Store).items() if not name.startswith("_")}
    properties = {name for name, each in public.items() if isinstance(each, property)}
    assert properties == {"name", "scheme", "settings"}
    assert len(public.keys() - properties) == 16
    for described in (root / "CONTRIBUTING.md", root / "stores/store.py"):
        assert "16 methods" in described.read_text(encoding="utf-8")
