"""Generations before and after, judged by people who do not know which is which: the project, and what came of it."""

from pathlib import Path

import streamlit as st

from evenhand.annotations.before_after.blind import KIND, judgements, mixed_project
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.generation_sample import comparisons_project, texts_of_files
from evenhand.core.runs.records import TEXTS, Run, run_file, runs_folder, runs_in
from evenhand.pages.before_after.results import COMPARISONS
from evenhand.pages.before_after.two_runs import show_runs_report
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.equivalence import margin_box
from evenhand.pages.ui.rail import show_next
from evenhand.pages.ui.runs import choose_run, offer_deletion, own_runs
from evenhand.pages.ui.text import _, caption, names_in, plain
from evenhand.pages.ui.visitor import asks, errors_shown, own_new_project


def show_people(store: Store) -> None:
    """Mix two runs of generation into a project, and the judgements of one that was mixed."""
    written = [
        run for run in own_runs(store, runs_in(runs_folder(store.path, "generations"))) if run.table.suffix == TEXTS
    ]
    if len(written) < 2:
        caption("This needs two finished runs of the Generate page in which both models continue the same contexts.")
    else:
        ways = {"alone": _("Each text by itself"), "pairs": _("Two texts side by side")}
        runs = {run.name: run for run in written}
        if choose(_("What annotators judge"), ways, "ba-mix-way") == "pairs":
            _show_comparing(store, runs)
            return
        _show_mixing(store, runs)
    found = [run for run in COMPARISONS.finished(store) if run.record.get("kind") == KIND]
    st.header(_("Results"), anchor=False)
    if not found:
        caption("Nothing has been mixed yet.")
        return
    run = choose_run(found, "ba-people-run")
    margin = margin_box("share", "ba-people-margin")
    with errors_shown():
        report = judgements(store, run, margin=margin)
        show_runs_report(report, run.name)
        offer_deletion(COMPARISONS, run, _("Deletes the key: the model of each text can no longer be identified."))


def _show_mixing(store: Store, runs: dict[str, Run]) -> None:
    with st.form("ba-mix"):
        one, other = st.columns(2)
        before = one.selectbox(_("Generations before"), list(runs), index=1, key="ba-mix-before")
        after = other.selectbox(_("Generations after"), list(runs), index=0, key="ba-mix-after")
        one, other = st.columns(2)  # again, so that what belongs together stays together on a narrow screen
        per_item = one.number_input(_("Annotators per text"), 1, 100, 3, key="ba-mix-per-item")
        per_context = other.number_input(
            _("Texts per context and model"), 1, 100, 5, key="ba-mix-per-context",
            help=_("More contexts are more informative than more texts per context."),
        )  # fmt: skip
        name, people, pressed = _who("ba-mix", _("Mix and create the project"), ":material/shuffle:")
    caption("Annotators see only the texts; the key to the models is stored here.")
    if pressed:
        with errors_shown():
            _mix(store, name, (runs[before], runs[after]), people, int(per_item), int(per_context))


def _who(place: str, label: str, icon: str) -> tuple[str, list[str], bool]:
    """Draw the end of a form; return the name of the project, its annotators, and whether the button was pressed."""
    name = st.text_input(_("Name of the project"), key=f"{place}-project", max_chars=80)
    people = st.text_area(_("Annotators, one per line"), key=f"{place}-people", height=90)
    pressed = st.form_submit_button(label, type="primary", icon=icon, key=f"{place}-start")
    return name.strip(), names_in(people), pressed


def _show_comparing(store: Store, runs: dict[str, Run]) -> None:
    with st.form("ba-pairs"):
        names = list(runs)
        chosen = st.multiselect(_("Generations to compare"), names, names[:2], key="ba-pairs-runs")
        one, other = st.columns(2)
        per_item = one.number_input(_("Annotators per comparison"), 1, 100, 3, key="ba-pairs-per-item")
        per_context = other.number_input(
            _("Comparisons per context"), 1, 100, 1, key="ba-pairs-per-context",
            help=_("More contexts are more informative than more comparisons per context."),
        )  # fmt: skip
        name, people, pressed = _who("ba-pairs", _("Draw pairs and create the project"), ":material/compare:")
    caption(
        "In each context, every pair of models is drawn with the same probability. Left and right are randomised for"
        " each annotator, and annotators do not see which model wrote a text. Results: Agreement, Preferences."
    )
    if pressed:
        with errors_shown():
            files = [runs[run].table for run in chosen]
            _compare(store, name, files, people, int(per_item), int(per_context))


@asks("create_projects")
def _compare(
    store: Store, name: str, files: list[Path], people: list[str], per_item: int, per_context: int
) -> None:  # fmt: skip
    made, drawn = comparisons_project(
        store, name, texts_of_files(files), annotators=people, per_item=per_item, per_context=per_context
    )
    own_new_project(store, made)
    text = _("{comparisons} comparisons of {contexts} contexts are in the project {project}.")
    values = {"comparisons": f"{len(drawn.rows):,}", "contexts": f"{drawn.contexts:,}", "project": made.name}
    st.success(plain(text.format(**values)))
    if drawn.alone or drawn.same:
        text = _("Left out: {alone} contexts with texts of one model, {same} pairs with the same text.")
        st.caption(plain(text.format(alone=f"{drawn.alone:,}", same=f"{drawn.same:,}")))
    show_next(store, made)


@asks("create_projects")
def _mix(
    store: Store, name: str, pair: tuple[Run, Run], people: list[str], per_item: int, per_context: int
) -> None:  # fmt: skip
    out = run_file(runs_folder(store.path, COMPARISONS.kind), COMPARISONS.free_name(store, name or "people"))
    made, mixed = mixed_project(
        store, name, (pair[0].table, pair[1].table), out, annotators=people, per_item=per_item,
        per_context=per_context,
    )  # fmt: skip
    own_new_project(store, made)
    text = _("{generations} generations of {contexts} contexts are in the project {project}, half by each model.")
    values = {"generations": f"{len(mixed.rows):,}", "contexts": f"{mixed.contexts:,}", "project": made.name}
    st.success(plain(text.format(**values)))
    show_next(store, made)
