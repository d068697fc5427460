"""What a validator says of a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def schema_complaints(schema: str, file: Path) -> str:
    """Return what is wrong with a file by a schema that check-jsonschema carries; nothing if it is valid."""
    command: list[str | Path] = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""
