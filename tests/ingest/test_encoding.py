from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter

import pytest
import webencodings
from hypothesis import given, strategies as st

from opensearch_winnow.ingest.encoding import Encoding, encoding_of, to_text, to_utf8
from tests.public_pages import HUTOOL, NABLARCH, Release, javadoc

GERMAN = "Größere Gänse fliegen über Österreich nach Süden. Fünf Vögel blieben in der Nähe des schönen Flußes zurück."
FRENCH = "L’élève a été reçu à l’école où sa mère préparait déjà le dîner de Noël, près de la forêt enneigée."
POLISH = "Zażółć gęślą jaźń. Późną jesienią każdy źrebak wędrował ścieżką wśród łąk, aż dotarł do małej wsi pod Łodzią."
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy, když ještě ležel sníh na střechách vesnických domů u řeky."
HUNGARIAN = "Árvíztűrő tükörfúrógép. Az őszi erdőben több őz és egy öreg szürke medve élt együtt, békésen és csöndben."
RUSSIAN = "Съешь ещё этих мягких французских булок, да выпей чаю. Осенью гуси летят на юг через широкую реку."
UKRAINIAN = "Щастям б'ється серце: їжак і єнот зустріли ґаву біля річки, де восени шумить високий очерет."
GREEK = "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Το φθινόπωρο οι χήνες πετούν προς τον νότο πάνω από το μεγάλο ποτάμι."
TURKISH = "Pijamalı hasta yağız şoföre çabucak güvendi. Güz gelince kazlar büyük ırmağın üzerinden güneye doğru uçtu."
HEBREW = "דג סקרן שט בים מאוכזב ולפתע מצא חברה. בסתיו עפים האווזים דרומה מעל הנהר הרחב והשקט."
ARABIC = "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر. في الخريف تطير الإوز نحو الجنوب فوق النهر الكبير."
LATVIAN = "Glāžšķūņa rūķīši dzērumā čiepj Baha koncertflīģeļu vākus. Rudenī zosis lido pāri platajai upei."
THAI = "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน ในฤดูใบไม้ร่วงห่านบินไปทางใต้ข้ามแม่น้ำใหญ่"
JAPANESE = "秋になると雁は南へ飛んでいく。川のほとりの小さな村では、カラスが静かに待っている。いろはにほへと。"
CHINESE = "秋天的时候，大雁飞过宽阔的河流向南方去。河边的小村庄里，孩子们看着天空，等待冬天的第一场雪。"
TAIWANESE = "秋天的時候，大雁飛過寬闊的河流向南方去。河邊的小村莊裡，孩子們看著天空，等待冬天的第一場雪。"
KOREAN = "가을이 되면 기러기는 넓은 강을 건너 남쪽으로 날아간다. 강가의 작은 마을에서 아이들이 하늘을 바라본다."

# By text: the labels that such pages carry, each with the codec that their editor saved them with.
SAVED = {
    FRENCH: "windows-1252=cp1252 iso-8859-1=cp1252 macintosh=mac-roman",  # ’ is in windows-1252 only
    GERMAN: "us-ascii=cp1252 latin1=latin-1 iso-8859-15=iso8859-15",
    POLISH: "windows-1250=cp1250 iso-8859-2=iso8859-2 utf-8=utf-8",
    CZECH: "windows-1250=cp1250 iso-8859-2=iso8859-2",
    HUNGARIAN: "iso-8859-2=iso8859-2 iso-8859-16=iso8859-16",
    RUSSIAN: "windows-1251=cp1251 koi8-r=koi8-r iso-8859-5=iso8859-5 ibm866=cp866 x-mac-cyrillic=mac-cyrillic",
    UKRAINIAN: "windows-1251=cp1251 koi8-u=koi8-u",
    GREEK: "windows-1253=cp1253 iso-8859-7=iso8859-7",
    TURKISH: "windows-1254=cp1254 iso-8859-9=iso8859-9",
    HEBREW: "windows-1255=cp1255 iso-8859-8-i=iso8859-8",
    ARABIC: "windows-1256=cp1256 iso-8859-6=iso8859-6",
    LATVIAN: "windows-1257=cp1257 iso-8859-13=iso8859-13",
    THAI: "windows-874=cp874 tis-620=cp874",
    JAPANESE: "x-sjis=cp932 euc-jp=euc_jp iso-2022-jp=iso2022_jp",
    JAPANESE + "①": "shift_jis=cp932 euc-jp=euc_jis_2004",  # in no JIS standard of that time, but on many pages
    CHINESE: "gbk=gbk hz-gb-2312=hz utf-8=utf-8",
    CHINESE + "朱镕基": "gb2312=gbk",  # 镕 is not in GB 2312
    CHINESE + "㐀": "gb18030=gb18030",
    TAIWANESE: "big5=big5 big5-hkscs=big5hkscs",
    KOREAN: "euc-kr=euc_kr iso-2022-kr=iso2022_kr",
    KOREAN + "똠": "ks_c_5601-1987=cp949",
}
WRITTEN = [(*pair.split("="), text) for text, pairs in SAVED.items() for pair in pairs.split()]
# Read only if a label says so: hardly any page without a label uses them.
NEVER_DETECTED = {"cp866", "hz", "iso8859-6", "iso8859-13", "iso8859-15", "iso8859-16", "mac-cyrillic", "mac-roman"}


def page(text: str, head: str = "") -> str:
    return f"<!doctype html>\n<html><head>{head}<title>A page</title></head>\n<body><p>{text}</p></body></html>\n"


def read(body: bytes, content_type: str | None = None) -> str:
    encoding = encoding_of(body, content_type)
    text = to_text(body, encoding)
    assert to_utf8(body, encoding) == text.encode()
    return text


@pytest.mark.parametrize(("label", "codec", "text"), WRITTEN)
@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        ("", "text/html; charset={}"),
        ("", 'text/html;Charset="{}"'),
        ("<meta charset={}>", None),
        ('<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={}">', "text/html"),
        ("<!-- <meta charset=koi8-r> --><meta name=a content='charset=big5'><meta charset = '{}' />", None),
    ],
)
def test_a_page_with_the_right_label_is_decoded(
    label: str, codec: str, text: str, head: str, content_type: str | None
) -> None:
    html = page(text, head.format(label))
    assert read(html.encode(codec), content_type and content_type.format(label)) == html


@pytest.mark.parametrize(("codec", "text"), sorted({row[1:] for row in WRITTEN if row[1] not in NEVER_DETECTED}))
def test_a_page_without_a_label_is_decoded(codec: str, text: str) -> None:
    html = page(text)
    assert read(html.encode(codec)) == html


@pytest.mark.check
@given(
    st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.sampled_from(WRITTEN).map(lambda row: row[2].encode(row[1])),
    st.none() | st.sampled_from(sorted(webencodings.LABELS)) | st.text(max_size=20),
    st.sampled_from(["", "<meta charset='{}'>", "<?xml version='1.0' encoding='{}'?>", "<meta charset={}", "\0"]),
)
def test_the_output_is_always_valid_utf8(noise: bytes, written: bytes, label: str | None, head: str) -> None:
    start = head.format(label).encode("utf-8", "surrogatepass")
    for body in (noise, start + noise, noise + written, start + written[: len(noise)] + noise + written):
        for content_type in (None, label, f"text/html; charset={label}"):
            for markup in (True, False):
                encoding = encoding_of(body, content_type, markup=markup)
                out = to_utf8(body, encoding)
                assert out.decode() == to_text(body, encoding)  # strictly


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_valid_utf8_is_not_copied(text: str) -> None:
    html = page(text.replace("\0", ""), "<meta charset=iso-8859-1>").encode()
    encoding = encoding_of(html, "text/html; charset=windows-1251")
    assert encoding.name == "utf-8"
    assert to_utf8(html, encoding) is html


@pytest.mark.parametrize("bom", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_a_bom_is_believed_and_dropped(bom: str) -> None:
    html = page(POLISH, "<meta charset=gbk>")
    body = b"\xfe\xff" + html.encode(bom) if bom == "utf-16-be" else html.encode(bom)
    assert read(body, "text/html; charset=koi8-r") == html
    assert encoding_of(body).how == "bom"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("label", [None, "text/html; charset=utf-8", "text/html; charset=utf-16"])
def test_utf16_without_a_bom(codec: str, label: str | None) -> None:
    for text in (GERMAN, RUSSIAN, CHINESE):
        assert read(page(text).encode(codec), label) == page(text)
    assert read(f"{CHINESE}\n".encode(codec), f"text/plain; charset={codec.replace('6-', '6')}") == f"{CHINESE}\n"


LATIN, GB, UTF8, UTF16 = (f"text/html; charset={label}" for label in ("ISO-8859-1", "gb2312", "utf-8", "utf-16"))


@pytest.mark.parametrize(
    ("text", "codec", "meta", "content_type"),
    [
        # UTF-8 despite the label: a server's default, a template's old <meta>
        (GERMAN, "utf-8", "iso-8859-1", LATIN),
        (CHINESE, "utf-8", "gb2312", GB),
        (GERMAN, "utf-8", "utf-16", UTF16),
        # not UTF-8 or UTF-16, though they say so
        (GERMAN, "cp1252", "utf-8", UTF8),
        (GERMAN, "cp1252", "", UTF16),
        (CHINESE, "gbk", "gb2312", UTF8),
        (CHINESE, "gbk", "utf-8><meta charset=gb2312", None),
        (JAPANESE, "cp932", "utf-8", UTF8),
        ("One café, © 2004 A. Writer", "cp1252", "", UTF8),
        # a server that says ISO-8859-1 of everything
        (RUSSIAN, "cp1251", "windows-1251", LATIN),
        (RUSSIAN, "koi8-r", "", LATIN),
        (CHINESE, "gbk", "", LATIN),
        (HEBREW, "cp1255", "", LATIN),
        # a server that says ISO-8859-1 and is right
        (FRENCH + " «\xa0é\xa0»" + "\xa0" * 400 + "»—–»" * 3, "cp1252", "", LATIN),
        # one Japanese encoding labelled as the other
        (JAPANESE, "euc_jp", "", "text/html; charset=shift_jis"),
        (JAPANESE, "cp932", "", "text/html; charset=euc-jp"),
        # words that are not labels
        *((POLISH, "cp1250", "windows-1250", f"text/html; charset={word}") for word in ("none", "")),
        (FRENCH, "cp1252", "x-user-defined", None),
    ],
)
def test_wrong_labels_of_real_pages(text: str, codec: str, meta: str, content_type: str | None) -> None:
    html = page(text, f"<meta charset={meta}>")
    assert read(html.encode(codec), content_type) == html
    assert read(b"\xef\xbb\xbf" + html.encode(codec), content_type) == html  # as careless editors save it


def test_the_label_of_the_server_takes_precedence() -> None:
    body = page(RUSSIAN, "<meta charset=koi8-r>").encode("cp1251")
    assert encoding_of(body, "text/html; charset=windows-1251") == Encoding("cp1251", "http")
    assert encoding_of(body) == Encoding("koi8-r", "meta")


def test_a_few_broken_bytes_do_not_make_it_another_encoding() -> None:
    body = page(GERMAN).encode().replace(b"</p>", b"K\xfcche</p>")
    assert encoding_of(body, "text/html; charset=iso-8859-1") == Encoding("utf-8", "mostly utf-8")
    assert read(body) == page(GERMAN + "K�che")
    assert read(CHINESE.encode()[:-1]) == CHINESE[:-1] + "�"
    for label in (None, "text/html; charset=utf-8"):  # a surrogate
        assert encoding_of(b"<p>one \xed\xa0\xbd two", label) == Encoding("utf-8", "mostly utf-8")


def test_plain_ascii_under_any_label_is_left_alone() -> None:
    body = b"1 + 1 = 2, +AGE- ~tilde $B"
    for label in sorted(webencodings.LABELS):
        encoding = encoding_of(body, f"text/plain; charset={label}", markup=False)
        assert encoding == Encoding("utf-8", "ascii")
        assert to_utf8(body, encoding) is body


def test_plain_text_has_no_meta_element() -> None:
    body = f"<meta charset=koi8-r> {RUSSIAN}".encode("cp1251")
    assert encoding_of(body, "text/plain", markup=False) == Encoding("cp1251", "detected")
    assert encoding_of(body, "text/plain; charset=windows-1251", markup=False).how == "http"
    assert encoding_of(body).how == "meta"


@pytest.mark.parametrize(
    "head",
    [
        "<meta charset=windows-1251>",
        "<META/CHARSET=windows-1251\n>",
        "<a title='<meta charset=koi8-r>'><meta charset=windows-1251>",
        "<!-- > <meta charset=koi8-r>--><meta charset=windows-1251>",
        "<!--><meta charset=windows-1251>-->",  # browsers see a complete comment
        "<metadata charset=koi8-r><meta http-equiv=content-type content='a;charset=windows-1251'>",
        "<?xml version='1.0' encoding='windows-1251'?><html>",
        "x" * 2_000 + "<meta charset=windows-1251>",
    ],
)
def test_the_label_is_found_where_browsers_find_it(head: str) -> None:
    encoding = encoding_of((head + "<p>" + RUSSIAN).encode("cp1251"))
    assert encoding == Encoding("cp1251", "xml" if "xml" in head else "meta")


def test_the_detector_sees_the_end_of_a_long_page() -> None:
    for text, codec in ((POLISH, "cp1250"), (JAPANESE, "euc_jp"), (KOREAN, "cp949")):
        html = page("<p>All of this is plain.</p>" * 100_000 + text)
        assert read(html.encode(codec)) == html


def test_no_page_takes_long() -> None:
    start = perf_counter()
    for hostile in ('<a b="', "<a '\"", "<!--", "<!", "<meta charset='", "<a", "<meta a=", "é", "é ", "<é", "<é>"):
        read((hostile * (2_000_000 // len(hostile))).encode("cp1252") + b"\xe9", "text/html;" + hostile * 1000)
    assert perf_counter() - start < 60


# --- real pages -------------------------------------------------------------------------------------------------------

PAGE_SETS = ("trafilatura-eval", "article-extraction-benchmark", "wcxb-dev350")
MOJIBAKE = re.compile("[\x80-\x9f\ufffd]|[ÃÄÅÐÑ][\x80-¿ƒ„†‡‰ŠŒŽ‘’“”•–—™š›œž]|â€[™œ\x9d˜¦“”]|Â[\xa0-¿]")
LABEL = re.compile(rb"charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)


def _certain_text(body: bytes) -> str | None:
    """Return the text of a page if it is certain, otherwise None.

    It is certain if the page is strict UTF-8, or if its only other label decodes it without errors or mojibake.
    """
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    labels = {webencodings.lookup(label.decode()) for label in LABEL.findall(body)}
    labels -= {None, webencodings.lookup("utf-8")}
    if len(labels) != 1:
        return None
    try:
        text = str(webencodings.decode(body, labels.pop(), errors="strict")[0])
    except UnicodeDecodeError:
        return None
    return None if MOJIBAKE.search(text) else text


@pytest.mark.check
def test_no_mojibake_on_real_pages(unpacked: Callable[[str], Path]) -> None:
    known = legacy = 0
    for path in (path for name in PAGE_SETS for path in unpacked(name).rglob("*.html")):
        body = path.read_bytes()
        text = _certain_text(body)
        if text is not None:
            encoding = encoding_of(body)
            assert to_text(body, encoding) == text, path.name
            known += 1
            legacy += encoding.name != "utf-8"
    assert known >= 950
    assert legacy >= 10


def wrongly_decoded(pages: Iterable[tuple[str, str]]) -> tuple[int, int]:
    """Save pages without a label, as an editor of their language would have done before UTF-8.

    Each is given with its codec. Return how many are not ASCII, and how many of them are decoded wrongly.
    """
    bodies = [(LABEL.sub(b"", html.encode(codec, "xmlcharrefreplace")), codec) for html, codec in pages]
    bodies = [(body, codec) for body, codec in bodies if not body.isascii()]
    return len(bodies), sum(to_text(body, encoding_of(body)) != body.decode(codec) for body, codec in bodies)


@pytest.mark.check
@pytest.mark.parametrize(
    ("releases", "codec"), [(HUTOOL, "gb18030"), (NABLARCH, "cp932"), (NABLARCH, "euc_jp")], ids=["zh", "ja", "ja-euc"]
)
def test_real_pages_in_other_scripts_without_their_label(releases: Sequence[Release], codec: str) -> None:
    bodies = [page.html for page in javadoc(*releases)]
    pages, wrong = wrongly_decoded((body.decode(), codec) for body in bodies if isinstance(body, bytes))
    assert pages > 200
    assert wrong <= pages // 100


@pytest.mark.check
def test_real_pages_without_their_label(unpacked: Callable[[str], Path]) -> None:
    codecs = {"pl": "cp1250", "ru": "cp1251", "ja": "cp932", "ko": "cp949"}
    given = []
    for path in sorted(unpacked("trafilatura-eval").rglob("*.html")):
        try:
            html = path.read_text("utf-8-sig")
        except UnicodeDecodeError:
            continue
        language = re.search("<html[^>]*lang=[\"']?([a-z]+)", html[:5_000])
        given.append((html, codecs.get(language[1] if language else "", "cp1252")))
    pages, wrong = wrongly_decoded(given)
    assert pages > 350
    assert wrong <= pages // 100
