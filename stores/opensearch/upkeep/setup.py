"""Sets up a store on an engine: lists its parts, checks which exist, and creates the others."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple
from urllib.parse import quote

from opensearchpy import AuthorizationException, NotFoundError, OpenSearch, RequestError, TransportError

from opensearch_winnow.foundation.answer_keys import with_keys
from opensearch_winnow.foundation.key_file import environment_key, with_key
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
from opensearch_winnow.mappings.written_scheme import WrittenScheme
from opensearch_winnow.stores.engine_index import Outcome
from opensearch_winnow.stores.opened_scheme import opened_scheme
from opensearch_winnow.stores.opensearch.requests.client import engine_of
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.store import StoreError

JSON_STRING = r'"(?:[^"\\]|\\.)*"'
STRING_LIST = re.compile(rf"(?<=\[)(\n *)({JSON_STRING}(?:,\s*{JSON_STRING})+)(?=\n *\])")  # in indented JSON
STRINGS_PER_LINE = 6
ALREADY_EXISTS = "resource_already_exists_exception"
UNSUPPORTED = re.compile(
    r"cannot execute .*scripts|scripts are not enabled|unsupported lang|Invalid processor type"
    r"|No processor type exists"
)
# Messages for the user.
NO_SCRIPTS = (
    "The cluster does not allow scripts. The store works without them, but holds only pages that winnow itself writes,"
    " and scores are not computed on the server."
)
NO_SEARCH_PIPELINES = (
    "The cluster does not support the search pipeline (OpenSearch does from 2.12, in the module"
    " search-pipeline-common). The store works without it."
)


@with_keys("what", "method", "path", "body")
class Step(NamedTuple):
    """A request that creates one part of a store. Repeating it is safe."""

    what: str
    method: str
    path: str
    body: dict[str, Any]
    check_path: str  # GET finds the part here if it exists
    engine_wide: bool = True  # it belongs to the whole engine, and creating it may need more permissions
    if_refused: str = ""  # the consequence if the engine refuses it; empty if a store needs it
    locked: bool = False  # it is not created while the index is being detached
    mapped_index: str = ""  # the index to whose mapping it adds winnow's fields; empty if it does not

    def console_request(self) -> str:
        """Return the request in the form that the console of OpenSearch Dashboards (Dev Tools) accepts."""
        return f"{self.method} {self.path}\n{STRING_LIST.sub(_join_lines, json.dumps(self.body, indent=2))}"


class StepResult(NamedTuple):
    """A step and its outcome."""

    step: Step
    outcome: Outcome


def steps(name: str, scheme: Scheme | WrittenScheme, *, shards: int = 1, replicas: int | None = None) -> list[Step]:
    """Return the steps that set up a store, in order: an index comes after the parts that it refers to."""
    index, template = quote(f"{name}-000001"), quote(f"winnow-{name}")
    pages = {
        "settings": index_settings(shards, replicas),
        "mappings": mapping(scheme),
        "aliases": {name: {}},  # in the same request, so that neither is ever seen without the other
    }
    pipeline_path, template_path = f"/_ingest/pipeline/{PIPELINE}", f"/_index_template/{template}"
    return [
        Step(f"pipeline {PIPELINE}", "PUT", pipeline_path, pipeline(), pipeline_path, if_refused=NO_SCRIPTS),
        *script_steps(),
        search_pipeline_step(SEARCH_PIPELINE, "cluster"),
        Step(
            f"template winnow-{name}",
            "PUT",
            template_path,
            index_template(name, scheme, shards=shards, replicas=replicas),
            template_path,
        ),
        settings_step(f"{name}.settings"),
        # Last, so that a store is complete when its alias exists.
        Step(f"index {name}-000001, alias {name}", "PUT", f"/{index}", pages, f"/{quote(name)}", engine_wide=False),
    ]


def script_steps() -> list[Step]:
    """Return the steps that store the scripts, which compute scores."""
    return [
        Step(
            f"script {id_}",
            "PUT",
            f"/_scripts/{id_}/score",
            stored_script(id_),
            f"/_scripts/{id_}",
            if_refused=NO_SCRIPTS,
        )
        for id_ in SOURCES
    ]


def search_pipeline_step(name: str, field: str) -> Step:
    """Return the step that creates a search pipeline, for pages whose clusters are in `field`."""
    path = f"/_search/pipeline/{quote(name)}"
    return Step(f"search pipeline {name}", "PUT", path, search_pipeline(field), path, if_refused=NO_SEARCH_PIPELINES)


def settings_step(name: str) -> Step:
    """Return the step that creates the index of a store's settings."""
    path = f"/{quote(name)}"
    return Step(f"index {name}", "PUT", path, settings_index(), path, engine_wide=False)


def plan(
    client: OpenSearch, name: str, scheme: Scheme | None = None, *, shards: int = 1, replicas: int | None = None
) -> list[StepResult]:
    """Return all steps, with the outcome "there" or "missing". By default, the scheme is that of the store or Scheme().

    Raises StoreError if the store exists with another scheme or another format.
    """
    with reporting_engine_errors(name, "set up"):
        chosen = existing_scheme(client, name, scheme) or with_key(scheme or Scheme())
        all_steps = steps(name, chosen, shards=shards, replicas=replicas)
        return [StepResult(step, check(client, step)) for step in all_steps]


def set_up(
    client: OpenSearch, name: str, scheme: Scheme | None = None, *, shards: int = 1, replicas: int | None = None
) -> list[StepResult]:
    """Create the missing parts, and return all steps with their outcomes. Other processes may do so at once."""
    planned = plan(client, name, scheme, shards=shards, replicas=replicas)
    results = [
        StepResult(step, create(client, name, step) if outcome == "missing" else outcome) for step, outcome in planned
    ]
    with reporting_engine_errors(name, "set up"):
        if not existing_scheme(client, name, scheme):
            raise StoreError(
                f"{name} cannot be set up: there is an index {name}-000001, but no alias {name}; add the alias to the"
                " index that holds the store, or delete that index"
            )
    return results


def existing_scheme(client: OpenSearch, name: str, wanted: Scheme | None = None) -> WrittenScheme | None:
    """Return the scheme of the store `name`; None if there is no index or alias of this name.

    Raises StoreError if it is not a winnow store, or if its scheme is not the `wanted` one. The key is checked only
    if there is one, in `wanted` or in the environment.
    """
    try:
        found = client.indices.get_mapping(index=name)
    except NotFoundError:
        return None
    if len(found) != 1:
        raise StoreError(f"{name} is an alias of {len(found)} indices; name one of them: {', '.join(found)}")
    (described,) = found.values()
    try:
        written = written_in(described["mappings"], name)
    except RecordsError as error:
        raise StoreError(str(error)) from None
    if wanted is not None or environment_key() is not None:
        opened_scheme(name, written, wanted, None)
    return written


def check(client: OpenSearch, step: Step) -> Outcome:
    """Return "there", "missing", or "refused" for a part that the engine does not support."""
    if step.if_refused == NO_SEARCH_PIPELINES and not engine_of(client).search_pipelines:
        return "refused"  # the engine's own error would be about an index of that name
    try:
        client.transport.perform_request("GET", step.check_path)
    except (NotFoundError, AuthorizationException):  # without permission to look, creating it will give the error
        return "missing"
    return "there"


def create(client: OpenSearch, name: str, step: Step) -> Outcome:
    """Create a part that is missing."""
    doing = "given winnow's fields" if step.mapped_index else f"set up ({step.what})"
    with reporting_engine_errors(step.mapped_index or name, doing):
        try:
            client.transport.perform_request(step.method, step.path, body=step.body)
        except AuthorizationException as error:
            if not step.engine_wide:
                raise
            raise StoreError(
                f"{name} cannot be set up: this user may not create the {step.what}, which belongs to the whole"
                " cluster; --dry-run prints the requests for an administrator to send"
            ) from error
        except TransportError as error:
            if isinstance(error, RequestError) and error.error == ALREADY_EXISTS:
                return "there"  # another process has just created it
            if step.if_refused and UNSUPPORTED.search(str(error.info)):
                return "refused"
            raise
    return "made"


def _join_lines(match: re.Match[str]) -> str:
    """Put several strings of a list on a line: one on each, the analyzer's characters would fill a screen."""
    indent, items = match[1], re.findall(JSON_STRING, match[2])
    lines = [", ".join(items[start : start + STRINGS_PER_LINE]) for start in range(0, len(items), STRINGS_PER_LINE)]
    return indent + f",{indent}".join(lines)
