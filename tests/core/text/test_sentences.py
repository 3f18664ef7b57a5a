"""Bytes to text, sentences, characters that must not be there."""

import gzip
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import BadFile
from evenhand.core.text.sentences import control_character, decode, encoding_of, sentences, text_hash

TEXT = "她把雨伞借给了同事，自己跑回家。"


def zipped() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a.txt", TEXT)
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (b"\xef\xbb\xbf" + TEXT.encode(), "utf-8"),
        (TEXT.encode("gb18030"), "gb18030"),
        (("\ufeff" + TEXT).encode("gb18030"), "gb18030"),
        # Beyond the BMP: four bytes in both encodings.
        ((TEXT + "𠮷").encode("gb18030"), "gb18030"),
    ],
)
def test_encodings_are_decoded(data: bytes, encoding: str) -> None:
    result = decode(data)
    assert result.encoding == encoding
    assert result.text.rstrip("𠮷") == TEXT


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (zipped(), "ZIP"),
        (gzip.compress(TEXT.encode(), mtime=0), "gzip"),
        (TEXT.encode("utf-16"), "UTF-16"),
        (TEXT.encode("utf-16-be"), "neither"),
        (("\n" + TEXT).encode("utf-16-le"), "NUL"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"cut in mid-character \xe4", "neither"),
        # Both are valid GB18030, as other characters.
        (TEXT.encode()[:-1], "is UTF-8, but damaged or cut off in line 1. Download the file again."),
        (("a\n" + TEXT).encode() + b"\xc4\xe3", "is UTF-8, but damaged or cut off in line 2. Download the file again."),
        (b"\x01\x02\x03\x04\x05\x06 abc", "control characters"),
        (b"\xff\x80\xff" + TEXT.encode(), "neither UTF-8 nor GB18030"),
    ],
)
def test_files_that_are_not_text_are_refused_by_name(data: bytes, says: str) -> None:
    with pytest.raises(BadFile, match=says) as error:
        decode(data, "sentences.csv")
    assert "sentences.csv" in str(error.value)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00")), st.integers(1, 7))
def test_the_encoding_does_not_depend_on_where_chunks_end(text: str, size: int) -> None:
    data = ("中" * 8 + text).encode()
    assert encoding_of(lambda: (data[at : at + size] for at in range(0, len(data), size)), "x") == "utf-8"


def test_damaged_utf8_is_found_in_any_chunk() -> None:
    data = f"{TEXT}\n".encode() * 4 + b"\xc4\xe3"
    for size in (1, 7, 50, 1000):
        with pytest.raises(BadFile, match=r"is UTF-8, but damaged or cut off in line 5\. Download the file again\."):
            encoding_of(lambda: (data[at : at + size] for at in range(0, len(data), size)), "x")  # noqa: B023


def test_short_gb18030_resembling_utf8_is_recognised() -> None:
    # The two characters that a well-known editor once took for UTF-8: C1 AA CD A8.
    assert decode("联通了她的电话。".encode("gb18030")).text == "联通了她的电话。"


def test_gb18030_is_recognised_by_a_late_byte() -> None:
    parts = [b"a" * 100_000, TEXT.encode("gb18030")]
    assert encoding_of(lambda: parts, "x") == "gb18030"


@pytest.mark.parametrize("text", [TEXT, "👩‍🚀 她飞了", "e\u0301tude", "葛\U000e0100城", "全角　空格", "اردو", "ﾊﾝｶｸ"])
def test_ordinary_text_contains_no_control_character(text: str) -> None:
    assert control_character(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("他\x07说", "U+0007 CONTROL CHARACTER"),
        ("他\t说", "U+0009 CONTROL CHARACTER"),
        ("他\n说", "U+000A CONTROL CHARACTER"),
        ("他\x85说", "U+0085 CONTROL CHARACTER"),
        ("他\u202e说", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("他\u2066说", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("他\u200b说", "U+200B ZERO WIDTH SPACE"),
        ("他\ufeff说", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("他\ufffd说", "U+FFFD REPLACEMENT CHARACTER"),
        ("他\ud800说", "U+D800"),
        ("他\U000e0041说", "U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("\u200b\x07", "U+200B ZERO WIDTH SPACE"),
    ],
)
def test_control_characters_are_named(text: str, found: str) -> None:
    assert control_character(text) == found


def test_the_hash_depends_on_the_exact_characters() -> None:
    assert text_hash("é") != text_hash("e\u0301")
    # First 16 bytes of `printf 他 | sha256sum`.
    assert text_hash("他").hex() == "8b7b91e0001c6971c65812693c87ee82"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他来了。她走了！谁呢？", ["他来了。", "她走了！", "谁呢？"]),
        ("真的?!他 笑 了", ["真的?!", "他笑了"]),
        ("　　第一段。\n\n  第二段", ["第一段。", "第二段"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ('他问"去吗？"她不答。', ['他问"去吗？"', "她不答。"]),
        ('"去。"他答。"来。"', ['"去。"', "他答。", '"来。"']),
        ("价格是3.5元……真贵。", ["价格是3.5元……真贵。"]),
        ("。。。", []),
        ("", []),
        ("全角，半角,都留着。", ["全角，半角,都留着。"]),
    ],
)
def test_text_is_split_into_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_quotes_broken_by_the_split_are_repaired() -> None:
    text = "“他来了。她走了。”"
    assert sentences(text) == ["他来了。", "她走了。"]
    assert sentences(text, quotes="complete") == ["“他来了。”", "“她走了。”"]


@given(st.text(alphabet="他来了。？！?!，“”「」\"' \n　ab", max_size=60))
def test_sentences_keep_all_characters_except_spaces_and_orphan_quotes(text: str) -> None:
    kept = "".join(sentences(text))
    unquoted = str.maketrans("", "", "“”「」 \n　")
    lost = [character for character in text.translate(unquoted) if character not in "。？！?!\"'"]
    assert [character for character in kept.translate(unquoted) if character not in "。？！?!\"'"] == lost
    for sentence in sentences(text):
        assert sentence.count("“") == sentence.count("”")
        assert sentences(sentence) == [sentence] or '"' in sentence
