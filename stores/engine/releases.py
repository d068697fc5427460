"""The versions that can be started, and what they call their parts."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT = "3.8.0"

# Packages and names of the modules' classes, but for their end.
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
    version: str
    product: str
    package: str  # of its Java classes
    node: str  # the class of a node that takes modules from the class path
    plugins: tuple[str, ...]  # the classes of its modules
    first_managers: str  # the setting that names who may form a new cluster


def _release(version: str, *, end: str, more: tuple[str, ...] = ()) -> Release:
    return Release(
        version,
        product="OpenSearch",
        package="org.opensearch",
        node="org.codelibs.opensearch.runner.node.OpenSearchRunnerNode",
        plugins=(*(f"org.opensearch.{module}{end}" for module in MODULES), *more),
        first_managers="cluster.initial_cluster_manager_nodes",
    )


RELEASES = {
    release.version: release
    for release in (
        _release("3.8.0", end="ModulePlugin", more=(SEARCH_PIPELINES,)),
        _release("2.19.1", end="Plugin", more=(SEARCH_PIPELINES,)),
        Release(
            "7.10.2",
            product="Elasticsearch",
            package="org.elasticsearch",
            node="org.codelibs.elasticsearch.runner.node.ClusterRunnerNode",
            plugins=tuple(f"org.elasticsearch.{module}Plugin" for module in MODULES),
            first_managers="cluster.initial_master_nodes",
        ),
    )
}
