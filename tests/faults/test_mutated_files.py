"""Files damaged at random: an import accepts them or reports one sentence, and stores nothing of refused ones."""

import io
import json
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import create_project
from evenhand.annotations.queue.leases import claim
from evenhand.core.errors import EvenhandError
from tests.support.projects import broken_rules, decide, filled_project

ODD: list[Any] = [
    None, True, -1, 2**64, 1e308, "", "\0", "\u202e他", "\ud800", "A" * 5_000, [], {}, [[]], {"a": {"b": {}}}, "=1+1",
    "<script>", "../../etc/passwd", "%s{0}{why}", "a\r\nb", "2024-13-45T99:99:99Z",
]  # fmt: skip
PIECES = [
    b"\0", b"\xff\xfe", b"\xed\xa0\x80", b'"', b",", b"\t", b"\r", b"\n", b"\\", b"\\ud800", b"NaN", b"1e999",
    b"9" * 400, b"[" * 600, b'{"a":' * 200, b"}", b"\xef\xbb\xbf", b"\x1a", b"A" * 200_000, b'""""', b"=cmd|' /C'!A0",
]  # fmt: skip
Mutator = Callable[[bytes, random.Random], bytes]


def bytes_changed(data: bytes, draw: random.Random) -> bytes:
    result = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 4, 12])):
        place = draw.randrange(len(result)) if result else 0
        match draw.randrange(5):
            case 0:
                result[place : place + 1] = bytes([draw.randrange(256)])
            case 1:
                result[place:place] = draw.choice(PIECES)
            case 2:
                del result[place : place + draw.choice([1, 7, 100])]
            case 3:
                del result[place:]
            case _:
                result[place : place + 3] = draw.choice(PIECES)
    return bytes(result)


def value_changed(value: Any, draw: random.Random) -> Any:
    """Return *value* with an odd value at one place."""
    if draw.random() < 0.2 or not isinstance(value, dict | list) or not value:
        return draw.choice(ODD)
    if isinstance(value, list):
        place = draw.randrange(len(value))
        return [value_changed(entry, draw) if n == place else entry for n, entry in enumerate(value)]
    key = draw.choice(list(value))
    if draw.random() < 0.15:
        return {name: entry for name, entry in value.items() if name != key}
    return {name: value_changed(entry, draw) if name == key else entry for name, entry in value.items()}


def lines_changed(data: bytes, draw: random.Random) -> bytes:
    """Return JSON lines, or one JSON, with odd values; now and then bytes."""
    if draw.random() < 0.2:
        return bytes_changed(data, draw)
    lines = data.decode().splitlines() if data.count(b"\n") > 1 else [data.decode()]
    place = draw.randrange(len(lines))
    try:
        lines[place] = json.dumps(value_changed(json.loads(lines[place]), draw))
    except ValueError:
        return bytes_changed(data, draw)
    return ("\n".join(lines) + "\n").encode()


def archive_changed(data: bytes, draw: random.Random) -> bytes:
    """Return the archive with one member changed, missing or renamed; now and then damaged as a whole."""
    if draw.random() < 0.15:
        return bytes_changed(data, draw)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        names = source.namelist()
        chosen = draw.choice(names)
        for name in names:
            content = source.read(name)
            if name == chosen and draw.random() < 0.1:
                continue
            if name == chosen:
                change = lines_changed if name.endswith(("json", "jsonl")) else bytes_changed
                content = change(content, draw)
            target.writestr(name, content)
    return out.getvalue()


KINDS: dict[str, tuple[Mutator, str]] = {
    "slguset.csv": (bytes_changed, "there"),
    "labels.csv": (bytes_changed, "there"),
    "items.jsonl": (lines_changed, "there"),
    "tasks.json": (lines_changed, "there"),
    "doccano.zip": (archive_changed, "there"),
    "package.zip": (archive_changed, "new"),
    "text.txt": (bytes_changed, "there"),
    "table.tsv": (bytes_changed, "there"),
}
FORMATS = {
    "slguset.csv": "slguset", "labels.csv": "labels", "items.jsonl": "jsonl", "tasks.json": "label-studio",
    "doccano.zip": "doccano", "package.zip": "package",
}  # fmt: skip


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a database with labels, one with an empty project, and each kind of file exported from the first."""
    folder = tmp_path_factory.mktemp("seeds")
    with Store.open(folder / "full.db") as store:
        project, people = filled_project(store, 12)
        for person in people:
            for item in claim(store, project, person, want=8):
                store_operations(store, project, person, [decide(item, "accept" if item.uid < "8" else "reject")])
        for name, format in FORMATS.items():
            export_file(store, project, folder / name, format=format)
    texts = [f"第{n}天，{word}在河边散步。" for n, word in enumerate(("他", "她", "爸爸", "妈妈") * 3)]
    (folder / "text.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    rows = "".join(f"{text}\tbook {n}\n" for n, text in enumerate(texts))
    (folder / "table.tsv").write_text(f"sentence\tsource\n{rows}", encoding="utf-8")
    with Store.open(folder / "there.db") as store:
        create_project(store, "there", annotators=("Ada", "Bo", "Chen"))
    return folder


def rows_of(path: Path) -> dict[str, list[str]]:
    """Return every row of every table, sorted."""
    with Store.open(path) as store:
        tables = [name for (name,) in store.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(map(repr, store.db.execute(f"SELECT * FROM {name}"))) for name in tables}


def check(seeds: Path, folder: Path, kind: str, number: int) -> None:
    """Import one damaged file of a kind into a copy of the database."""
    mutate, project = KINDS[kind]
    path, database = folder / kind, folder / "case.db"
    path.write_bytes(mutate((seeds / kind).read_bytes(), random.Random(f"{kind}{number}")))
    shutil.copy(seeds / "there.db", database)
    before = rows_of(database)
    words = ["import", project, str(path), "--db", str(database), "--json"]
    if kind in ("tasks.json", "doccano.zip"):
        words += ["--format", FORMATS[kind]]
    ended = CliRunner().invoke(cli, words)
    for ending in ("-wal", "-shm"):
        assert not Path(f"{database}{ending}").exists()
    error = ended.exception
    assert error is None or isinstance(error, EvenhandError | SystemExit), f"{kind} {number}: {error!r}"
    if isinstance(error, EvenhandError):
        assert rows_of(database) == before, f"{kind} {number}: {error}"
    assert [file.name for file in folder.glob(".*")] == []
    with Store.open(database) as store:
        assert broken_rules(store) == [], f"{kind} {number}"
    for left in folder.iterdir():
        left.unlink()


@pytest.mark.parametrize("kind", KINDS)
def test_some_damaged_files_are_imported_or_refused(kind: str, seeds: Path, tmp_path: Path) -> None:
    for number in range(10 if kind == "package.zip" else 3):
        check(seeds, tmp_path, kind, number)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_damaged_files_are_imported_or_refused(kind: str, seeds: Path, tmp_path: Path) -> None:
    for number in range(1_000):
        check(seeds, tmp_path, kind, number)
