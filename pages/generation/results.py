"""Finished runs of generating on the page Generate, and from a run into a project.

A sample with distinct contexts first, and who labels how often.
"""

import json

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.generation_sample import (
    GenerationSample,
    draw_sample,
    pilot_by_people,
    pilot_by_rule,
    read_generations,
)
from evenhand.annotations.guideline.versions import has_own_scheme
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.items.wanted_labels import labels_planned
from evenhand.annotations.jobs import jobs
from evenhand.annotations.projects.projects import change_project, create_project
from evenhand.annotations.text_policy import packed
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.human_vs_rule.sample import Correlation, designs
from evenhand.core.runs.records import Run, first_rows
from evenhand.core.types import JsonObject
from evenhand.pages.generation.start import CARET, GENERATIONS, described
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import NEW, choose, targets
from evenhand.pages.ui.jobs import start_job
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.rail import show_next
from evenhand.pages.ui.runs import finished_at, offer_deletion, show_facts, show_finished_runs
from evenhand.pages.ui.tables import Column, below, element, joined, show_html, span, table
from evenhand.pages.ui.text import _, caption, names_in, paragraph, plain, sentence, show_signature
from evenhand.pages.ui.visitor import asks, errors_shown, own_new_project, own_projects, page_link, show_error


def show_way_into_project(store: Store, run: Run) -> None:
    """Ask which of the texts go into which project and how often they are labelled; show the button."""
    rows = _rows(str(run.table), run.created)
    projects = [project for project in own_projects(store) if project.kind == "generations"]
    number, seed = _how_many(run)
    sample = draw_sample(rows, number or len(rows), seed)
    text = _("{texts} texts from {contexts} contexts in {cells} cells (model, data set, pronouns, setting).")
    said = [text.format(texts=f"{len(sample.rows):,}", contexts=f"{sample.contexts:,}", cells=f"{sample.cells:,}")]
    if number and sample.fewest < number:
        said.append(_("The smallest cell has {fewest} texts.").format(fewest=f"{sample.fewest:,}"))
    if number and sample.most_of_one > 1:
        text = _("There are too few contexts: up to {most} texts in a cell come from the same context.")
        said.append(text.format(most=sample.most_of_one))
    st.caption(plain(paragraph(said)))
    if number:
        _show_designs(store, run, rows, number, [project for project in projects if not has_own_scheme(store, project)])
    target = st.selectbox(
        _("Project"),
        targets([project.name for project in projects]),
        format_func=lambda name: name or _("A new project"),
        key=f"target-{run.name}",
    )
    settings = _new_project(run, len(sample.rows)) if target == NEW else {}
    if st.button(_("Add to the project"), key=f"into-{run.name}", type="primary", icon=":material/move_to_inbox:"):
        try:
            _put(store, run, sample, next((project for project in projects if project.name == target), None), settings)
        except EvenhandError as error:
            show_error(error)
    if done := st.session_state.pop(f"put-{run.name}", None):
        st.success(plain(_("Adding {texts} texts to {project} in the background.").format(**done)))
        with st.container(horizontal=True):
            page_link("jobs/page.py", label=_("Jobs"), icon=":material/schedule:")
            if (
                made := next((project for project in own_projects(store) if project.name == done["project"]), None)
            ) is not None:
                show_next(store, made)


@st.cache_data(max_entries=5, show_spinner=False)
def _rows(path: str, version: str) -> list[JsonObject]:
    del version
    return read_generations(path)


def _how_many(run: Run) -> tuple[int | None, int]:
    """Return how many texts to draw from every cell (None: all), and the seed of the draw."""
    names = {"all": _("All texts"), "sample": _("A sample")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = choose(_("Which texts"), names, f"which-{run.name}")
        if which != "sample":
            return None, 0
        number = st.number_input(
            _("Texts per model, pronoun set and setting"), 1, 10_000, 25, key=f"number-{run.name}", width=260
        )
        seed = st.number_input(_("Seed"), 0, 2**31, 0, key=f"seed-{run.name}", width=140)
    return int(number), int(seed)


def _show_designs(store: Store, run: Run, rows: list[JsonObject], number: int, projects: list[Project]) -> None:
    """Show the precision that each way to spend the labels gives, estimated from the rule on this run or from labels of
    a project."""
    names = {NEW: _("the first-pronoun rule on this run")} | {project.name: project.name for project in projects}
    source = st.selectbox(
        _("Estimate precision from"), list(names), format_func=names.__getitem__, key=f"pilot-{run.name}"
    )
    chosen = next((project for project in projects if project.name == source), None)
    pilot = pilot_by_rule(rows) if chosen is None else pilot_by_people(store, chosen)
    if pilot.value is None or pilot.mean is None:
        why = _(pilot.reason.message) if pilot.reason else ""
        hint = _("To estimate this, generate two or more texts per context, or use a project with labelled texts.")
        st.caption(f"{DASH} " + plain(f"{why} {hint}"))
        return
    show_html(_table(pilot, number))
    text = _(
        "Standard error of the misgendering rate in a cell. In the pilot, the rate is {share} and the"
        " intraclass correlation within contexts is {icc} ({labels} texts from {contexts} contexts)."
    )
    values = {"share": f"{pilot.mean:.3f}", "icc": f"{pilot.value:.3f}"}
    st.caption(plain(text.format(**values, labels=f"{pilot.labels:,}", contexts=f"{pilot.contexts:,}")))


def _table(pilot: Correlation, number: int) -> Markup:
    numbers = (_("standard error"), _("effective sample size"))
    columns = [Column(_("Contexts × texts")), *(Column(name, "number") for name in numbers)]
    found = designs(number, pilot.mean, pilot.value)
    rows = [
        (f"{design.contexts:,} × {design.per_context:,}", f"{design.se:.3f}", f"{design.independent:.1f}")
        for design in found
        if design.se is not None and design.independent is not None
    ]
    return table(columns, rows, kind="narrow")


def _new_project(run: Run, texts: int) -> JsonObject:
    """Name, annotators and plan of a new project."""
    name = st.text_input(_("Name of the project"), key=f"new-{run.name}", placeholder=run.name, max_chars=80)
    people = st.text_area(_("Annotators, one per line"), key=f"people-{run.name}", height=90)
    plans = {
        "sample": _("One label each, more for a random sample"),
        "each": _("The same number of labels for every text"),
    }
    plan = st.radio(_("Labels"), list(plans), format_func=plans.__getitem__, key=f"plan-{run.name}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        doubled = None
        if plan == "sample":
            proposed = min(texts, max(20, round(texts / 12)))  # 200 of 2,400 in document 004
            doubled = int(st.number_input(_("Texts in the sample"), 0, 1_000_000, proposed, key=f"dbl-{run.name}"))
        per_item = st.number_input(
            _("Labels per sampled text") if plan == "sample" else _("Labels per text"), 1, 100, 2,
            key=f"per-{run.name}",
        )  # fmt: skip
    names = names_in(people)
    if names and int(per_item) > len(names):
        st.caption(
            plain(
                _("With {people} annotators, a text cannot get {labels} labels.").format(
                    people=len(names), labels=per_item
                )
            )
        )
    return {"name": name.strip() or run.name, "people": names, "per_item": int(per_item), "doubled": doubled}


@asks("import_files")
def _put(store: Store, run: Run, sample: GenerationSample, target: Project | None, settings: JsonObject) -> None:
    project = target or _create_project(store, settings)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in sample.rows)
    path = jobs.keep_upload(store, f"{run.name}.jsonl", lines.encode())
    title = Notice(N_("Import {file} into {project}"), {"file": path.name, "project": project.name})
    start_job(store, IMPORT, Settings(project.name, path, "generations", uid=project.uid), title, project=project)
    st.session_state[f"put-{run.name}"] = {"texts": f"{len(sample.rows):,}", "project": project.name}
    labels = labels_planned(project, len(sample.rows))
    st.toast(plain(_("{labels} labels are planned.").format(labels=f"{labels:,}")))
    st.rerun()


@asks("create_projects")
def _create_project(store: Store, settings: JsonObject) -> Project:
    project = create_project(
        store,
        settings["name"],
        kind="generations",
        language="en",
        annotators=settings["people"],
        per_item=settings["per_item"],
    )
    own_new_project(store, project)
    return change_project(store, project, doubled=settings["doubled"])


EXAMPLES = 6


def show_finished(store: Store) -> None:
    """Show the finished runs, the newest first."""
    nothing = _("No finished runs yet. The texts of a finished run stay here and can be added to a project.")
    show_finished_runs(GENERATIONS.finished(store), lambda run: _show_run(store, run), nothing)


def _show_run(store: Store, run: Run) -> None:
    text = _("{texts} texts from {contexts} contexts, finished {time}")
    texts, contexts = f"{run.count('generations'):,}", f"{run.count('contexts'):,}"
    rate = [_("{rate} tokens per second", rate=f"{run.count('rate'):,}")] if run.count("rate") else []
    show_facts(run, text.format(texts=texts, contexts=contexts, time=finished_at(run)), *rate)
    for line in _left_out(run):
        st.caption(":material/info: " + plain(line))
    with st.expander(_("Sample of the texts"), key=f"sample-{run.name}"):
        _show_examples(run)
    with st.expander(_("Add to a project for annotation"), key=f"way-{run.name}"):
        show_way_into_project(store, run)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover(_("Download"), icon=":material/download:", type="tertiary", key=f"taking-{run.name}"):
            _show_download(run)
        offer_deletion(GENERATIONS, run, _("Items already in a project stay."))
        show_signature("\n".join(run.signatures))


def _left_out(run: Run) -> list[str]:
    """Return a sentence on the skipped contexts, with the first reason; empty if none was skipped."""
    number, refused = run.record.get("refused_contexts"), run.record.get("refused")
    if not number or not isinstance(refused, list):
        return []
    first: JsonObject = refused[0]
    why = sentence(str(first.get("error", "")), first.get("values"))
    return [_("{number} contexts were skipped; the first because: {why}", number=f"{number:,}", why=why)]


def _show_examples(run: Run) -> None:
    lines = []
    for row in first_rows(run.table, EXAMPLES):
        text = [span(str(row["context"]), "soft"), CARET, span(str(row["completion"]), "verbatim")]
        lines.append(element("li", span(joined([below(described(row)), *text]))))
    show_html(element("ol", joined(lines), "sentences"))


def _show_download(run: Run) -> None:
    caption("Model texts about people can be hurtful, so they are exported only as a password-protected archive (AES).")
    password = st.text_input(_("Password"), type="password", key=f"password-{run.name}")
    if not password:
        return
    with errors_shown():
        archive = packed({run.table.name: run.table.read_bytes()}, password)
        download(_("Generations (ZIP)"), archive, f"{run.name}.zip", key=f"zip-{run.name}", type="secondary")
