"""A file of Label Studio, doccano or Argilla before its import: the mapping of its choices and annotators."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import Columns, task_format, text_key
from evenhand.annotations.files.import_items import Examined, examine_tables, preview_tables
from evenhand.annotations.files.other_tools.import_tasks import (
    LOOKED_AT,
    Names,
    TaskImport,
    TaskSurvey,
    annotator_name,
    guess_choice,
    import_tasks,
    survey_tasks,
)
from evenhand.annotations.files.other_tools.tasks import PROGRAMS
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.imports.run import Settings
from evenhand.annotations.types import Guideline, Project
from evenhand.core.errors import EvenhandError
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import open_source
from evenhand.pages.projects.import_.columns import show_texts
from evenhand.pages.projects.import_.report import show_report, show_returned
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import preview_table
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, language, plain, series, spoken

MOST = 40  # choices or annotators to ask about


@dataclass(frozen=True, slots=True)
class TasksWish:
    """How the tasks are to be read."""

    format: str
    column: str | None
    columns: Columns | None
    names: Names
    known: bool
    password: str | None

    def settings(self, project: Project, path: Path) -> Settings:
        """Return the settings of the import of a file."""
        choices = tuple(f"{name}={code}" for name, code in self.names.choices.items())
        people = tuple(f"{who}={name}" for who, name in self.names.people.items())
        return Settings(
            project.name, path, self.format, self.column, choices, people, known=self.known, uid=project.uid
        )


def tasks_in(members: Sequence[Member]) -> str | None:
    """The program whose tasks the first file holds; None for any other file."""
    with contextlib.suppress(EvenhandError):
        return task_format(open_source(members[0].path, members[0].name))
    return None


def ask_tasks(store: Store, project: Project, members: list[Member], format: str, password: str | None) -> TasksWish:
    """Show the first texts and ask for the mapping of names, with guesses filled in."""
    generations = project.kind == "generations"
    column = None if generations else text_key(open_source(members[0].path, members[0].name), format)
    columns = Columns() if generations else None
    seen = preview_tables(members, format=format, column=column, wished=columns)
    st.caption(plain(_("Tasks of {program}, encoding {encoding}. The first texts:").format(
        program=PROGRAMS[format], encoding=seen.encoding)))  # fmt: skip
    if generations:
        show_texts(seen.rows)
    else:
        show_html(preview_table(seen.rows))
    found = survey_tasks(_first_tasks(members, format, column, columns))
    if not found.whole:
        st.caption(plain(_("Names are taken from the first {number} tasks.").format(number=f"{LOOKED_AT:,}")))
    names = Names(_ask_choices(found, guideline(store, project)), _ask_people(found))
    known = bool(found.truths) and switch(
        _("Use ground truth as known answers ({number} annotations)").format(number=f"{found.truths:,}"),
        key="tasks_known",
        box=True,
        explained=_("The annotation counts as a label either way. Only the lead sees known answers."),
    )
    return TasksWish(format, column, columns, names, known, password)


def _first_tasks(members: list[Member], format: str, column: str | None, columns: Columns | None) -> list[Examined]:
    """As `examine` has it, without reading to the end."""
    from evenhand.annotations.files.detect import detect_layout

    found = []
    for one in members:
        source = open_source(one.path, one.name)
        found.append(Examined(source, detect_layout(source, format, column, columns), 0, True))
    return found


def _ask_choices(found: TaskSurvey, asked: Guideline) -> dict[str, str]:
    """Name in the file -> code here; "" ignores it. Annotations with unmapped names are refused."""
    if not found.names:
        st.caption(_("Nothing was chosen in these tasks: only the texts will be imported."))
        return {}
    options = {"?": _("please specify"), "": _("ignore")}
    for option in (*asked.choices, *asked.beside):
        options[option.code] = option.zh if language() == "zh" else option.en
    said: dict[str, str] = {}
    with st.container(border=True):
        st.subheader(_("Choices in the file and in this project"), anchor=False)
        for name, number in found.names.most_common(MOST):
            start = guess_choice(name, asked) or "?"
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(plain(f"{name[:60]} · {number:,}"), width=260)
                code = st.selectbox(
                    spoken(_("{name} corresponds to").format(name=name[:60])), list(options),
                    list(options).index(start), format_func=options.__getitem__, key=f"task-choice-{name}",
                    label_visibility="collapsed", width=300,
                )  # fmt: skip
            if code != "?":
                said[name] = code
        if len(said) < len(found.names):
            st.caption(_("Annotations with an unmapped choice are not imported; the report lists them."))
    return said


def _ask_people(found: TaskSurvey) -> dict[str, str]:
    named: dict[str, str] = {}
    nobody = _("unnamed")
    if not found.people:
        return named
    with st.container(border=True):
        st.subheader(_("Annotators in the file and in this project"), anchor=False)
        for who, number in found.people.most_common(MOST):
            # An invisible joiner: an address would become a link.
            name = "\u2060@".join(spoken(part) for part in (who[:60] or nobody).split("@"))
            label = f"{name} · {number:,}"
            named[who] = st.text_input(
                label, annotator_name(who, Names()), key=f"task-person-{who}", max_chars=80, width=320
            )
    return named


@asks("import_files")
def import_tasks_now(store: Store, project: Project, members: list[Member], wish: TasksWish, file: str) -> TaskImport:
    """Import a small file while the visitor watches."""
    bar = st.progress(0.0, _("Reading the file"))
    examined = examine_tables(members, format=wish.format, column=wish.column, wished=wish.columns)

    def advance(done: int, total: int) -> None:
        text = _("{done} of {total} rows").format(done=f"{done:,}", total=f"{total:,}")
        bar.progress(done / total if total else 1.0, text)

    report = import_tasks(store, project, examined, wish.names, file=file, known=wish.known, progress=advance)
    bar.empty()
    return report


def show_switched(report: TaskImport, *, quoting: bool) -> None:
    """The report: texts, labels, and data that was only counted."""
    show_report(report.items, quoting=quoting, place="items-")
    if report.labels.rows:
        st.subheader(_("Labels in the file"), anchor=False)
        show_returned(report.labels, heading=False, decisions=False)
    names = {
        "skipped": _("skipped by their annotators"),
        "empty": _("without a choice"),
        "drafts": _("drafts"),
        "predictions": _("predictions of models"),
        "without_item": _("on unusable texts"),
        "other": _("answers of other kinds (ratings, relations)"),
    }
    left = [f"{report.left[key]:,} {name}" for key, name in names.items() if report.left[key]]
    if left:
        st.caption(plain(_("Counted and not imported: {what}.").format(what=series(left))))
