"""The mapping, settings and template of a store's indices on OpenSearch, as plain dicts for any client."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.opensearch_pipeline import PIPELINE
from opensearch_winnow.mappings.record import HASH_FIELDS, RECORD_FIELDS, RecordsError
from opensearch_winnow.mappings.stored_fields import ANALYZER, KEYWORD, LOOKED_UP, NOT_SEARCHABLE, NUMBER
from opensearch_winnow.mappings.written_scheme import WrittenScheme, written

# Scripts without spaces whose characters the standard tokenizer keeps together: Thai and Lao, Myanmar, Khmer, the
# repeat marks of kana, katakana, its small extensions, and the half-width forms. It already makes each ideograph and
# each hiragana a word. Marks above and below letters are not words.
UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3031, 0x3035),
    (0x30A0, 0x30FF),
    (0x31F0, 0x31FF),
    (0xFF66, 0xFF9D),
)
# Characters at which the standard tokenizer does not split a word or a number: quotes, apostrophes, full stops, colons,
# commas and low lines of all kinds, and invisible ones such as the soft hyphen.
SEPARATORS = (
    "_'\".:,;·\u00ad\u037e\u0387\u055f\u0589\u05f3\u05f4\u060c\u060d\u066c\u07f8\u200b\u200c\u200d\u200e\u200f\u2018\u2019\u2024\u2027"
    "\u202f\u203f\u2040\u2044\u2054\u2060\ufe10\ufe13\ufe14\ufe33\ufe34\ufe4d\ufe4e\ufe4f\ufe50\ufe52\ufe54\ufe55\ufeff"
    "\uff07\uff0c\uff0e\uff1a\uff1b\uff3f"
)
FINAL_SIGMA, SIGMA = 0x03C2, 0x03C3  # the same letter in two small forms
# Characters that are dropped: combining diacritics, behind their letter; the frame of a key, around a digit; and
# variation selectors, which say whether a character is drawn as an emoji.
VANISHING = ((0x0300, 0x0331), (0x20E3, 0x20E3), (0xFE00, 0xFE0F))


def analysis() -> dict[str, Any]:
    """Return the analysis settings of an index, with the analyzer.

    The characters are listed one by one because that is quick: indexing texts takes a third more CPU time than with the
    standard tokenizer alone. A regular expression took two and a half times as much.
    """
    return {
        "char_filter": {"winnow_characters": {"type": "mapping", "mappings": _characters()}},
        "analyzer": {
            ANALYZER: {
                "type": "custom",
                "char_filter": ["winnow_characters"],
                "tokenizer": "standard",
                "filter": ["lowercase", "asciifolding"],
            }
        },
    }


def _characters() -> list[str]:
    space = _escaped(0x20)
    unspaced = [code for first, last in UNSPACED for code in range(first, last + 1)]
    return [
        *(f"{_escaped(ord(character))} => {space}" for character in SEPARATORS),
        f"{_escaped(FINAL_SIGMA)} => {_escaped(SIGMA)}",
        *(f"{_escaped(code)} => " for first, last in VANISHING for code in range(first, last + 1)),
        *(f"{_escaped(code)} => {space}{_escaped(code) + space if chr(code).isalnum() else ''}" for code in unspaced),
    ]


def _escaped(code: int) -> str:
    return f"\\u{code:04x}"


FORMAT = 1  # version of the mapping and of the documents; others are refused
META = "winnow"  # the key in the mapping's _meta

HASH_MAPPINGS = {each.name: dict(each.mapping) for each in HASH_FIELDS}
# Fields of a record, then fields that only documents have.
FIELDS: dict[str, dict[str, Any]] = {
    **{each.name: dict(each.mapping) for each in RECORD_FIELDS if each.name != "id"},
    "url_length": NUMBER,
    "fetched_us": {"type": "long"},
    "repeats": LOOKED_UP,
    "latest": {"type": "boolean"},
    "arrival": {"type": "long"},
}


def mapping(scheme: Scheme | WrittenScheme) -> dict[str, Any]:
    """Return the mapping of the index of pages. It contains the scheme, but not its key."""
    said = written(scheme) if isinstance(scheme, Scheme) else scheme
    content = {"format": FORMAT, "scheme_id": said.id, "keyed": said.keyed, "scheme": said.choices}
    return {"dynamic": "strict", "_meta": {META: content}, "properties": _copy(FIELDS)}


def written_in(mapping: Mapping[str, Any], name: str) -> WrittenScheme:
    """Return the scheme in the mapping of the index `name`. Raises RecordsError if it is not an index of a store."""
    content = mapping.get("_meta", {}).get(META)
    if isinstance(content, Mapping) and "attached" in content:
        raise RecordsError(f"{name} is an index of your own that winnow is attached to, not a store that winnow made")
    try:
        version = content["format"]
        if version != FORMAT:
            raise RecordsError(f"{name} has format {version} of winnow's indices, and this winnow knows {FORMAT} only")
        return WrittenScheme(content["scheme_id"], content["scheme"], content["keyed"])
    except (KeyError, TypeError):
        raise RecordsError(f"{name} is an index, but not a store of winnow; `winnow attach` makes it one") from None


def missing_fields(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a newer version of winnow has added, and `mapping` does not have yet."""
    return _copy({name: field for name, field in FIELDS.items() if name not in mapping.get("properties", {})})


def mapping_fragment(below: str = "") -> dict[str, Any]:
    """Return `{"properties": …}` for the fields of `winnow_fields`, to merge into the mapping of your own index.

    With `below`, the name of an object field such as "copies" or "a.b", the fields are put below that field.
    """
    made: dict[str, Any] = {"properties": _copy({**HASH_MAPPINGS, "cluster": KEYWORD})}
    for name in reversed(below.split(".") if below else []):
        made = {"properties": {name: made}}
    return made


def index_settings(shards: int = 1, replicas: int | None = None) -> dict[str, Any]:
    """Return the settings of the index of pages, for search. LOADING changes them while an index is filled.

    Without `replicas`, a replica is made as soon as there is a second node: then no page is lost with one node, and a
    single node does not wait for another.

    The codec and the refresh interval are the engine's own: `best_compression` doubled the CPU time of indexing, and an
    index that is not searched is not refreshed.
    """
    return {
        "number_of_shards": shards,
        **replica_settings(replicas),
        "default_pipeline": PIPELINE,
        "analysis": analysis(),
    }


def replica_settings(replicas: int | None) -> dict[str, Any]:
    if replicas is None:
        return {"auto_expand_replicas": "0-1"}
    return {"auto_expand_replicas": False, "number_of_replicas": replicas}


# An index is not searched while it is filled: without refreshes, fewer segments are written. None restores a default.
LOADING: dict[str, Any] = {"refresh_interval": "-1"}
LOADED: dict[str, Any] = dict.fromkeys(LOADING)


def index_template(
    name: str, scheme: Scheme | WrittenScheme, *, shards: int = 1, replicas: int | None = None
) -> dict[str, Any]:
    """Return the template for the indices NAME-000001 and on, which applies to indices made by other tools too."""
    return {
        "index_patterns": [f"{name}-0*"],
        "priority": 200 + len(name),  # if two patterns match, the longer name wins; equal priorities are refused
        "template": {"settings": index_settings(shards, replicas), "mappings": mapping(scheme)},
        "_meta": {"description": f"The pages of the store {name}, by opensearch-winnow."},
    }


def settings_index() -> dict[str, Any]:
    """Return the body of the index NAME.settings, which holds the settings of a store as JSON by name."""
    return {
        "settings": {"number_of_shards": 1, **replica_settings(None), "hidden": True},
        "mappings": {"dynamic": "strict", "properties": {"value": dict(NOT_SEARCHABLE)}},
    }


def _copy(fields: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Copy all fields, because callers may change them."""
    return deepcopy(dict(fields))
