"""A file before its import: the columns of generations; choices and annotators of Label Studio, doccano or Argilla."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from markupsafe import Markup, escape

from evenhand.annotations.database.store import Store
from evenhand.annotations.files import detect
from evenhand.annotations.files.import_items import Examined, PreviewRow, examine_tables, preview_tables
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
from evenhand.annotations.items.batch import NewItem
from evenhand.annotations.types import FIRST_SIGN, SECOND_SIGN, Guideline, Project
from evenhand.core.errors import EvenhandError
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import open_source
from evenhand.core.text.pronouns import PRONOUN_DATASETS, set_named
from evenhand.pages.projects.import_.imports import show_report, show_returned
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.sentences import item_card, preview_table, problem_text
from evenhand.pages.ui.tables import below, element, joined, show_html
from evenhand.pages.ui.text import _, language, plain, series, spoken
from evenhand.pages.ui.visitor import asks

SHOWN = 4  # texts as the desk would show them
LONGEST = 700  # characters of one of them


def key_name(key: str) -> str:
    """Return a field of a generation in words."""
    return {
        "context": _("Context"),
        "completion": _("Completion"),
        "generation": _("Context and completion in one column"),
        "name": _("Person concerned"),
        "pronouns": _("Pronouns"),
        "dataset": _("Data set"),
        "setting": _("Setting"),
        "model": _("Model"),
        "index": _("Index of the generation"),
        "template": _("Template"),
        "second": _("Second text (comparison)"),
        "second_model": _("Model of the second text"),
    }[key]


def ask_password() -> str | None:
    """Ask for the password of a locked archive, kept for this visit only."""
    typed = st.text_input(_("Archive password"), type="password", key="archive_password", width=320)
    return typed or None


def choose_columns(store: Store, members: Sequence[Member]) -> detect.Columns:
    """Return the meaning of the columns: remembered for such a file, or guessed by name, and editable."""
    columns = open_source(members[0].path, members[0].name).columns
    remembered = detect.recall_columns(store.path, columns)
    start = remembered or detect.guess_columns(columns)
    st.caption(
        _("Columns are assigned as you chose for such files before.")
        if remembered
        else _("Columns are assigned by name. Your choice is remembered for files with the same columns.")
    )
    # The widget key holds the header, so that another file does not get the choices for this one.
    place = f"columns-{abs(hash(columns))}"
    with st.expander(_("Columns"), expanded=not detect.is_complete(start), key=place, icon=":material/view_column:"):
        named: dict[str, str] = {}
        fixed: dict[str, str] = {}
        for first in range(0, len(detect.KEYS), 2):  # row by row, so that a telephone keeps their order
            for key, place_of in zip(detect.KEYS[first : first + 2], st.columns(2), strict=False):
                with place_of:
                    _choose(key, columns, start, named, fixed, place)
    return detect.Columns(named, {key: value for key, value in fixed.items() if value and not named.get(key)})


def _choose(
    key: str, columns: tuple[str, ...], start: detect.Columns, named: dict[str, str], fixed: dict[str, str], place: str
) -> None:
    options = ["", *columns]
    before = start.named.get(key, "")
    named[key] = st.selectbox(
        key_name(key),
        options,
        options.index(before) if before in options else 0,
        key=f"{place}-{key}",
        format_func=lambda column: column or _("no column"),
    )
    if key not in detect.FIXED or named[key]:
        return
    label = _("{what}, the same for all rows", what=key_name(key))
    if key == "dataset":
        sets = ["", *PRONOUN_DATASETS]
        fixed[key] = st.selectbox(
            label, sets, sets.index(value) if (value := start.fixed.get(key, "")) in sets else 0,
            key=f"{place}-{key}-fixed", format_func=lambda one: dataset_name(one) if one else _("unspecified"),
        )  # fmt: skip
    else:
        hint = {
            "pronouns": "xe/xem/xyr",
            "setting": "pre",
            "model": "gpt2",
            "second_model": "gpt2-xl",
            "name": "Rowan",
        }[key]
        fixed[key] = st.text_input(label, start.fixed.get(key, ""), key=f"{place}-{key}-fixed", placeholder=hint)


def dataset_name(dataset: str) -> str:
    """Return a data set in words."""
    return {"misgendered": "MISGENDERED", "ruff": "RUFF", "tango": "TANGO", "own": _("our own")}.get(dataset, dataset)


def show_texts(rows: Sequence[PreviewRow]) -> None:
    """Show the first texts as the desk would show them, and the first lines that cannot be used."""
    usable = [row for row in rows if row.item is not None][:SHOWN]
    bad = [row for row in rows if row.problem is not None][:SHOWN]
    show_html(joined([*map(_text, usable), *map(_problem, bad)]))


def _text(row: PreviewRow) -> Markup:
    item = row.item
    if item is None:
        return Markup("")
    line = _("Line {line}", line=f"{row.line:,}")
    about = " · ".join(part for part in (line, _target(item), _origin(item)) if part)
    context = (item.context or "")[:LONGEST] or _("no context")
    texts = [item.text] if item.second is None else [f"{FIRST_SIGN} {item.text}", f"{SECOND_SIGN} {item.second}"]
    shown = joined((escape(text[:LONGEST]) for text in texts), "\n\n")
    return item_card("", shown, about=about, context=context)


def _target(item: NewItem) -> str:
    name, sets = str(item.extra.get("name") or ""), item.extra.get("pronouns") or []
    if not sets:
        return series(part for part in (name, _("pronouns unknown")) if part)
    return series(part for part in (name, _(" or ").join(_forms(set_) for set_ in sets)) if part)


def _forms(name: str) -> str:
    try:
        forms = set_named(name).forms
    except EvenhandError:
        return name
    return "/".join(dict.fromkeys(form for form in forms[:3] if form)) or name


def _origin(item: NewItem) -> str:
    """Return model, setting and data set of an item: the desk hides these, but the importing lead sees them."""
    parts = [str(item.extra.get(key) or "") for key in ("model", "second_model", "setting")]
    dataset = str(item.extra.get("dataset") or "own")
    return series(part for part in (*parts, "" if dataset == "own" else dataset_name(dataset)) if part)


def _problem(row: PreviewRow) -> Markup:
    line = below(_("Line {line}", line=f"{row.line:,}"))
    why = element("div", f"⚠ {problem_text(row.problem)}" if row.problem else "", "problem")
    return element("div", joined([line, why]), "card")


MOST = 40  # choices or annotators to ask about


@dataclass(frozen=True, slots=True)
class TasksWish:
    """How the tasks are to be read."""

    format: str
    column: str | None
    columns: detect.Columns | None
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
    """Return the program whose tasks the first file holds; None for any other file."""
    with contextlib.suppress(EvenhandError):
        return detect.task_format(open_source(members[0].path, members[0].name))
    return None


def ask_tasks(store: Store, project: Project, members: list[Member], format: str, password: str | None) -> TasksWish:
    """Show the first texts and ask for the mapping of names, with guesses filled in."""
    generations = project.kind == "generations"
    column = None if generations else detect.text_key(open_source(members[0].path, members[0].name), format)
    columns = detect.Columns() if generations else None
    seen = preview_tables(members, format=format, column=column, wished=columns)
    st.caption(plain(_("Tasks of {program}, encoding {encoding}. The first texts:").format(
        program=PROGRAMS[format], encoding=seen.encoding)))  # fmt: skip
    if generations:
        show_texts(seen.rows)
    else:
        show_html(preview_table(seen.rows))
    task_survey = survey_tasks(_first_tasks(members, format, column, columns))
    if not task_survey.whole:
        st.caption(plain(_("Names are taken from the first {number} tasks.").format(number=f"{LOOKED_AT:,}")))
    names = Names(_ask_choices(task_survey, guideline(store, project)), _ask_people(task_survey))
    known = bool(task_survey.truths) and switch(
        _("Use ground truth as known answers ({number} annotations)").format(number=f"{task_survey.truths:,}"),
        key="tasks_known",
        box=True,
        explained=_("The annotation counts as a label either way. Only the lead sees known answers."),
    )
    return TasksWish(format, column, columns, names, known, password)


def _first_tasks(
    members: list[Member], format: str, column: str | None, columns: detect.Columns | None
) -> list[Examined]:
    """Return the files examined like `examine` does, but without reading them to the end."""
    from evenhand.annotations.files.detect import detect_layout

    first_tasks = []
    for member in members:
        source = open_source(member.path, member.name)
        first_tasks.append(Examined(source, detect_layout(source, format, column, columns), 0, True))
    return first_tasks


def _ask_choices(task_survey: TaskSurvey, stored_guideline: Guideline) -> dict[str, str]:
    """Name in the file -> code here; "" ignores it. Annotations with unmapped names are refused."""
    if not task_survey.names:
        st.caption(_("Nothing was chosen in these tasks: only the texts will be imported."))
        return {}
    options = {"?": _("please specify"), "": _("ignore")}
    for option in (*stored_guideline.choices, *stored_guideline.beside):
        options[option.code] = option.zh if language() == "zh" else option.en
    said: dict[str, str] = {}
    with st.container(border=True):
        st.header(_("Choices in the file and in this project"), anchor=False)
        for name, number in task_survey.names.most_common(MOST):
            start = guess_choice(name, stored_guideline) or "?"
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(plain(f"{name[:60]} · {number:,}"), width=260)
                code = st.selectbox(
                    spoken(_("{name} corresponds to").format(name=name[:60])), list(options),
                    list(options).index(start), format_func=options.__getitem__, key=f"task-choice-{name}",
                    label_visibility="collapsed", width=300,
                )  # fmt: skip
            if code != "?":
                said[name] = code
        if len(said) < len(task_survey.names):
            st.caption(_("Annotations with an unmapped choice are not imported; the report lists them."))
    return said


def _ask_people(task_survey: TaskSurvey) -> dict[str, str]:
    named: dict[str, str] = {}
    nobody = _("unnamed")
    if not task_survey.people:
        return named
    with st.container(border=True):
        st.header(_("Annotators in the file and in this project"), anchor=False)
        for who, number in task_survey.people.most_common(MOST):
            # An invisible joiner: an address would become a link.
            name = "\u2060@".join(spoken(part) for part in (who[:60] or nobody).split("@"))
            label = f"{name} · {number:,}"
            named[who] = st.text_input(
                label, annotator_name(who, Names()), key=f"task-person-{who}", max_chars=80, width=320
            )
    return named


@contextlib.contextmanager
def import_bar() -> Iterator[Callable[[int, int], None]]:
    """Show how far an import is, by calls with the rows done and all rows, while the visitor waits."""
    bar = st.progress(0.0, _("Reading the file"))

    def advance(done: int, total: int) -> None:
        text = _("{done} of {total} rows").format(done=f"{done:,}", total=f"{total:,}")
        bar.progress(done / total if total else 1.0, text)

    yield advance
    bar.empty()


@asks("import_files")
def import_tasks_now(store: Store, project: Project, members: list[Member], wish: TasksWish, file: str) -> TaskImport:
    """Import a small file while the visitor watches."""
    with import_bar() as advance:
        examined = examine_tables(members, format=wish.format, column=wish.column, wished=wish.columns)
        return import_tasks(store, project, examined, wish.names, file=file, known=wish.known, progress=advance)


def show_switched(report: TaskImport, *, quoting: bool) -> None:
    """Show the report: texts, labels, and data that was only counted."""
    show_report(report.items, quoting=quoting, place="items-")
    if report.labels.rows:
        st.header(_("Labels in the file"), anchor=False)
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
