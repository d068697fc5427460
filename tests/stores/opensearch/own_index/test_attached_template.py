"""New indices behind an attached alias or data stream get winnow's part from their template."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Index, attach as attach_index
from opensearch_winnow.mappings.attached_fields import WINNOW_FIELDS, AttachedFields
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.own_index.attach import detach
from opensearch_winnow.stores.opensearch.own_index.attach_reports import NewIndices
from opensearch_winnow.stores.opensearch.own_index.attached_template import DATES, component_template, lacks_template
from opensearch_winnow.stores.opensearch.requests.client import Address
from opensearch_winnow.stores.store import StoreError
from tests.engine_fixture import VERSION
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway
from tests.stores.opensearch.own_articles import ARTICLES, FIELDS, OwnIndex, article, attach, plan, similar

pytestmark = pytest.mark.check

NUMBERS = count()
HAS_STREAMS = VERSION[0] in "23"  # free builds of Elasticsearch 7 have none; nor do those of its later servers
KINDS = ["composable", "legacy", "none", *["stream"] * HAS_STREAMS]
MADE: dict[str, Any] = {
    "settings": {"number_of_shards": 1, "number_of_replicas": 0},
    "mappings": ARTICLES | {"properties": ARTICLES["properties"] | {"@timestamp": {"type": "date"}}},
}


class Rolled(OwnIndex):
    """An alias, or a data stream, with templates of its owner."""

    def __init__(self, url: str, client: OpenSearch, kind: str) -> None:
        super().__init__(url, f"tpl-{os.getpid()}-{next(NUMBERS)}", client)
        self.kind = kind
        self.part = f"winnow.{self.name}"
        self.first = f"{self.name}-000001"

    def make(self) -> None:
        name, indices = self.name, self.client.indices
        if self.kind == "bare":
            return
        if self.kind == "composable":
            # A template that is shadowed, and one with a component of its own.
            self.put_template("all", [f"{name}*"], priority=1)
            desk = {"template": {"mappings": {"_meta": {"desk": {"name": "sport"}}}}}
            self.client.cluster.put_component_template(name=f"{name}-component", body=desk)
            own = {"version": 3, "_meta": {"by": "terraform"}, "composed_of": [f"{name}-component"]}
            indices.put_index_template(
                name=name, body=own | {"index_patterns": [f"{name}-*"], "priority": 2, "template": MADE}
            )
        elif self.kind == "legacy":
            wide, narrow = {"index_patterns": [f"{name}*"], "order": 0}, {"index_patterns": [f"{name}-*"], "order": 1}
            indices.put_template(name=f"{name}-all", body=wide | {"settings": MADE["settings"]})
            indices.put_template(name=name, body=narrow | {"mappings": MADE["mappings"]})
        elif self.kind == "stream":
            body = {"index_patterns": [name], "data_stream": {}, "template": MADE}
            indices.put_index_template(name=name, body=body)
            self.make_stream(name)
            return
        made = MADE if self.kind == "none" else {}
        indices.create(index=self.first, body=made | {"aliases": {name: {"is_write_index": True}}})

    def put_template(self, suffix: str, patterns: list[str], **body: Any) -> None:
        template = {"index_patterns": patterns, **body}
        self.client.indices.put_index_template(name=f"{self.name}-{suffix}", body=template)

    def make_stream(self, name: str) -> None:
        self.client.transport.perform_request("PUT", f"/_data_stream/{name}")

    def remove(self) -> None:
        if HAS_STREAMS:
            self.client.transport.perform_request("DELETE", f"/_data_stream/{self.name}*", params={"ignore": 404})
        hidden = {"expand_wildcards": "all"}
        if names := list(self.client.indices.get(index=f"{self.name}*,winnow.{self.name}*", params=hidden)):
            self.client.indices.delete(index=",".join(names))
        for kind in ("index_template", "template", "component_template"):
            for name in (self.name, self.part):
                self.client.transport.perform_request("DELETE", f"/_{kind}/{name}*", params={"ignore": (400, 404)})

    def make_sibling(self, suffix: str, *, is_stream: bool = False) -> Address:
        """Make a data stream, or an alias and an index behind it, whose names begin with this one."""
        name = f"{self.name}-{suffix}"
        if is_stream:
            self.make_stream(name)
        else:
            self.client.indices.create(index=f"{name}-000001", body={"aliases": {name: {"is_write_index": True}}})
        return replace(self.address, index=name)

    def roll_over(self, name: str | None = None) -> Any:
        """Make the next index, and return its mapping."""
        answer = self.client.transport.perform_request("POST", f"/{name or self.name}/_rollover")
        return self.mapping_of(answer["new_index"])

    def mapping_of(self, index: str) -> Any:
        return self.client.indices.get_mapping(index=index)[index]["mappings"]

    def templates(self) -> dict[str, Any]:
        """Return all templates that concern these indices, as the engine has them."""
        client = self.client
        composable = client.indices.get_index_template()["index_templates"]
        components = client.cluster.get_component_template()["component_templates"]
        found = {each["name"]: each["index_template"] for each in composable}
        found |= {each["name"]: each["component_template"] for each in components} | client.indices.get_template()
        mine = {name: each for name, each in found.items() if self.name in name}
        return {name: {key: each[key] for key in each if key not in DATES} for name, each in mine.items()}

    def change_template(self, changed: dict[str, Any]) -> None:
        self.client.indices.put_index_template(name=self.name, body=changed)

    def refusal(self, words: str, fields: AttachedFields | None = FIELDS, **how: Any) -> str:
        """Check that attaching with a template, or an index by itself, is refused with these words."""
        address = how.pop("address", self.address)
        with pytest.raises(StoreError, match=words) as refused:
            attach(self.client, address, fields, **({"template": True} | how))
        return str(refused.value)


@pytest.fixture
def rolled(engine: Running, client: OpenSearch, request: pytest.FixtureRequest) -> Iterator[Rolled]:
    made = Rolled(engine.url, client, getattr(request, "param", "composable"))
    try:
        made.make()
        yield made
    finally:
        made.remove()


@pytest.mark.parametrize("rolled", KINDS, indirect=True)
def test_a_new_index_is_attached_from_its_start(rolled: Rolled) -> None:
    client, before = rolled.client, rolled.templates()
    plain = None if rolled.kind == "none" else rolled.roll_over()
    attachment = plan(client, rolled.address, FIELDS).attachment
    options: dict[str, Any] = {"template": True} | ({"pattern": f"{rolled.name}-0*"} if rolled.kind == "none" else {})
    assert lacks_template(client, rolled.address, attachment)
    attached = rolled.attach(FIELDS, **options)
    assert not lacks_template(client, rolled.address, attachment)

    new = rolled.roll_over()
    ours = new["properties"].pop("winnow"), new["_meta"].pop("winnow")
    assert ours == ({"properties": WINNOW_FIELDS}, attachment.meta())
    if plain is not None:  # all else is as it was, and so is the `_meta` of the owner's templates
        assert new == plain
    written = {"@timestamp": "2026-05-06T10:00:00Z", **article(0)}
    for id_ in "ab":
        client.index(index=rolled.name, id=id_, body=written, params={"op_type": "create", "refresh": "true"})
    assert rolled.attach().done == 2
    assert similar(rolled, "a") == ["b"]

    there = rolled.templates()
    again = plan(client, rolled.address, **options).steps
    assert [outcome for step, outcome in again if "template" in step.what] in (["there"], ["there", "there"])
    rolled.attach(**options)
    assert rolled.templates() == there
    gone = rolled.detach()
    assert (gone.documents, gone.left) == (2, [])
    is_component = rolled.kind in ("composable", "stream")
    part = f"component template {rolled.part}" if is_component else f"template {rolled.part}"
    assert part in gone.removed
    assert {part, f"index winnow.{rolled.name}.settings"} <= set(attached.made)
    assert (f"part {rolled.part} of the index template {rolled.name}" in attached.made) == is_component
    assert rolled.templates() == before
    assert "winnow" not in rolled.roll_over().get("_meta", {})


def test_a_part_that_somebody_else_manages_is_enough(rolled: Rolled) -> None:
    attach_index(str(rolled.address), text="body", title="headline")
    body = component_template(plan(rolled.client, rolled.address).attachment)
    rolled.client.cluster.put_component_template(name=f"{rolled.part}-by-hand", body=body)
    described = rolled.templates()[rolled.name]
    described["composed_of"].append(f"{rolled.part}-by-hand")
    rolled.change_template(described)
    before = rolled.templates()
    new = plan(rolled.client, rolled.address, template=True).new_indices
    assert new == NewIndices([f"{rolled.name}-*"], None)
    attach_index(str(rolled.address), template=True)
    assert rolled.templates() == before
    (left,) = rolled.detach().left
    assert left.startswith(f"winnow's part of the index template {rolled.name}, which winnow did not add")


def test_a_template_of_other_indices_is_left_alone(rolled: Rolled) -> None:
    before, other = rolled.templates(), f"{rolled.name}-errors"
    rolled.client.indices.create(index=other)
    rolled.refusal(rf"the index template {rolled.name} is also for {other}, .*{rolled.name}-0\\*")
    assert rolled.templates() == before
    assert "winnow" not in rolled.mapping_of(rolled.first)["_meta"]
    rolled.client.indices.put_alias(index=other, name=rolled.name)
    rolled.attach(FIELDS, template=True)
    # An index that leaves the alias stays one of its own.
    rolled.client.indices.delete_alias(index=other, name=rolled.name)
    rolled.attach(template=True)


@pytest.mark.parametrize("rolled", ["bare"], indirect=True)
@pytest.mark.parametrize("kind", ["composable", "legacy", *["stream"] * HAS_STREAMS])
def test_a_template_of_whatever_may_come_is_left_alone(rolled: Rolled, kind: str) -> None:
    """The template of `logs-*` is for `logs-us` as well as for `logs-eu`, even before there is one."""
    client, is_stream, wide = rolled.client, kind == "stream", f"{rolled.name}-all"
    patterns = [f"{rolled.name}-*"]
    if kind == "legacy":
        client.indices.put_template(name=wide, body={"index_patterns": patterns, **MADE})
    else:
        rolled.put_template("all", patterns, template=MADE, priority=5, **({"data_stream": {}} if is_stream else {}))
    before, address = rolled.templates(), rolled.make_sibling("eu", is_stream=is_stream)
    also = r"is also for every other .*, which would be attached as a part of"
    refused = rolled.refusal(also, address=address)
    assert rolled.templates() == before
    if kind == "legacy":
        pattern = f"{address.index}-0*"
        assert f"--pattern '{pattern}'" in refused
        attach(client, address, FIELDS, template=True, pattern=pattern)
        attach(client, address, template=True)
    else:
        pattern = address.index if is_stream else f"{address.index}-0*"
        assert f'a copy of {wide} with "index_patterns": ["{pattern}"] and "priority": 6; then' in refused
        own = before[wide] | {"index_patterns": [pattern], "priority": 6}
        client.indices.put_index_template(name=address.index, body=own)
        planned = plan(client, address, FIELDS, template=True)
        (first,) = planned.mappings
        assert planned.new_indices == NewIndices([pattern], first)
        attach(client, address, FIELDS, template=True)
        assert plan(client, address, template=True).new_indices == NewIndices([pattern], None)
    assert "winnow" in rolled.roll_over(address.index)["_meta"]
    other = rolled.make_sibling("us", is_stream=is_stream)
    assert plan(client, other, FIELDS).attachment.settings_index == f"winnow.{other.index}.settings"
    assert detach(client, address).left == []


@pytest.mark.parametrize("rolled", ["bare"], indirect=True)
def test_a_template_that_puts_all_behind_the_alias_may_have_any_pattern(rolled: Rolled) -> None:
    alias, body = f"all-{rolled.name}", {"index_patterns": [f"{rolled.name}*"]}
    rolled.change_template(body | {"template": MADE})
    rolled.client.indices.create(index=f"{rolled.name}-eu-1", body={"aliases": {alias: {}}})
    address = replace(rolled.address, index=alias)
    with pytest.raises(StoreError, match=rf"is also for every other index {rolled.name}\*"):
        plan(rolled.client, address, FIELDS, template=True)
    rolled.change_template(body | {"template": MADE | {"aliases": {alias: {}}}})
    assert plan(rolled.client, address, FIELDS, template=True).new_indices


@pytest.mark.parametrize("rolled", ["composable", "legacy", *["stream"] * HAS_STREAMS], indirect=True)
def test_a_name_whose_indices_come_attached_for_another_is_told(rolled: Rolled) -> None:
    """An alias `news` may have the template `news-*`, from which an index of the alias `sport` may come, too."""
    is_stream = rolled.kind == "stream"
    rolled.attach(FIELDS, template=True)
    if is_stream:  # its owner makes the template one of other data streams, too
        described = rolled.templates()[rolled.name]
        described["index_patterns"].append(f"{rolled.name}-*")
        rolled.change_template(described)
    sport = rolled.make_sibling("sport", is_stream=is_stream)
    template = f"template {rolled.part}" if rolled.kind == "legacy" else f"index template {rolled.name}"
    said = rf"not attached by itself: its indices come from the {template}, which is attached for {rolled.name}; to att"
    with pytest.raises(StoreError, match=said):
        Index.open(str(sport), create=False)
    for fields in (None, FIELDS, AttachedFields(text=("author",))):
        rolled.refusal(said, fields, address=sport, template=False)
    gone = detach(rolled.client, sport)
    assert f"index winnow.{rolled.name}.settings" in gone.kept
    (left,) = gone.left
    assert left.startswith(f"{template}, which is attached for {rolled.name}: it attaches the next index of ")
    rolled.refusal(rf"the {template} is attached for {rolled.name}, and new indices", address=sport)
    if not is_stream:  # an alias of what is behind the attached one is only another name of it
        rolled.client.indices.put_alias(index=rolled.first, name=f"{rolled.name}-too")
        Index.open(f"{rolled.address}-too", create=False).close()


@pytest.mark.parametrize("rolled", ["none"], indirect=True)
def test_without_a_template_the_names_have_to_be_told(rolled: Rolled) -> None:
    rolled.refusal(rf"no template fits its indices .*--pattern '{rolled.name}-0\*'")
    rolled.refusal(r"logs-\* fits none of its indices", pattern="logs-*")
    rolled.client.indices.create(index=f"{rolled.name}-errors")
    wide = f"{rolled.name}-*"
    rolled.refusal(rf"{rolled.name}-errors, which would be .*; name a narrower one", pattern=wide)
    assert rolled.templates() == {}
    rolled.attach(FIELDS, template=True, pattern=f"{rolled.name}-0*")
    before = rolled.templates()
    rolled.attach(template=True)  # the pattern is known now
    assert rolled.templates() == before


def test_what_does_not_go_together_is_said_in_a_sentence(rolled: Rolled) -> None:
    first = replace(rolled.address, index=rolled.first)
    rolled.refusal("is an index by itself: --template is for an alias or a data stream", address=first)
    rolled.refusal(rf"come from the template {rolled.name}, .*leave out --pattern", pattern="tpl-*")
    rolled.attach(FIELDS, template=True)
    part = rf"{first.index} cannot be .* attached as a part of {rolled.name}; .*--update"
    rolled.refusal(part, address=first, template=False)
    assert attach(rolled.client, first).failed == 0  # a part may be brought up to date
    rolled.client.indices.put_alias(index=first.index, name=f"{rolled.name}-too")
    described = rolled.templates()[rolled.name]
    mappings = described["template"]["mappings"]
    mappings["properties"]["copies"] = {"type": "keyword"}
    rolled.detach()
    described["composed_of"].remove(rolled.part)
    rolled.change_template(described)
    own = f"the index template {rolled.name} has a field copies of its own"
    rolled.refusal(own, AttachedFields(text=("body",), below="copies"))
    for settings, words in {
        "winnow.others.settings": r"is attached for others, and new .* in two ways; run `winnow detach` on others",
        f"winnow.{rolled.name}.settings": r"in two ways; replace winnow's part there by what --print-template prints",
    }.items():
        mappings["_meta"]["winnow"] = {"settings": settings}
        rolled.change_template(described)
        rolled.refusal(words)


def test_a_user_who_may_not_change_templates_is_told(rolled: Rolled, engine: Running) -> None:
    forbidden: tuple[str, ...] = ("PUT",)

    def refuse(arrived: Arrived) -> Answer | None:
        if arrived.method not in forbidden or "_template" not in arrived.path:
            return None
        error = {"type": "security_exception", "reason": "no permissions for [indices:admin/index_template/put]"}
        return Answer(403, json.dumps({"error": error, "status": 403}).encode())

    before = rolled.templates()
    with Gateway(engine.url, refuse) as front:
        address = f"{front.url}/{rolled.name}"
        with pytest.raises(StoreError, match=r"may not create the component template .*--dry-run prints the requests"):
            attach_index(address, text="body", template=True)
        assert "winnow" not in rolled.mapping_of(rolled.first)["_meta"]
        forbidden = ("GET",)
        attach_index(address, text="body")
        with OpenSearch(front.url) as client:
            gone = detach(client, Address.of(address))
    assert gone.left == ["templates, which this user may not read"]
    assert rolled.templates() == before
