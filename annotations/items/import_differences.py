"""Where a file says something else of a text than the project does: written down while it is imported.

Items are never changed, so what was here first stands; the lead sees the other in the list of conflicts.
"""

import json
from typing import TYPE_CHECKING, Any

from annotations.database.events import record
from annotations.database.store import Store
from annotations.types import Project
from core.types import Candidate

if TYPE_CHECKING:  # items.py imports this module
    from annotations.items.items import NewItem

OTHER_WORD = "conflict_word"  # the same text, with another keyword or another place of it
OTHER_TEXT = "conflict_text"  # the same id, with another text


def other_word(store: Store, project: Project, new: "NewItem", found: Candidate, item: int) -> None:
    """The text is here with another keyword, place or pair; in the caller's transaction."""
    data = {
        "start": found.start, "end": found.end, "keyword": found.keyword, "pair": found.pair.name,
        "file": new.file, "line": new.line,
    }  # fmt: skip
    _once(store, project, OTHER_WORD, item, data)


def other_text(store: Store, project: Project, new: "NewItem") -> None:
    """The id is here with another text, which comes in under an id of its own; in the caller's transaction."""
    query = "SELECT id, text FROM item WHERE uid = ? AND project = ?"
    row = store.db.execute(query, (new.uid, project.id)).fetchone()
    if row is not None and row[1] != new.text:
        _once(store, project, OTHER_TEXT, row[0], {"text": new.text, "file": new.file, "line": new.line})


def _once(store: Store, project: Project, action: str, item: int, data: dict[str, Any]) -> None:
    # The same file imported twice disagrees once; `record` writes its data in this form.
    said = json.dumps(data, ensure_ascii=False, sort_keys=True)
    query = "SELECT 1 FROM event WHERE item = ? AND action = ? AND data = ? LIMIT 1"
    if store.db.execute(query, (item, action, said)).fetchone() is None:
        record(store, project, action, item=item, **data)
