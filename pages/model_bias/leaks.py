"""The section Leaks: are the extremes of a model bias, or sentences that give the answer away? Draw, send, read."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from evenhand.annotations.audit import audit_projects, follow_up
from evenhand.annotations.database.store import Store
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import FORMS
from evenhand.annotations.quantities.runs import run_estimates
from evenhand.annotations.types import Project
from evenhand.core.audit.leak_rates import Compared, Rule, WithAndWithout, verdict
from evenhand.core.audit.sample import MOST, AuditSample, draw, labels_needed
from evenhand.core.errors import EvenhandError
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import equivalence
from evenhand.pages.model_bias.source import Settings, rows_for
from evenhand.pages.ui.charts import colours, downloads, show_chart
from evenhand.pages.ui.choose import choose, model_label, switch
from evenhand.pages.ui.equivalence import against, difference_says, margin_box
from evenhand.pages.ui.numbers import DASH, POINTS, SIZE_IN_POINTS, duration, note_text, number, with_brackets
from evenhand.pages.ui.quantities import explained_all
from evenhand.pages.ui.runs import ScoreFile
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.tables import Tile, show_records, show_tiles
from evenhand.pages.ui.text import (
    _,
    caption,
    clauses,
    in_brackets,
    inform,
    language,
    named,
    names_in,
    paragraph,
    plain,
    show_signature,
)
from evenhand.pages.ui.visitor import asks, errors_shown, open_store, own_new_project, page_link, show_error

SECONDS_A_LABEL = 8  # what a short question on one sentence takes a practised reader, for the forecast
RULES = ("unanimous", "any", "label")


def _audit_name(audit: audit_projects.Audit) -> str:
    text = _("{name} · {model} · {done} of {all} labels")
    return text.format(name=audit.project.name, model=audit.model, done=audit.labels, all=audit.labels_wanted)


def _new(frame: "pd.DataFrame", store: Store, run: str) -> None:
    sample, per_item = _choose(frame)
    if sample is None:
        return
    _preview(sample, per_item)
    with st.form("audit-new", border=False):
        left, right = st.columns(2)
        first = _("Leaks of {model}", model=sample.model)
        name = left.text_input(_("Name of the project"), first, key="audit-name")
        people = right.text_area(_("Annotators, one per line"), key="audit-annotators", height=90)
        sent = st.form_submit_button(_("Send to the desk"), icon=":material/send:", type="primary")
    if sent:
        _send(store, sample, name, people, per_item, run)
    made = st.session_state.get("audit-made")
    if made:
        st.success(plain(_("{name} is on the desk; its annotators can start.", name=made)))
        _link_to_desk(made)


def _link_to_desk(project: str) -> None:
    where = {"project": project}
    page_link("review/page.py", label=_("Open the desk"), icon=":material/rate_review:", query_params=where)


def _choose(frame: "pd.DataFrame") -> tuple[AuditSample | None, int]:
    models = list(dict.fromkeys(frame["model"]))
    one, two, three, four = st.columns([3, 3, 2, 2])
    model = one.selectbox(_("Model"), models, key="audit-model", format_func=model_label)
    orders: dict[Any, str] = {
        "bias": _("by Bias_c"),
        "corrected": _("by Bias_c minus the pair mean"),
    }
    by = two.selectbox(_("Extremes"), list(orders), format_func=orders.__getitem__, key="audit-by")
    n = three.number_input(_("Extremes per direction"), 1, MOST, 25, key="audit-n")
    per_item = four.number_input(_("Labels per sentence"), 1, 10, 3, key="audit-per-item")
    with st.popover(_("Change the seed"), icon=":material/tune:", type="tertiary"):
        seed = st.number_input(
            _("Seed"), 0, 10**6, 0, key="audit-seed", help=_("The same seed draws the same sentences.")
        )
    if not model:
        return None, int(per_item)
    try:
        return draw(frame, model, int(n), int(seed), by=by), int(per_item)
    except EvenhandError as error:
        show_error(error)
        return None, int(per_item)


def _preview(sample: AuditSample, per_item: int) -> None:
    """Show how many sentences and labels such a sample needs, and what it can and cannot tell."""
    labels = labels_needed(len(sample.items), per_item)
    tiles = {
        _("Extremes, male word"): sample.extremes["male"],
        _("Extremes, female word"): sample.extremes["female"],
        _("Matched ordinary sentences"): sample.controls,
        _("Labels needed"): labels,
    }
    show_tiles([Tile(name, f"{value:,}") for name, value in tiles.items()], 4)
    text = _("About {time} of reading in total, {each} for each of {people} annotators, at {seconds} s per sentence.")
    seconds = labels * SECONDS_A_LABEL
    times = {"time": duration(seconds), "each": duration(seconds / per_item)}
    said = [text.format(**times, people=per_item, seconds=SECONDS_A_LABEL)]
    width = sample.reach
    if width is not None:
        told = _("A difference of less than {points} percentage points between the two shares may go undetected.")
        said.append(told.format(points=f"{100 * width:.0f}"))
    if sample.left_out:
        said.append(_("Excluded for lack of a finite value: {count}.", count=f"{sample.left_out:,}"))
    if sample.repeated:
        said.append(_("Excluded as repeated sentences: {count}.", count=f"{sample.repeated:,}"))
    st.caption(plain(paragraph(said)))
    _shortages(sample)


def _shortages(sample: AuditSample) -> None:
    if not sample.shortages:
        return
    side = {"male": _("male word"), "female": _("female word")}
    parts = [named(in_brackets(s.pair, side[s.side]), f"{s.found}/{s.wanted}") for s in sample.shortages]
    text = _("Too few ordinary sentences of the same pair and side: {cells}. They are not replaced by others.")
    st.warning(plain(text.format(cells=clauses(parts))), icon=":material/warning:")


@asks("create_projects")
def _send(store: Store, sample: AuditSample, name: str, people: str, per_item: int, run: str) -> None:
    names = names_in(people)
    with errors_shown():
        made: Project = audit_projects.create_audit_project(
            store, sample, name, names, per_item=per_item, language=language(), run=run
        )
        own_new_project(store, made)
        st.session_state["audit-made"] = made.name
        st.session_state["audit"] = made.uid
        st.rerun()


def show_leaks(source: ScoreFile, models: list[str], _settings: Settings) -> None:
    """Show audits, in which people judge if extreme sentences reveal the covered keyword."""
    with open_store() as store:
        frame = rows_for(source, models)
        about = _(
            "The most extreme sentences are quoted most and are the least reliable: where another"
            " word in the sentence reveals the gender, even an unbiased model is certain. An audit"
            " checks this. Annotators see the most extreme sentences mixed with ordinary sentences"
            " of the same pair and side, with the keyword covered, and mark those that reveal it."
            " They do not know which sentences are extreme."
        )
        st.header(_("Bias, or a sentence that reveals the word?"), anchor=False, help=about)
        past = audit_projects.audits(store)
        if past:
            names = {audit.project.uid: audit for audit in past}
            if st.session_state.get("audit") not in names:
                st.session_state["audit"] = next(iter(names))
            uid = st.selectbox(_("Audit"), list(names), key="audit", format_func=lambda uid: _audit_name(names[uid]))
            chosen = names[uid]
            own = frame if chosen.run == source.name and chosen.model in set(frame["model"]) else None
            show_result(store, chosen, own)
        with st.expander(_("New audit"), icon=":material/casino:", expanded=not past):
            _new(frame, store, source.name)


def show_result(store: Store, chosen: audit_projects.Audit, frame: "pd.DataFrame | None") -> None:
    """Show the result of one audit; while it is under way only how far it is, unless the numbers are asked for."""
    if not chosen.finished and not _look_early(chosen):
        return
    try:
        audit_result = audit_projects.audit_result(store, chosen.project, frame)
    except EvenhandError as error:
        show_error(error)
        audit_result = audit_projects.audit_result(store, chosen.project)
    if not audit_result.audit.settled:
        inform("No sentence is fully labelled yet, so nothing can be compared.")
        return
    names: dict[Any, str] = {"unanimous": _("all annotators agree"), "any": _("at least one annotator says so")}
    rule: Rule = choose(_("A sentence counts as a leak if"), names, "audit-rule")
    _answer(audit_result, rule)
    _reasons(audit_result)
    _measures(audit_result, rule, of_run=frame is not None)
    _leaking(audit_result, rule)
    overall = audit_result.agreement.overall
    caption(
        "Agreement of the annotators: full agreement {same} of {n} sentences with at least two blind labels;"
        " Krippendorff's alpha {alpha}, Gwet's AC1 {ac1}.",
        same=with_brackets(overall.unanimity, "z.0%"),
        n=f"{overall.unanimity.units:,}",
        alpha=number(overall.alpha.value, "z.2f"),
        ac1=number(overall.ac1.value, "z.2f"),
    )
    show_signature(f"{audit_result.audit.signature}\n{audit_result.agreement.signature}")


def _look_early(chosen: audit_projects.Audit) -> bool:
    share = chosen.labels / chosen.labels_wanted
    text = _("{done} of {all} labels; {settled} of {sentences} sentences are complete.")
    counts = {"done": chosen.labels, "all": chosen.labels_wanted}
    text = text.format(**counts, settled=len(chosen.settled), sentences=len(chosen.sentences))
    st.progress(min(1.0, share), text)
    _link_to_desk(chosen.project.name)
    return switch(
        _("Show interim results"),
        key=f"audit-early-{chosen.project.uid}",
        explained=_("Do not show these to annotators who are still labelling: interim results would influence them."),
    )


def _answer(audit_result: audit_projects.AuditResult, rule: "Rule") -> None:
    """Show the verdict, the picture of shares, and the table of all rules and ends."""
    from evenhand.core.charts.dots import leak_shares

    both = audit_result.shares[rule][0]
    st.header(plain(note_text(verdict(both))), anchor=False)
    margin = margin_box("share", "leak-margin")
    if tested := difference_says(both.difference, margin):
        st.caption(plain(tested))
    rows = [row for compared in audit_result.shares[rule] for row in _shares(compared)]
    says = _says(both)
    chart = leak_shares(pd.DataFrame(rows), description=says, say=_, palette=colours())
    show_chart(chart, [row | {"rule": rule, **_traced(audit_result)} for row in rows], key="leak-shares", says=says)
    with st.expander(_("All ways of counting"), icon=":material/table_rows:"):
        stated = run_estimates("leaks", audit_result)
        table = [_table_row(kind, one, stated, margin) for kind in RULES for one in audit_result.shares[kind]]
        st.dataframe(table, hide_index=True, key="leak-table")
        text = _(
            "Shares of sentences: Wilson interval; their difference: Newcombe. Shares of labels: t on"
            " the jackknife over sentences, because labels of one sentence are correlated."
        )
        st.caption(plain(text), help=explained_all(stated))
        downloads([row | _traced(audit_result) for row in table], key="leak-table")


def _end(one: Compared) -> str:
    return {None: _("both directions"), "male": _("towards the male word"), "female": _("towards the female word")}[
        one.toward
    ]


def _shares(one: Compared) -> list[dict[str, object]]:
    parts = {
        "extreme": (_("extremes"), one.extreme, one.counts[0]),
        "control": (_("ordinary sentences"), one.control, one.counts[1]),
    }
    return [
        {
            "end": _end(one),
            "toward": one.toward or "both",
            "stratum": stratum,
            "name": name,
            "share": share.value,
            "low": share.low,
            "high": share.high,
            "method": share.method,
            "leaks": counts[0],
            "judged": counts[1],
        }
        for stratum, (name, share, counts) in parts.items()
    ]


def _says(both: Compared) -> str:
    (leaks, judged), (other_leaks, other) = both.counts
    text = _(
        "{a} of {b} extremes leak, and {c} of {d} ordinary sentences of the same pairs and sides; difference {apart}."
    )
    return text.format(a=leaks, b=judged, c=other_leaks, d=other, apart=with_brackets(both.difference, POINTS))


def _table_row(
    kind: str, one: Compared, stated: Mapping[str, Estimate], margin: float | None
) -> dict[str, object]:  # fmt: skip
    names = {"unanimous": _("all say leak"), "any": _("at least one says leak"), "label": _("labels that say leak")}

    def written(name: str) -> str:
        id_ = f"run.leaks.{name}"
        return with_brackets(stated[f"{id_}:{kind}/{one.toward or 'both'}"], FORMS[ENTRIES[id_].unit])

    return {
        _("Counted"): names[kind],
        _("Direction"): _end(one),
        _("Extremes"): f"{one.counts[0][0]}/{one.counts[0][1]}",
        _("Share among extremes"): written("extremes"),
        _("Ordinary sentences"): f"{one.counts[1][0]}/{one.counts[1][1]}",
        _("Share among ordinary sentences"): written("controls"),
        _("Difference"): written("difference"),
        _("Against the margin"): against(equivalence(one.difference, margin), SIZE_IN_POINTS),
    }


def _reason_names() -> dict[str, str]:
    return {reason.code: choice_name(reason) for reason in follow_up.reasons()}


def _reasons(audit_result: audit_projects.AuditResult) -> None:
    st.markdown(f"**{_('What reveals the keyword')}**")
    names = _reason_names()
    rows = [
        {
            _("Reason"): names.get(code, code),
            _("Labels on extremes"): str(extremes),
            _("Labels on ordinary"): str(controls),
        }
        for code, (extremes, controls) in audit_result.reasons.items()
    ]
    show_records(rows)


def _measures(audit_result: audit_projects.AuditResult, rule: "Rule", *, of_run: bool) -> None:
    st.markdown(f"**{_('Measures with and without leaks')}**")
    names = {
        "run": _("all sentences of the run"),
        "extreme": _("extremes in this audit"),
        "control": _("ordinary sentences in this audit"),
    }
    stated = run_estimates("leaks", audit_result)
    parts = audit_result.measures[rule].items()
    rows = [_means_row(names[scope], part, stated, f"{rule}/{scope}") for scope, part in parts]
    show_records(rows)
    told = _("log10. With → without leaking sentences; only labelled sentences can be excluded.")
    if not of_run:
        more = _("Open the run {run} above with its model {model} to include all its sentences here.")
        told = paragraph((told, more.format(run=audit_result.audit.run or DASH, model=audit_result.audit.model)))
    st.caption(plain(told))


def _means_row(name: str, part: WithAndWithout, stated: Mapping[str, Estimate], key: str) -> dict[str, str]:
    def change(field: str) -> str:
        id_ = f"run.leaks.{field}"
        values = (stated[f"{id_}:{key}/{which}"].value for which in ("all", "kept"))
        return " → ".join(number(value, FORMS[ENTRIES[id_].unit]) for value in values)

    return {
        _("Sentences"): name,
        _("Number"): f"{part.sentences:,}",
        _("Leaks"): f"{part.leaks:,}",
        "Bias_man": change("bias_man"),
        "Bias_woman": change("bias_woman"),
        "Model_bias": change("model_bias"),
    }


def _leaking(audit_result: audit_projects.AuditResult, rule: "Rule") -> None:
    leaking = audit_result.leaking(rule)
    with st.expander(_("The {n} leaking sentences").format(n=len(leaking)), icon=":material/format_list_bulleted:"):
        names = _reason_names()
        strata = {"extreme": _("extreme"), "control": _("ordinary sentences")}
        rows = [
            {
                _("Sentence"): judged_sentence.sentence,
                _("Pair"): judged_sentence.pair,
                "Bias_c": number(judged_sentence.bias_log10, "+z.3f"),
                _("Kind"): strata[judged_sentence.stratum],
                _("Labels"): f"{judged_sentence.leaks}/{judged_sentence.labels}",
                _("Reason"): clauses(dict.fromkeys(names.get(code, code) for code in judged_sentence.reasons)),
            }
            for judged_sentence in leaking
        ]
        st.dataframe(rows, hide_index=True, key="leaking")
        downloads([row | _traced(audit_result) for row in rows], key="leaking-sentences")


def _traced(audit_result: audit_projects.AuditResult) -> dict[str, str]:
    return {"audit": audit_result.audit.project.name, "signature": audit_result.audit.signature}
