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

from opensearch_winnow import Index
from tests.public_pages import LUCENE, javadoc

HERE = Path(__file__).resolve().parent.parent
TEXTS = 400  # for the core

JOB = """
import json, resource, sys, time
from pathlib import Path

def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)

def fill():
    from opensearch_winnow.cli import main
    yield
    for name in filter(None, (store, engine)):
        main(["index", f"{folder}/pages.jsonl", "--store", name, "--quiet", "--json"], standalone_mode=False)

def clusters():
    from opensearch_winnow.cli import main
    yield
    main(["cluster", "--store", store, "--dry-run", "--quiet", "--json"], standalone_mode=False)

def questions(name, words):
    from opensearch_winnow import Index
    with Index.open(name, create=False) as index:
        urls = json.loads(Path(folder, "urls.json").read_text())
        index.similar(url=urls[0])
        yield
        if words:
            for word in 5 * ["query", "index", "field", "license", "value", "term", "document", "returns"]:
                index.search(word, group=True, examine=200)
        else:
            for url in urls:
                index.similar(url=url)
                index.similar(url=url, min_containment=0, limit=10)

def core():
    from opensearch_winnow import compare, fingerprint
    from opensearch_winnow.clients import winnow_fields
    texts = json.loads(Path(folder, "texts.json").read_text())
    yield
    for _ in range(15):
        for text in texts:
            fingerprint(text)
            winnow_fields(text)
        for text, other in zip(texts, texts[1:]):
            compare(text, other)

def bulk():
    from opensearch_winnow.cli import main
    new = Path(folder, f"bulk-{time.time_ns()}.winnow")
    yield
    arguments = ["index", f"{folder}/pages.jsonl", "--store", str(new), "--workers", "1", "--quiet", "--json"]
    main(arguments, standalone_mode=False)
    new.unlink()

folder, job, store, engine = sys.argv[1:5]
steps = {
    "fill": fill,
    "core": core,
    "bulk": bulk,
    "clusters": clusters,
    "questions, SQLite": lambda: questions(store, words=False),
    "groups, SQLite": lambda: questions(store, words=True),
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
    parser.add_argument("--engine", default="", help="an engine to measure too; the indices other-tree-… stay on it")
    parser.add_argument("--only", default="", help="measure the jobs whose names start so")
    given = parser.parse_args()
    jobs = ["core", "bulk", "clusters", "questions, SQLite", "groups, SQLite"]
    jobs += ["questions, OpenSearch", "groups, OpenSearch"] if given.engine else []
    jobs = [job for job in jobs if job.startswith(given.only)]
    trees = {"other": given.tree.resolve(), "this": HERE}
    best: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [float("inf")] * 2)
    with tempfile.TemporaryDirectory() as folder:
        urls = _write_pages(folder, given.pages)
        for name, tree in trees.items():  # each has a store of its own: it may have a format of its own
            _measured(tree, folder, "fill", name, given.engine)
        with Index.open(f"{folder}/this.winnow", create=False) as index:
            texts = [index.page(url).text for url in urls[:TEXTS]]
        Path(folder, "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        for _ in range(given.rounds):
            for job in jobs:
                for name, tree in trees.items():
                    spent = _measured(tree, folder, job, name, given.engine)
                    best[job, name] = [min(pair) for pair in zip(best[job, name], spent, strict=True)]
    print("| job | other, CPU s | this, CPU s | ratio | ratio of wall times |\n|---|---|---|---|---|")
    for job in jobs:
        (cpu, wall), (our_cpu, our_wall) = best[job, "other"], best[job, "this"]
        print(f"| {job} | {cpu:.2f} | {our_cpu:.2f} | {our_cpu / cpu:.2f} | {our_wall / wall:.2f} |")


def _write_pages(folder: str, count: int) -> list[str]:
    """Write the pages, and the addresses of some of them; return the addresses of all."""
    pages = [page for page, _ in zip(javadoc(*LUCENE), range(count), strict=False)]
    with Path(folder, "pages.jsonl").open("w", encoding="utf-8") as file:
        for page in pages:
            html = page.html.decode() if isinstance(page.html, bytes) else page.html
            file.write(json.dumps({"url": page.url, "html": html}) + "\n")
    urls = [page.url for page in pages]
    Path(folder, "urls.json").write_text(json.dumps(urls[::10]), encoding="utf-8")
    return urls


def _measured(tree: Path, folder: str, job: str, name: str, engine: str) -> list[float]:
    environment = os.environ | {"PYTHONPATH": str(tree)}
    index = f"{engine.rstrip('/')}/other-tree-{name}" if engine else ""
    command = [sys.executable, "-c", JOB, folder, job, f"{folder}/{name}.winnow", index]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{job} in {tree} failed:\n{done.stderr}")
    spent: list[float] = json.loads(done.stderr.splitlines()[-1])
    return spent


if __name__ == "__main__":
    main()
