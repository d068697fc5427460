"""Tests the groups among the hits of a response, without an engine."""

from __future__ import annotations

import json
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig, ObjectApiResponse
from hypothesis import given, strategies as st

from opensearch_winnow import QuestionError, Scheme, compare
from opensearch_winnow.clients import HitGroups, group_hits, winnow_fields

WORDS = [f"word{number}" for number in range(5_000)]
USUAL = Scheme()
MILL, SEA = (" ".join(Random(seed).choices(WORDS, k=300)) for seed in (1, 2))


def changed(text: str, last: int) -> str:
    """Return a text with its last words replaced by others."""
    words = text.split()
    return " ".join([*words[: len(words) - last], *(f"other{last}x{number}" for number in range(last))])


def hit(id_: str, of: str, source: dict[str, str] | None = None, *, scheme: Scheme = USUAL) -> dict[str, Any]:
    """Return a hit with the hashes of a text, and with the text in its source, unless `source` is given."""
    kept = {"text": of} if source is None else source
    return {"_index": "pages", "_id": id_, "_score": 1.0, "_source": {**winnow_fields(of, scheme), **kept}}


def answer(*hits: dict[str, Any], total: Any = None) -> dict[str, Any]:
    counted = {"value": len(hits), "relation": "eq"} if total is None else total
    return {"timed_out": False, "_shards": {"failed": 0}, "hits": {"total": counted, "hits": list(hits)}}


def ids(groups: HitGroups) -> list[list[str]]:
    return [[group.hit["_id"], *(member.hit["_id"] for member in group.members)] for group in groups]


def test_hits_join_the_first_that_they_resemble() -> None:
    hits = [hit("a", MILL), hit("b", SEA), hit("c", changed(MILL, 20)), hit("d", SEA), hit("e", changed(MILL, 200))]
    groups = group_hits(answer(*hits))
    assert ids(groups) == [["a", "c"], ["b", "d"], ["e"]]
    assert (groups.total, groups.count, len(groups), groups.about, groups.left_out) == (5, 3, 3, None, 0)
    assert [group.size for group in groups] == [2, 2, 1]
    (member,) = groups[0].members
    true = compare(MILL, changed(MILL, 20)).resemblance
    assert abs(member.resemblance - true) <= 5 * member.error
    assert member.kind == ("estimate" if member.error else "exact")


@given(
    st.lists(st.builds(changed, st.sampled_from([MILL, SEA]), st.integers(0, 300)), max_size=12),
    st.sampled_from([0.2, 0.5, 0.8, 1.0]),
)
def test_with_texts_they_are_what_exact_scores_say(texts: list[str], threshold: float) -> None:
    groups = group_hits(answer(*(hit(str(place), text) for place, text in enumerate(texts))), threshold)
    expected: list[list[str]] = []
    for place, text in enumerate(texts):
        alike = (group for group in expected if compare(texts[int(group[0])], text).resemblance >= threshold)
        if group := next(alike, None):
            group.append(str(place))
        else:
            expected.append([str(place)])
    assert ids(groups) == expected


@pytest.mark.parametrize("last", [92, 97, 102])  # a resemblance of .52, .50 and .48
def test_near_the_threshold_the_texts_decide(last: int) -> None:
    one, other = MILL, changed(MILL, last)
    resemblance = compare(one, other).resemblance
    groups = group_hits(answer(hit("a", one), hit("b", other)))
    if resemblance >= 0.5:
        (member,) = groups[0].members
        assert (member.resemblance, member.kind, member.error) == (resemblance, "exact", 0.0)
    else:
        assert ids(groups) == [["a"], ["b"]]


def test_only_the_text_that_was_fingerprinted_decides() -> None:
    one, other = MILL, changed(MILL, 92)
    cut = hit("b", other, {"text": other[:200]})
    del cut["_source"]["text_digest"]  # with it, the fields would be known to be stale
    own = hit("c", other, {"body": other})
    for given_text, field in ((cut, "text"), (own, "text"), (own, "headline")):
        members = group_hits(answer(hit("a", one), given_text), text=field)[0].members
        assert [member.kind for member in members] in ([], ["estimate"])  # the estimate may be on either side
    pair = answer(hit("a", one, {"body": one}), own)
    assert [member.kind for member in group_hits(pair, text="body")[0].members] == ["exact"]


def test_nothing_is_dropped() -> None:
    short, foreign = hit("short", "… !"), {"_index": "logs", "_id": "1", "_score": 0.5, "_source": {"line": "x"}}
    strange = {"_index": "logs", "_id": "2", "_source": {"minhash": "not base64!", "shingle_count": 7}}
    bare = {"_index": "logs", "_id": "3"}
    mill = hit("mill", MILL)
    hits = [short, foreign, mill, short, foreign, strange, bare, strange, mill]
    groups = group_hits(answer(*hits))
    alone = [group for group in groups if not group.members]
    assert [group.hit for group in groups] == [short, foreign, mill, short, foreign, strange, bare, strange]
    assert len(alone) == 7
    assert groups.count == 8


def test_no_hits_one_and_those_of_few_words_are_not_folded() -> None:
    assert list(group_hits(answer())) == []
    assert group_hits(answer()).count == 0
    assert ids(group_hits(answer(hit("a", "x")))) == [["a"]]
    goals = [hit(str(number), "Goal!") for number in range(5)]
    groups = group_hits(answer(*goals))
    assert ids(groups) == [[each["_id"]] for each in goals]
    assert groups.without_fields == 0


def test_fields_may_be_below_an_object_and_among_doc_values() -> None:
    fields, other = winnow_fields(MILL), winnow_fields(changed(MILL, 250))
    hits: list[dict[str, Any]] = [
        {"_id": "a", "_source": {"winnow": {"hashes": fields}}},
        {"_id": "b", "fields": {f"winnow.hashes.{name}": [fields[name]] for name in ("minhash", "shingle_count")}},
        {"_id": "c", "_source": {f"winnow.hashes.{name}": value for name, value in fields.items()}},
        {"_id": "d", "_source": {"winnow": {"hashes": other}}},
    ]
    assert ids(group_hits(answer(*hits), below="winnow.hashes")) == [["a", "b", "c"], ["d"]]
    assert len(group_hits(answer(*hits))) == 4


def test_hashes_of_another_scheme_are_refused() -> None:
    scheme = Scheme(bins=256)
    pages = answer(hit("a", MILL, scheme=scheme), hit("b", MILL, scheme=scheme))
    assert ids(group_hits(pages, scheme=scheme)) == [["a", "b"]]
    with pytest.raises(QuestionError, match=r"the hit a has a MinHash of 128 bytes, .* makes 512: pass the scheme"):
        group_hits(pages)


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        ({"value": 2, "relation": "eq"}, (2, 2)),
        (2, (2, 2)),
        ({"value": 3, "relation": "eq"}, (3, None)),
        ({"value": 2, "relation": "gte"}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_groups_are_counted_where_all_hits_are_there(total: Any, expected: tuple[int | None, int | None]) -> None:
    groups = group_hits(answer(hit("a", "x"), hit("b", "y"), total=total))
    assert (groups.total, groups.count) == expected


@pytest.mark.parametrize("flaw", [{"timed_out": True}, {"terminated_early": True}, {"_shards": {"failed": 1}}])
def test_what_an_engine_has_not_looked_at_is_not_counted(flaw: dict[str, Any]) -> None:
    groups = group_hits(answer(hit("a", "x")) | flaw)
    assert (groups.total, groups.count, len(groups)) == (None, None, 1)


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1, float("nan")])
def test_a_threshold_is_a_share(threshold: float) -> None:
    with pytest.raises(QuestionError, match="above 0 and at most 1"):
        group_hits(answer(), threshold)


@pytest.mark.parametrize("last", [0, 20, 250])
def test_stale_fields_do_not_answer(last: int) -> None:
    """The fields of a hit were made from another text, which is equal, similar or different."""
    now = changed(MILL, last)
    groups = group_hits(answer(hit("a", MILL), hit("b", SEA), hit("c", SEA, {"text": now})))
    if compare(MILL, now).resemblance >= 0.5:
        assert ids(groups) == [["a", "c"], ["b"]]
        (member,) = groups[0].members
        assert abs(member.resemblance - compare(MILL, now).resemblance) <= 5 * member.error
    else:
        assert ids(groups) == [["a"], ["b"], ["c"]]


def test_stale_fields_with_as_many_shingles_and_of_empty_texts_do_not_answer() -> None:
    mill, sea = changed(MILL, 97), changed(SEA, 97)
    assert winnow_fields(mill)["shingle_count"] == winnow_fields(sea)["shingle_count"]
    pair = answer(hit("a", mill), hit("b", mill, {"text": sea}))
    assert ids(group_hits(pair)) == [["a"], ["b"]]
    del pair["hits"]["hits"][1]["_source"]["text_digest"]
    assert ids(group_hits(pair)) == [["a", "b"]]  # nothing says that the fields are stale
    assert ids(group_hits(answer(hit("a", MILL), hit("b", "", {"text": MILL})))) == [["a", "b"]]
    assert ids(group_hits(answer(hit("a", MILL), hit("b", MILL, {"text": ""})))) == [["a"], ["b"]]
    assert ids(group_hits(answer(hit("a", MILL), hit("b", MILL, {})))) == [["a", "b"]]  # the text is not there


def test_fields_of_code_are_not_stale_for_want_of_a_name() -> None:
    scheme = Scheme(form="code")
    signs = Random(3).choices("+-*/=<>", k=300)
    code = "\n".join(f"x {sign} y -- {word}" for sign, word in zip(signs, MILL.split(), strict=True))
    source = {"text": code, **winnow_fields(code, scheme, name="mill.sql")}
    assert source["text_digest"] != winnow_fields(code, scheme)["text_digest"]
    named: Any = {"_id": "a", "_source": {"url": "mill.sql", **source}}
    nameless: Any = {"_id": "b", "_source": source}
    assert ids(group_hits(answer(named, nameless), scheme=scheme)) == [["a", "b"]]


def test_a_text_may_be_in_several_fields() -> None:
    def article(id_: str, text: str) -> dict[str, Any]:
        parts = [" ".join(text.split()[start : start + 100]) for start in (0, 100, 200)]
        source = {"title": parts[0], "empty": "", "body": [{"part": parts[1]}, {"part": [parts[2]]}]}
        return {"_id": id_, "_source": source | winnow_fields("\n".join(parts))}

    near = changed(MILL, 92)
    pair = answer(article("a", MILL), article("b", near))
    for texts in (["title", "body.part"], ("title", "empty", "missing", "body.part")):
        (member,) = group_hits(pair, text=texts)[0].members
        assert (member.kind, member.resemblance) == ("exact", compare(MILL, near).resemblance)
    assert ids(group_hits(pair, text="missing")) in ([["a", "b"]], [["a"], ["b"]])
    swapped = group_hits(answer(article("a", MILL), article("b", MILL)), 1.0, text=["body.part", "title"])
    assert ids(swapped) == [["a", "b"]]  # stale, both: compared by the text as it was given


def test_responses_of_several_clients_and_json() -> None:
    plain = answer(hit("a", MILL), hit("b", SEA), hit("c", MILL))
    meta = ApiResponseMeta(200, "1.1", HttpHeaders(), 0.1, NodeConfig("http", "localhost", 9200))
    expected = group_hits(plain)
    assert ids(expected) == [["a", "c"], ["b"]]
    written = json.dumps(plain)
    wrapped: ObjectApiResponse[Any] = ObjectApiResponse(body=plain, meta=meta)
    assert group_hits(wrapped) == group_hits(written) == group_hits(written.encode()) == expected


@pytest.mark.parametrize("response", [{}, {"hits": None}, {"responses": []}, [], "", "[]", b"\xff", '{"hits": {}}', 7])
def test_what_is_no_answer_is_refused(response: Any) -> None:
    with pytest.raises(QuestionError, match="this is not the response to a search"):
        group_hits(response)


PROGRAM = """
import sys
from opensearch_winnow.clients import deduplicate_search_body, group_hits, search_groups, search_groups_async
group_hits({"hits": {"hits": []}}), deduplicate_search_body({})
assert "opensearchpy" not in sys.modules and "lxml" not in sys.modules
"""


def test_they_need_no_client() -> None:
    assert subprocess.run([sys.executable, "-c", PROGRAM], check=False).returncode == 0
