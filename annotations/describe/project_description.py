"""Statistics of the accepted items of a project, or of all its items (core.describe)."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal

from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.types import Project
from evenhand.core.describe.as_json import as_json
from evenhand.core.describe.description import Description, Text, described
from evenhand.core.describe.vocabulary import Vocabulary, vocabulary
from evenhand.core.files.display_paths import Places, short_path
from evenhand.core.models.catalogue import BUILTIN

Items = Literal["accepted", "all"]

# Only the columns that are counted: building items would take three times as long at 100,000.
TEXTS = """
SELECT item.text, cell.pair, cell.side, item.start, item.stop, item.file, item.line, item.extra, item.context
FROM item JOIN published_batch AS batch ON batch.id = item.batch JOIN cell ON cell.id = item.cell
WHERE batch.project = ? {kept}
ORDER BY batch.published, item.id
"""
AT_ONCE = 5_000  # rows that are held in addition to the texts
SOURCE_COLUMNS = frozenset(("来源", "出处", "source_name", "corpus", "dataset"))
DATE_COLUMNS = frozenset(("date", "日期", "时间", "年份", "published", "year"))


def usual_items(store: Store, project: Project) -> Items:
    """Return the default set: the kept items if there are any, else all, as in an import without labels."""
    return "accepted" if counts(store, project).accepted else "all"


def usual_vocabulary(language: str) -> str:
    """Return the built-in model whose vocabulary is used for a language; the Chinese one for other languages."""
    fitting = (name for name, builtin in BUILTIN.items() if builtin.language == language and name != "known")
    return next(fitting, "demo-zh")


@consistent_read
def describe_items(
    store: Store, project: Project, *, items: Items | None = None, words: Vocabulary | None = None
) -> Description:
    """Describe the items of a project; `items` None: `usual_items`. Reads every item once: 100,000 take a second."""
    chosen = items or usual_items(store, project)
    cells = counts(store, project).cells
    met = Counter(cell.pair for cell in cells if cell.quota is not None and cell.side and cell.accepted >= cell.quota)
    query = TEXTS.format(kept="AND item.status = 'accepted'" if chosen == "accepted" else "")
    return described(
        _texts(store.db.execute(query, (project.id,))),
        name=project.name,
        items=chosen,
        kind=project.kind,
        before={(cell.pair, cell.side): cell.items for cell in cells},
        decided={(cell.pair, cell.side): cell.accepted + cell.rejected for cell in cells},
        kept={(cell.pair, cell.side): cell.accepted for cell in cells},
        by_quota=[pair for pair, number in met.items() if number == 2] if chosen == "accepted" else (),
        vocabulary=words,
    )


def describe_project(
    store: Store, project: Project, model: str | None = None, accepted: bool | None = True
) -> dict[str, Any]:
    """Describe a project as one JSON object; `accepted` None: `usual_items`.

    `model`: the model with whose vocabulary the characters are compared. Raises NotFound if it is not on this machine.
    """
    items: Items | None = None if accepted is None else "accepted" if accepted else "all"
    words = None if model is None else vocabulary(model)
    return as_json(describe_items(store, project, items=items, words=words))


def _texts(source: sqlite3.Cursor) -> list[Text]:
    places, made = Places(), list[Text]()
    while found := source.fetchmany(AT_ONCE):
        extras = json.loads(f"[{','.join(row[7] for row in found)}]")  # in one call: twice as fast as one by one
        made += [_text(row, extra, places) for row, extra in zip(found, extras, strict=True)]
    return made


def _text(row: tuple[Any, ...], extra: dict[str, Any], places: Places) -> Text:
    text, pair, side, start, stop, came, line, _, context = row
    file = places(came)
    source = source_of(extra, places) or file  # fall back to the imported file
    word = None if start is None else (start, stop)
    return Text(text, pair, side, word, f"{file}:{line}", source, date_of(extra), context)


def source_of(extra: Mapping[str, Any], shortened: Callable[[str], str] = short_path) -> str:
    """Return the source that a row names, or ""; of an absolute path only the last part."""
    given = extra.get("source")
    named = given.get("name") or given.get("file") if isinstance(given, dict) else given
    if not named:
        named = _first(extra, SOURCE_COLUMNS)
    return shortened(named) if isinstance(named, str) else str(named) if isinstance(named, int | float) else ""


def date_of(extra: Mapping[str, Any]) -> str:
    """Return the date that a row names, unchanged, or ""."""
    given = extra.get("source")
    dated = given.get("date") if isinstance(given, dict) else None
    if not dated:
        dated = _first(extra, DATE_COLUMNS)
    return str(dated) if isinstance(dated, str | int) else ""


def _first(extra: Mapping[str, Any], columns: frozenset[str]) -> Any:
    """Return the value of the first of these columns in the row that is not empty, or ""."""
    for column in extra:  # a row has few columns: faster than a look-up of every name
        if column in columns and extra[column]:
            return extra[column]
    return ""
