"""Setting up a store on a cluster: what is needed, what is there, and making the rest."""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from opensearchpy import AuthorizationException, NotFoundError, OpenSearch, RequestError, TransportError

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.opensearch_mapping import (
    index_settings,
    index_template,
    mapping,
    settings_index,
    written_in,
)
from opensearch_winnow.mappings.opensearch_pipeline import PIPELINE, pipeline
from opensearch_winnow.mappings.opensearch_scripts import SOURCES, stored_script
from opensearch_winnow.mappings.opensearch_search_pipeline import SEARCH_PIPELINE, search_pipeline
from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.mappings.written_scheme import WrittenScheme, other_scheme
from opensearch_winnow.stores.opensearch.client import engine_of
from opensearch_winnow.stores.opensearch.errors import told
from opensearch_winnow.stores.store import StoreError

# Refused: the cluster takes no such thing, and a store works without.
Outcome = Literal["made", "there", "missing", "refused"]


TEXT = r'"(?:[^"\\]|\\.)*"'
LIST = re.compile(rf"(?<=\[)(\n *)({TEXT}(?:,\s*{TEXT})+)(?=\n *\])")  # of texts, as JSON with indents has it
IN_A_LINE = 6
EXISTS = "resource_already_exists_exception"
NO_SUCH_THING = re.compile(r"cannot execute .*scripts|scripts are not enabled|Invalid processor type")
# What the user is told then.
NO_SCRIPTS = (
    "The cluster takes no scripts: the store works without them, but only with what winnow itself writes, and scores"
    " are not computed on the server."
)
NO_SEARCH_PIPELINES = (
    "The cluster has no search pipelines for this (OpenSearch has from 2.12, in the module search-pipeline-common): the"
    f" store works without {SEARCH_PIPELINE}."
)


class Step(NamedTuple):
    """A request that makes one thing. It may be repeated: what is there stays."""

    what: str
    method: str
    path: str
    body: dict[str, Any]
    looked_up: str  # the path that tells whether it is there
    everywhere: bool = True  # it is of the whole cluster, which not everyone may change
    without: str = ""  # what it means if the cluster refuses it; empty: there is no store without it

    def in_console(self) -> str:
        """As it is pasted into the console of OpenSearch Dashboards (Dev Tools)."""
        return f"{self.method} {self.path}\n{LIST.sub(_few_lines, json.dumps(self.body, indent=2))}"


class Done(NamedTuple):
    step: Step
    outcome: Outcome


def steps(name: str, scheme: Scheme | WrittenScheme, *, shards: int = 1, replicas: int | None = None) -> list[Step]:
    """All that a store needs, in order: what an index names is there before it."""
    index, settings, template = quote(f"{name}-000001"), quote(f"{name}.settings"), quote(f"winnow-{name}")
    pages = {
        "settings": index_settings(shards, replicas),
        "mappings": mapping(scheme),
        "aliases": {name: {}},  # in the same request: nobody sees the one without the other
    }
    pipeline_path, template_path = f"/_ingest/pipeline/{PIPELINE}", f"/_index_template/{template}"
    search_path = f"/_search/pipeline/{SEARCH_PIPELINE}"
    return [
        Step(f"pipeline {PIPELINE}", "PUT", pipeline_path, pipeline(), pipeline_path, without=NO_SCRIPTS),
        *(
            Step(
                f"script {id_}",
                "PUT",
                f"/_scripts/{id_}/score",
                stored_script(id_),
                f"/_scripts/{id_}",
                without=NO_SCRIPTS,
            )
            for id_ in SOURCES
        ),
        Step(
            f"search pipeline {SEARCH_PIPELINE}",
            "PUT",
            search_path,
            search_pipeline(),
            search_path,
            without=NO_SEARCH_PIPELINES,
        ),
        Step(
            f"template winnow-{name}",
            "PUT",
            template_path,
            index_template(name, scheme, shards=shards, replicas=replicas),
            template_path,
        ),
        Step(f"index {name}-000001, alias {name}", "PUT", f"/{index}", pages, f"/{quote(name)}", everywhere=False),
        Step(f"index {name}.settings", "PUT", f"/{settings}", settings_index(), f"/{settings}", everywhere=False),
    ]


def plan(
    client: OpenSearch, name: str, scheme: Scheme | None = None, *, shards: int = 1, replicas: int | None = None
) -> list[Done]:
    """All steps, and whether what they make is there already. Without a scheme it is that of the store, or the usual.

    A store that is there with another scheme, or another format, is refused.
    """
    with told(name, "set up"):
        chosen = scheme_there(client, name, scheme) or scheme or Scheme()
        every = steps(name, chosen, shards=shards, replicas=replicas)
        return [Done(step, _looked_up(client, step)) for step in every]


def set_up(
    client: OpenSearch, name: str, scheme: Scheme | None = None, *, shards: int = 1, replicas: int | None = None
) -> list[Done]:
    """Make what is missing. Others may do the same at the same time."""
    planned = plan(client, name, scheme, shards=shards, replicas=replicas)
    done = [Done(step, _make(client, name, step) if outcome == "missing" else outcome) for step, outcome in planned]
    with told(name, "set up"):
        if not scheme_there(client, name, scheme):
            raise StoreError(
                f"{name} cannot be set up: there is an index {name}-000001, but no alias {name}; add the alias to the"
                " index that it is to stand for, or delete that index"
            )
    return done


def scheme_there(client: OpenSearch, name: str, wanted: Scheme | None = None) -> WrittenScheme | None:
    """Of the store of this name, if there is one. Refused if it is none of ours, or not the one that is wanted."""
    try:
        found = client.indices.get_mapping(index=name)
    except NotFoundError:
        return None
    if len(found) != 1:
        raise StoreError(f"{name} stands for {len(found)} indices, and a store is one: name one of {', '.join(found)}")
    (described,) = found.values()
    try:
        written = written_in(described["mappings"], name)
    except RecordsError as error:
        raise StoreError(str(error)) from None
    if wanted is not None and written.id != wanted.id:
        raise StoreError(str(other_scheme(name, written.id, wanted.id)))
    return written


def _looked_up(client: OpenSearch, step: Step) -> Outcome:
    if step.without == NO_SEARCH_PIPELINES and not engine_of(client).search_pipelines:
        return "refused"  # what it says itself is about an index of that name
    try:
        client.transport.perform_request("GET", step.looked_up)
    except (NotFoundError, AuthorizationException):  # who may not look may still be told so, when it is made
        return "missing"
    return "there"


def _make(client: OpenSearch, name: str, step: Step) -> Outcome:
    with told(name, f"set up ({step.what})"):
        try:
            client.transport.perform_request(step.method, step.path, body=step.body)
        except AuthorizationException as error:
            if not step.everywhere:
                raise
            raise StoreError(
                f"{name} cannot be set up: this user may not make the {step.what}, which is of the whole cluster;"
                " `winnow setup --dry-run` prints the requests for an administrator to send"
            ) from error
        except TransportError as error:
            if isinstance(error, RequestError) and error.error == EXISTS:
                return "there"  # made by somebody else, just now
            if step.without and NO_SUCH_THING.search(str(error.info)):
                return "refused"
            raise
    return "made"


def _few_lines(written: re.Match[str]) -> str:
    """Else the characters of the analyzer are a page of their own."""
    indent, items = written[1], re.findall(TEXT, written[2])
    lines = [", ".join(items[start : start + IN_A_LINE]) for start in range(0, len(items), IN_A_LINE)]
    return indent + f",{indent}".join(lines)
