"""Whatever is written through the gateway and beside it, no document seems to have fields that it has not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from opensearch_winnow.gateway.engine_answer import EngineAnswer
from opensearch_winnow.stores.engine.running import Running
from tests.gateway.bulk_sender import sent_bulk
from tests.gateway.checked_stamps import has_fitting_stamp, maker_of
from tests.gateway.running_gateway import ask, bulk_lines
from tests.stores.opensearch.own_articles import OwnIndex

EXAMPLES = count()
TEXTS = ("", "No egg today.", "No hen today, said the fox to the hen.", "no  HEN today, said the fox to the hen")


KINDS = (
    *("index", "index", "create", "change", "change", "author", "delete", "refused", "external"),
    *("upsert", "doc_as_upsert", "script", "scripted_upsert"),
)


Operation = tuple[str, int, str, int]  # kind, id, text and version


class Step(NamedTuple):
    """Operations of one bulk request through the gateway, and those that others execute while it is on its way."""

    ours: list[Operation]
    meanwhile: Sequence[Operation] = ()
    pipeline: bool = False


operations = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 1), st.sampled_from(TEXTS), st.integers(1, 9)), max_size=4
)
steps = st.lists(st.builds(Step, operations, operations, st.sampled_from((False, False, False, True))), max_size=6)


@pytest.mark.check
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=steps)
def test_fields_are_right_or_do_not_fit(attached: OwnIndex, shouting: str, engine: Running, steps: list[Step]) -> None:
    example, maker = next(EXAMPLES), maker_of(attached)
    for step in steps:
        _write(engine.url, attached.name, example, step, shouting if step.pipeline else "")
        for number in range(2):
            found = ask(engine.url, "GET", f"/{attached.name}/_doc/{example}-{number}").json()
            if found["found"]:
                has_fitting_stamp(maker, found)


def test_nothing_in_between_makes_a_stamp_that_fits(attached: OwnIndex, engine: Running) -> None:
    example, maker = next(EXAMPLES), maker_of(attached)
    fitting: list[bool] = []
    for meanwhile in ([], [("author", 0, "", 1)], [("delete", 0, "", 1)], []):
        for kind in ("index", "change"):
            step = Step([(kind, 0, f"{TEXTS[1]} {kind} {len(fitting)}", 1)], meanwhile)
            _write(engine.url, attached.name, example, step)
            found = ask(engine.url, "GET", f"/{attached.name}/_doc/{example}-0").json()
            fitting.append(found["found"] and has_fitting_stamp(maker, found))
    # After a document was deleted, the engine goes on counting its versions for a minute: the stamps are too low.
    assert fitting[:4] == [True, True, False, False]


@pytest.mark.parametrize("first", ["refused", "author", "external"])
def test_an_operation_that_fails_makes_the_next_stamp_no_higher_than_the_version(
    attached: OwnIndex, engine: Running, first: str
) -> None:
    example, maker = next(EXAMPLES), maker_of(attached)
    _write(engine.url, attached.name, example, Step([(first, 0, TEXTS[1], 1), ("index", 0, TEXTS[2], 1)]))
    for number in range(3):  # others change the text, and each time the version is one higher
        ask(engine.url, "POST", f"/{attached.name}/_bulk", _lines(example, [("change", 0, f"Text {number}.", 1)]))
        assert not has_fitting_stamp(maker, ask(engine.url, "GET", f"/{attached.name}/_doc/{example}-0").json())


def _write(url: str, name: str, example: int, step: Step, pipeline: str = "") -> None:
    """Prepare a request as the gateway does, let others write, and send it."""

    async def send(method: str, path: str, body: Any) -> EngineAnswer:
        answer = ask(url, method, path, body)
        return EngineAnswer(answer.status, answer.headers, answer.body)

    def meanwhile() -> None:
        if step.meanwhile:
            ask(url, "POST", f"/{name}/_bulk", _lines(example, step.meanwhile))

    asyncio.run(sent_bulk(send, name, _lines(example, step.ours), pipeline=pipeline, meanwhile=meanwhile))


def _lines(example: int, operations: Sequence[Operation]) -> bytes:
    lines: list[Any] = []
    for kind, number, text, version in operations:
        key = {"_id": f"{example}-{number}"}
        document, update = {"headline": kind, "body": text}, {"update": key}
        script = {"source": "ctx._source.body = params.body", "params": {"body": text}}
        lines += {
            "index": ({"index": key}, document),
            "create": ({"create": key}, document),
            "refused": ({"index": key}, document | {"no such field": 1}),
            "external": ({"index": key | {"version_type": "external_gte", "version": version}}, document),
            "delete": ({"delete": key},),
            "change": (update, {"doc": {"body": text}}),
            "author": (update, {"doc": {"author": f"{text}{version}"}}),
            "upsert": (update, {"doc": {"body": f"{text} More."}, "upsert": document}),
            "doc_as_upsert": (update, {"doc": document, "doc_as_upsert": True}),
            "script": (update, {"script": script, "upsert": document | {"body": "Another text."}}),
            "scripted_upsert": (update, {"script": script, "upsert": {"body": "Another."}, "scripted_upsert": True}),
        }[kind]
    return bulk_lines(*lines)
