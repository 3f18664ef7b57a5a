"""Start a run: a set, models, how many generations; one job that asks both ways. What runs, and finished runs."""

from pathlib import Path
from typing import Any

import streamlit as st

from evenhand.core.errors import N_, Notice
from evenhand.core.language import Count
from evenhand.core.misgendering.run import MISGENDERING as MISGENDERING_RUN
from evenhand.core.misgendering.run import Settings
from evenhand.core.runs.records import Run
from evenhand.core.text.pronouns import sets
from evenhand.core.worker.client import known_models
from evenhand.pages.ui.choose import ask_trim, choose, choose_models, choose_pronoun_sets
from evenhand.pages.ui.jobs import follow, is_active
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.runs import (
    RunPage,
    RunRequest,
    download_table,
    finished_at,
    offer_deletion,
    show_facts,
    show_finished_runs,
    show_notices,
    show_start_form,
    start_run,
)
from evenhand.pages.ui.text import _, plain
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import open_store

MISGENDERING = RunPage("misgendering", "misgendering")
FIRST_MODEL = "demo-en-causal"
FIRST = Settings(models=(FIRST_MODEL,), run_name="", passes=1, limit=80, new_tokens=30)


def show_first_run() -> None:
    """Show the page before the first run: one button, and what it started."""
    with st.container(border=True, key="first-run"):
        title = plain(_("There is no run yet."))
        st.markdown(f"**{title}**")
        st.write(
            _(
                "The built-in instances and model show in about a minute how this page works. They are for"
                " trying out the app, not for findings. To run real models, use Start a run; verdicts"
                " computed elsewhere can be opened below."
            )
        )
        with open_store() as store:
            pressed = st.button(
                _("Start with the built-in instances and model"), key="start-first", type="primary",
                icon=":material/play_arrow:", disabled=is_active(store, MISGENDERING.command),
            )  # fmt: skip
            if pressed:
                start_run(store, MISGENDERING, _request(FIRST), MISGENDERING.free_name(store, _("First run")))
        follow(MISGENDERING.command)


def show_new() -> None:
    """Show the form, what runs, and the finished runs."""
    with open_store() as store, st.container(border=True):
        source, uploads = _choose_set()
        entries = known_models("causal")
        models = choose_models(
            [entry.name for entry in entries], "misgender-models",
            first=[entry.name for entry in entries if entry.builtin and entry.available][:1],
            help=_("Causal (left-to-right) models; both methods work with them."),
        )  # fmt: skip
        how = _choose_how()
        request = None
        if source and models:
            request = _request(Settings(templates=source, models=models, run_name="", **how), uploads)
        show_start_form(store, MISGENDERING, models[0] if models else FIRST_MODEL, request)
    follow(MISGENDERING.command)
    with open_store() as store:
        nothing = _("No finished runs yet. Each finished run stays here with its table to download.")
        show_finished_runs(MISGENDERING.finished(store), _show_run, nothing)


def _request(settings: Settings, uploads: tuple[Path, ...] = ()) -> RunRequest[Settings]:
    title = Notice(N_("Misgendering: {models}"), {"models": list(settings.models)})
    return RunRequest(title, MISGENDERING_RUN, settings, models=settings.models, uploads=uploads)


def _choose_set() -> tuple[str | None, tuple[Path, ...]]:
    """Return the set as the command takes it, None while there is none; and the uploaded file that goes with the
    job."""
    kinds = {"built-in": _("Built-in set"), "file": _("A table of templates"), "folder": _("A folder on this machine")}
    kind = choose(_("Set"), kinds, "set")
    if kind == "built-in":
        st.caption(_("Our own 40 templates and 60 names, five cases; every text states the pronouns."))
        return "built-in", ()
    if kind == "folder":
        text = st.text_input(
            _("Folder"),
            key="set-folder",
            help=_("A folder on the machine that runs this app, such as the MISGENDERED folder."),
        )
        return text.strip() or None, ()
    help = _("Columns case and text, where text has one slot [MASK] and {name}; or the published table of RUFF.")
    path = choose_upload(_("Table of templates"), ["csv", "tsv"], key="set-file", help=help)
    return (None, ()) if path is None else (str(path), (path,))


def _choose_how() -> dict[str, Any]:
    """Return the settings that say how templates are filled and what models write."""
    settings = {"pre": _("before the slot"), "post": _("after the slot")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        each = st.number_input(
            _("Generations per instance"),
            0,
            100,
            5,
            key="each",
            width=150,
            help=_("0: the probability-based method only."),
        )
        setting = choose(_("End of the context"), settings, "setting")
        passes = st.number_input(_("Names per template"), 1, 500, 2, key="passes", width=170)
    only = choose_pronoun_sets("only")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        limit = st.number_input(
            _("Maximum number of instances"),
            1,
            None,
            None,
            key="limit",
            width=170,
            placeholder=_("all"),
            help=_("A random sample with a fixed seed."),
        )
        tokens = st.number_input(_("New tokens"), 1, 1000, 50, key="tokens", width=130)
    trim = ask_trim()
    return {
        "each": int(each), "setting": setting or "pre", "passes": int(passes), "new_tokens": int(tokens), "trim": trim,
        "pronouns": () if only == tuple(sets("own")) else tuple(only), "limit": int(limit) if limit else None,
    }  # fmt: skip


def _show_run(run: Run) -> None:
    name = str(run.source.get("name") or DASH)
    source = _("Built-in set") if name == "built-in" else name
    text = _("{source}: {n} {n:instance|instances}, finished {time}")
    show_facts(run, text.format(source=source, n=Count(run.count("instances")), time=finished_at(run)))
    _say_models(run)
    show_notices(run)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("See the results"), key=f"look-{run.name}", type="tertiary", icon=":material/bar_chart:",
            on_click=_look, args=(run.name,),
        )  # fmt: skip
        download_table(MISGENDERING, run)
        lost = _("Deletes the verdicts and texts of this run; model outputs stay in the cache.")
        offer_deletion(MISGENDERING, run, lost)


def _look(name: str) -> None:
    # A tab is known by its title.
    st.session_state["section"], st.session_state["source"], st.session_state["run"] = _("Results"), "run", name


def _say_models(run: Run) -> None:
    """Show for each model its texts, and what sharing beginnings saved."""
    for entry in run.answered:
        text = _("{model}: {judged} {judged:instance|instances} judged, {undefined} could not be judged")
        counts = {name: Count(entry.get(name) or 0) for name in ("judged", "undefined")}
        line = text.format(model=entry.get("model", DASH), **counts)
        tokens = entry.get("tokens")
        factor = tokens.get("factor") if isinstance(tokens, dict) else None
        if factor:
            saved = _("shared prefixes were computed once: {factor} times fewer tokens")
            line += " · " + saved.format(factor=f"{factor:.1f}")
        st.caption(plain(line))
