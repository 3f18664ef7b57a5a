"""The projects of the page Projects: the list, opening and closing one, its guideline and quotas."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import NAME as GENERATIONS
from evenhand.annotations.demo.generation_texts import make_generations_demo
from evenhand.annotations.demo.sentences import NAME as DEMO
from evenhand.annotations.demo.sentences import make_demo
from evenhand.annotations.labels.own import own_progress
from evenhand.annotations.projects.annotators import participants
from evenhand.annotations.projects.projects import annotators, archive, counts, guideline, guidelines, set_quotas
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Choice, Project
from evenhand.core.guidelines import in_language, recognise
from evenhand.core.resources import quotas
from evenhand.pages.ui.address import enter_project
from evenhand.pages.ui.editors import edit_quotas, preset_names, say_total
from evenhand.pages.ui.numbers import day
from evenhand.pages.ui.sentences import asked_as, guideline_html, options_html, quota_bars, status_bar
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, inform, language, literal, plain
from evenhand.pages.ui.visitor import asks, asks_at_click, open_store, own_new_project, own_projects, page_link

NEW = "new"  # the view that makes a project


def opened() -> str | None:
    """Return the name of the open project, or None for the list."""
    project = st.query_params.get("project")
    if project:
        # A link or a reload opens it for the other pages too, so that no work goes into the wrong project.
        enter_project(project)
    return project


def open_project(name: str) -> None:
    """Open a project at its files; the address names it."""
    leave()
    enter_project(name)


def leave() -> None:
    """Return to the list: remove the project from the address."""
    for name in ("project", "section", "view"):
        st.query_params.pop(name, None)


def _begin() -> None:
    leave()
    st.query_params["view"] = NEW


@asks_at_click("create_projects")
def _make_demo(name: str) -> None:
    with open_store() as store:
        made = (make_demo if name == DEMO else make_generations_demo)(store)
        open_project(own_new_project(store, made).name)


@asks_at_click("change_projects")
def _bring_back(name: str) -> None:
    with open_store() as store:
        stored_project = next(project for project in own_projects(store, archived=True) if project.name == name)
        archive(store, stored_project, archived=False)


def show_list(store: Store) -> None:
    """Show every open project as a card, a way to make one, and the archive."""
    projects, away = own_projects(store), own_projects(store, archived=True)
    with st.container(horizontal=True):
        st.button(_("New project"), key="new", type="primary", icon=":material/add:", on_click=_begin)
        known = {project.name for project in projects + away}
        labels = {"demo": _("Create the demo project"), "demo_generations": _("Create the demo project of generations")}
        for name, (key, label) in zip((DEMO, GENERATIONS), labels.items(), strict=True):
            if name not in known:
                st.button(label, key=key, icon=":material/school:", on_click=_make_demo, args=(name,))
    if not projects:
        inform(
            "There are no projects yet. A project holds sentences, a guideline and annotators. The demo project shows"
            " every feature with sentences written for it and three fictitious annotators."
        )
    columns = st.columns(2)
    for number, project in enumerate(projects):
        with columns[number % 2]:
            _card(store, project)
    if away:
        with st.expander(_("Archived ({number})").format(number=len(away))):
            for project in away:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(plain(project.name))
                    st.button(_("Unarchive"), key=f"back-{project.uid}", on_click=_bring_back, args=(project.name,))


def _card(store: Store, project: Project) -> None:
    project_counts = counts(store, project)
    with st.container(border=True, key=f"card-{project.uid}"):
        st.header(plain(project.name), anchor=False)
        if project.name == DEMO:
            caption("Sentences written for the demo; annotators and labels are fictitious.")
        if project.name == GENERATIONS:
            caption("Our own texts, written as models might write them; annotators and labels are fictitious.")
        st.caption(plain(settings_line(store, project)))
        if project_counts.items:
            show_html(joined([status_bar(project_counts, project.kind), _quota_legend(store, project)]))
        else:
            texts = project.kind == "generations"
            empty = _("No texts yet. Open the project and add a file.")
            st.caption(empty if texts else _("No sentences yet: open the project and add a file."))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                _("Open"), key=f"open-{project.uid}", icon=":material/folder_open:",
                on_click=open_project, args=(project.name,),
            )  # fmt: skip
            where = {"project": project.name}
            page_link("review/page.py", label=_("Review"), icon=":material/rate_review:", query_params=where)
            page_link("agreement/page.py", label=_("Agreement"), icon=":material/handshake:", query_params=where)


def _quota_legend(store: Store, project: Project) -> Markup:
    cells = [cell for cell in counts(store, project).cells if cell.quota is not None]
    by_link = participants(store, project)
    people = [
        own_progress(store, project, annotator).labelled
        for annotator in annotators(store, project)
        if annotator.id not in by_link
    ]
    texts = []
    if cells:
        wanted = sum(cell.quota or 0 for cell in cells)
        kept = sum(min(cell.accepted, cell.quota or 0) for cell in cells)
        texts.append(_("{kept} of {wanted} sentences accepted", kept=f"{kept:,}", wanted=f"{wanted:,}"))
    if people:
        texts.append(_("{labels} labels by {people} annotators", labels=f"{sum(people):,}", people=len(people)))
    return element("div", joined(span(text) for text in texts), "legend")


def settings_line(store: Store, project: Project) -> str:
    """Return the settings of a project in one line."""
    shown = guideline(store, project)
    built = {
        "journal": _("journal criteria"),
        "conference": _("conference criteria"),
        "generations": _("built-in criteria"),
        None: _("custom criteria"),
    }
    rule = _("unanimous") if project.gold == "unanimous" else _("majority")
    form = _("keyword hidden") if project.presentation == "masked" else _("keyword shown")
    named = _("{criteria}, version {version}", criteria=built[recognise(shown.text)], version=shown.version)
    labels = _("{number} labels per sentence")
    if project.kind == "generations":
        labels = _("{number} labels per text")
    labels = labels.format(number=project.per_item)
    if project.doubled is not None:
        labels = _("{number} labels for {texts} texts, one for each of the rest").format(
            number=project.per_item, texts=f"{project.doubled:,}"
        )
    if project.kind == "generations":
        agreed = _("gold label by unanimity") if project.gold == "unanimous" else _("gold label by majority")
        leaving = _("texts exported unencrypted") if text_may_leave(project) else _("texts exported encrypted")
        return " · ".join((_("generations"), named, labels, agreed, leaving))
    return " · ".join((named, labels, rule, form))


def show_guideline(store: Store, project: Project) -> None:
    """Show the guideline in any version with its changes; new versions are written on the page Pilot."""
    values = {stored_guideline.version: stored_guideline for stored_guideline in reversed(guidelines(store, project))}
    if st.session_state.get("version") not in values:
        st.session_state["version"] = max(values)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        version = st.selectbox(_("Version"), list(values), key="version", width=120)
        where = {"project": project.name, "part": "guideline"}
        page_link("pilot/page.py", label=_("Write a new version"), icon=":material/edit_note:", query_params=where)
    shown = values[version]
    caption("Written on {day}.", day=day(shown.created))
    if shown.changes:
        st.markdown(f"**{_('What changed')}**")
        literal(shown.changes)
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_html(guideline_html(in_language(shown.text, language())))
    with right:
        about = dict(shown.scheme.about) if shown.scheme else {}
        parts: list[Sequence[Choice]] = [shown.choices, shown.reasons]
        if shown.scheme is not None:
            parts += [shown.scheme.spans, [asked_as(question) for question in shown.scheme.questions]]
        show_html(Markup("<br>").join(options_html(part, about) for part in parts if part))


@asks_at_click("change_projects")
def _use_preset(project: Project, preset: str) -> None:
    with open_store(project) as store:
        set_quotas(store, project, {} if preset == "none" else quotas("table1" if preset == "table1" else "released"))


@asks("change_projects")
def show_quotas(store: Store, project: Project) -> None:
    """Show accepted sentences per keyword pair and side against the quotas, and a form to change the quotas."""
    cells = counts(store, project).cells
    if cells:
        show_html(quota_bars(cells))
    else:
        caption("No quotas and no sentences yet.")
    with st.expander(_("Change the quotas"), expanded=not cells):
        with st.container(horizontal=True):
            for preset, name in preset_names().items():
                st.button(name, key=f"preset-{preset}", on_click=_use_preset, args=(project, preset))
        stored = {(cell.pair, str(cell.side)): cell.quota for cell in cells if cell.quota is not None and cell.side}
        # The widget key holds the stored value, so that a preset replaces typed numbers.
        changed = edit_quotas(stored, key=f"quotas-{project.uid}-{hash(frozenset(stored.items()))}")
        say_total(changed, "table1")
        if st.button(_("Save quotas"), key="save_quotas", type="primary", disabled=changed == stored):
            set_quotas(store, project, changed)
            st.rerun()


def show_summary(store: Store, project: Project) -> None:
    """Show the head of an open project: progress of its sentences."""
    project_counts = counts(store, project)
    if project_counts.items:
        if project.kind == "generations":
            text, none, some = _("Texts by number of labels: {numbers}"), _("none: {texts}"), _("{labels}: {texts}")
        else:
            text, none = _("Sentences by number of labels: {numbers}"), _("none: {sentences}")
            some = _("{labels}: {sentences}")
        each = [
            (some if labels else none).format(labels=labels, sentences=f"{items:,}", texts=f"{items:,}")
            for labels, items in sorted(project_counts.by_labels.items())
        ]
        parts = " · ".join(one.replace(" ", "\u00a0") for one in each)  # no line ends within one
        by_labels = text.format(numbers=parts)
        show_html(joined([status_bar(project_counts, project.kind), element("div", by_labels, "legend")]))
