"""A history of a project at random that writes down what it does, so that papers can be held against it."""

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evenhand.annotations.audit.follow_up import create_follow_up
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.other_tools.import_tasks import Names
from evenhand.annotations.files.undo_import import imports, undo
from evenhand.annotations.guideline.drafts import assign_tags, read_draft, write_version
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.projects.consent import Use, answer_consent
from evenhand.annotations.projects.preregistration import form, preregister
from evenhand.annotations.projects.projects import (
    annotators,
    change_project,
    project_by_uid,
    replace_annotator,
)
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.types import Annotator, Choice, Form, Operation, Project
from tests.support.released_project import label
from tests.support.task_files import bring, chosen, task, written

PLANS: tuple[dict[str, Any], ...] = (
    {"plan": "all", "doubled": None, "per_item": 3},
    {"plan": "stop", "doubled": None, "share": 0.5, "gold": "unanimous"},
    {"plan": "all", "doubled": 2}, {"per_item": 2}, {"plan": "all", "doubled": None, "gold": "majority"},
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Written:
    """One current label as recorded by the history."""

    origin: str
    form: str
    revealed: bool
    plan: tuple[Any, ...]
    older: bool
    dated: bool
    file: str = ""


@dataclass(slots=True)
class History:
    """A project and the labels that were put into it."""

    store: Store
    project: Project
    folder: Path
    labels: dict[tuple[str, str], Written] = field(default_factory=dict)
    sheets: dict[str, int] = field(default_factory=dict)
    golds: list[str] = field(default_factory=lambda: ["unanimous"])
    rescues: list[bool] = field(default_factory=lambda: [False])
    shared: dict[str, bool] = field(default_factory=dict)  # what was answered about releases
    trained: dict[str, bool] = field(default_factory=dict)
    drawn: int = 0
    pilots: int = 0
    tags: int = 0
    files: int = 0

    def act(self, name: str, number: int, flag: bool) -> None:
        time.sleep(0.002)  # timestamps of the database have a resolution of a millisecond
        getattr(self, name)(number, flag)
        self.project = project_by_uid(self.store, self.project.uid)

    def _plan(self) -> tuple[Any, ...]:
        return tuple(getattr(self.project, name) for name in ("per_item", "plan", "share", "doubled"))

    def label(self, number: int, masked: bool, tag: str = "") -> None:
        person = annotators(self.store, self.project)[number % 3]
        item = list(items(self.store, self.project))[number % 5]
        self._store(item.uid, person, "masked" if masked else "original", tag)

    def _store(self, uid: str, person: Annotator, form: Form, tag: str = "", choice: str = "accept") -> None:
        seen = self.labels.get((uid, person.name))
        base = self.store.db.execute(
            "SELECT assignment.op_id FROM assignment JOIN item ON item.id = item WHERE uid = ? AND annotator = ?",
            (uid, person.id),
        ).fetchone()
        number = time.time_ns()
        made = Operation(f"op{number}", uid, choice, f"desk{person.id}", number % 2**60,
                         base=base[0] if base else None, form_shown=form, tags=(tag,) if tag else ())  # fmt: skip
        (answer,) = store_operations(self.store, self.project, person, [made])
        assert answer.stored and not answer.conflict
        self.tags += bool(tag)
        revealed = seen is not None and seen.revealed
        self.labels[uid, person.name] = Written("here", form, revealed, self._plan(), False, True)

    def reject(self, number: int, masked: bool) -> None:
        person = annotators(self.store, self.project)[number % 3]
        item = list(items(self.store, self.project))[number % 5]
        self._store(item.uid, person, "masked" if masked else "original", "off", "reject")

    def undo(self, number: int, _flag: bool) -> None:
        """Undo the import of a file of labels."""
        there = [
            import_ for import_ in imports(self.store, self.project) if import_.kind == "labels" and not import_.undone
        ]
        if there:
            gone = there[number % len(there)]
            undo(self.store, self.project, gone.key)
            self.labels = {key: label for key, label in self.labels.items() if label.file != gone.file}

    def consent(self, number: int, given: bool) -> None:
        """Let one annotator answer about releases and training; those of `ready_project` consent to releases first."""
        person = annotators(self.store, self.project)[number % 3]
        use: Use = "training" if number % 2 else "release"
        answer_consent(self.store, self.project, person, use, given=given)
        (self.trained if number % 2 else self.shared)[person.name] = given

    def known(self, number: int, _flag: bool) -> None:
        set_known(self.store, self.project, list(items(self.store, self.project))[number % 6].uid, "accept")

    def replace(self, _number: int, _flag: bool) -> None:
        people = annotators(self.store, self.project)
        replace_annotator(self.store, self.project, people[2], f"Next {time.time_ns()}")

    def reveal(self, number: int, _flag: bool) -> None:
        """Show an annotator an opinion on an item, and let the annotator label it again."""
        people = {annotator.name: annotator for annotator in annotators(self.store, self.project)}
        mine = [key for key, label in self.labels.items() if label.origin == "here" and key[1] in people]
        if mine:
            uid, name = mine[number % len(mine)]
            person = people[name]
            reveal(self.store, self.project, person, uid)
            self.labels[uid, name] = replace(self.labels[uid, name], revealed=True)
            self._store(uid, person, "original")

    def bring(self, number: int, dated: bool) -> None:
        """Import a file of Label Studio with labels of a further annotator."""
        self.files += 1
        who = f"Guest {self.files}"
        texts = list(items(self.store, self.project))[: 1 + number % 3]
        more = {"completed_by": 9} if dated else {"completed_by": 9, "created_at": None}
        tasks = [task(text.text, chosen("Keep", id=f"{self.files}-{text.uid}", **more)) for text in texts]
        path = written(self.folder / f"{self.files}.json", tasks)
        report = bring(self.store, self.project, path, Names(people={"9": who}))
        assert report.labels.imported == len(tasks)
        for text in texts:
            self.labels[text.uid, who] = Written("imported", "", False, (), dated, dated, path.name)

    def sheet(self, number: int, _flag: bool) -> None:
        """Write a plan into the log, before labels or late."""
        held = self.store.db.execute("SELECT count(*) FROM label").fetchone()[0]
        text = form("en").replace("\n\n", f"\n\nTo be seen {time.time_ns()}.\n")
        self.sheets[preregister(self.store, self.project, text, late=True).sha256] = held

    def follow_up(self, number: int, judged: bool) -> None:
        """Send one kept sentence to an outside person, who labels it or not."""
        if self.drawn or not list(items(self.store, self.project, accepted_only=True)):
            return
        self.drawn = 1
        made = create_follow_up(self.store, self.project, "outside", ["Zoe"], kept=1, rejected=0, per_item=1)
        for entry in items(self.store, made) if judged else ():
            label(self.store, made, annotators(self.store, made)[0], entry.uid, "accept")

    def plan(self, number: int, _flag: bool) -> None:
        self.project = change_project(self.store, self.project, **PLANS[number % len(PLANS)])
        self.golds.append(self.project.gold)

    def rescue(self, _number: int, allowed: bool) -> None:
        self.rescues.append(allowed)
        self.project = change_project(self.store, self.project, rescue=allowed)

    def pilot(self, number: int, tagged: bool) -> None:
        free = self.store.db.execute("SELECT count(*) FROM item WHERE labels = 0 AND pilot IS NULL").fetchone()[0]
        if free:
            start_pilot(self.store, self.project, 2)
            self.pilots += 1
            self.label(number, True, "odd" if tagged else "")
            close_pilot(self.store, self.project)

    def version(self, _number: int, of_tags: bool) -> None:
        draft = read_draft(self.store, self.project)
        reasons = draft.reasons
        if of_tags and self.tags and not any(reason.code == "odd" for reason in reasons):
            reasons = (*reasons, Choice("odd", "", "怪", "Odd"))
            assign_tags(self.store, self.project, ["odd"], "odd")
        changed = type(draft)(draft.base, draft.text + "\n.", draft.choices, reasons, "more")
        write_version(self.store, self.project, changed, which="none")
