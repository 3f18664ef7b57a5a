"""A grid of changes: models x interventions x seeds as one job, and its table, which fills in while it goes on."""

from pathlib import Path
from typing import Literal

import pandas as pd
import streamlit as st

from evenhand.annotations.before_after.runs import TUNE_GRID
from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs.kinds import run_name
from evenhand.core.before_after.appendix import short
from evenhand.core.before_after.grid import WAITING, GridEffect
from evenhand.core.before_after.settings import INTERVENTIONS, NO_SEED, GridSettings, Intervention
from evenhand.core.runs.records import TABLE, Run, runs_folder
from evenhand.core.typed_json import from_json
from evenhand.pages.before_after.results import ENDINGS
from evenhand.pages.before_after.two_runs import change_cell
from evenhand.pages.ui.choose import choose, choose_models, every_model, first_models
from evenhand.pages.ui.jobs import jobs_of
from evenhand.pages.ui.numbers import number
from evenhand.pages.ui.runs import (
    RunPage,
    RunRequest,
    choose_run,
    download_table,
    finished_at,
    offer_deletion,
    show_facts,
    show_notices,
    show_start_form,
)
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import _, language, plain, series
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown

GRIDS = RunPage("grids", "tune-grid", form_key="ba-grid-{part}", run_key="ba-grid-{part}-{run}")
PLACE = "ba-grid-text-0"


def intervention_name(kind: str) -> str:
    """Return an intervention in words."""
    return {
        "as-is": _("unchanged (measured only)"),
        "none": _("unswapped text (placebo)"),
        "swap": _("swapped text"),
        "cda": _("text with its swapped copies (CDA)"),
        "cds": _("text, half of it swapped (CDS)"),
        "dropout": _("unswapped text with more dropout"),
        "sentence-debias": "SentenceDebias",
        "inlp": "INLP",
    }.get(kind, kind)


def show_new_grid(store: Store) -> None:
    """Show the form."""
    with st.container(border=True, key="ba-grid-form"):
        names = [entry.name for entry in every_model()]
        help = _("Every intervention is applied to each model.")
        first = first_models(language())[:1]
        models = choose_models(names, "ba-grid-models", first=first, help=help, label=_("Models"))
        kinds: list[Intervention] = st.multiselect(
            _("Interventions"), INTERVENTIONS, ["none", "cds"], format_func=intervention_name, key="ba-grid-kinds"
        )
        first_column, second_column, third_column = st.columns(3)
        seeds = int(first_column.number_input(_("Seeds per combination"), 1, 20, 3, key="ba-grid-seeds"))
        steps = int(second_column.number_input(_("Steps"), 1, 100_000, 1000, key="ba-grid-steps"))
        help = _("More than one: on Ray, one model per worker.")
        workers = int(third_column.number_input(_("Parallel models"), 1, 64, 1, key="ba-grid-workers", help=help))
        chosen, texts, items = _files()
        request = None
        if texts and models and kinds:
            settings = GridSettings(
                texts=texts, models=models, interventions=tuple(kinds), seeds=seeds, steps=steps, run_name="",
                items=str(items) if items else None, language=chosen, ray="local" if workers > 1 else None,
                workers=workers,
            )  # fmt: skip
            title = _("A grid of {models}").format(models=series(map(short, models)))
            uploads = [texts, items] if items else [texts]
            request = RunRequest(title, TUNE_GRID, settings, models=models, uploads=uploads, place=PLACE)
        cells = sum(seeds if kind not in NO_SEED else 1 for kind in kinds) * len(models)
        work = _("{number} models will be trained and measured.").format(number=f"{cells:,}")
        show_start_form(store, GRIDS, f"{short(models[0])} × {len(kinds)}" if models else "grid", request, work=work)


def _files() -> tuple[Literal["zh", "en"], Path | None, Path | None]:
    """Return the language of the texts, the texts, and the items to measure on; None where one is missing."""
    languages: dict[Literal["zh", "en"], str] = {"zh": _("Chinese"), "en": _("English")}
    chosen = choose(_("Language of the texts"), languages, "ba-grid-language", first=language())
    help = _("The items on which every model is measured. Without a file: built-in neutral sentences in that language.")
    with errors_shown():
        texts = choose_upload(_("Training texts, one text per line"), ["txt", "gz"], key=PLACE)
        return chosen, texts, choose_upload(_("Items"), ENDINGS, key=f"{PLACE}-items", help=help)
    return chosen, None, None


def show_grids(store: Store) -> None:
    """Show the table of a running grid, as far as it is filled in, and the finished grids."""
    for job in jobs_of(store, GRIDS.command):
        file = runs_folder(store.path, "grids") / f"{run_name(job)}{TABLE}"
        if job.active and file.is_file():
            st.markdown(f"**{plain(file.stem)}**")
            _show_cells(file)
    st.header(_("Results"), anchor=False)
    runs = GRIDS.finished(store)
    if not runs:
        st.caption(_("No finished grid yet."))
        return
    _show_run(choose_run(runs, "ba-grid-run"))


def _show_run(run: Run) -> None:
    text = _("{cells} models, trained on {name}; finished {time}")
    values = {"cells": run.sentences, "name": run.source.get("name", ""), "time": finished_at(run)}
    show_facts(run, text.format(**values))
    show_notices(run)
    heads = [_("model"), _("intervention"), _("change in magnitude")]
    rows = [
        (short(effect.model), intervention_name(effect.intervention), change_cell(effect.effect))
        for effect in from_json(list[GridEffect], run.record.get("effects", ()))
    ]
    if rows:
        show_html(table(number_columns(heads, (2,)), rows))
        st.caption(
            _(
                "Below 0: leans less. Over seeds, compared with the placebo if the grid has one; intervals"
                " need three seeds of each."
            )
        )
    with st.expander(_("Every model")):
        _show_cells(run.table)
    with st.container(horizontal=True, vertical_alignment="center"):
        download_table(GRIDS, run)
        offer_deletion(GRIDS, run, _("The models stay in the folder of the same name."))


def _show_cells(file: Path) -> None:
    frame = pd.read_csv(file, dtype={"status": str})
    heads = [_("model"), _("intervention"), _("seed"), _("magnitude before"), _("magnitude after")]
    heads += [_("increase in held-out loss"), _("state")]
    forms = (("size_before", "z.3f"), ("size_after", "z.3f"), ("rise", "+z.3f"))
    rows = []
    states = {"ok": _("finished"), WAITING: _("waiting")}
    for entry in frame.to_dict("records"):
        numbers = [number(None if pd.isna(entry[key]) else float(entry[key]), form) for key, form in forms]
        named = (short(str(entry["model"])), intervention_name(str(entry["intervention"])), str(entry["seed"]))
        rows.append((*named, *numbers, states.get(str(entry["status"]), str(entry["status"]))))
    show_html(table(number_columns(heads, (2, 3, 4, 5)), rows, kind="pinned"))
