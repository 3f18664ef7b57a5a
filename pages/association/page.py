"""Professions: does a profession make the model expect a man or a woman? Associations of person words (BEC-Pro).

A finished run is shown one model at a time, in sections.
"""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.core.runs.records import Run
from evenhand.core.types import JsonObject
from evenhand.pages.association.source import ASSOCIATIONS, choose_set, set_name, show_banner, show_corpus, show_start
from evenhand.pages.ui.choose import choose, model_label
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.runs import choose_run, download_table, finished_at, offer_deletion, show_notices
from evenhand.pages.ui.text import _, inform, plain, sentence, show_signature
from evenhand.pages.ui.visitor import open_store, page_head


def choose_view(store: Store) -> str:
    """Measure, or look at results; a run that has just finished is shown."""
    names = {"measure": _("New measurement"), "results": _("Results")}
    if st.session_state.pop("association_finished", False) or "view" not in st.session_state:
        st.session_state["view"] = "results" if ASSOCIATIONS.finished(store) else "measure"
    return choose(_("View"), names, "view", heading=False)


def show_results(store: Store) -> None:
    """Show a run, one of its models, and a section about it."""
    runs = ASSOCIATIONS.finished(store)
    if not runs:
        inform("No measurements yet. Choose sentences and a model under New measurement, and start.")
        return
    left, right = st.columns(2)
    with left:
        run = choose_run(runs)
    models = list(run.models)
    model = right.selectbox(_("Model"), models, key=f"model-{run.name}", format_func=model_label) if models else None
    _show_facts(run, model)
    if model is None:
        return
    trial_banner([model])
    show_banner(str(run.record.get("language", "")))
    names = {
        "hypotheses": _("Hypotheses"),
        "professions": _("By profession"),
        "shares": _("Share of women"),
        "words": _("Person words"),
        "printed": _("Reported tables"),
    }
    section = choose(_("Section"), names, "section", address="section", heading=False)
    from evenhand.pages.association import sections

    table, version = str(run.table), run.created
    if section == "hypotheses":
        sections.show_hypotheses(table, version, model, run.models)
    elif section == "professions":
        sections.show_professions(table, version, model)
    elif section == "shares":
        sections.show_shares(table, version, model)
    elif section == "words":
        sections.show_words(table, version, model)
    else:
        sections.show_printed(str(run.record.get("language", "")), table, version, model)


def _show_facts(run: Run, model: str | None) -> None:
    """Show the settings and costs of a run, what has no number, and the table to download."""
    settings, source = run.facts("settings"), run.source
    entries: JsonObject = next((entry for entry in run.answered if entry.get("model") == model), {})
    facts = [
        set_name(str(run.record.get("language", DASH))),
        *(f"{value}" for key, value in source.items() if key in ("templates", "persons", "professions")),
        _("{sentences} sentences", sentences=f"{run.sentences:,}"),
        finished_at(run),
    ]
    st.caption(plain(" · ".join(facts)))
    if entries:
        text = _(
            "{probes} probes in {passes} forward passes; {saved} saved, {priors} of them by identical"
            " priors; {seconds} s. Professions: one mask per {attribute}; person words: {target}."
        )
        values = {
            "probes": f"{int(entries.get('probes', 0)):,}",
            "passes": f"{int(entries.get('passes', 0)):,}",
            "saved": f"{int(entries.get('passes_saved', 0)):,}",
            "priors": f"{int(entries.get('priors_saved', 0)):,}",
            "seconds": f"{float(entries.get('seconds', 0)):.1f}",
            "attribute": _("whitespace-separated word") if settings.get("attribute") == "word" else _("subword"),
            "target": _("all subwords") if settings.get("target") == "all" else _("the first subword"),
        }
        st.caption(plain(text.format(**values)))
    for group in entries.get("undefined", []):
        lost = _("{rows} sentences without a score: {reason}")
        why = sentence(str(group["reason"]))
        st.caption(":material/info: " + plain(lost.format(rows=f"{group['rows']:,}", reason=why)))
    show_notices(run)
    with st.container(horizontal=True, vertical_alignment="center"):
        if entries:
            show_signature(str(entries.get("signature", "")))
        download_table(ASSOCIATIONS, run)
        offer_deletion(ASSOCIATIONS, run, _("Permanently deletes the table and its record."))


page_head(
    "Does a profession make a model expect a man or a woman? Every sentence is run twice, with the"
    " profession visible and masked. The association is the natural log of the ratio of the two"
    " probabilities of the person word."
)
with open_store() as opened:
    view = choose_view(opened)
    if view == "measure":
        with st.container(border=True):
            chosen = choose_set()
            if chosen is not None:
                show_corpus(chosen)
        if chosen is not None:
            with st.container(border=True):
                show_start(opened, chosen)
follow("association")
if view == "results":
    with open_store() as opened:
        show_results(opened)
