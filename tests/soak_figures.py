"""Keeps the figures of long trials in build/soak, from where they go into docs/promises.md."""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "soak"


def keep_figures(name: str, **figures: object) -> None:
    """Write the figures of a trial to build/soak/NAME.json."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
