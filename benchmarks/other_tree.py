"""Compares the speed of this checkout with another one, such as the commit before a change.

    python -m benchmarks.other_tree ../before [--rounds 5] [--pages 1500] [--engine http://localhost:9200]

Both trees do the same jobs, in turns, in processes of their own; a job uses only public names. The table has the best
CPU time of each tree (of the client, where an engine answers, and then the wall time too) and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent

JOB = """
import json, resource, sys, time
from pathlib import Path

def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)

def questions(name, words):
    from opensearch_winnow import Index
    with Index.open(name, create=False) as index:
        urls = json.loads(Path(folder, "urls.json").read_text())
        index.similar(url=urls[0])
        yield
        if words:
            for word in ("query", "index", "field", "license", "value", "term", "document", "returns"):
                index.search(word, group=True, examine=200)
        else:
            for url in urls:
                index.similar(url=url)
                index.similar(url=url, min_containment=0, limit=10)

def core():
    from opensearch_winnow import compare, fingerprint, winnow_fields
    texts = json.loads(Path(folder, "texts.json").read_text())
    yield
    for _ in range(3):
        for text in texts:
            fingerprint(text)
            winnow_fields(text)
        for text, other in zip(texts, texts[1:]):
            compare(text, other)

def bulk():
    from opensearch_winnow.cli import main
    store = Path(folder, f"bulk-{time.time_ns()}.winnow")
    yield
    arguments = ["index", f"{folder}/pages.jsonl", "--store", str(store), "--workers", "1", "--quiet", "--json"]
    main(arguments, standalone_mode=False)
    store.unlink()

folder, job, engine = sys.argv[1:4]
steps = {
    "core": core,
    "bulk": bulk,
    "questions, SQLite": lambda: questions(f"{folder}/pages.winnow", words=False),
    "groups, SQLite": lambda: questions(f"{folder}/pages.winnow", words=True),
    "questions, OpenSearch": lambda: questions(engine, words=False),
    "groups, OpenSearch": lambda: questions(engine, words=True),
}[job]()
next(steps)
cpu, wall = spent(), time.perf_counter()
next(steps, None)
print(json.dumps([spent() - cpu, time.perf_counter() - wall]), file=sys.stderr)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("tree", type=Path, help="the other checkout, built")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=1_500)
    parser.add_argument("--engine", default="", help="an engine to measure too; the index other-tree stays on it")
    given = parser.parse_args()
    jobs = ["core", "bulk", "questions, SQLite", "groups, SQLite"]
    jobs += ["questions, OpenSearch", "groups, OpenSearch"] if given.engine else []
    trees = {"other": given.tree.resolve(), "this": HERE}
    best: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [float("inf")] * 2)
    with tempfile.TemporaryDirectory() as folder:
        index = f"{given.engine.rstrip('/')}/other-tree" if given.engine else ""
        _prepare(folder, given.pages, index)
        for _ in range(given.rounds):
            for job in jobs:
                for name, tree in trees.items():
                    spent = _measured(tree, folder, job, index)
                    best[job, name] = [min(pair) for pair in zip(best[job, name], spent, strict=True)]
    print("| job | other, CPU s | this, CPU s | ratio | ratio of wall times |\n|---|---|---|---|---|")
    for job in jobs:
        (cpu, wall), (our_cpu, our_wall) = best[job, "other"], best[job, "this"]
        print(f"| {job} | {cpu:.2f} | {our_cpu:.2f} | {our_cpu / cpu:.2f} | {our_wall / wall:.2f} |")


def _prepare(folder: str, count: int, index: str) -> None:
    """Write the pages, their texts, and a store of them, with this tree: the other one opens it too."""
    from opensearch_winnow import Index  # noqa: PLC0415
    from tests.public_pages import LUCENE, javadoc  # noqa: PLC0415

    pages = [page for page, _ in zip(javadoc(*LUCENE), range(count), strict=False)]
    with Path(folder, "pages.jsonl").open("w", encoding="utf-8") as file:
        for page in pages:
            html = page.html.decode() if isinstance(page.html, bytes) else page.html
            file.write(json.dumps({"url": page.url, "html": html}) + "\n")
    texts: list[str] = []
    for name in filter(None, (f"{folder}/pages.winnow", index)):
        with Index.open(name) as store:
            store.add(pages)
            texts = [store.page(page.url).text for page in pages[:400]]
    Path(folder, "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    Path(folder, "urls.json").write_text(json.dumps([page.url for page in pages[::10]]), encoding="utf-8")


def _measured(tree: Path, folder: str, job: str, index: str) -> list[float]:
    environment = os.environ | {"PYTHONPATH": str(tree)}
    command = [sys.executable, "-c", JOB, folder, job, index]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{job} in {tree} failed:\n{done.stderr}")
    spent: list[float] = json.loads(done.stderr.splitlines()[-1])
    return spent


if __name__ == "__main__":
    main()
