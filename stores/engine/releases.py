"""The versions of engines that can be started, with the names of their classes and settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

DEFAULT = "3.8.0"

# The Java classes of the modules. Their full names have a prefix and a suffix that depend on the version.
MODULES = (
    "analysis.common.CommonAnalysis",
    "index.mapper.MapperExtras",
    "index.reindex.Reindex",
    "ingest.common.IngestCommon",
    "join.ParentJoin",
    "painless.Painless",
    "percolator.Percolator",
    "script.expression.Expression",
    "script.mustache.Mustache",
    "transport.Netty4",
)
SEARCH_PIPELINES = "org.opensearch.search.pipeline.common.SearchPipelineCommonModulePlugin"


@dataclass(frozen=True, slots=True)
class Release:
    """A version of an engine."""

    version: str
    product: str
    package: str  # of the Java classes
    node: str  # the class of a node that loads modules from the class path
    plugins: tuple[str, ...]  # the classes of the modules
    initial_managers: str  # the setting that lists the nodes that may elect the first manager
    settings: dict[str, str] = field(default_factory=dict)  # of every node
    # For versions that only tests start: the list of jars, and a jar of classes that are not published.
    jar_list: Path | None = None
    winnow_jar: Path | None = None


def _opensearch(version: str, *, suffix: str, more: tuple[str, ...] = ()) -> Release:
    return Release(
        version,
        product="OpenSearch",
        package="org.opensearch",
        node="org.codelibs.opensearch.runner.node.OpenSearchRunnerNode",
        plugins=(*(f"org.opensearch.{module}{suffix}" for module in MODULES), *more),
        initial_managers="cluster.initial_cluster_manager_nodes",
    )


RELEASES = {
    release.version: release
    for release in (
        _opensearch("3.8.0", suffix="ModulePlugin", more=(SEARCH_PIPELINES,)),
        _opensearch("2.19.1", suffix="Plugin", more=(SEARCH_PIPELINES,)),
        Release(
            "7.10.2",
            product="Elasticsearch",
            package="org.elasticsearch",
            node="org.codelibs.elasticsearch.runner.node.ClusterRunnerNode",
            plugins=tuple(f"org.elasticsearch.{module}Plugin" for module in MODULES),
            initial_managers="cluster.initial_master_nodes",
        ),
    )
}
