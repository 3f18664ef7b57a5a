"""What people upload to any page, built to take long or much: each reader ends soon, in a process of its own."""

import ast
import gzip
import os
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from evenhand.annotations.describe.file_description import describe_file
from evenhand.annotations.files.scoring_input import file_input
from evenhand.annotations.guideline.import_schemes import read_any_scheme
from evenhand.core.association.sets import Choices, association_set
from evenhand.core.concordance import question
from evenhand.core.concordance.passages import lines_of_files, look_up_files
from evenhand.core.errors import BadFile, BadLine, EvenhandError
from evenhand.core.files import sandbox
from evenhand.core.files.archives import NeedsPassword, read_first_elsewhere, unpacked
from evenhand.core.files.readers import open_source, rows
from evenhand.core.generation.inputs import open_contexts
from evenhand.core.mining.keyword_lists import read_pairs
from evenhand.core.misgendering.verdict_table import read_verdicts
from evenhand.core.model_bias.score_files import read_scores
from evenhand.core.nli.files import measured_file, read_probes
from evenhand.core.sentence_bias.keyword_packs import read_words
from evenhand.core.swap.files import swap_file
from evenhand.core.swap.word_tables import word_table

ROOT = Path(__file__).resolve().parents[2]
SECONDS, MEGABYTES = 30, 1_000
ASKED = question("护士", ["他", "她"])
NOT_BY_A_PAGE = {  # a page calls none of these itself on a file that a user uploaded
    "read_pairs", "read_words", "read_word_pairs", "words_in", "word_pairs_of", "word_pairs_in", "open_contexts",
    "swap_file", "describe_file", "passages", "load_workbook", "ZipFile", "scheme_from_bytes",
}  # fmt: skip


def read_rows(path: Path) -> None:
    """Read all rows, as imports, known answers and lists of probes do."""
    for _ in rows(open_source(path)):
        pass


def read_archive(path: Path) -> None:
    with unpacked(path, None) as members:
        for member in members:
            read_rows(member.path)


def read_lists(path: Path) -> None:
    association_set("en", Choices(templates=path))


def swap(path: Path) -> None:
    with TemporaryDirectory() as folder:
        swap_file(path, Path(folder) / "out.txt", word_table("zh"))


def look_up(path: Path) -> None:
    look_up_files([path], ASKED)
    lines_of_files([path], ASKED)


def read_sentences(path: Path) -> None:
    for _ in file_input(path).items():
        pass


def probes(path: Path) -> None:
    read_probes([str(path)], "en")


def predictions(path: Path) -> None:
    measured_file([str(path)])


READERS: tuple[Callable[[Path], object], ...] = (
    read_rows, read_lists, swap, look_up, read_sentences, probes, predictions, describe_file, read_verdicts,
    read_scores, read_pairs, read_words, open_contexts, read_any_scheme,
)  # fmt: skip
HALF = 100_000
BOMBS: dict[str, str] = {
    "comments.html": "<!--" * 30_000,
    "scripts.html": "<script " * 15_000,
    "comments.txt": "<!--" * 30_000,
    "dots.txt": "." * HALF,
    "dots and letters.txt": "a." * (HALF // 2),
    "marks.txt": "他" * HALF,
    "many lines.txt": "他\n" * HALF,
    "columns.csv": ",".join(f"c{n}" for n in range(30_000)) + "\n" + "x," * 29_999 + "x\n",
    "one column.csv": "sentence\n" + '"' + "x" * HALF + "\n" * 30_000,
    "quotes.csv": "sentence,a\n" + '""' * HALF,
    "tabs.tsv": "male\tfemale\n" + "a\t" * HALF,
    "brackets.json": "[" * HALF,
    "keys.jsonl": '{"sentence": "x", ' + ", ".join(f'"k{n}": 1' for n in range(20_000)) + "}\n",
    "aliases.yaml": "a: &a [x, x]\nb: &b [*a, *a]\nchoices: [*b, *b]\n",
    "entities.xml": '<!DOCTYPE v [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><View>&b;</View>',
    "elements.xml": "<View>" * 20_000,
    "digits.json": '[{"sentence": ' + "9" * HALF + "}]",
}


def bomb(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(BOMBS[name], encoding="utf-8")
    return path


def ends_soon(read: Callable[[Path], object], path: Path) -> None:
    """Check that reading ends within the limits, with a result or a sentence about the file."""
    begun = time.monotonic()
    try:
        sandbox.run_bounded(read, path, file=path.name, seconds=SECONDS, megabytes=MEGABYTES)
    except EvenhandError as error:
        assert error.message not in (sandbox.TOO_LONG, sandbox.TOO_MUCH, sandbox.ENDED), str(error)
    assert time.monotonic() - begun < SECONDS


def test_a_bomb_is_refused_by_the_reader_it_targets(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="30,000 columns"):
        sandbox.run_bounded(open_source, bomb(tmp_path, "columns.csv"), file="a.csv", seconds=SECONDS)
    result = sandbox.run_bounded(look_up_files, [bomb(tmp_path, "comments.html")], ASKED, file="a", seconds=SECONDS)
    assert result.occurrences == 0


@pytest.mark.long
@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@pytest.mark.parametrize("name", BOMBS)
def test_each_bomb_ends_soon_in_each_reader(tmp_path: Path, name: str, read: Callable[[Path], object]) -> None:
    ends_soon(read, bomb(tmp_path, name))


@pytest.mark.long
@pytest.mark.parametrize("read", [look_up, swap, read_rows], ids=lambda read: read.__name__)
def test_files_that_unpack_to_much_end_soon_in_each_reader(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with gzip.open(tmp_path / "a.txt.gz", "wb") as file:
        for _ in range(100):
            file.write(b"\0" * (10 << 20))
    ends_soon(read, tmp_path / "a.txt.gz")
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.csv", "w") as part:
        for _ in range(100):
            part.write(b"A" * (1 << 20))
    ends_soon(read_archive, tmp_path / "a.zip")


@pytest.fixture
def in_children() -> Iterator[None]:
    sandbox.read_in_children()
    yield
    sandbox.read_in_children(False)


def test_the_server_reads_rows_in_another_process(tmp_path: Path, in_children: None) -> None:
    path = tmp_path / "a.csv"
    lines = [f"他在河边散步{n}。,{n}" for n in range(1_000)]
    path.write_text("\n".join(["sentence,n", *lines, "a,b,c", "d,e"]), encoding="utf-8")
    results = list(rows(open_source(path)))
    sandbox.read_in_children(False)
    own = list(rows(open_source(path)))
    shown = [[(row.line, row.values, row.cells, str(row.problem)) for row in several] for several in (results, own)]
    assert shown[0] == shown[1] and len(own) == 1_002
    broken = [row.problem for row in results if row.problem]
    assert [(type(entry), entry.line, str(entry)) for entry in broken] == [
        (BadLine, 1002, "3 cells, but the header has 2.")
    ]
    assert sandbox.run_bounded(os.getpid, file="a.csv") != os.getpid()


def test_the_server_reports_a_late_broken_line(tmp_path: Path, in_children: None) -> None:
    (tmp_path / "a.jsonl").write_text('{"sentence": "他来了。"}\n' * 500 + "broken\n", encoding="utf-8")
    results = []
    with pytest.raises(BadFile, match=r"a\.jsonl, line 501 is not JSON"):
        for row in rows(open_source(tmp_path / "a.jsonl")):
            results.append(row.line)
    assert results[-1] >= 400


def test_dropping_the_rows_ends_the_reading_process(tmp_path: Path, in_children: None) -> None:
    (tmp_path / "a.txt").write_text("他来了。\n" * 400_000, encoding="utf-8")
    begun = time.monotonic()
    some = rows(open_source(tmp_path / "a.txt"))
    assert next(some).line == 1
    some.close()
    assert time.monotonic() - begun < 10


def test_an_encrypted_archive_is_unpacked_in_another_process(
    tmp_path: Path, in_children: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyzipper

    with pyzipper.AESZipFile(tmp_path / "a.zip", "w", encryption=pyzipper.WZ_AES) as archive:
        archive.setpassword(b"a password")
        archive.writestr("a.csv", "sentence\n他来了。\n")
    monkeypatch.setattr(pyzipper, "AESZipFile", lambda *_: pytest.fail("opened here"))
    with pytest.raises(NeedsPassword), unpacked(tmp_path / "a.zip", None):
        pass
    with unpacked(tmp_path / "a.zip", "a password") as members:
        assert [member.path.read_text(encoding="utf-8") for member in members] == ["sentence\n他来了。\n"]
    read_first_elsewhere(tmp_path / "a.zip", "a.zip")  # before the user has given the password


def test_a_killed_reading_process_is_started_again() -> None:
    first = sandbox.run_bounded(os.getpid, file="a")
    waiting = sandbox._waiting[0][0]
    waiting.kill()
    waiting.wait()
    assert sandbox.run_bounded(os.getpid, file="a") != first


@pytest.mark.scan
def test_pages_read_uploads_only_in_another_process() -> None:
    """A page gives these functions to `run_bounded`; tables and archives are read in children by themselves."""
    called = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and (node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")) in NOT_BY_A_PAGE
    }
    assert called == set()
