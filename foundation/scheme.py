"""Defines the scheme: the parameters that decide every hash."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Final, Literal

from opensearch_winnow.cython_core.canonical_text import NORMALISATION
from opensearch_winnow.cython_core.fingerprints import SELECTIONS as LOCAL_SELECTIONS
from opensearch_winnow.foundation.answer_keys import with_keys
from opensearch_winnow.foundation.errors import SchemeError

KOALA: Final = "koala"
SELECTIONS = (*LOCAL_SELECTIONS, KOALA)
FORMS = ("text", "consonants", "code")
# The versions of code_tokens.py and rare_grams.pyx. They are in the ids of schemes whose hashes they decide.
CODE_RULE = 2
KOALA_RULE = 2


@with_keys("id", "noise", "guarantee", "selection", "form", "fold_confusables", "keyed", "shingle")  # not the key
@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """The parameters that decide every hash of a text. Hashes of different schemes are never compared.

    No shared run shorter than `noise` canonical characters is ever reported, and none of `guarantee` or more is ever
    missed, unless the selection is mod-p or koala, which promise nothing. In the form code, a token is both a canonical
    character and a word. A scheme is frozen, checked when it is made, and identified by a short `id`.
    """

    noise: int = 50  # k of the winnowing paper; this and the next are the values of its experiments on the Web
    guarantee: int = 149  # t of the paper, w + k - 1, with the window w = 100
    selection: Literal["winnow", "open-closed", "mod-minimizer", "mod-p", "koala"] = "winnow"
    # consonants: as in Koala, for text from bad conversions; code: the tokens of a program, as in MOSS
    form: Literal["text", "consonants", "code"] = "text"
    shingle: int = 10  # words, the value of Broder and others for the Web
    modulus: int = 25  # m of the MOD_m sketch, which keeps one shingle in m; also their value
    bins: int = 1024  # of MinHash; with `bits` 4, 512 bytes a page (docs/decisions/0004-sketches.md)
    bits: int = 4  # of each bin
    bands: int = 32  # 32 bands of 4 rows propose 87 % of pairs with a resemblance of .5, and 99.98 % at .7
    rows: int = 4  # bins in a band
    key: str | None = field(default=None, repr=False)  # a secret, without which the selection cannot be predicted
    stored: int = 100  # fingerprints of a page with the selection koala: the rarest; this and the next are its values
    searched: int = 1_000  # fingerprints of a question with the selection koala
    fold_confusables: bool = False  # letters that look alike, such as a Cyrillic а and a Latin a, are one (UTS #39)
    normalisation: int = NORMALISATION  # the version of the rule and Unicode tables of the canonical text

    def __post_init__(self) -> None:
        complaints = self._complaints()
        if complaints:
            raise SchemeError(
                "this scheme is not possible:\n" + "\n".join(f"  - {complaint}" for complaint in complaints)
            )

    def _complaints(self) -> list[str]:
        complaints = []
        for name, minimum, maximum in (
            ("noise", 1, 1_000_000),
            ("guarantee", 1, 2_000_000),
            ("shingle", 1, 10_000),
            ("modulus", 1, 2**32),
            ("bins", 1, 65_536),
            ("bands", 1, 65_536),
            ("rows", 1, 65_536),
            ("stored", 1, 65_536),
            ("searched", 1, 65_536),
        ):
            value = getattr(self, name)
            if type(value) is not int or not minimum <= value <= maximum:
                complaints.append(f"{name} is a whole number from {minimum:,} to {maximum:,}, not {value!r}")
        for name, choices in (
            ("selection", SELECTIONS),
            ("form", FORMS),
            ("bits", (1, 2, 4, 8, 16)),
            ("fold_confusables", (False, True)),
            ("normalisation", (NORMALISATION,)),
        ):
            value = getattr(self, name)
            if value not in choices or type(value) is not type(choices[0]):
                complaints.append(f"{name} is one of {', '.join(map(str, choices))}, not {value!r}")
        if self.key is not None and (type(self.key) is not str or not self.key):
            complaints.append("key is a text of at least one character, or None")
        if self.fold_confusables is True and self.form == "code":
            complaints.append("fold_confusables is for text: the form code has tokens instead of letters")
        if not complaints:
            if self.guarantee < self.noise:
                complaints.append(f"guarantee is at least noise: {self.guarantee} is below {self.noise}")
            if self.searched < self.stored:
                complaints.append(f"searched is at least stored: {self.searched} is below {self.stored}")
            if self.bands * self.rows > self.bins:
                complaints.append(
                    f"{self.bands} bands of {self.rows} rows take more than the {self.bins} bins there are"
                )
        return complaints

    @classmethod
    def preset(cls, name: str) -> Scheme:
        """Return the scheme for a purpose: one of "pages" (the default), "passages", "ideographs", "consonants",
        "koala", "code" and "programs"."""
        if name not in PRESETS:
            raise SchemeError(f"no preset {name!r}; there are {', '.join(PRESETS)}")
        return PRESETS[name]

    @property
    def k(self) -> int:
        """The noise threshold: the number of characters in a k-gram."""
        return self.noise

    @property
    def t(self) -> int:
        """The guarantee threshold."""
        return self.guarantee

    @property
    def w(self) -> int:
        """The window: of every w consecutive k-grams, one is selected."""
        return self.guarantee - self.noise + 1

    @property
    def guarantees(self) -> bool:
        """True if every shared run of `guarantee` characters is found."""
        return self.selection not in ("mod-p", KOALA)

    @property
    def stores_part(self) -> bool:
        """True if a page stores a part of its fingerprints, and a question looks up more of them.

        A store of such a scheme can rotate to other parts. The fingerprints follow from their positions in the text.
        """
        return self.selection == KOALA

    @property
    def extends_guarantee(self) -> bool:
        """True if a question may have a larger guarantee, as its fingerprints are then among those of the page."""
        return self.selection == "winnow"

    @property
    def minhash_bytes(self) -> int:
        """The size of a packed MinHash."""
        return self.bins * self.bits // 8

    @property
    def consonants(self) -> bool:
        """True if vowels are left out of the canonical text."""
        return self.form == "consonants"

    @property
    def keyed(self) -> bool:
        """True if it has a secret key."""
        return self.key is not None

    @property
    def seed(self) -> int:
        """The seed of all hashes, a 64-bit integer made from the key; 0 without a key."""
        return 0 if self.key is None else int.from_bytes(self._keyed(b"seed"), "little")

    @property
    def id(self) -> str:
        """A short, stable name: schemes with the same id give every text the same hashes.

        The key is part of it only as a digest. With the form code, the version of Pygments is part of it too: its
        lexers decide what a token is, and change with every release. Hashes of code from two versions are never
        compared; after an upgrade, a store of code must be filled again.
        """
        choices: dict[str, object] = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.selection == KOALA:
            choices["koala"] = KOALA_RULE
        else:
            del choices["stored"], choices["searched"]  # they decide nothing
        if not self.fold_confusables:
            del choices["fold_confusables"]  # younger than schemes without it, which keep their ids
        if self.form == "code":
            import pygments  # noqa: PLC0415 (slow to import)

            choices["code"] = [CODE_RULE, pygments.__version__]  # of the code that runs, not of the metadata
        choices["key"] = None if self.key is None else self._keyed(b"id").hex()
        digest = blake2b(json.dumps(choices, sort_keys=True).encode(), digest_size=5)
        return f"{self.noise}-{self.guarantee}-{digest.hexdigest()}"

    def _keyed(self, purpose: bytes) -> bytes:
        assert self.key is not None
        return blake2b(self.key.encode("utf-8", "surrogatepass"), digest_size=8, person=b"winnow " + purpose).digest()


PRESETS = {
    "pages": Scheme(),
    # For quotations of a sentence or less, at the cost of four to five times as many fingerprints.
    "passages": Scheme(noise=20, guarantee=40),
    # For Chinese and Japanese, where a character says about as much as three letters.
    "ideographs": Scheme(noise=15, guarantee=45),
    # The 20 consonants of Koala, 30 to 45 letters of English, with a window about as long as the k-gram.
    "consonants": Scheme(form="consonants", noise=20, guarantee=40),
    # Koala itself: 100 fingerprints a page, 4 bytes each, and no promise. The guarantee is for comparing two texts.
    "koala": Scheme(selection=KOALA, form="consonants", noise=20, guarantee=40),
    # 30 tokens are about five lines. Of unrelated files in one language, one pair in 50 shares 30 tokens, and one in
    # ten shares 20.
    "code": Scheme(form="code", noise=30, guarantee=50),
    # The programs of a class, where a copy is disguised: 15 tokens are two to three lines, and 7 are about one
    # statement, so that an edit leaves its neighbours alone (docs/decisions/0021-programs-of-a-class.md).
    "programs": Scheme(form="code", noise=15, guarantee=20, shingle=7),
}
