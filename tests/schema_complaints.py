"""Validates a file against a schema."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def schema_complaints(schema: str, file: Path) -> str:
    """Return the faults of `file` by one of check-jsonschema's built-in schemas, or an empty string."""
    command: list[str | Path] = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""
