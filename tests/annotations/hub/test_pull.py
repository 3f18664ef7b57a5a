"""Data sets and Argilla projects from a hub that runs here, through the client of huggingface_hub."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.hub.pull import Wanted, pull
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import project
from evenhand.core.errors import BadFile, EvenhandError, NotAllowed, NotFound, Refused
from evenhand.core.files import sandbox
from tests.support.hub_server import TOKEN, Hub
from tests.support.terminal import answered, typed

ROWS = [{"text": "他把雨伞借给了同事。", "id": 1}, {"text": "那位女孩在操场上跑步。", "id": 2}]
ADA, BO = "0e0f1c6a-0000-4000-8000-000000000001", "0e0f1c6a-0000-4000-8000-000000000002"


def parquet(rows: list[dict[str, Any]], features: dict[str, Any] | None = None) -> bytes:
    table = pyarrow.Table.from_pylist(rows)
    if features:
        known = json.dumps({"info": {"features": features}}).encode()
        table = table.replace_schema_metadata({b"huggingface": known})
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def readme(*configs: dict[str, Any]) -> bytes:
    return f"---\nconfigs: {json.dumps(list(configs))}\n---\n# A set\n".encode()


TWO_SPLITS = {"config_name": "default", "data_files": [
    {"split": "train", "path": "data/train-*"}, {"split": "test", "path": "data/test-*"}]}  # fmt: skip
OTHER = {"config_name": "other", "data_files": "extra/*.csv"}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, ["data/train-0.jsonl", "data/train-1.jsonl"]),
        ({"split": "test"}, ["data/test-0.jsonl"]),
        ({"part": "other"}, ["extra/one.csv"]),
        ({"file": "extra/*"}, ["extra/one.csv"]),
        ({"part": "none"}, "has no configuration none. Configurations: default, other"),
        ({"split": "dev"}, "has no split dev. Splits: train, test."),
        ({"file": "*.arrow"}, "has no such configuration, split or file. Files:"),
    ],
)
def test_the_card_decides_which_files_are_read(
    hub: Hub, tmp_path: Path, wanted: dict[str, str], expected: list[str] | str
) -> None:
    files = {f"data/{name}.jsonl": jsonl(ROWS[:1]) for name in ("train-0", "train-1", "test-0")}
    hub.put("team/set", {"README.md": readme(TWO_SPLITS, OTHER), "extra/one.csv": "text\n他走了。\n".encode(), **files})
    if isinstance(expected, str):
        with pytest.raises(NotFound) as error:
            pull(Wanted("team/set", **wanted), tmp_path)
        assert expected in str(error.value)
    else:
        pulled = pull(Wanted("team/set", **wanted), tmp_path)
        assert list(pulled.files) == expected and pulled.commit == hub.repositories["team/set"].head
        assert pulled.path.name.startswith(f"team--set@{pulled.commit[:7]}.") and pulled.path.parent == tmp_path


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("a: &a [x]\nconfigs: *a", "an alias"),
        ("configs: [", "flow node"),
        ("a: " + "x" * 70_000, "64 kB"),
        ("a: " + "[" * 50 + "]" * 50, "levels"),
    ],
)
def test_an_unreadable_card_header_is_refused(hub: Hub, tmp_path: Path, header: str, why: str) -> None:
    card = f"---\n{header}\n---\n# A set\n".encode()
    hub.put("team/set", {"README.md": card, "train.csv": "text\n他走了。\n".encode()})
    with pytest.raises(BadFile, match=rf"README\.md cannot be read as YAML: .*{why}"):
        pull(Wanted("team/set"), tmp_path)
    assert pull(Wanted("team/set", file="train.csv"), tmp_path).files == ("train.csv",)


@pytest.mark.parametrize(
    "rule", ["---\n---\n", "----\na: [\n---\n", "--- # a\n", "no header\n---\n", "---\nno end\n", ""]
)
def test_a_card_without_a_header_is_ignored(hub: Hub, tmp_path: Path, rule: str) -> None:
    hub.put("team/set", {"README.md": rule.encode(), "train.csv": "text\n他走了。\n".encode()})
    assert pull(Wanted("team/set"), tmp_path).files == ("train.csv",)


def test_names_of_splits_are_read_as_strings(hub: Hub, tmp_path: Path) -> None:
    odd = [{"split": [["x"]], "path": "a.csv"}, {"split": "test", "path": ["b.csv", 7]}, {"split": {"a": 1}}]
    card = readme({"config_name": ["default"], "data_files": odd})
    hub.put("team/set", {"README.md": card, "a.csv": b"text\nx\n", "b.csv": b"text\nx\n"})
    assert pull(Wanted("team/set"), tmp_path).files == ("b.csv",)
    with pytest.raises(NotFound, match=r"Splits: test\.$"):
        pull(Wanted("team/set", split="dev"), tmp_path)


@pytest.mark.parametrize(
    ("names", "split", "expected"),
    [
        (["test.csv", "train.csv"], None, "train.csv"),
        (["validation-00000-of-00001.csv"], None, "validation-00000-of-00001.csv"),
        (["a.csv", "notes.md"], None, "a.csv"),
        (["a.csv", "b.csv"], None, "contains several tables. Choose one:"),
        (["train.csv"], "test", "has no such configuration, split or file. Files:"),
        (["notes.md", ".hidden.csv"], None, "has no such configuration, split or file. Files:"),
    ],
)
def test_without_a_card_splits_are_read_from_file_names(
    hub: Hub, tmp_path: Path, names: list[str], split: str | None, expected: str
) -> None:
    hub.put("team/set", dict.fromkeys(names, "text\n他走了。\n".encode()))
    try:
        result = pull(Wanted("team/set", split=split), tmp_path).files[0]
    except (NotFound, Refused) as error:
        result = str(error)
    assert expected in result


def test_parquet_of_the_datasets_library_is_read(hub: Hub, tmp_path: Path) -> None:
    rows = [row | {"label": n, "score": float("nan"), "picture": b"1"} for n, row in enumerate(ROWS)]
    features = {"label": {"names": ["keep", "drop"], "_type": "ClassLabel"}, "text": {"_type": "Value"}}
    hub.put("team/set", {"data/train-00000-of-00001.parquet": parquet(rows, features)})
    pulled = pull(Wanted("team/set"), tmp_path)
    results = [json.loads(line) for line in pulled.path.read_text(encoding="utf-8").splitlines()]
    assert [(row["text"], row["label"], row["score"], row["picture"]) for row in results] == [
        (ROWS[0]["text"], "keep", None, None), (ROWS[1]["text"], "drop", None, None)]  # fmt: skip


@pytest.fixture(params=[False, True], ids=["command", "server"])
def reader(request: pytest.FixtureRequest) -> Iterator[None]:
    """Read in the process, as a command does, and in a child, as a server does."""
    sandbox.read_in_children(request.param)
    yield
    sandbox.read_in_children(False)


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("beside", [{}, {"train.csv": b"text\n"}], ids=["alone", "in an archive"])
def test_parquet_that_unfolds_to_gigabytes_is_refused(hub: Hub, tmp_path: Path, beside: dict[str, bytes]) -> None:
    """A column that repeats one value is stored once: here 4,000 texts of 10,000 characters in a few kilobytes."""
    packed = parquet([{"text": "他" * 10_000}] * 4_000)
    assert len(packed) < 20_000
    hub.put("team/bomb", {"train.parquet": packed, **beside})
    with pytest.raises(BadFile, match="unpacks to more than 200 times its size"):
        pull(Wanted("team/bomb", file="train*"), tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 100_000_000


@pytest.mark.usefixtures("reader")
def test_several_files_of_parquet_are_one_table(hub: Hub, tmp_path: Path) -> None:
    hub.put("team/set", {f"data/train-{n}.parquet": parquet([row]) for n, row in enumerate(ROWS)})
    pulled = pull(Wanted("team/set"), tmp_path)
    assert [json.loads(line) for line in pulled.path.read_text(encoding="utf-8").splitlines()] == ROWS


def test_a_pulled_set_becomes_items(hub: Hub, tmp_path: Path) -> None:
    hub.put("team/set", {"data/train.jsonl": jsonl(ROWS)})
    db = tmp_path / "e.db"
    done = answered("hub", "pull", "new", "team/set", "--db", db)
    assert (done["imported"], done["rejected"]) == (2, 0)
    with Store.open(db) as store:
        rows = items(store, project(store, "new"))
        assert [item.text for item in rows] == [row["text"] for row in ROWS]
        assert all(item.file.startswith("team--set@") for item in rows)
    assert answered("hub", "pull", "new", "team/set", "--db", db)["duplicates"] == 2


def argilla_rows() -> list[dict[str, Any]]:
    """Return flat rows as `argilla.Dataset.to_hub` (2.8) writes them, equal to those of test_argilla_read.py."""
    return [
        {"id": "r1", "status": "completed", "_server_id": "s1", "sentence": ROWS[0]["text"],
         "neutral.responses": ["accept", "reject"], "neutral.responses.users": [ADA, BO],
         "neutral.responses.status": ["submitted", "submitted"], "why.responses": ["a comment"],
         "why.responses.users": [BO], "why.responses.status": ["submitted"],
         "neutral.suggestion": "accept", "neutral.suggestion.agent": "m", "neutral.suggestion.score": None},
        {"id": "r2", "status": "pending", "_server_id": "s2", "sentence": ROWS[1]["text"],
         "neutral.responses": ["accept", "accept"], "neutral.responses.users": [ADA, BO],
         "neutral.responses.status": ["draft", "discarded"], "why.responses": None,
         "why.responses.users": None, "why.responses.status": None,
         "neutral.suggestion": None, "neutral.suggestion.agent": None, "neutral.suggestion.score": None},
    ]  # fmt: skip


def test_an_argilla_project_is_pulled_with_its_answers(hub: Hub, tmp_path: Path) -> None:
    questions = [
        {"name": "neutral", "settings": {"type": "label_selection"}},
        {"name": "why", "settings": {"type": "text"}},
    ]
    hub.put("team/argilla", {
        "data/train-00000-of-00001.parquet": parquet(argilla_rows()),
        ".argilla/settings.json": json.dumps({"questions": questions, "fields": [{"name": "sentence"}]}).encode(),
        ".argilla/dataset.json": b"{}", "README.md": b"---\ntags: [argilla]\n---\n",
    })  # fmt: skip
    db = tmp_path / "e.db"
    people = ("--annotator", f"{ADA}=Ada", "--annotator", f"{BO}=Bo")
    done = answered("hub", "pull", "moved", "team/argilla", *people, "--db", db)
    assert (done["imported"], done["labels"]["imported"], done["predictions"]) == (2, 2, 1)
    assert (done["drafts"], done["skipped"]) == (1, 1)
    with Store.open(db) as store:
        rows = label_rows(store, project(store, "moved"), which="latest")
        assert sorted((row["annotator"], row["choice"], row["note"]) for row in rows) == [
            ("Ada", "accept", ""), ("Bo", "reject", "a comment")]  # fmt: skip
        assert {row["program"] for row in rows} == {"Argilla"}


@pytest.mark.parametrize(
    ("case", "kind", "words"),
    [
        ("team/none", NotFound, "There is no data set team/none"),
        ("team/set@v9", NotFound, "no such revision"),
        ("team/gated", NotAllowed, "is gated. Accept its terms at"),
        ("team/large", Refused, "more than"),
        ("team/broken", EvenhandError, "is not a readable Parquet file."),
    ],
)
def test_missing_gated_and_damaged_sets_are_refused(
    hub: Hub, tmp_path: Path, case: str, kind: type[EvenhandError], words: str
) -> None:
    hub.put("team/set", {"train.csv": b"text\n"})
    hub.put("team/gated", {"train.csv": b"text\n"}, gated="manual")
    hub.put("team/large", {"train.csv": b"text\n" * 200})
    hub.put("team/broken", {"train.parquet": b"PAR1"})
    name, _, revision = case.partition("@")
    with pytest.raises(kind) as error:
        pull(Wanted(name, revision or None), tmp_path, most_bytes=999)
    assert words in str(error.value)


def test_the_command_pulls_and_pushes(hub: Hub, tmp_path: Path) -> None:
    db = tmp_path / "e.db"
    assert typed("demo", "--db", db).code == 0
    name = "示例 · Demo"
    made = answered(
        "release", name, "1.0", "--licence", "MIT", "--source", "Own sentences.", "--reason", "A test.", "--db", db
    )
    done = answered("hub", "push", name, "1.0", "team/demo", "--gated", "auto", "--db", db, HF_TOKEN=TOKEN)
    there = hub.repositories["team/demo"]
    assert done["commit"] == there.head and there.settings["gated"] == "auto"
    back = answered("hub", "pull", "back", "team/demo", "--revision", "1.0", "--db", db, HF_TOKEN=TOKEN)
    assert back["imported"] == made["items"] and back["rejected"] == 0
