"""A project of comparisons: two texts an item, of two models, and which of them is better."""

from collections.abc import Sequence
from pathlib import Path

from annotations.database.store import Store
from annotations.files.import_items import ImportReport, import_file
from annotations.guideline.comparison import PREFERENCE
from annotations.guideline.scheme import OwnScheme
from annotations.projects.projects import annotators, create_project
from annotations.types import Annotator, Project
from core.files.csv_out import json_line

MODELS = ("quiet-7b", "loud-70b")


def rows_of(number: int) -> list[dict[str, str]]:
    """Rows of a file: every text is another one, and the two models take turns at being first."""
    return [
        {
            "context": f"Question {n}?", "completion": f"Answer {n} one.", "second": f"Answer {n} two.",
            "model": MODELS[n % 2], "second_model": MODELS[1 - n % 2],
        }
        for n in range(1, number + 1)
    ]  # fmt: skip


def imported(store: Store, project: Project, folder: Path, rows: Sequence[dict[str, object]]) -> ImportReport:
    """The report of an import of *rows* as JSON lines."""
    path = folder / "pairs.jsonl"
    path.write_text("".join(map(json_line, rows)), "utf-8")
    return import_file(store, project, path)


def compared_project(
    store: Store,
    folder: Path,
    number: int = 4,
    *,
    people: Sequence[str] = ("Ada", "Bo"),
    scheme: OwnScheme = PREFERENCE,
    name: str = "pairs",
    **fields: object,
) -> tuple[Project, list[Annotator]]:
    """A project of comparisons with its annotators."""
    own = {"choices": scheme.choices, "reasons": scheme.flags, "scheme": scheme.more}
    made = create_project(
        store, name, kind="generations", language="en", annotators=people, **{"per_item": len(people), **own, **fields},
    )  # fmt: skip
    if number:
        imported(store, made, folder, rows_of(number))
    return made, annotators(store, made)
