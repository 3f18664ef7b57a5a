"""Inference: does a classifier of sentence pairs take an occupation for a gender? (address: /inference)

Bias rates: train the classifier on sets with a known bias rate, and see which measure goes with it.
"""

from dataclasses import replace

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, Notice
from evenhand.core.nli.bias_rates import MEASURES, NLI_RATES, table_of
from evenhand.core.nli.sets import RATES, WordOrder
from evenhand.core.nli.settings import RateSettings
from evenhand.core.nli.types import Language
from evenhand.core.runs.records import Run
from evenhand.core.types import JsonObject
from evenhand.pages.nli.results import show_results
from evenhand.pages.nli.start import (
    NLI,
    choose_language,
    choose_model_and_labels,
    inference_runs,
    model_banner,
    show_new,
    show_pair,
)
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.numbers import number
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.runs import (
    RunRequest,
    choose_run,
    download_table,
    finished_at,
    offer_deletion,
    show_start_form,
)
from evenhand.pages.ui.tables import Tile, show_html, tile_grid
from evenhand.pages.ui.text import _, plain
from evenhand.pages.ui.visitor import errors_shown, open_store, page_head

TRAININGS = replace(NLI, form_key="rates-{part}", run_key="rates-{part}")


def show_rates(store: Store) -> None:
    """Show the purpose of this measurement, the form, and the finished runs."""
    st.write(
        _(
            "Which measure can be trusted? Here bias is injected deliberately: the classifier is"
            " fine-tuned on 3,000 pairs. A share r of their wrong labels follows the stereotype and"
            " the rest contradict it, for r from 0 to 1. A valid bias measure rises with r. The"
            " model's files are not changed."
        )
    )
    with (
        st.expander(_("Train and measure"), icon=":material/tune:", expanded=not inference_runs(store, "rates")),
        errors_shown(),
    ):
        _form(store)
    runs = inference_runs(store, "rates")
    if not runs:
        st.info(_("No training run yet. The built-in classifier takes about ten minutes for all eleven rates."))
        return
    _show(choose_run(runs, "rates-run", address=False))


def _form(store: Store) -> None:
    model, labels = choose_model_and_labels("rates", planted=False)
    lang: Language = choose_language("rates-language")
    orders: dict[WordOrder, str] = {
        "female-first": _("female words first, as released"),
        "mixed": _("alternating male and female words"),
    }
    mixed_up = _(
        "As released, only female words are biased at r = 0.1 and 0.2, so the rate is confounded with the gender."
    )
    order = choose(_("Order of biased words"), orders, "rates-order", explained=mixed_up)
    chosen = st.multiselect(_("Bias rates"), RATES, default=RATES, key="rates-rates", format_func="{:.1f}".format)
    few, seed_at = st.columns(2)
    epochs = few.number_input(_("Epochs"), 1, 20, 3, key="rates-epochs")
    seed = seed_at.number_input(_("Seed"), 0, 10_000, 0, key="rates-seed")
    settings = RateSettings(
        model, lang, tuple(sorted(chosen)), order, epochs=int(epochs), seed=int(seed), labels=labels
    )
    request = RunRequest(Notice(N_("Bias rates: {model}"), {"model": model}), NLI_RATES, settings, models=[model])
    label = f"r {model.rsplit('/', 1)[-1]} {lang}"
    show_start_form(store, TRAININGS, label, request if model and chosen else None)


def _show(run: Run) -> None:
    facts: JsonObject = run.record
    model_banner(str(facts.get("model", "")))
    names = {
        "s": _("bias score s"),
        "one_minus_fn": _("1 − FN"),
        "directional": _("directional component"),
        "not_neutral_ns": _("1 − n_n"),
    }
    tiles = []
    for name in MEASURES:
        found = (facts.get("spearman") or {}).get(name) or {}
        rho = found.get("rho")
        reason = _(str(found.get("rho_reason", ""))) if rho is None else ""
        value = number(rho, "+.3f")
        text = _("Spearman correlation of r and {measure}").format(measure=names[name])
        tiles.append(Tile(text, value, (reason,)))
    show_html(tile_grid(tiles))
    _chart(run, names)
    _about(run)


def _chart(run: Run, names: dict[str, str]) -> None:
    from evenhand.core.charts.nli import over_rates

    table = table_of(run.table)
    rows = [
        {"r": float(row["r"]), "measure": names[name], **{
            key: float(row[f"{name}{end}"]) if row[f"{name}{end}"] else None
            for key, end in (("value", ""), ("low", "_low"), ("high", "_high"))
        }}
        for name in ("s", "one_minus_fn")
        for row in table
        if row[name]
    ]  # fmt: skip
    if not rows:
        return
    says = _("s and 1 − FN on the down-sampled sets at each bias rate, with 95% intervals over occupations.")
    chart = over_rates(rows, description=says, say=_, palette=colours())
    show_chart(chart, table, key="nli-rates-chart", says=says)


def _about(run: Run) -> None:
    facts = run.record
    text = _(
        "Trained in {seconds} s ({training}). Training and evaluation sets share their words but not their"
        " sentences. The paper reports 0.820 for s and −0.114 for 1 − FN; eleven values without ties can"
        " give neither."
    )
    st.caption(plain(text.format(seconds=f"{run.seconds or 0:.0f}", training=facts.get("training", ""))))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(_("finished {time}").format(time=finished_at(run))))
        download_table(TRAININGS, run)
        offer_deletion(TRAININGS, run)
    lines = [str(point.get("signature", "")) for point in facts.get("points", [])]
    with st.expander(_("Signatures"), icon=":material/fingerprint:"):
        st.code("\n".join(lines), language=None, wrap_lines=True)


def views() -> dict[str, str]:
    """Return the title of each view."""
    return {
        "results": _("Results"),
        "new": _("Run a classifier"),
        "rates": _("Bias rates"),
        "pair": _("One pair"),
    }


def _open_newest(store: Store) -> None:
    """Show the run that the visitor waited for: the one finished last, if the visitor is still at its form."""
    runs = NLI.finished(store)
    if not runs:
        return
    view = st.session_state.get("nli-view")
    if view == views()["new"] and runs[0].record.get("kind") == "inference":
        st.session_state["nli-view"], st.session_state["nli-run"] = views()["results"], runs[0].name
    elif view == views()["rates"] and runs[0].record.get("kind") == "rates":
        st.session_state["rates-run"] = runs[0].name


page_head(
    "Does a classifier take an occupation for a gender? A nurse reads a newspaper. Does it follow that a woman reads a"
    " newspaper? It does not: the correct answer is always neutral. Any other answer shows which gender the classifier"
    " attributes to the occupation."
)
with open_store() as opened:
    if st.session_state.pop("nli_finished", False):
        _open_newest(opened)
    first = "results" if inference_runs(opened) else "new"
    with open_view(views(), "nli-view", first=first) as shown:
        if shown == "new":
            show_new(opened)
        elif shown == "rates":
            show_rates(opened)
        elif shown == "pair":
            show_pair()
        else:
            show_results(opened)
follow("nli")
