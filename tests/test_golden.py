"""Hashes never change: every release reads the stores of earlier ones, on any platform and Python.

tests/golden.json pins scheme ids, fingerprints and sketches. It may gain schemes; otherwise it changes only when the
normalisation version of a scheme does. In these cases only, write it anew with: python tests/test_golden.py
"""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path

import pytest

from opensearch_winnow import Scheme, fingerprint
from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import min_sketch, mod_sketch
from opensearch_winnow.foundation.scheme import PRESETS

GOLDEN = Path(__file__).with_name("golden.json")

# Schemes for code are left out: their tokens depend on the version of Pygments, which is part of the scheme's id.
SCHEMES = {name: scheme for name, scheme in PRESETS.items() if scheme.form != "code"} | {
    "open-closed": Scheme(noise=12, guarantee=30, selection="open-closed"),
    "mod-minimizer": Scheme(noise=30, guarantee=40, selection="mod-minimizer"),
    "mod-p": Scheme(noise=8, guarantee=20, selection="mod-p"),
    "short": Scheme(noise=4, guarantee=7, shingle=2, modulus=3, bins=64, bits=8, bands=8, rows=4),
    "keyed": Scheme(noise=10, guarantee=20, key="a secret"),
    "fold-confusables": Scheme(noise=10, guarantee=20, fold_confusables=True),
}

# Each text was written for this file and has the difficulties of its script: case, combining marks, composed
# characters, no spaces, two directions.
TEXTS = {
    "English": "The miller takes what the wind leaves: grain falls, chaff flies. Who sifts twice finds twice as much.",
    "German": "Über die Straße weht Spreu; ÄPFEL, Öl und große Füße bleiben liegen — wie jedes Jahr im Spätsommer.",
    "French": "Où le blé s’élève, l’été n’est pas loin; cœur, maïs et forêt: tout a déjà été semé, peut-être.",
    "Turkish": "Iğdır'da ılık rüzgâr eserken İstanbul'da yağmur yağıyor; çiftçi ışığı görüp şaşırdı.",
    "Vietnamese": "Gió thổi trấu bay, hạt thóc rơi xuống; người nông dân sàng lại lần nữa và tìm được nhiều hơn.",
    "Greek": "Ο άνεμος παίρνει το άχυρο και αφήνει το σιτάρι· ΟΔΥΣΣΕΥΣ και Ὀδυσσεύς γυρίζουν στο σπίτι.",
    "Russian": "Ветер уносит мякину, а зерно падает вниз; ёжик в тумане считает колосья до самого утра.",
    "Hebrew": "הָרוּחַ נוֹשֵׂאת אֶת הַמּוֹץ, והגרגר נופל; מי שמנפה פעמיים מוצא כפליים.",
    "Arabic": "تَحمِلُ الريحُ القشَّ بعيدًا، ويسقط الحَبُّ؛ ومن يغربل مرتين يجد ضعف ما وجد ٢٠٢٦.",
    "Hindi": "हवा भूसे को उड़ा ले जाती है और दाना गिर जाता है; जो दो बार छानता है वह दूना पाता है।",
    "Tamil": "காற்று பதரை அடித்துச் செல்கிறது, தானியம் விழுகிறது; இருமுறை சலிப்பவர் இருமடங்கு பெறுவார்.",
    "Thai": "ลมพัดแกลบปลิวไป เมล็ดข้าวร่วงลงมา ผู้ที่ร่อนสองครั้งย่อมได้มากเป็นสองเท่า",
    "Chinese": "风吹走了糠，谷粒落了下来；筛两遍的人，得到的也多一倍。农夫看着天空，想着明年的收成。",
    "Japanese": "風が籾殻を飛ばし、穀粒は落ちる。ｶﾞﾗｽとガラス、二度ふるう者は二倍を得るというのだ。",
    "Korean": "바람은 겨를 날리고 낟알은 떨어진다; 두 번 체질하는 사람은 두 배를 얻는다고 한다.",
    "Georgian": "ქარს ბზე მიაქვს, მარცვალი კი ძირს ცვივა; ვინც ორჯერ გაცრის, ორმაგს პოულობს.",
    "Amharic": "ነፋስ ገለባን ይወስዳል፣ እህሉም ይወድቃል፤ ሁለት ጊዜ የሚያበጥር እጥፍ ያገኛል።",
    "signs": "ﬁle №５ ½ ℌ 𝔣𝔯𝔞𝔨𝔱𝔲𝔯 ™ Ⅷ x² 👩‍👩‍👧 co\u00adop zero\u200bwidth \x00 \ud800 end of signs: ﬀ ﬃ ǅ ĳ",
    "repeated": "00 " * 60,
    "short": "too short",
    "empty": "",
}


def portrait(text: str, scheme: Scheme) -> dict[str, object]:
    prints = fingerprint(text, scheme)
    grams = shingles(prints.canonical, scheme.shingle, scheme.seed)
    signature = minhash(grams, scheme.bins)
    return {
        "canonical": prints.canonical.chars,
        "fingerprints": [f"{hash_:016x} {at}" for hash_, at in zip(prints.hashes, prints.positions, strict=True)],
        "shingles": digest(grams.tobytes()),
        "mod": [f"{value:016x}" for value in mod_sketch(grams, scheme.modulus)],
        "min": [f"{value:016x}" for value in min_sketch(grams, 4)],
        "minhash": digest(pack(signature, scheme.bits)),
        "bands": digest(bands(signature, scheme.bands, scheme.rows).tobytes()),
    }


def digest(data: bytes) -> str:
    """Return the digest that pins a long row of numbers. Arrays are little-endian on all supported platforms."""
    return blake2b(data, digest_size=8).hexdigest()


def portraits() -> dict[str, dict[str, object]]:
    return {
        name: {"id": scheme.id} | {language: portrait(text, scheme) for language, text in TEXTS.items()}
        for name, scheme in SCHEMES.items()
    }


@pytest.mark.parametrize("name", SCHEMES)
def test_hashes_are_those_of_the_golden_file(name: str) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert list(golden) == list(SCHEMES)
    assert portraits()[name] == golden[name]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(portraits(), indent=1, ensure_ascii=True) + "\n", encoding="utf-8")
