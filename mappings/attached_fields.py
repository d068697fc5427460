"""Describes an attached index: the fields that make a page, and the object field that holds winnow's fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from opensearch_winnow.foundation.option_kinds import FLAG, Kind, repeated, text
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.opensearch_mapping import FIELDS, HASH_MAPPINGS, META
from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.mappings.stored_fields import KEYWORD
from opensearch_winnow.mappings.written_scheme import WrittenScheme, written

FORMAT = 1  # version of the fields; others are refused
# The longest time until a gateway notices that an index was attached or detached. It decides about a write by a look-up
# of the mapping that is no older; a look-up is one small request for each index and client. `winnow detach` relies on
# it: it removes `_meta`, then the fields, and looks for fields once more after this time.
NOTICED_SECONDS = 2.0
# The fields of a document that winnow writes, all below one object field. `id` is the page's id, `stamp` names
# the version of the document that the others were made from, and `guard` keeps them out of mappings that lack them.
STAMP = {"type": "keyword", "index": False}
WINNOW_FIELDS: dict[str, dict[str, Any]] = {
    "id": KEYWORD,
    "stamp": STAMP,
    "guard": {"type": "object", "enabled": False},
    **{name: FIELDS[name] for name in ("url", "url_length", "site", "fetched_at", "fetched_us", "cluster", "arrival")},
    **HASH_MAPPINGS,
}
# The guard of documents that pass the gateway: values that no dynamic mapping accepts together, so that the engine
# rejects the document if its index has been replaced by one without winnow's fields. An object that is not enabled
# accepts them unread. The number and the text are for mappings without objects (`subobjects: false`), the object for
# those that take any text for a keyword, and its blank name for `dynamic: runtime`.
GUARD = {"guard": [1, "x", {" ": 1}]}


PATH = text("FIELD")
BELOW: Kind[str] = Kind(
    what="a plain name, such as winnow",
    metavar="NAME",
    parse=str,
    allows=lambda value: "." not in value and bool(value.strip()),
    schema={"type": "string"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFields(Options):
    """The paths of the fields to read from an attached index, and the name of the object that holds winnow's fields."""

    text: str | Sequence[str] = option((), repeated(PATH), "Field with the text. Several are joined; may be repeated.")
    title: str | None = option(None, PATH, "Field with the title.")
    url: str | None = option(None, PATH, "Field with the address of a page.", unset="the _id")
    time: str | None = option(None, PATH, "Field with the time of a page.")
    html: bool = option(False, FLAG, "The text is HTML; fingerprint the visible text.")
    below: str = option("winnow", BELOW, "Name of the object field that gets winnow's fields.")

    def __post_init__(self) -> None:
        super(AttachedFields, self).__post_init__()
        object.__setattr__(self, "text", (self.text,) if isinstance(self.text, str) else tuple(self.text))

    def __str__(self) -> str:
        named = [("text", " + ".join(self.text)), ("title", self.title), ("address", self.url or "_id")]
        return ", ".join(f"{what}: {path}" for what, path in (*named, ("time", self.time)) if path)

    def properties(self) -> dict[str, Any]:
        """Return the `properties` that attaching adds to the mapping."""
        return {self.below: {"properties": {name: dict(field) for name, field in WINNOW_FIELDS.items()}}}

    def stored(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """Return winnow's fields in a document, by name.

        All their numbers are whole, but programs through which a document passed may have written 7 as 7.0.
        """
        found = source.get(self.below)
        below = found if isinstance(found, Mapping) else {}
        fields = {name: int(value) if isinstance(value, float) else value for name, value in below.items()}
        cluster = source.get(self.cluster)
        return fields | ({} if cluster is None else {"cluster": cluster})

    def members(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of a document that hold these fields of winnow.

        The cluster gets a key with a dot, `"winnow.cluster": …`, at the top of the document. To engines that is the
        same field, but search pipelines find it only there.
        """
        if "cluster" not in fields:
            return {self.below: {**fields}}
        return {self.below: {**fields, "cluster": None}, self.cluster: fields["cluster"]}

    @property
    def cluster(self) -> str:
        """The name of the field to collapse a search by."""
        return f"{self.below}.cluster"

    @property
    def read(self) -> list[str]:
        """The paths of the user's fields that winnow reads."""
        return [*self.text, *filter(None, (self.title, self.url, self.time))]

    @property
    def made_from(self) -> list[str]:
        """The paths of the fields that winnow's fields are made from. The title is not among them."""
        return [*self.text, *filter(None, (self.url, self.time))]


class Attachment(NamedTuple):
    """The contents of `_meta` of an attached index."""

    fields: AttachedFields
    scheme: WrittenScheme
    settings_index: str

    @classmethod
    def of(cls, fields: AttachedFields, scheme: Scheme, settings_index: str) -> Self:
        return cls(fields, written(scheme), settings_index)

    def meta(self) -> dict[str, Any]:
        """Return the value of META in the `_meta` of the mapping."""
        scheme, fields = self.scheme, asdict(self.fields) | {"text": list(self.fields.text)}  # as JSON has it
        return {
            "attached": FORMAT,
            "fields": {name: value for name, value in fields.items() if value},
            "settings": self.settings_index,
            "scheme_id": scheme.id,
            "keyed": scheme.keyed,
            "scheme": scheme.choices,
        }

    def mapping(self, existing: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of the `_mapping` request that attaches an index with the `existing` mapping."""
        properties = self.fields.properties()
        if existing.get("subobjects") is False:  # it allows no object, and so no guard: the gateway adds no fields
            del properties[self.fields.below]["properties"]["guard"]
        return {"_meta": {**existing.get("_meta", {}), META: self.meta()}, "properties": properties}


def settings_index_of(name: str) -> str:
    """Return the name of the index that holds the settings of an attached index, alias or data stream."""
    return f"winnow.{name}.settings"


def attached_name(settings_index: str) -> str:
    """Return the name of the index, alias or data stream whose settings are in `settings_index`."""
    return settings_index.removeprefix("winnow.").removesuffix(".settings")


def attachment_in(mapping: Mapping[str, Any], name: str) -> Attachment | None:
    """Return the attachment of the index `name` from its mapping; None if there is none."""
    content = mapping.get("_meta", {}).get(META)
    if not isinstance(content, Mapping) or "attached" not in content:
        return None
    if content["attached"] != FORMAT:
        raise RecordsError(
            f"{name} was attached by another version of winnow: its fields have format {content['attached']}, and this"
            f" winnow knows {FORMAT} only; use that version, or run `winnow detach` and `winnow attach`"
        )
    scheme = WrittenScheme(content["scheme_id"], content["scheme"], content["keyed"])
    return Attachment(AttachedFields(**content["fields"]), scheme, content["settings"])


def fields_in(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the path and definition of each field of a mapping, an object before its own fields."""
    for name, definition in mapping.get("properties", {}).items():
        yield f"{prefix}{name}", definition
        yield from fields_in(definition, f"{prefix}{name}.")


def nested_path(mapping: Mapping[str, Any], field: str) -> str | None:
    """Return the path of the innermost `nested` object around a field; None if there is none."""
    nested = [path for path, definition in fields_in(mapping) if definition.get("type") == "nested"]
    return max((path for path in nested if field.startswith(f"{path}.")), key=len, default=None)
