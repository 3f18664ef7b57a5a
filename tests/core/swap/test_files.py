"""Files of texts: three modes with their counts, what cannot be read, order and size."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from evenhand.core.errors import BadFile
from evenhand.core.swap.files import batch_swapper, is_substituted, swap_file, texts_of
from evenhand.core.swap.word_tables import word_table

ZH = word_table("zh")
TEXTS = ["他来了。", "其他人。", "", "她和男孩。", "天黑了。"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_every_text_of_a_file_is_swapped(source: Path, tmp_path: Path) -> None:
    out, diff = tmp_path / "out.txt", tmp_path / "diff.jsonl"
    seen: list[int] = []
    counts = swap_file(source, out, ZH, diff=diff, progress=lambda done, total: seen.append(done))
    assert lines(out) == ["她来了。", "其他人。", "", "他和女孩。", "天黑了。"]
    assert (counts.swapped, counts.left, counts.refused, counts.texts, counts.written) == (2, 3, 0, 5, 5)
    assert counts.as_json()["words"] == {"他→她": 1, "她→他": 1, "男孩→女孩": 1}
    assert seen[-1] == source.stat().st_size
    rows = [json.loads(line) for line in lines(diff)]
    assert [row["outcome"] for row in rows] == ["swapped", "left", "swapped"]
    assert rows[1]["left"] == [{"start": 0, "end": 2, "word": "其他", "why": "other_word"}]


def test_swapping_a_file_twice_restores_it(source: Path, tmp_path: Path) -> None:
    swap_file(source, tmp_path / "once.txt", ZH)
    swap_file(tmp_path / "once.txt", tmp_path / "twice.txt", ZH)
    assert (tmp_path / "twice.txt").read_bytes() == source.read_bytes()


def test_cda_adds_and_cds_replaces(source: Path, tmp_path: Path) -> None:
    counts = swap_file(source, tmp_path / "cda.txt", ZH, mode="cda")
    assert lines(tmp_path / "cda.txt") == [
        "他来了。",
        "她来了。",
        "其他人。",
        "",
        "她和男孩。",
        "他和女孩。",
        "天黑了。",
    ]
    assert counts.written == 7
    many = tmp_path / "many.txt"
    many.write_text("".join(f"他有{i}本书。\n" for i in range(1000)), encoding="utf-8")
    counts = swap_file(many, tmp_path / "cds.txt", ZH, mode="cds", seed=3)
    female = sum(line.startswith("她") for line in lines(tmp_path / "cds.txt"))
    assert counts.substituted == female and 430 <= female <= 570  # 4.4 standard deviations
    assert [is_substituted("他", 1), is_substituted("他", 1)] == [is_substituted("他", 1)] * 2


def test_a_refused_text_is_kept_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "en.txt"
    path.write_text("Her mum.\r\nHe ran.\r\n", encoding="utf-8")
    counts = swap_file(path, tmp_path / "out.txt", word_table("en"), mode="cda")
    assert lines(tmp_path / "out.txt") == ["Her mum.", "He ran.", "She ran."]
    assert counts.refused == 1 and counts.as_json()["refused_texts"] == [{"text": "Her mum.", "twice": "Her mom."}]


def test_packed_and_gb18030_files_are_read(tmp_path: Path) -> None:
    text = "他们和她在一起，我的父亲也在这里，还有很多其他的人来了。\n" * 3
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "b.txt").write_bytes(text.encode("gb18030"))
    assert list(texts_of(tmp_path / "a.txt.gz")) == list(texts_of(tmp_path / "b.txt")) == text.splitlines()


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"x" * (1 << 20) + b"yz\n", "long.txt", "more than a million characters"),
        ("他来了。".encode() * 5 + b"\n\xff\xff", "odd.txt", "bytes that are not utf-8|not UTF-8"),
        (b"\x1f\x8b\x08broken", "bad.gz", "cannot be read"),
    ],
)
def test_unreadable_files_are_refused(tmp_path: Path, data: bytes, name: str, says: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadFile, match=says):
        swap_file(tmp_path / name, tmp_path / "out.txt", ZH)
    assert not (tmp_path / "out.txt").exists()


def test_the_input_is_never_overwritten(source: Path) -> None:
    with pytest.raises(BadFile, match="would be overwritten"):
        swap_file(source, source, ZH)


def test_swapping_a_large_file_uses_constant_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "evenhand.core.mining.sources.EVIDENCE", 1 << 16
    )  # else 4 MB are read to recognise the encoding
    monkeypatch.setattr("evenhand.core.swap.files.CHUNK", 1 << 16)
    peaks = []
    for size in (200, 2000):
        path = tmp_path / f"{size}.txt"
        path.write_text(("天黑了，路上没有人。" * 20 + "他来了。\n") * size, encoding="utf-8")
        tracemalloc.start()
        swap_file(path, tmp_path / "out.txt", ZH)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 1_000_000


def test_a_worker_gives_equal_texts() -> None:
    assert [entry.text for entry in batch_swapper(ZH, False)(TEXTS)] == [
        "她来了。",
        "其他人。",
        "",
        "他和女孩。",
        "天黑了。",
    ]
