"""Projects with the rare events that a method section states: each states sentences that others do not."""

from collections.abc import Callable
from pathlib import Path

from evenhand.annotations.adjudication.decisions import case, cases, decide_case
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.package.write_package import import_package
from evenhand.annotations.guideline.drafts import read_draft, write_version
from evenhand.annotations.guideline.relabelling import Which
from evenhand.annotations.mining.candidates import add_candidates
from evenhand.annotations.projects.consent import answer_consent
from evenhand.annotations.projects.projects import annotators, change_project, project_by_uid
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.types import Project
from tests.support.mined_project import TEXT, mined
from tests.support.paper_history import History
from tests.support.projects import new_store
from tests.support.released_project import label, opinion, ready_project, rehearse, work
from tests.support.tampering import changed_outside
from tests.support.terminal import answered


def preregistered(store: Store, folder: Path) -> Project:
    """Register before all labels; know an answer after a label; let items end at a reject, then label all again."""
    h = History(store, ready_project(store, 6), folder)
    for name, number, flag in (("sheet", 0, True), ("plan", 1, True), ("label", 0, True), ("known", 0, True),
                               *(("reject", number, True) for number in range(1, 5)), ("plan", 0, True)):  # fmt: skip
        h.act(name, number, flag)
    return h.project


def imported_into_share(store: Store, folder: Path) -> Project:
    """Import labels of items of the random share that are rejected under the plan `stop`."""
    h = History(store, ready_project(store, 6), folder)
    for name, number, flag in (("bring", 2, True), ("plan", 1, True),
                               *(("reject", number, True) for number in range(3))):  # fmt: skip
        h.act(name, number, flag)
    return h.project


def decide(store: Store, project: Project, choice: str) -> None:
    """Decide the first open case."""
    uid = cases(store, project)[0]
    seen = case(store, project, uid).seen
    decide_case(store, project, uid, choice=choice, adjudicator="Vera", why="read", seen=seen, base=None)


def rescued(store: Store, _folder: Path) -> Project:
    """Accept in adjudication what labels reject; then all annotators agree on it after all; send labels back."""
    project = change_project(store, ready_project(store, 12), rescue=True)
    work(store, project)
    uid = cases(store, project)[0]
    decide(store, project, "accept")
    for person in annotators(store, project):
        label(store, project, person, uid, "accept")
    decide(store, project, "accept")
    new_version(store, project, "all")
    return project_by_uid(store, project.uid)


def without_effect(store: Store, _folder: Path) -> Project:
    """Accept in adjudication, and no longer let that count; make second labels under another guideline."""
    project = change_project(store, ready_project(store, 12), rescue=True, retest=1.0, retest_hours=0)
    for person in annotators(store, project):
        for item in claim(store, project, person, want=12):
            choice = opinion(item, person)
            label(store, project, person, item.uid, choice, reasons=("name",) if choice == "reject" else ())
    decide(store, project, "accept")
    ada = annotators(store, project)[0]
    again = claim(store, project, ada, want=2)
    label(store, project, ada, again[0].uid, "accept")
    new_version(store, project, "none")
    label(store, project, ada, again[1].uid, "accept")
    return change_project(store, project_by_uid(store, project.uid), rescue=False)


def new_version(store: Store, project: Project, which: Which) -> None:
    draft = read_draft(store, project)
    changed = type(draft)(draft.base, draft.text + "\n.", draft.choices, draft.reasons, "more")
    write_version(store, project, changed, which=which)


def packaged(store: Store, folder: Path) -> Project:
    """Import a release without the labels of one annotator, with second labels; lose where some labels come from."""
    with new_store(folder / "other.db") as other:
        made = rehearse(other)
        answer_consent(other, made, annotators(other, made)[1], "release", given=False)
        out = write_release(other, made, make_release(other, made, "1.0", reason="A test."), folder / "packaged")
    with tables_in(out) as members:
        project = import_package(store, "back", members, out.name).project
    for table in ("label", "retest_label"):
        changed_outside(store, f"UPDATE {table} SET app = NULL WHERE id % 2")
    return project


def mined_in_part(store: Store, folder: Path) -> Project:
    """Mine a part of a text, and import candidates of a run that is not known."""
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(TEXT, encoding="utf-8")
    out = folder / "part.jsonl"
    answered("mine", folder / "a.txt", folder / "b.txt", "--out", out, "--length", "2-119", "--names", "off", "--limit",
             "0.00001")  # fmt: skip
    project = ready_project(store, 2)
    add_candidates(store, project, out)
    other, _ = mined(folder, "后来她去了北京。他今天没有来。", "other")
    first, _facts_of_the_run = other.read_text(encoding="utf-8").splitlines()
    other.write_text(first + "\n", encoding="utf-8")
    answered("import", project.name, other, "--db", store.path)
    return project


RARE: tuple[Callable[[Store, Path], Project], ...] = (
    preregistered, imported_into_share, rescued, without_effect, packaged, mined_in_part,
)  # fmt: skip
