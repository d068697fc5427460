"""What is like a hit, in words."""

from __future__ import annotations

from opensearch_winnow.answers.percent import compact_percent
from opensearch_winnow.queries.results import Member, Result


def more_like_this(hit: Result, threshold: float) -> str:
    """In words. A page of the same cluster may resemble the hit less than was asked for, and that is said."""
    known = [member for member in hit.members if is_known(member)]
    said = []
    if known:
        alike = [member.resemblance for member in known]
        about = "≈ " * any(member.kind == "estimate" for member in known)
        said.append(about + percent_range(min(alike), max(alike)))
    if below := sum(is_below(member, threshold) for member in known):
        said.append(f"{below:,} below {compact_percent(threshold)}")
    if len(known) < len(hit.members):
        said.append(f"{len(hit.members) - len(known):,} too short to tell")
    return f"{len(hit.members):,} more like this ({', '.join(said)}){_where(hit)}"


def percent_range(low: float, high: float) -> str:
    lowest, highest = compact_percent(low), compact_percent(high)
    if lowest == highest:
        return lowest
    number = lowest.removesuffix(" %")
    return f"{number}–{highest}" if highest[0].isdigit() else f"{number} to {highest}"


def _where(hit: Result) -> str:
    sites = {member.site for member in hit.members} - {""}
    if sites == {hit.card.site}:
        return " on the same site"
    return f" on {len(sites):,} site{'s' * (len(sites) > 1)}" if sites else ""


def is_known(member: Member) -> bool:
    return member.error < 1  # else there is no signature, and no text was looked at


def is_below(member: Member, threshold: float) -> bool:
    return is_known(member) and member.resemblance < threshold
