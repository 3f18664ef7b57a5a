"""Files, folders, archives and tables to blocks; an unreadable file is reported and drops nothing else."""

import gzip
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import BadFile
from evenhand.core.mining import blocks as reading
from evenhand.core.mining.blocks import Block, blocks
from evenhand.core.mining.report import Read, Report
from evenhand.core.mining.run import mine
from evenhand.core.mining.settings import CODES, Settings
from evenhand.core.mining.sources import decide

OFF: dict[str, Any] = dict.fromkeys(CODES, "off")
TEXT = "她把雨伞借给了同事，自己跑回家。\n春天的山里开满了花，他每天早上都去看。\n"
TRADITIONAL = "春天的山裡開滿了花，媽媽每天早上都去看。\n這本書是姊姊從學校帶回來的。\n"


def mined(*paths: Path | str, **settings: Any) -> tuple[list[dict[str, Any]], Report]:
    lines: list[dict[str, Any]] = []
    return lines, mine(paths, Settings(modes=OFF, **settings), on_candidate=lines.append)


def sentences(*paths: Path | str, **settings: Any) -> list[str]:
    return [line["sentence"] for line in mined(*paths, **settings)[0]]


def test_the_three_encodings_are_distinguished() -> None:
    texts = {TEXT: ("utf-8", "gb18030"), TRADITIONAL: ("utf-8", "gb18030", "big5hkscs"), "ASCII": ("utf-8",)}
    for text, encodings in texts.items():
        for encoding in encodings:
            assert decide(text.encode(encoding), "a.txt") == encoding


def test_big5_is_recognised_although_valid_gb18030() -> None:
    data = "這個城市的天氣很好，她說時間還早，我們從這裡出發。".encode("big5")
    data.decode("gb18030")  # strict decoding is content with it
    assert decide(data, "a.txt") == "big5hkscs"


def test_the_encoding_of_real_text_is_recognised(shared_data: Path) -> None:
    import opencc

    text = (shared_data / "corpora" / "zh_wiki.txt").read_text(encoding="utf-8")
    traditional = opencc.OpenCC("s2t").convert(text)
    paragraphs = [part for part in text.split("\n") if len(part) > 60][:400]
    old = [part.encode("big5hkscs", "ignore") for part in traditional.split("\n") if len(part) > 60][:400]
    assert {decide(paragraph.encode("gb18030"), "x") for paragraph in paragraphs} == {"gb18030"}
    assert {decide(block, "x") for block in old} == {"big5hkscs"}


@pytest.mark.parametrize(
    ("name", "data", "reason", "says"),
    [
        ("empty.txt", b"", "empty", "empty.txt is empty."),
        ("blank.txt", b" \n\n", "empty", "blank.txt is empty."),
        (
            "noise.txt",
            random.Random(1).randbytes(50_000),
            "not_text",
            "noise.txt is not a text file: it contains NUL bytes",
        ),
        ("picture.txt", b"\x89PNG\r\n\x1a\n", "not_text", "is an image, not text."),
        ("wide.txt", TEXT.encode("utf-16"), "not_text", "UTF-16"),
        (
            "high.txt",
            bytes(range(0x80, 0x100)) * 20,
            "not_text",
            "is not UTF-8, GB18030 or Big5 text. Save it as UTF-8 and try again.",
        ),
        (
            "cut.txt.gz",
            gzip.compress(TEXT.encode() * 9, mtime=0)[:-12],
            "archive",
            "is a damaged or password-protected archive",
        ),
        ("no.zip", b"PK\x03\x04 no archive", "archive", "is a damaged or password-protected archive"),
        ("rows.csv", b"a,b\n1,2\n", "column", "has no text column. Its columns: a, b."),
    ],
)
def test_unreadable_files_are_reported_and_others_read(
    tmp_path: Path, name: str, data: bytes, reason: str, says: str
) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "good.txt").write_text(TEXT, encoding="utf-8")
    lines, report = mined(tmp_path)
    problem = next(entry for entry in report.read.problems if entry.file.endswith(name))
    assert (problem.reason, says in problem.text) == (reason, True), problem.text
    assert [line["keyword"] for line in lines][-2:] == ["她", "他"]


def test_nothing_to_read_is_an_error_that_names_the_first_problem(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"nowhere\.txt does not exist"):
        mined(tmp_path / "nowhere.txt")


def test_a_folder_without_texts_lists_readable_types(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    with pytest.raises(BadFile, match=rf"{tmp_path} contains no readable file: \.txt"):
        mined(tmp_path)


def test_text_before_the_damage_of_an_archive_is_read(tmp_path: Path) -> None:
    noise = random.Random(0)
    extra = ["".join(chr(noise.randrange(0x4E00, 0x9000)) for _ in range(40)) + "。" for _ in range(300)]
    whole = "".join(f"{TEXT}{character}\n" for character in extra)
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(whole.encode(), mtime=0)[:-4000])
    lines, report = mined(tmp_path / "cut.txt.gz")
    assert [
        (problem.reason, problem.text.endswith("; its contents up to that point were read."))
        for problem in report.read.problems
    ] == [("archive", True)]
    assert len(lines) > 200
    assert report.read.damaged == 0
    assert {line["sentence"][-1] for line in lines} == {"。"}  # none that was broken off


def test_a_row_with_a_wrong_number_of_cells_is_left_out(tmp_path: Path) -> None:
    rows = [
        "date,text,page",
        "2019,她在树下读书，没有人来打扰。,3",
        "2019,他走了,又回来了。,4",
        "2019",
        "2018,他把窗户关上了，外面下着雨。",
    ]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines, report = mined(tmp_path / "a.csv")
    assert [line["keyword"] for line in lines] == ["她", "他"]
    assert [(problem.line, problem.reason) for problem in report.read.problems] == [(3, "bad_row"), (4, "bad_row")]
    assert ", line 3: 4 cells, but the first line has 3; the row was skipped." in report.read.problems[0].text


def test_an_undecodable_byte_drops_only_its_sentence(tmp_path: Path) -> None:
    good = "她在树下读书，没有人来打扰。他把窗户关上了，外面正下着雨。"
    for encoding, bad in (("utf-8", b"\xe4\xb8"), ("gb18030", b"\xff")):
        data = good.encode(encoding) + "她的信".encode(encoding) + bad + "寄出去了。".encode(encoding)
        path = tmp_path / f"{encoding}.txt"
        path.write_bytes((data + good.encode(encoding) + b"\n") * 3)
        lines, report = mined(path)
        assert len(lines) == 12
        assert report.read.damaged == 3
        assert "3 sentences were skipped because they contain bytes that are not " in report.read.problems[0].text
        for line in lines:  # places behind the damage are right too
            there = path.read_bytes()[line["source"]["offset"] :]
            assert there.startswith(line["sentence"].encode(encoding))


def packed(tmp_path: Path, name: str, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return tmp_path / name


def test_archives_folders_and_globs_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "news"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.txt").write_text("她读了第一封信。", encoding="gb18030")
    (folder / "deep" / "a.md").write_text("# 她写了**第二封**信。", encoding="utf-8")
    (folder / "c.html").write_text("<html><p>她寄出<i>第三</i>\n封信。</p><script>她不在</script>", encoding="utf-8")
    (folder / "d.txt.gz").write_bytes(gzip.compress("她收到第四封信。".encode(), mtime=0))
    packed(folder, "e.zip", {"x/y.txt": "她藏起第五封信。".encode(), "z.bin": b"1", "empty/": b""})
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    (folder / ".hidden.txt").write_text("她隐身了。", encoding="utf-8")
    lines, report = mined(folder)
    order = ["她读了第一封信。", "她寄出第三封信。", "她收到第四封信。", "她藏起第五封信。", "她写了第二封信。"]
    assert [line["sentence"] for line in lines] == order
    assert [Path(line["source"]["file"]).name for line in lines] == ["b.txt", "c.html", "d.txt.gz", "y.txt", "a.md"]
    assert report.read.files == 5
    assert dict(report.read.skipped) == {".jpg": 1}
    assert dict(report.read.encodings) == {"gb18030": 1, "utf-8": 4}
    assert sentences(f"{folder}/*.txt", folder / "b.txt") == ["她读了第一封信。"]  # each file once
    assert len(sentences(f"{tmp_path}/**/*.md")) == 1


def test_names_in_old_archives_are_read_as_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As Windows programs wrote it: the bytes of GBK without a flag for the encoding.
    old = ("报纸.txt".encode("gb18030"), 0)
    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipInfo, "_encodeFilenameFlags", lambda _info: old)
        path = packed(tmp_path, "old.zip", {"报纸.txt": "她来了。".encode()})
    for archive in (path, packed(tmp_path, "new.zip", {"报纸.txt": "她来了。".encode()})):
        assert mined(archive)[0][0]["source"]["file"] == f"{archive}/报纸.txt"


CSV = '日期,报纸,正文,版\n2019-01-02,早报,"她说：""好""。\n他走了。",3\n2019-01-03,晚报,下雨了。,\n'
ROWS = [
    {"text": "她把门打开，站了一会儿。", "source": "早报", "date": "2019-01-02", "page": 3, "long": ["x"]},
    {"text": "他带了伞。", "source": None},
]


def test_tables_keep_the_source_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV, encoding="utf-8-sig")
    lines, _ = mined(tmp_path / "a.csv")
    assert [line["sentence"] for line in lines] == ['她说："好"。', "他走了。"]
    source = {"name": "早报", "date": "2019-01-02", "columns": {"版": "3"}}
    assert [{key: line["source"][key] for key in source} for line in lines] == [source, source]
    start = lines[0]["source"]["offset"]
    assert (tmp_path / "a.csv").read_bytes()[start:].startswith(b"2019-01-02")

    (tmp_path / "b.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS) + "\n{\n", encoding="utf-8")
    lines, report = mined(tmp_path / "b.jsonl")
    assert [line["source"]["name"] for line in lines] == ["早报", None]
    assert lines[0]["source"]["columns"] == {"page": "3"}
    assert [(problem.line, problem.reason) for problem in report.read.problems] == [(3, "bad_json")]
    assert mined(tmp_path / "a.csv", column="报纸")[0] == []


def test_a_missing_column_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV, encoding="utf-8")
    with pytest.raises(BadFile, match=r"no column body\. Its columns: 日期, 报纸, 正文, 版"):
        mined(tmp_path / "a.csv", column="body")


def test_traditional_text_is_converted_and_the_original_kept(tmp_path: Path) -> None:
    for encoding in ("utf-8", "big5hkscs"):
        (tmp_path / "t.txt").write_text(TRADITIONAL, encoding=encoding)
        assert sentences(tmp_path / "t.txt") == []
        lines, _ = mined(tmp_path / "t.txt", convert="t2s")
        assert [(line["keyword"], line["sentence"]) for line in lines] == [
            ("妈妈", "春天的山里开满了花，妈妈每天早上都去看。"),
            ("姐姐", "这本书是姐姐从学校带回来的。"),
        ]
        assert [line["original"] for line in lines] == TRADITIONAL.split()


def every_block(path: Path) -> list[Block]:
    return [block for block, _ in blocks([path], Read())]


SHAPED: dict[str, Callable[[int], str]] = {
    "a.txt": lambda n: f"第{n}天，她写信。",
    "a.csv": lambda n: f'{n},"他说""好""，\n又说{n}。"',
    "a.jsonl": lambda n: json.dumps({"text": f"她第{n}次来。"}, ensure_ascii=False),
}


@pytest.mark.parametrize("name", sorted(SHAPED))
def test_blocks_join_to_the_text_and_end_with_lines(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "n,text\n" if name == "a.csv" else ""
    (tmp_path / name).write_text(head + "\n".join(map(SHAPED[name], range(300))), encoding="utf-8")
    whole = mined(tmp_path / name)[0]
    assert len(whole) == 300
    for size in (100, 1000):
        monkeypatch.setattr(reading, "BLOCK", size)
        result = every_block(tmp_path / name)
        assert len(result) > 5
        assert b"".join(block.data for block in result) == (tmp_path / name).read_bytes()
        lines = [block.data.count(b"\n") for block in result]
        assert [block.line for block in result] == [1 + sum(lines[:number]) for number in range(len(lines))]
        assert mined(tmp_path / name)[0] == whole


@given(st.lists(st.sampled_from(["她来了。", "雨停？", "“好。”", "他", "。", "，", '"去。"', "山"]), max_size=60))
def test_a_long_line_equals_short_lines(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    path = tmp_path_factory.mktemp("long") / "a.txt"
    with pytest.MonkeyPatch.context() as patch:
        for encoding in ("utf-8", "gb18030"):
            path.write_text("中的是" + "".join(parts) + "了。" * 80, encoding=encoding)
            patch.setattr(reading, "BLOCK", 1 << 20)
            whole = mined(path)[0]
            patch.setattr(reading, "BLOCK", 150)
            assert mined(path)[0] == whole


def test_a_megabyte_without_a_sentence_end_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BLOCK", 200)
    (tmp_path / "a.txt").write_text("他来了。\n" + "他去，" * 300 + "完。她没看见。\n她走了。", encoding="utf-8")
    lines, report = mined(tmp_path / "a.txt")
    assert [line["sentence"] for line in lines] == ["他来了。", "她走了。"]
    assert [(problem.line, problem.reason) for problem in report.read.problems] == [(2, "long_line")]


def test_a_limit_ends_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BLOCK", 1000)
    (tmp_path / "a.txt").write_text(TEXT * 200, encoding="utf-8")
    lines: list[Any] = []
    report = mine([tmp_path], Settings(modes=OFF), on_candidate=lines.append, limit_bytes=5000)
    assert not report.read.whole
    assert 3000 <= report.read.bytes <= 5000
    assert 0 < len(lines) < 200


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        ("日期,句子\n2020年1月3日,她走了\n2020年1月4日,他来了\n", "句子"),
        ("标题,正文\n一个比正文还要长的标题,她走了。\n", "正文"),
        ("标题,页\n她把门打开了,3\n", "标题"),  # nothing else has letters
    ],
)
def test_the_text_column_is_preferred_to_names_and_dates(rows, column):
    from evenhand.core.mining.tables import header_of

    assert header_of("a.csv", "csv", rows.encode(), "utf-8", None).text == column
