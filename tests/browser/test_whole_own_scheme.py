"""A rehearsal: a scheme from a file, two annotators at the desk and over HTTP, adjudication, files, a package, back."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.adjudication.decisions import case, cases, decide_case
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.projects import project
from tests.support.browser import Server
from tests.support.desk_by_http import HttpDesk
from tests.support.desk_driver import Opener
from tests.support.own_schemes import DATA, QUESTIONS
from tests.support.terminal import answered

pytestmark = [pytest.mark.browser, pytest.mark.rehearsal]

PROJECT = "answers"
TEXTS = 20
KEYS = {"helpful": "1", "neither": "3"}


def truth(n: int) -> tuple[str, list[str], int]:
    """Return choice, flags and fluency of the nth answer."""
    return ("helpful", "harmful", "neither")[n % 3], ["stereotype"] if n % 4 == 0 else [], 1 + n % 5


def begin(database: Path, folder: Path) -> None:
    (folder / "scheme.json").write_text(json.dumps(DATA | {"questions": QUESTIONS}), encoding="utf-8")
    made = ["project", "create", PROJECT, "--kind", "generations", "--language", "en", "--annotators", "Ada,Bo"]
    answered(*made, "--per-item", "2", "--scheme", folder / "scheme.json", "--db", database)
    lines = [
        {"context": f"Question {n}?", "completion": f" Answer {n} says fools do it.", "model": "m"}
        for n in range(TEXTS)
    ]
    (folder / "made.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert answered("import", PROJECT, folder / "made.jsonl", "--db", database)["imported"] == TEXTS


def number(text: str) -> int:
    return int(text.split()[1])


def at_the_desk(desks: Opener) -> None:
    """Let Ada label by keys: flag, fluency, then the choice, which may wait for its span."""
    desk = desks(PROJECT, "Ada").open()
    for _ in range(TEXTS):
        choice, flags, fluency = truth(number(desk.text.text_content() or ""))
        desk.press(*(["s"] if flags else []), "q", str(fluency))
        if choice == "harmful":
            desk.press("2", "f", "Space")
            desk.decide("Enter")
        else:
            desk.decide(KEYS[choice])
    desk.settle()


def over_http(server: Server, request: pytest.FixtureRequest) -> None:
    """Let Bo label equally, except every fifth answer a choice and a point apart."""
    desk = HttpDesk(server, PROJECT, "Bo", TEXTS)
    request.addfinalizer(desk.close)
    desk.fetch()
    while desk.item is not None:
        n = number(str(desk.text))
        choice, flags, fluency = truth(n)
        if n % 5 == 0:
            choice, fluency = "neither" if choice == "helpful" else "helpful", min(5, fluency + 1)
        start = str(desk.text).index("fools")
        spans = [[start, start + 5, "slur"]] if choice == "harmful" else []
        desk.decide(choice, form="original", reasons=[*flags, f"fluency:{fluency}"], spans=spans, note="so it seems")
    desk.settle()


def state(database: Path) -> Any:
    with Store.open(database) as store:
        stored = project(store, PROJECT)
        keys = ("item", "annotator", "choice", "reasons", "spans", "note", "op_id", "created")
        labels = sorted(str([row[key] for key in keys]) for row in label_rows(store, stored, which="all"))
        gold = store.db.execute("SELECT uid, gold, status FROM item ORDER BY uid").fetchall()
        assert verify(store).entries > 0
        return labels, gold


def test_an_own_scheme_from_file_to_gold_and_a_restored_package(
    own_desks: Opener, own_server: Server, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    database = own_server.database
    begin(database, tmp_path)
    at_the_desk(own_desks)
    over_http(own_server, request)
    agreed = answered("agreement", PROJECT, "--db", database)
    assert agreed["percent"]["value"] == pytest.approx(16 / 20)
    assert {"four", "flag:stereotype", "scale:fluency"} <= agreed["ways"].keys()
    assert agreed["ways"]["flag:stereotype"]["percent"]["value"] == 1.0
    assert agreed["marks"]["slur"]["same_marks"] > 0
    with Store.open(database) as store:
        stored = project(store, PROJECT)
        waiting = cases(store, stored)
        assert len(waiting) == 4
        for uid in waiting:
            seen = case(store, stored, uid).seen
            decide_case(
                store, stored, uid, adjudicator="Dee", choice="neither", seen=seen, reasons=("fluency:3",),
                why="Read again.",
            )  # fmt: skip
        assert cases(store, stored) == []
    secret = {"EVENHAND_PASSWORD": "a rehearsal only"}
    answered("export", PROJECT, tmp_path / "wide.csv", "--format", "labels-wide", "--names", "--db", database)
    rows = list(csv.DictReader((tmp_path / "wide.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == TEXTS and all(row["gold"] for row in rows)
    assert all(1 <= int(row["answer_fluency_Ada"]) <= 5 for row in rows)
    answered("export", PROJECT, tmp_path / "set.zip", "--format", "package", "--names", "--db", database, **secret)
    answered("import", PROJECT, tmp_path / "set.zip", "--db", tmp_path / "empty.db", **secret)
    assert state(tmp_path / "empty.db") == state(database)
    shown = answered("guideline", "show", PROJECT, "--db", tmp_path / "empty.db")
    assert shown["scheme"]["questions"] == QUESTIONS and shown["scheme"]["choices"] == DATA["choices"]
