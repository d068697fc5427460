"""The tests find a Chromium, install one, or fail with instructions; browser tests are never skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.web.chromium import NAMES, NoChromiumError, chromium


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH of a machine that has no browser and cannot download one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", "http://127.0.0.1:9")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return folder


def program(path: Path, does: str) -> None:
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("name", NAMES)
def test_that_of_the_machine(machine: Path, name: str) -> None:
    program(machine / name, "")
    assert chromium() == str(machine / name)


def test_one_that_debian_has(machine: Path) -> None:
    browser = machine / "chromium"
    installs = f'[ "$1" = update ] || {{ echo "$@" > {machine}/installed; echo > {browser}; /bin/chmod +x {browser}; }}'
    program(machine / "apt-get", installs)
    assert chromium() == str(browser)
    assert "chromium" in (machine / "installed").read_text().split()


@pytest.mark.check
def test_where_none_can_be_had_it_is_said_what_to_do(machine: Path) -> None:
    program(machine / "apt-get", "echo 'E: Unable to locate package chromium'; exit 100")
    with pytest.raises(NoChromiumError) as refused:
        chromium()
    said = str(refused.value)
    assert "apt-get install chromium" in said.splitlines()[0]
    assert "E: Unable to locate package chromium" in said
    assert "playwright install chromium" in said
