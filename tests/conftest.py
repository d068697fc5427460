"""What all tests share: how hypothesis behaves, and where real data lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# The same examples in every run: a test that fails here fails there. HYPOTHESIS_PROFILE=explore looks further.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture
def shared_data(request: pytest.FixtureRequest) -> Path:
    """The folder of real data: WINNOW_DATA, or shared/data beside the checkout. In CI it has to be there."""
    folder = Path(os.environ.get("WINNOW_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        missing = f"{request.node.nodeid} was not run: it needs the real data at {folder} (or WINNOW_DATA)"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(missing)
        pytest.skip(missing)
    return folder
