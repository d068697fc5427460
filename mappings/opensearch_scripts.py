"""Stored scripts (Painless) for `script_score`: from the number of shared sketch tokens, `_score`, to a share.

`params.count` is the number of sketch tokens of the question. Where our fields are below an object field of somebody's
own index, `params.field` says where: `winnow.sketch_count`.
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
# A page without sketch tokens has no share, and nothing is divided by nothing.
SHARE = "return all > 0 ? Math.min(_score / all, 1.0) : 0.0;"

SOURCES = {
    RESEMBLANCE: f"{PAGE}\ndouble all = page > 0 ? page + params.count - _score : 0;\n{SHARE}",
    CONTAINMENT: f"double all = params.count;\n{SHARE}",
    CONTAINED: f"{PAGE}\ndouble all = page;\n{SHARE}",
}


def stored_script(id_: str) -> dict[str, Any]:
    """The body of `PUT _scripts/ID`."""
    return {"script": {"lang": "painless", "source": SOURCES[id_]}}
