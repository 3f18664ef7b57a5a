"""A project whose labels are chosen text by text, for tests of agreement."""

import uuid

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotator, create_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Item, Operation, Project
from evenhand.core.statistics import Resampling
from evenhand.core.text.keywords import find

FAST = Resampling(200)


def make(
    store: Store,
    sentences: int = 40,
    names: tuple[str, ...] = ("Ada", "Bo", "Chen"),
    per_article: int = 0,
    *,
    files: int = 0,
    **more: int,
) -> Project:
    """Make a project with our own sentences about pages, male and female words in turn.

    *per_article*: how many sentences in a row name the same source article; 0: none names any. *files*: from how many
    plain files they come in turn; 0: none is named.
    """
    project = create_project(store, f"made {files}" if files else "made", annotators=names, seed=2, **more)  # type: ignore[arg-type]
    words = ("他", "她", "爸爸", "妈妈")
    batch = Batch.begin(store, project, "made.txt")
    batch.add(
        NewItem(text=text, candidate=find(text)[0], file="made.txt", line=n, extra=_source(n, per_article, files))
        for n, text in enumerate((f"{words[n % 4]}读到了第{n}页。" for n in range(sentences)), 1)
    )
    batch.publish()
    return project


def _source(line: int, per_article: int, files: int) -> dict[str, object]:
    if files:
        return {"source": {"file": f"{line % files}.txt", "name": None}}
    return {"source": {"name": f"article {(line - 1) // per_article}"}} if per_article else {}


def label(
    store: Store, project: Project, name: str, choose: "dict[str, str]", revision: int = 1, **more: object
) -> None:
    """Let *name* label the items whose text is a key of *choose*."""
    person = annotator(store, project, name)
    todo = dict(choose)
    while todo:
        handed = [item for item in claim(store, project, person, want=500) if item.text in todo]
        assert handed, f"{name} was not handed {list(todo)[:3]}"
        store_operations(
            store, project, person, [_operation(item, todo.pop(item.text), revision, **more) for item in handed]
        )


def _operation(item: Item, choice: str, revision: int = 1, **more: object) -> Operation:
    reasons = ("not_plausible",) if choice == "reject" else ()
    values = {"op_id": uuid.uuid4().hex, "item": item.uid, "choice": choice, "desk": "d", "revision": revision}
    return Operation(**(values | {"reasons": reasons} | more))  # type: ignore[arg-type]


def texts(store: Store, project: Project) -> list[str]:
    return [item.text for item in items(store, project)]
