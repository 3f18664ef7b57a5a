"""What an audit of extremes came to: the answer in a sentence, shares with intervals, reasons, measures, agreement."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from evenhand.annotations.audit import audit_projects
from evenhand.annotations.database.store import Store
from evenhand.core.audit.leak_rates import Compared, WithAndWithout, verdict
from evenhand.core.errors import EvenhandError
from evenhand.core.statistics.equivalence import equivalence
from evenhand.pages.ui.charts import downloads, show_chart
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.equivalence import against, difference_says, margin_box
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import DASH, POINTS, SIZE_IN_POINTS, note_text, number, with_brackets
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import clauses, paragraph, plain, show_signature
from evenhand.pages.ui.visitor import page_link

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.core.audit.leak_rates import Rule

RULES = ("unanimous", "any", "label")


def show_result(store: Store, chosen: audit_projects.Audit, frame: "pd.DataFrame | None") -> None:
    """The result of one audit; while it is under way only how far it is, unless the numbers are asked for."""
    if not chosen.finished and not _look_early(chosen):
        return
    try:
        found = audit_projects.audit_result(store, chosen.project, frame)
    except EvenhandError as error:
        show_error(error)
        found = audit_projects.audit_result(store, chosen.project)
    if not found.audit.settled:
        st.info(_("No sentence has all its labels yet, so nothing can be compared."))
        return
    rule: Rule = _rule()
    _answer(found, rule)
    _reasons(found)
    _measures(found, rule, of_run=frame is not None)
    _leaking(found, rule)
    _show_method(found)


def _look_early(chosen: audit_projects.Audit) -> bool:
    share = chosen.labels / chosen.labels_wanted
    text = _("{done} of {all} labels; {settled} of {sentences} sentences are complete.")
    st.progress(
        min(1.0, share),
        text.format(
            done=chosen.labels,
            all=chosen.labels_wanted,
            settled=len(chosen.settled),
            sentences=len(chosen.sentences),
        ),
    )
    page_link(
        "review/page.py",
        label=_("Open the desk"),
        icon=":material/rate_review:",
        query_params={"project": chosen.project.name},
    )
    return switch(
        _("Show interim results"),
        key=f"audit-early-{chosen.project.uid}",
        explained=_("Not for people who are still labelling: interim results would influence them."),
    )


def _rule() -> "Rule":
    names: dict[Any, str] = {"unanimous": _("all annotators agree"), "any": _("at least one annotator says so")}
    rule: Rule = st.segmented_control(
        _("A sentence counts as a leak if"), list(names), format_func=names.__getitem__, default="unanimous",
        required=True, key="audit-rule",
    )  # fmt: skip
    return rule


def _answer(found: audit_projects.AuditResult, rule: "Rule") -> None:
    """The verdict, the picture of shares, and the table of all rules and ends."""
    import pandas as pd

    from evenhand.core.charts.dots import leak_shares

    both = found.shares[rule][0]
    st.markdown(f"#### {plain(note_text(verdict(both)))}")
    margin = margin_box("share", "leak-margin")
    if tested := difference_says(both.difference, margin):
        st.caption(plain(tested))
    rows = [row for one in found.shares[rule] for row in _shares(one)]
    says = _says(both)
    chart = leak_shares(pd.DataFrame(rows), description=says, say=_, palette=colours())
    show_chart(chart, [row | {"rule": rule, **_traced(found)} for row in rows], key="leak-shares", says=says)
    with st.expander(_("All ways of counting"), icon=":material/table_rows:"):
        table = [_table_row(kind, one, margin) for kind in RULES for one in found.shares[kind]]
        st.dataframe(table, hide_index=True, key="leak-table")
        st.caption(
            _(
                "Shares of sentences: Wilson interval; their difference: Newcombe. Shares of labels: t on"
                " the jackknife over sentences, because labels of one sentence are correlated."
            )
        )
        downloads([row | _traced(found) for row in table], key="leak-table")


def _end(one: Compared) -> str:
    return {None: _("both directions"), "male": _("towards the male word"), "female": _("towards the female word")}[
        one.toward
    ]


def _shares(one: Compared) -> list[dict[str, Any]]:
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


def _table_row(kind: str, one: Compared, margin: float | None) -> dict[str, Any]:
    names = {"unanimous": _("all say leak"), "any": _("at least one says leak"), "label": _("labels that say leak")}
    return {
        _("Counted"): names[kind],
        _("Direction"): _end(one),
        _("Extremes"): f"{one.counts[0][0]}/{one.counts[0][1]}",
        _("Share among extremes"): with_brackets(one.extreme, "z.0%"),
        _("Ordinary sentences"): f"{one.counts[1][0]}/{one.counts[1][1]}",
        _("Share among ordinary sentences"): with_brackets(one.control, "z.0%"),
        _("Difference"): with_brackets(one.difference, POINTS),
        _("Against the margin"): against(equivalence(one.difference, margin), SIZE_IN_POINTS),
    }


def _heading(text: str) -> None:
    st.markdown(f"**{text}**")


def _reasons(found: audit_projects.AuditResult) -> None:
    _heading(_("What reveals the keyword"))
    names = {reason.code: reason.zh if language() == "zh" else reason.en for reason in audit_projects.reasons()}
    rows = [
        {
            _("Reason"): names.get(code, code),
            _("Labels on extremes"): str(extremes),
            _("Labels on ordinary"): str(controls),
        }
        for code, (extremes, controls) in found.reasons.items()
    ]
    show_records(rows)


def _measures(found: audit_projects.AuditResult, rule: "Rule", *, of_run: bool) -> None:
    _heading(_("Measures with and without leaks"))
    names = {
        "run": _("all sentences of the run"),
        "extreme": _("extremes in this audit"),
        "control": _("ordinary sentences in this audit"),
    }
    rows = [_means_row(names[scope], part) for scope, part in found.measures[rule].items()]
    show_records(rows)
    told = _("log10. With → without leaking sentences; only judged sentences can be excluded.")
    if not of_run:
        more = _("Open the run {run} above with its model {model} to include all its sentences here.")
        told = paragraph((told, more.format(run=found.audit.run or DASH, model=found.audit.model)))
    st.caption(plain(told))


def _means_row(name: str, part: WithAndWithout) -> dict[str, str]:
    def change(field: str) -> str:
        return " → ".join(number(getattr(means, field), "z.3f") for means in (part.all, part.kept))

    return {
        _("Sentences"): name,
        _("Number"): f"{part.sentences:,}",
        _("Leaks"): f"{part.leaks:,}",
        "Bias_man": change("bias_man"),
        "Bias_woman": change("bias_woman"),
        "Model_bias": change("model_bias"),
    }


def _leaking(found: audit_projects.AuditResult, rule: "Rule") -> None:
    leaking = found.leaking(rule)
    with st.expander(_("The {n} leaking sentences").format(n=len(leaking)), icon=":material/format_list_bulleted:"):
        names = {reason.code: reason.zh if language() == "zh" else reason.en for reason in audit_projects.reasons()}
        strata = {"extreme": _("extreme"), "control": _("ordinary sentences")}
        rows = [
            {
                _("Sentence"): one.sentence,
                _("Pair"): one.pair,
                "Bias_c": number(one.bias_log10, "+z.3f"),
                _("Kind"): strata[one.stratum],
                _("Labels"): f"{one.leaks}/{one.labels}",
                _("Reason"): clauses(dict.fromkeys(names.get(code, code) for code in one.reasons)),
            }
            for one in leaking
        ]
        st.dataframe(rows, hide_index=True, key="leaking")
        downloads([row | _traced(found) for row in rows], key="leaking-sentences")


def _traced(found: audit_projects.AuditResult) -> dict[str, str]:
    return {"audit": found.audit.project.name, "signature": found.audit.signature}


def _show_method(found: audit_projects.AuditResult) -> None:
    overall = found.agreement.overall
    text = _(
        "Agreement of the annotators: full agreement {same} of {n} sentences with at least two blind labels;"
        " Krippendorff's alpha {alpha}, Gwet's AC1 {ac1}."
    )
    st.caption(
        plain(
            text.format(
                same=with_brackets(overall.unanimity, "z.0%"),
                n=f"{overall.unanimity.units:,}",
                alpha=number(overall.alpha.value, "z.2f"),
                ac1=number(overall.ac1.value, "z.2f"),
            )
        )
    )
    show_signature(f"{found.audit.signature}\n{found.agreement.signature}")
