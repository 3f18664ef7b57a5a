"""Small files that unpack to much, or take long: one sentence each, and nothing of them stays."""

import gzip
import sys
import time
import zipfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest

from evenhand.core.concordance.passages import passages
from evenhand.core.errors import BadFile
from evenhand.core.files import archives, excel, sandbox
from evenhand.core.files.archives import read_first_elsewhere, unpacked
from evenhand.core.files.readers import open_source, rows
from evenhand.core.mining import blocks
from evenhand.core.mining.report import Read

NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MAIN = "application/vnd.openxmlformats-officedocument.spreadsheetml"
RELATIONS = f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" Type="{OFFICE}'
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/'
    'vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override'
    f' PartName="/xl/workbook.xml" ContentType="{MAIN}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml"'
    f' ContentType="{MAIN}.worksheet+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="{MAIN}.sharedStrings'
    '+xml"/></Types>',
    "_rels/.rels": f'{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook {NAMESPACE} xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/>'
    "</sheets></workbook>",
    "xl/_rels/workbook.xml.rels": f'{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2"'
    f' Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
}
HEADING = '<row r="1"><c r="A1" t="inlineStr"><is><t>sentence</t></is></c></row>'


def workbook(path: Path, sheet: str, texts: Iterable[bytes] = ()) -> Path:
    """Return a workbook with the XML of these rows and these pieces of its list of texts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in PARTS.items():
            file.writestr(name, text)
        file.writestr("xl/worksheets/sheet1.xml", f"<worksheet {NAMESPACE}><sheetData>{sheet}</sheetData></worksheet>")
        with file.open("xl/sharedStrings.xml", "w") as member:
            member.write(f"<sst {NAMESPACE}>".encode())
            for piece in texts:
                member.write(piece)
            member.write(b"</sst>")
    return path


def cell(place: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>x</t></is></c>'


def refused(path: Path, out: Path) -> str:
    """Return the sentence with which the reader itself refuses a workbook, in this process."""
    with pytest.raises(BadFile) as raised:
        excel.write_rows(str(path), path.name, str(out))
    return str(raised.value)


def test_a_workbook_is_read_once_in_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path / "t.xlsx", HEADING + f'<row r="3">{cell("A3")}{cell("C3")}</row>')
    sys.modules.pop("openpyxl", None)
    assert list(excel.cells(path, "t.xlsx")) == [(1, ["sentence"]), (3, ["x", "", "x"])]
    assert "openpyxl" not in sys.modules
    monkeypatch.setattr(sandbox, "run_bounded", lambda *_, **__: pytest.fail("read again"))
    assert [row.line for row in rows(open_source(path))] == [3]


def test_a_row_far_below_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "MOST_ROWS", 1_000)  # 126 s and 1.8 kB for a hundred million
    path = workbook(tmp_path / "far.xlsx", HEADING + f'<row r="99999999">{cell("A99999999")}</row>')
    assert refused(path, tmp_path / "out") == "far.xlsx has more than 1,000 rows; split it."


def test_a_cell_far_to_the_right_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "wide.xlsx", HEADING + f'<row r="2">{cell("XFD2")}</row>')
    assert refused(path, tmp_path / "out") == "wide.xlsx has more than 5,000 columns."


def test_texts_that_unpack_beyond_the_limit_are_refused_unread(tmp_path: Path) -> None:
    piece = b"<si><t>a</t></si>" * 60_000
    path = workbook(tmp_path / "texts.xlsx", HEADING, [piece] * 70)
    with pytest.raises(BadFile, match=r"texts\.xlsx unpacks to more than 200 times its size"):
        open_source(path)


def test_exceeding_time_or_memory_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"a\.xlsx takes more than 1 seconds"):
        sandbox.run_bounded(turn_for_ever, file="a.xlsx", seconds=1)
    with pytest.raises(BadFile, match=r"a\.xlsx takes more than 500 MB of memory"):
        sandbox.run_bounded(take_memory, file="a.xlsx", megabytes=500)
    with pytest.raises(BadFile, match=r"a\.xlsx crashed the process that was reading it \(ZeroDivisionError"):
        sandbox.run_bounded(fail, file="a.xlsx")


def turn_for_ever() -> None:
    end = time.time() + 60
    while time.time() < end:
        pass


def take_memory() -> None:
    bytearray(600 << 20)


def fail() -> None:
    1 / 0  # noqa: B018


def test_an_upload_is_read_in_another_process_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "open_source", lambda *_: pytest.fail("read here"))
    for name in ("a.csv", "a.tsv", "a.json", "a.jsonl", "a.txt"):
        (tmp_path / name).write_bytes(b'{"sentence": "broken' * 2_000)
        read_first_elsewhere(tmp_path / name, name)  # its errors are reported by the reader
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.write(tmp_path / "a.csv", "a.csv")
        file.write(tmp_path / "a.json", "a.json")
    read_first_elsewhere(tmp_path / "a.zip", "a.zip")


def test_a_slow_file_ends_the_reading_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "read_to_end", turn_whatever)
    limited = partial(sandbox.run_bounded, seconds=1)
    monkeypatch.setattr(archives, "run_bounded", limited)
    (tmp_path / "a.csv").write_bytes(b"x")
    with pytest.raises(BadFile, match=r"a\.csv takes more than 1 seconds"):
        read_first_elsewhere(tmp_path / "a.csv", "a.csv")


def turn_whatever(_path: str, _name: str) -> None:
    turn_for_ever()


def test_archives_that_unpack_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.csv", b"A" * (70 << 20))
    with pytest.raises(BadFile, match=r"a\.zip unpacks to more than 200 times"), unpacked(tmp_path / "a.zip", None):
        pass


def test_a_packed_text_is_read_up_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SMALL_BYTES", 3 << 20)
    line = "护士来了。\n".encode()
    with gzip.open(tmp_path / "a.txt.gz", "wb") as file:
        file.write(line * (1 << 18))
    read = Read()
    for _ in passages([tmp_path / "a.txt.gz"], read=read):
        pass
    assert ["unpacks to more than 200 times its size" in problem.text for problem in read.problems] == [True]
