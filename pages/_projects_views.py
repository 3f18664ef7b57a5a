"""The other views of an open project: guideline, people, quotas, export, settings."""

import html

import streamlit as st

from annotations.decisions import each_label_row
from annotations.formats.exporting import ENDING, EXPORT_FORMATS, ExportFormat, export_preview, lines, wanted
from annotations.labels import own_progress
from annotations.projects import (
    add_annotators,
    add_guideline,
    annotators,
    archive,
    change_project,
    counts,
    guideline,
    guidelines,
    remove_annotator,
    set_quotas,
)
from annotations.store import Store
from annotations.types import Annotator, Project
from core.errors import EvenhandError
from core.guidelines import in_language
from core.resources import quotas, table
from pages._projects_list import open_project
from pages._projects_new import edit_options, edit_quotas, edit_text, form_name, gold_name, preset_name, say_total
from pages._projects_parts import guideline_html, options_html, quota_bars, show, status_bar
from pages._widgets import _, language, open_store, plain, show_error

PREVIEW_ROWS = 10
BUILT_IN_MODELS = ("demo-zh", "random-zh", "known")


def show_guideline(store: Store, project: Project) -> None:
    """The guideline in any version, and a new version of it."""
    versions = [one.version for one in reversed(guidelines(store, project))]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        version = st.selectbox(_("Version"), versions, key="version", width=120)
        editing = st.toggle(_("Write a new version"), key="edit_guideline")
    shown = guideline(store, project, version)
    if not editing:
        left, right = st.columns([3, 2], gap="large")
        with left:
            show(guideline_html(in_language(shown.text, language())))
        with right:
            show(options_html(shown.choices) + "<br>" + options_html(shown.reasons))
        return
    st.caption(_("Labels keep the version they were made under; new labels get the new one."))
    text = edit_text(shown.text, key=f"text-{project.uid}-{shown.version}")
    choices = edit_options(shown.choices, key=f"choices-{project.uid}-{shown.version}", fixed=True)
    reasons = edit_options(shown.reasons, key=f"reasons-{project.uid}-{shown.version}")
    if st.button(_("Save as a new version"), key="save_guideline", type="primary"):
        try:
            add_guideline(store, project, text, choices, reasons)
        except EvenhandError as error:
            show_error(error)
        else:
            del st.session_state["edit_guideline"], st.session_state["version"]
            st.rerun()


def show_people(store: Store, project: Project) -> None:
    """Who labels here, how far each is, a link to each desk, and more people."""
    people = annotators(store, project)
    if not people:
        st.info(_("Nobody labels here yet. Add the first annotator."))
    for person in people:
        own = own_progress(store, project, person)
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(f"**{plain(person.name)}**", width=240)
            text = _("{labelled} of {total}").format(labelled=f"{own.labelled:,}", total=f"{own.total:,}")
            st.progress(own.labelled / own.total if own.total else 0.0, text, width=260)
            where = {"project": project.name, "annotator": person.name}
            st.page_link("review.py", label=_("Open the desk"), icon=":material/rate_review:", query_params=where)
            _show_leaving(project, person)
    with st.form("add_people", border=False, clear_on_submit=True):
        names = st.text_area(_("More annotators, one a line"), key="new_annotators", height=90)
        if st.form_submit_button(_("Add annotators"), icon=":material/person_add:", key="add_annotators"):
            try:
                add_annotators(store, project, [line for line in names.splitlines() if line.strip()])
            except EvenhandError as error:
                show_error(error)
            else:
                st.rerun()


def _let_leave(project: Project, person: Annotator) -> None:
    with open_store() as store:
        remove_annotator(store, project, person)


def _show_leaving(project: Project, person: Annotator) -> None:
    with st.popover(_("Remove"), icon=":material/person_remove:", type="tertiary", key=f"leaving-{person.uid}"):
        text = _("{name} gets no more sentences. The labels stay and count. Add the name again to bring {name} back.")
        st.caption(plain(text.format(name=person.name)))
        label = _("Remove {name}").format(name=person.name)
        st.button(plain(label), key=f"leave-{person.uid}", on_click=_let_leave, args=(project, person))


def _use_preset(project: Project, preset: str) -> None:
    with open_store() as store:
        set_quotas(store, project, {} if preset == "none" else quotas("table1" if preset == "table1" else "released"))


def show_quotas(store: Store, project: Project) -> None:
    """Accepted sentences per keyword pair and side against what is wanted, and other wishes."""
    cells = counts(store, project).cells
    if cells:
        show(quota_bars(cells))
    else:
        st.caption(_("Neither quotas nor sentences yet."))
    with st.expander(_("Change the quotas"), expanded=not cells):
        with st.container(horizontal=True):
            for preset in ("none", "table1", "released"):
                st.button(preset_name(preset), key=f"preset-{preset}", on_click=_use_preset, args=(project, preset))
        stored = {(cell.pair, str(cell.side)): cell.quota for cell in cells if cell.quota is not None and cell.side}
        # The key holds what is stored: a preset must replace what was typed before.
        changed = edit_quotas(stored, key=f"quotas-{project.uid}-{hash(frozenset(stored.items()))}")
        say_total(changed, "table1")
        if st.button(_("Save quotas"), key="save_quotas", type="primary", disabled=changed == stored):
            set_quotas(store, project, changed)
            st.rerun()


def export_name(name: str) -> str:
    """An export format in words."""
    return {
        "slguset": _("SlguSet (CSV as published)"),
        "jsonl": _("Everything (JSON lines, can be imported again)"),
        "labels": _("Labels (CSV, one row per sentence and annotator)"),
    }[name]


def show_export(store: Store, project: Project) -> None:
    """What leaves: format, which items, the first rows, how many there are, the file."""
    chosen: ExportFormat = st.radio(_("Format"), EXPORT_FORMATS, key="export_format", format_func=export_name)
    names = history = False
    kept = "all"
    if chosen == "labels":
        with st.container(horizontal=True):
            names = st.toggle(_("With the annotators' names"), key="names", help=_("Otherwise A1, A2, A3 …"))
            history = st.toggle(_("With replaced and taken-back labels"), key="history")
    else:
        kept = st.radio(
            _("Sentences"), ("all", "accepted"), key="export_items", horizontal=True,
            format_func=lambda which: _("all sentences") if which == "all" else _("accepted only (for a release)"),
        )  # fmt: skip
    wish = wanted(chosen, items=kept, names=names, history=history)
    try:
        number = _row_count(store, project, chosen, kept, history=history)
        start = export_preview(store, project, wish, limit=PREVIEW_ROWS)
    except EvenhandError as error:
        show_error(error)
        return
    st.metric(_("Rows"), f"{number:,}", width=150)
    st.caption(_("The file begins like this:"))
    st.code(start or " ", language=None)

    def data() -> bytes:
        with open_store() as fresh:
            return "".join(lines(fresh, project, wish)).encode()

    file = f"{project.name}-{chosen}{ENDING[chosen]}".replace("/", "-")
    st.download_button(
        _("Download"), data, file, key="export", type="primary", icon=":material/download:", on_click="ignore"
    )


def _row_count(store: Store, project: Project, format: ExportFormat, kept: str, *, history: bool) -> int:
    if format == "labels":
        return sum(1 for _row in each_label_row(store, project, which="all" if history else "latest"))
    found = counts(store, project)
    return found.items if kept == "all" else found.accepted


def show_settings(store: Store, project: Project) -> None:
    """Name, labels per sentence, rule, presentation, opinion; and the archive."""
    with st.form("settings", border=False):
        name = st.text_input(_("Name"), project.name, key="new_name", max_chars=80)
        per_item = st.number_input(_("Labels for each sentence"), 1, 100, project.per_item, key="new_per_item")
        rules, forms = ("unanimous", "majority"), ("masked", "original")
        gold = st.radio(
            _("A sentence is accepted when"), rules, rules.index(project.gold), key="new_gold", format_func=gold_name
        )
        form = st.radio(
            _("On the desk, the keyword is"), forms, forms.index(project.presentation),
            key="new_presentation", format_func=form_name,
        )  # fmt: skip
        opinion = st.selectbox(
            _("Opinion shown after a label"),
            options := _models(project),
            options.index(project.opinion_model or ""),
            key="opinion_model",
            format_func=lambda model: model or _("nobody's"),
            help=_("Off by default. Labels made after an opinion was shown are marked and do not count for agreement."),
        )
        if st.form_submit_button(_("Save"), type="primary", key="save_settings"):
            try:
                changed = change_project(
                    store, project, name=name, per_item=int(per_item), gold=gold, presentation=form,
                    opinion_model=opinion or None,
                )  # fmt: skip
            except EvenhandError as error:
                show_error(error)
            else:
                open_project(changed.name)
                st.rerun()
    st.divider()
    _show_archive(store, project)


def _models(project: Project) -> list[str]:
    hub = [row["name"] for row in table("models") if row["task"] == "masked" and row["language"] == project.language]
    offered = ["", *BUILT_IN_MODELS, *hub]
    return offered if (project.opinion_model or "") in offered else [*offered, project.opinion_model or ""]


def _show_archive(store: Store, project: Project) -> None:
    if project.archived:
        st.caption(_("This project is archived: nothing is handed out."))
        label, icon = _("Bring back"), ":material/unarchive:"
    else:
        st.caption(_("An archived project leaves the lists. Nothing is deleted, and it can be brought back."))
        label, icon = _("Archive"), ":material/archive:"
    if st.button(label, key="archive", icon=icon):
        archive(store, project, archived=not project.archived)
        st.rerun()


def show_summary(store: Store, project: Project) -> None:
    """The head of an open project: how far its sentences are."""
    found = counts(store, project)
    if found.items:
        numbers = " · ".join(f"{labels}:\u00a0{items:,}" for labels, items in sorted(found.by_labels.items()))
        by_labels = _("Sentences by number of labels: {numbers}").format(numbers=numbers)
        show(status_bar(found) + f'<div class="legend">{html.escape(by_labels)}</div>')
