"""A project of candidates that were mined here, in two runs."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.mining.candidates import add_candidates
from evenhand.annotations.projects.projects import annotators, change_project, create_project
from evenhand.annotations.types import Project
from tests.support.released_project import label

TEXT = "昨天他修好了水泵。他和她都在。院子里她在晒被子。明天他要去看看新机器。她写完了那份报告。没有人在家。"


def mined(folder: Path, text: str, name: str = "candidates") -> tuple[Path, Any]:
    """Return a candidates file as the command writes it, and its output."""
    source, out = folder / f"{name}.txt", folder / f"{name}.jsonl"
    source.write_text(text, encoding="utf-8")
    arguments = ["mine", str(source), "--out", str(out), "--length", "2-119", "--names", "off", "--json"]
    answer = CliRunner().invoke(cli, arguments)
    assert answer.exit_code == 0, answer.output
    return out, json.loads(answer.stdout)


def mined_project(store: Store, folder: Path) -> Project:
    """Return a project with the candidates of two runs, all accepted by its one annotator."""
    project = create_project(store, "mined", annotators=["Ada"], per_item=1)
    for name, text in (("first", TEXT), ("second", "后来她去了北京。他今天没有来。")):
        add_candidates(store, project, mined(folder, text, name)[0])
    for item in items(store, project):
        label(store, project, annotators(store, project)[0], item.uid, "accept")
    return change_project(store, project, licence="CC0", source_statement="Own.")
