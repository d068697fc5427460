"""Adds winnow's part to the templates of new indices behind an attached alias or data stream, and removes it again.

An engine makes an index from one composable template, the one with the highest priority whose patterns fit. Only where
none fits, it merges all legacy templates that fit. So winnow's part is a component of the composable template that
fits, or else a legacy template of its own: neither replaces anything that an index got before. In both cases engines
merge `_meta` and `properties` key by key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import quote

from opensearchpy import AuthorizationException, OpenSearch, OpenSearchException

from opensearch_winnow.foundation.some_of import some_of
from opensearch_winnow.mappings.attached_fields import WINNOW_FIELDS, Attachment, attached_name, settings_index_of
from opensearch_winnow.mappings.opensearch_mapping import META
from opensearch_winnow.stores.opensearch.own_index.attached_opening import Mappings
from opensearch_winnow.stores.opensearch.requests.client import Address
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.upkeep.setup import Step, StepResult
from opensearch_winnow.stores.store import StoreError

MAX_NAMED = 3  # indices in an error
# The parts of indices to read. Every index is in the answer, because each has a uuid.
READ = "*.data_stream,*.settings.index.uuid,*.mappings._meta"
# The day and the number at the end of the name of an index.
NUMBER = re.compile(r"(20\d\d[._-]\d\d([._-]\d\d)?[._-]?)?\d*$")
WINNOW_PROPERTIES = {"properties": WINNOW_FIELDS}
# Elasticsearch 9 adds these to a template that is read, and refuses them in one that is written.
DATES = ("created_date", "created_date_millis", "modified_date", "modified_date_millis")

Described = dict[str, Any]  # an index or a template, as the engine returns it


class RemovedTemplates(NamedTuple):
    """The result of adding winnow's part to templates, or removing it."""

    removed: list[str]
    left: list[str]  # parts that other people have to remove or check


def component_template(attachment: Attachment) -> Described:
    """Return winnow's part of a template: a component template, with nothing but the mapping of an attached index."""
    return {"template": {"mappings": attachment.mapping({})}}


def template_steps(
    client: OpenSearch, address: Address, attachment: Attachment, pattern: str | None = None
) -> list[StepResult]:
    """Return the requests that add winnow's part to the templates of an alias or data stream, and which are missing.

    `pattern` fits the names of new indices; it is needed only if no template fits them. Raises StoreError if new
    indices would be attached in another way, or if the part would reach indices that are not behind this name.
    """
    with reporting_engine_errors(str(address), "given a template"):
        return _Templates(client, address).steps(attachment, pattern)


def lacks_template(client: OpenSearch, address: Address, attachment: Attachment) -> bool:
    """True if new indices of an alias or data stream come without winnow's part, as far as this user may see."""
    try:
        templates = _Templates(client, address)
    except OpenSearchException:  # no permission, or an engine without templates
        return False
    return not templates.is_index and not all(_has_part(each.values(), attachment) for each in templates.parts())


def check_attached_by_itself(client: OpenSearch, address: Address, found: Mappings, attachment: Attachment) -> None:
    """Refuse an alias or data stream whose indices, `found`, are attached for another name that they are not behind.

    They come from a template that is attached for that name. A single index may be a copy, or may have left its alias.
    """
    whole = attached_name(attachment.settings_index)
    if whole == address.index or address.index in found:
        return
    with reporting_engine_errors(str(address), "opened"):
        behind = client.indices.get_mapping(index=whole, params={"ignore_unavailable": "true"})
    if behind.keys() & found.keys():
        return
    made_by = separate_template = ""
    with suppress(OpenSearchException):  # no permission
        templates = _Templates(client, address)
        if carriers := [each for each in templates.sources() if templates.carriers().get(each) == whole]:
            made_by = f"come from the {some_of(carriers, MAX_NAMED)}, which is "
            separate_template = f"{_alone(address.index)}, then "
    raise StoreError(
        f"{address} is not attached by itself: its indices {made_by or 'are '}attached for {whole}; to attach it,"
        f" {separate_template}run `winnow detach {address}` and `winnow attach`"
    )


def remove_template(client: OpenSearch, address: Address) -> RemovedTemplates:
    """Remove winnow's part from all templates, so that new indices are not attached any more."""
    settings_index, removed = settings_index_of(address.index), []
    ours = _part_name(settings_index)
    try:
        templates = _Templates(client, address)
    except AuthorizationException:
        return RemovedTemplates([], ["templates, which this user may not read"])
    for name, described in templates.composable.items():
        if ours in described.get("composed_of", []):
            rest = [each for each in described["composed_of"] if each != ours]
            client.indices.put_index_template(name=name, body=described | {"composed_of": rest})
    for what, there in (("component_template", templates.components), ("template", templates.legacy)):
        if there.pop(ours, None):
            ignored = {"ignore": HTTPStatus.NOT_FOUND}
            client.transport.perform_request("DELETE", f"/_{what}/{quote(ours)}", params=ignored)
            removed.append(f"{what.replace('_', ' ')} {ours}")
    left, sources = [], templates.sources()
    for template, store in templates.carriers().items():
        if store == address.index:
            left.append(
                f"winnow's part of the {template}, which winnow did not add: remove it there, or new indices are"
                " attached again"
            )
        elif template in sources and not templates.is_index:
            left.append(
                f"{template}, which is attached for {store}: it attaches the next index of {address.index} again;"
                f" {_alone(address.index)}, or run `winnow detach` on {store}"
            )
    return RemovedTemplates(removed, left)


class _Choice(NamedTuple):
    """The template that an engine makes a new index from."""

    name: str
    described: Described


class _Templates:
    """The templates of an engine, and which of them new indices behind an alias or data stream come from."""

    def __init__(self, client: OpenSearch, address: Address) -> None:
        self._client = client
        self._address = address
        found = self._indices(address.index)
        self.is_index = address.index in found
        # A template is chosen by the name of a data stream, not by those of the indices in it.
        self._names = sorted({each.get("data_stream", index) for index, each in found.items()})
        composable = client.indices.get_index_template()["index_templates"]
        self.composable: dict[str, Described] = {
            each["name"]: {key: value for key, value in each["index_template"].items() if key not in DATES}
            for each in composable
        }
        components = client.cluster.get_component_template()["component_templates"]
        self.components: dict[str, Described] = {each["name"]: each["component_template"] for each in components}
        self.legacy: dict[str, Described] = client.indices.get_template()

    def steps(self, attachment: Attachment, pattern: str | None) -> list[StepResult]:
        if self.is_index:
            raise StoreError(
                f"{self._address} is an index by itself: --template is for an alias or a data stream, behind which new"
                " indices come"
            )
        if chosen := self._chosen():
            if pattern is not None:
                raise StoreError(
                    f"new indices of {self._address} come from the template {chosen[0].name}, which has patterns of its"
                    " own: leave out --pattern"
                )
            return self._component_steps(chosen, attachment)
        return self._legacy_steps(attachment, pattern)

    def parts(self) -> list[dict[str, Described]]:
        """Return the mappings that each template merges from which new indices come."""
        return [self._parts(each.described) for each in self._chosen()] or [self._legacy_parts()]

    def sources(self) -> list[str]:
        """Return the templates from which new indices come."""
        return [f"index template {each.name}" for each in self._chosen()] or [
            f"template {name}" for name in self._legacy_parts()
        ]

    def carriers(self) -> dict[str, str]:
        """Return all templates that have winnow's part, and the name that each is attached for."""
        composable = self.composable.items()
        parts = [(f"index template {name}", part) for name, each in composable for part in self._parts(each).values()]
        parts += [(f"template {name}", each.get("mappings", {})) for name, each in self.legacy.items()]
        return {template: store for template, part in parts if (store := _attached_for(part))}

    # --- a composable template ---

    def _component_steps(self, chosen: list[_Choice], attachment: Attachment) -> list[StepResult]:
        ours, body = _part_name(attachment.settings_index), component_template(attachment)
        results, needs_component = [], False
        for template, described in chosen:
            parts = self._parts(described)
            parts.pop(ours, None)
            self._check_parts(parts, attachment, template)
            is_managed = _has_part(parts.values(), attachment)  # under another name: another program manages it
            if not is_managed:
                self._check_others(described, attachment, template)
                needs_component = True
            composed_of = described.get("composed_of", [])
            changed = described | {"composed_of": [*composed_of, ours]}
            path = f"/_index_template/{quote(template)}"
            step = Step(f"part {ours} of the index template {template}", "PUT", path, changed, path, locked=True)
            results.append(StepResult(step, "there" if is_managed or ours in composed_of else "missing"))
        if needs_component:
            path = f"/_component_template/{quote(ours)}"
            is_there = self.components.get(ours, {}).get("template") == body["template"]
            step = Step(f"component template {ours}", "PUT", path, body, path, locked=True)
            results.insert(0, StepResult(step, "there" if is_there else "missing"))
        return results

    def _chosen(self) -> list[_Choice]:
        """Return the composable templates from which indices of these names are made."""
        names = {self._template_for(name) for name in self._names} - {None}
        return [_Choice(name, self.composable[name]) for name in sorted(filter(None, names))]

    def _template_for(self, index: str) -> str | None:
        fitting = [name for name, each in self.composable.items() if _fits(each["index_patterns"], index)]
        return max(fitting, key=lambda name: self.composable[name].get("priority") or 0, default=None)

    def _parts(self, described: Described) -> dict[str, Described]:
        """Return the mappings that a composable template merges, by the names of its components."""
        parts = {name: self.components.get(name, {}) for name in described.get("composed_of", [])}
        return {name: each.get("template", {}).get("mappings", {}) for name, each in (parts | {"": described}).items()}

    # --- legacy templates ---

    def _legacy_steps(self, attachment: Attachment, pattern: str | None) -> list[StepResult]:
        ours = _part_name(attachment.settings_index)
        parts = self._legacy_parts()
        parts.pop(ours, None)
        self._check_parts(parts, attachment, None)
        if _has_part(parts.values(), attachment):
            return []
        chosen = self._fitting_pattern() if pattern is None else pattern
        if not chosen or not any(_fits([chosen], name) for name in self._names):
            fits = f"{pattern} fits none of its indices" if pattern else "no template fits its indices"
            raise StoreError(
                f"{self._address} cannot be given a template: {fits} ({some_of(self._names, MAX_NAMED)}); name a"
                f" pattern that fits those that will come, as in --pattern '{self._example}'"
            )
        is_told = chosen in (pattern, *self.legacy.get(ours, {}).get("index_patterns", ()))
        self._check_others({"index_patterns": [chosen]}, attachment, None, is_told=is_told)
        body = {"index_patterns": [chosen], **component_template(attachment)["template"]}
        path = f"/_template/{quote(ours)}"
        there = self.legacy.get(ours, {})
        is_there = all(there.get(key) == value for key, value in body.items())
        step = Step(f"template {ours}", "PUT", path, body, path, locked=True)
        return [StepResult(step, "there" if is_there else "missing")]

    def _legacy_parts(self) -> dict[str, Described]:
        fitting = {name: each for name, each in self.legacy.items() if self._fits_any(each["index_patterns"])}
        return {name: each.get("mappings", {}) for name, each in fitting.items()}

    def _fitting_pattern(self) -> str | None:
        """Return the narrowest pattern of a legacy template that fits one of the indices."""
        patterns = {pattern for each in self.legacy.values() for pattern in each["index_patterns"]}
        return max(sorted(filter(lambda pattern: self._fits_any([pattern]), patterns)), key=len, default=None)

    # --- both ---

    def _fits_any(self, patterns: Iterable[str]) -> bool:
        return any(_fits(patterns, name) for name in self._names)

    @property
    def _example(self) -> str:
        """A pattern that fits the indices of an alias: `news-0*` for `news-000001`, whose numbers begin with a 0."""
        newest = self._names[-1]
        series = NUMBER.sub("", newest)
        return f"{series}{'0' * newest.startswith(f'{series}0')}*"

    def _check_parts(self, parts: Mapping[str, Described], attachment: Attachment, template: str | None) -> None:
        """Refuse templates with a part of another attachment, or with a field of the same name."""
        below = attachment.fields.below
        for name, mapping in parts.items():
            which = f"index template {template}" if template else f"template {name}"
            if mapping.get("_meta", {}).get(META, attachment.meta()) != attachment.meta():
                other = _attached_for(mapping) or "something else"
                remedy = f"run `winnow detach` on {other}"
                if template:
                    remedy += f", or {self._separate_template(template)}"
                if other == self._address.index:
                    remedy = "replace winnow's part there by what --print-template prints"
                raise StoreError(
                    f"{self._address} cannot be given a template: the {which} is attached for {other}, and new indices"
                    f" would be attached in two ways; {remedy}"
                )
            if mapping.get("properties", {}).get(below, WINNOW_PROPERTIES) != WINNOW_PROPERTIES:
                raise StoreError(
                    f"{self._address} cannot be given a template: the {which} has a field {below} of its own"
                )

    def _check_others(
        self, described: Described, attachment: Attachment, template: str | None, *, is_told: bool = False
    ) -> None:
        """Refuse a template from which indices come, or may come, that are not behind this name.

        If its pattern `is_told` by the user, only indices that exist are looked at.
        """
        patterns = described["index_patterns"]
        found = self._indices(",".join(patterns))
        others = {
            name
            for index, each in found.items()
            if (name := each.get("data_stream", index)) not in self._names
            and self._template_for(name) == template
            and each.get("mappings", {}).get("_meta", {}).get(META) != attachment.meta()
        }
        also = some_of(sorted(others), MAX_NAMED) or ("" if is_told else self._reached(described))
        if also:
            which, remedy = f"the pattern {patterns[0]}", f"name a narrower one, as in --pattern '{self._example}'"
            if template:
                which, remedy = f"the index template {template}", self._separate_template(template)
            raise StoreError(
                f"{self._address} cannot be given a template: {which} is also for {also}, which would be attached as a"
                f" part of {self._address.index}; {remedy}"
            )

    def _reached(self, described: Described) -> str:
        """Return the data streams or indices that a template may create outside this name; empty if none are likely.

        Patterns of an alias have to begin as the alias does, or as one of its indices without its number. So `news` may
        have `news-*`, though an index behind another alias may come to fit that.
        """
        if self._address.index in described.get("template", {}).get("aliases", {}):
            return ""  # every index that comes from it is behind this name
        kind = "data stream" if "data_stream" in described else "index"
        series = (self._address.index, *(NUMBER.sub("", name) or name for name in self._names))
        for pattern in described["index_patterns"]:
            is_covered = pattern in self._names or (kind == "index" and pattern.partition("*")[0].startswith(series))
            if not is_covered:
                return f"every other {kind} {pattern}"
        return ""

    def _separate_template(self, template: str) -> str:
        """Return the advice to replace an index template that is not for this name alone."""
        name, priority = self._address.index, self.composable[template].get("priority") or 0
        pattern = name if name in self._names else self._example
        has_part = any(map(_attached_for, self._parts(self.composable[template]).values()))
        without = ", and without winnow's part" * has_part
        return (
            f'make an index template for {name} alone, as a copy of {template} with "index_patterns": ["{pattern}"] and'
            f' "priority": {priority + 1}{without}; then run this again'
        )

    def _indices(self, names: str) -> dict[str, Described]:
        options = {"expand_wildcards": "all", "ignore_unavailable": "true", "filter_path": READ}
        found: dict[str, Described] = self._client.indices.get(index=names, params=options)
        return found


def _alone(name: str) -> str:
    return f"make an index template for {name} alone, with a higher priority and without winnow's part"


def _part_name(settings_index: str) -> str:
    return settings_index.removesuffix(".settings")


def _attached_for(mapping: Described) -> str:
    """Return the name that new indices are attached for by this part of a template; empty if they are not."""
    there = mapping.get("_meta", {}).get(META)
    return attached_name(there.get("settings", "")) if isinstance(there, Mapping) else ""


def _has_part(mappings: Iterable[Described], attachment: Attachment) -> bool:
    return any(
        mapping.get("_meta", {}).get(META) == attachment.meta()
        and mapping.get("properties", {}).get(attachment.fields.below) == WINNOW_PROPERTIES
        for mapping in mappings
    )


def _fits(patterns: Iterable[str], name: str) -> bool:
    """Return whether a pattern fits a name, as engines do it: a `*` stands for anything, and nothing else does."""
    return any(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) for pattern in patterns)
