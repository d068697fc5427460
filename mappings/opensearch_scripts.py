"""Stored scripts (Painless) for `script_score`: compute a share from `_score`, the number of shared sketch tokens.

`params.count` is the number of sketch tokens of the question. If the fields are below an object field of an index of
your own, `params.field` names the count: `winnow.sketch_count`.
"""

from __future__ import annotations

from typing import Any

VERSION = 1
RESEMBLANCE = f"winnow-resemblance-{VERSION}"
CONTAINMENT = f"winnow-containment-{VERSION}"  # of the question in the page
CONTAINED = f"winnow-contained-{VERSION}"  # of the page in the question

PAGE = """
def field = params.containsKey('field') ? params.field : 'sketch_count';
double page = doc[field].size() == 0 ? 0 : doc[field].value;
""".strip()
# A page without sketch tokens has the share 0, without a division by zero.
SHARE = "return all > 0 ? Math.min(_score / all, 1.0) : 0.0;"

SOURCES = {
    RESEMBLANCE: f"{PAGE}\ndouble all = page > 0 ? page + params.count - _score : 0;\n{SHARE}",
    CONTAINMENT: f"double all = params.count;\n{SHARE}",
    CONTAINED: f"{PAGE}\ndouble all = page;\n{SHARE}",
}


def stored_script(id_: str) -> dict[str, Any]:
    """Return the body of `PUT _scripts/ID`."""
    return {"script": {"lang": "painless", "source": SOURCES[id_]}}
