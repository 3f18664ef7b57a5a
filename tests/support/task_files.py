"""Files of tasks as other tools write them, and their import."""

import json
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import Columns, task_format
from evenhand.annotations.files.import_items import examine_tables, tables_in
from evenhand.annotations.files.other_tools.import_tasks import Names, TaskImport, import_tasks
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.types import Project
from evenhand.core.files.readers import open_source

SAME = ("item", "annotator", "choice", "reasons", "extraneous", "spans", "note", "seconds", "guideline", "after_reveal",
        "form_shown", "text", "op_id", "desk", "revision", "created")  # fmt: skip


def bring(
    store: Store, project: Project, path: Path, names: Names | None = None, *, known: bool = False, format: str = "auto"
) -> TaskImport:
    """Import a file as the page and the command do."""
    with tables_in(path) as members:
        chosen = task_format(open_source(members[0].path, members[0].name)) if format == "auto" else format
        assert chosen is not None, "not known as a file of tasks"
        wished = Columns() if project.kind == "generations" else None
        files = examine_tables(members, format=chosen, wished=wished)
        return import_tasks(store, project, files, names or Names(), file=path.name, known=known)


def written(path: Path, content: Any, *, lines: bool = False) -> Path:
    text = "\n".join(json.dumps(task, ensure_ascii=False) for task in content) if lines else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def said(store: Store, project: Project) -> list[tuple[str, str, str | None]]:
    return sorted((row["text"], row["annotator"], row["choice"]) for row in label_rows(store, project, which="latest"))


def task(text: str, *annotations: dict[str, Any], **data: Any) -> dict[str, Any]:
    return {"id": 7, "data": {"text": text, **data}, "annotations": list(annotations), "predictions": []}


def chosen(*names: str, **more: Any) -> dict[str, Any]:
    result = [{"id": "a", "from_name": "c", "to_name": "text", "type": "choices", "value": {"choices": list(names)}}]
    return {"id": 1, "result": result, "completed_by": 3, "was_cancelled": False, "ground_truth": False,
            "created_at": "2024-03-01T09:30:00.000000Z", "lead_time": 4.25} | more  # fmt: skip


HE, SHE = "他把雨伞忘在车上了。", "她在阳台上晾衣服。"


def rows_of(store: Store, project: Project) -> list[dict[str, Any]]:
    results = [{key: row[key] for key in SAME} for row in label_rows(store, project, which="latest")]
    return sorted(results, key=lambda row: (row["item"], row["annotator"]))
