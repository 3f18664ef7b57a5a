"""Professions: does a profession make the model expect a man or a woman? Associations of person words (BEC-Pro).

A finished run is shown one model at a time, in sections.
"""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.core.runs.records import Run
from evenhand.core.types import JsonObject
from evenhand.pages.association.source import ASSOCIATIONS, choose_set, set_name, show_banner, show_corpus, show_start
from evenhand.pages.ui.choose import model_label
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.results import open_view, show_method
from evenhand.pages.ui.runs import choose_run, finished_at, result_bar, show_notices
from evenhand.pages.ui.text import _, inform, plain, sentence
from evenhand.pages.ui.visitor import open_store, page_head


def views() -> dict[str, str]:
    """Return the title of each view."""
    return {
        "hypotheses": _("Hypotheses"),
        "professions": _("By profession"),
        "shares": _("Share of women"),
        "words": _("Person words"),
        "printed": _("Reported tables"),
        "measure": _("New measurement"),
    }


def choose_result(store: Store) -> tuple[Run, str] | None:
    """Return a run and one of its models, chosen in the line above the result; None without a run or its models."""
    runs = ASSOCIATIONS.finished(store)
    if not runs:
        return None
    bar = result_bar()
    with bar.change:
        run = choose_run(runs)
        models = list(run.models)
        model = st.selectbox(_("Model"), models, key=f"model-{run.name}", format_func=model_label) if models else None
    language = set_name(str(run.record.get("language", DASH)))
    bar.say(run.name, [model] if model else [], language, _("{sentences} sentences", sentences=f"{run.sentences:,}"))
    bar.offer_run(ASSOCIATIONS, run, _("Permanently deletes the table and its record."))
    return (run, model) if model else None


def show_result(section: str, run: Run, model: str) -> None:
    """Show one view of a model of a run, and how it was measured."""
    from evenhand.pages.association import sections

    trial_banner([model])
    show_banner(str(run.record.get("language", "")))
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
    _show_how(run, model, sections.method_of(table, version, model))


def _show_how(run: Run, model: str, *method: str) -> None:
    """Show the settings and costs of a run, what has no number, *method*, and the signature."""
    settings, source = run.facts("settings"), run.source
    entries: JsonObject = next((entry for entry in run.answered if entry.get("model") == model), {})
    facts = [
        *(f"{value}" for key, value in source.items() if key in ("templates", "persons", "professions")),
        finished_at(run),
    ]
    costs = ""
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
        costs = text.format(**values)
    for group in entries.get("undefined", []):
        lost = _("{rows} sentences without a score: {reason}")
        why = sentence(str(group["reason"]))
        st.caption(":material/info: " + plain(lost.format(rows=f"{group['rows']:,}", reason=why)))
    show_notices(run)
    show_method(*method, " · ".join(facts), costs, signature=str(entries.get("signature", "")))


page_head(
    "Does a profession make a model expect a man or a woman? Every sentence is run twice, with the"
    " profession visible and masked. The association is the natural log of the ratio of the two"
    " probabilities of the person word."
)
with open_store() as opened:
    if st.session_state.pop("association_finished", False):
        st.session_state["section"] = views()["hypotheses"]
    chosen_result = choose_result(opened)
    first = "hypotheses" if chosen_result else "measure"
    with open_view(views(), "section", address="section", first=first) as section:
        if section == "measure":
            with st.container(border=True):
                chosen = choose_set()
                if chosen is not None:
                    show_corpus(chosen)
            if chosen is not None:
                with st.container(border=True):
                    show_start(opened, chosen)
        elif chosen_result is None:
            inform("No measurements yet. Choose sentences and a model under New measurement, and start.")
        else:
            show_result(section, *chosen_result)
follow("association")
