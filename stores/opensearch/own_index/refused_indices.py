"""Finds indices that cannot be attached, because writing a field to a document would change other fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow.mappings.opensearch_mapping import META
from opensearch_winnow.stores.opensearch.own_index.attached_opening import Mappings
from opensearch_winnow.stores.opensearch.requests.client import Address
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors

SOURCE_SETTINGS = ("index.mapping.source.mode", "index.mode")
SYNTHETIC_MODES = ("logsdb", "time_series")  # kinds of indices that have a synthetic _source unless told otherwise


def refused_indices(client: OpenSearch, address: Address, found: Mappings) -> dict[str, str]:
    """Return the indices that cannot be attached, each with the reason."""
    with reporting_engine_errors(str(address), "attached"):
        settings = client.indices.get_settings(
            index=address.index, name=",".join(SOURCE_SETTINGS), params={"flat_settings": "true"}
        )
    reasons = {
        index: _refusal(index, described["mappings"], settings.get(index, {}).get("settings", {}))
        for index, described in found.items()
    }
    return {index: reason for index, reason in reasons.items() if reason}


def _refusal(name: str, mapping: Mapping[str, Any], settings: Mapping[str, str]) -> str:
    """Return the reason why an index cannot be attached; empty if it can."""
    if "format" in (mapping.get("_meta", {}).get(META) or {}):
        return f"{name} is a store that winnow made, so there is nothing to attach"
    source = mapping.get("_source", {})
    partial = source.get("enabled") is False or source.get("mode", "stored") != "stored"
    if partial or source.get("includes") or source.get("excludes"):
        return (
            f"{name} cannot be attached: its _source is not complete (_source in its mapping), so that writing a field"
            " to a document would lose others"
        )
    source_mode, mode = (settings.get(setting, "") for setting in SOURCE_SETTINGS)
    if source_mode == "synthetic" or (not source_mode and mode in SYNTHETIC_MODES):  # put together from fields
        return (
            f"{name} cannot be attached: its _source is synthetic (index.mapping.source.mode), so that writing a"
            " field to a document would change others"
        )
    return ""
