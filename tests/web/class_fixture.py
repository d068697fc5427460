"""A class of five: two pairs of copies, one with two files, and a hostile name."""

from __future__ import annotations

from dataclasses import replace

from opensearch_winnow.foundation.scheme import PRESETS
from opensearch_winnow.queries.sets.pair_finder import find_pairs
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile, Pairs

HOSTILE = "<script>alert(1)</script>\"'&"
METHOD = """    static int {name}(int[] values) {{
        int {total} = 0;
        for (int i = 0; i < values.length; i++) {{
            if (values[i] > {limit}) {{ {total} += values[i] * {limit}; }}
            else {{ {total} -= i; }}
        }}
        return {total};
    }}
"""


def program(*names: str) -> str:
    """Return a program with a method for each name; renamed copies have the same tokens."""
    methods = (METHOD.format(name=name, total=f"{name}Sum", limit=len(name)) for name in names)
    return "class Main {\n" + "\n".join(methods) + "}\n"


def parser(name: str) -> str:
    return f"""class {name} {{
    String text; int at = 0;
    {name}(String text) {{ this.text = text; }}
    String next() {{
        while (at < text.length() && text.charAt(at) == ' ') at++;
        int start = at;
        while (at < text.length() && Character.isLetter(text.charAt(at))) at++;
        return start == at ? null : text.substring(start, at).toLowerCase();
    }}
}}
"""


def class_of_five() -> Pairs:
    """Return the pairs of the class: Ada Miller and Tom copied a method, Eve and the hostile one a file."""
    documents = [
        Document(
            "miller_ada", (DocumentFile("Main.java", "// by Ada Miller\n" + program("sum", "other")),), "Ada Miller"
        ),
        Document("tom", (DocumentFile("Tom's.java", "// ada miller helped\n" + program("total")),), "tom@uni"),
        Document("eve", (DocumentFile("Lexer.java", parser("Lexer")), DocumentFile("Notes.java", "class Notes {}\n"))),
        Document(
            HOSTILE, (DocumentFile(f"{HOSTILE}.java", parser("Reader")), DocumentFile("B.java", "enum B { X }\n"))
        ),
        Document("zoe", (DocumentFile("Zoe.java", "interface Zoe { void run(); }\n"),)),
    ]
    return replace(find_pairs(documents, PRESETS["code"], min_score=0.2), folders=True)
