"""The check of published numbers: totals, the claims of each document with their calculations, numbers of one's own."""

import streamlit as st
from markupsafe import Markup

from evenhand.core.published.claims import DOCUMENTS, VERDICTS, PrintedClaim
from evenhand.core.published.other_papers import checks
from evenhand.core.published.own_runs import BASES, OwnCheck, read_rows
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.numbers import DASH, note_text
from evenhand.pages.ui.tables import element, joined, number_columns, show_html, span, table
from evenhand.pages.ui.text import _, caption, inform, series, write
from evenhand.pages.ui.visitor import errors_shown, page_link

SIGNS: dict[bool | None, str] = {True: "✓", False: "✕", None: "?"}
EXAMPLE = "8.2e-1 4.1e-2 1.301\n8.2e-1 4.1e-2 2.996\n0.0310 0.2480 -0.730"


@st.cache_data(show_spinner=False)
def all_claims() -> list[PrintedClaim]:
    """Return every claim; nothing in it depends on the visitor."""
    return checks()


def show_totals() -> None:
    """Show how many claims follow, how many do not, and how many are open."""
    labels = {True: _("Consistent"), False: _("Inconsistent"), None: _("Undecided")}
    with st.container(horizontal=True, key="verdicts"):
        for verdict, label in labels.items():
            number = sum(claim.follows is verdict for claim in all_claims())
            st.metric(f"{SIGNS[verdict]} {label}", number, width="content")


def show_claims() -> None:
    """Show the claims of each document, those that do not follow first."""
    kinds = list(SIGNS)
    chosen = st.pills(
        _("Show"),
        range(3),
        default=[1, 2],
        selection_mode="multi",
        format_func=lambda i: f"{SIGNS[kinds[i]]} {_(VERDICTS[kinds[i]])}",
        key="verdict",
    )
    wanted = [kinds[i] for i in chosen]
    for document in DOCUMENTS:
        every = [claim for claim in all_claims() if claim.document == document]
        shown = [claim for claim in every if claim.follows in wanted]
        st.header(_(document))
        follow = sum(claim.follows is True for claim in every)
        caption("{follow} of {all} claims are consistent.", follow=follow, all=len(every))
        if shown:
            columns = (_("Claim"), _("Reported"), _("Recalculated"), _("Conclusion"), _("Remark"))
            show_html(table(columns, map(_row, shown), kind="claims stacked"))
        elif wanted:
            write("No claim of this kind.")
    downloads([_record(claim) for claim in all_claims()], key="claims")


def _row(claim: PrintedClaim) -> tuple[str | Markup, ...]:
    tone = {True: "strong good", False: "strong bad", None: "strong"}[claim.follows]
    return (
        note_text(claim.place),
        _(claim.printed),
        note_text(claim.recomputed),
        span(f"{SIGNS[claim.follows]} {_(claim.verdict)}", tone),
        element("div", joined([note_text(claim.remark), _calculation(claim)])),
    )


def _calculation(claim: PrintedClaim) -> str | Markup:
    if not claim.calculation:
        return ""
    lines = joined(element("li", note_text(line)) for line in claim.calculation)
    return element("details", joined([element("summary", _("Calculation")), element("ul", lines)]))


def _record(claim: PrintedClaim) -> dict[str, str]:
    return {
        "key": claim.key,
        "document": _(claim.document),
        "place": note_text(claim.place),
        "printed": _(claim.printed),
        "worked out": note_text(claim.recomputed),
        "verdict": _(claim.verdict),
        "remark": note_text(claim.remark),
        "calculation": "; ".join(note_text(line) for line in claim.calculation),
    }


def how_it_is_checked() -> None:
    """Show what counts as following, and link to the known errors."""
    caption(
        "Rounding is taken into account: a reported value may be off by half a unit of its last digit."
        " In the thesis, W − M is positive where the association is stronger for the female word."
    )
    page_link("about/page.py", label=_("All known errors and open questions"), icon=":material/info:")


def own_numbers() -> None:
    """Ask for rows of three numbers, and show the verdict on each row in every base."""
    write(
        "One row per line: the probability of the male word, the probability of the female word and"
        " the reported log ratio. Type the values as reported; their digits show how they were"
        " rounded."
    )
    text = st.text_area(_("Values"), EXAMPLE, key="numbers", height=140)
    with errors_shown():
        rows = read_rows(text)
        if not rows:
            inform("No rows yet.")
            return
        names = [_("Male word"), _("Female word"), _("Reported"), *BASES, _("Conclusion")]
        columns = number_columns(names, range(3, 3 + len(BASES)))
        with st.container(key="own-verdicts"):
            show_html(table(columns, map(_own_row, rows), kind="text"))
        downloads([_own_record(row) for row in rows], key="own")


def own_verdict(row: OwnCheck) -> str:
    """Return one row in words: the bases it follows in, or what would have to be printed instead."""
    if row.fits:
        return _("consistent in {bases}", bases=series(row.fits))
    needed = row.found["log10"]
    return _("inconsistent; in log10, p = {male} (male) or {female} (female) would fit").format(
        male=f"{needed.needed_p_male:.3e}", female=f"{needed.needed_p_female:.3e}"
    )


def _own_row(row: OwnCheck) -> list[str | Markup]:
    cells: list[str | Markup] = [row.p_male, row.p_female, row.printed]
    for base in BASES:
        sign = span(SIGNS[True], "good") if base in row.fits else ""
        cells.append(joined([f"{row.found[base].calculated:.4f}", sign], " "))
    follows = bool(row.fits)
    return [*cells, span(f"{SIGNS[follows]} {own_verdict(row)}", "good" if follows else "bad")]


def _own_record(row: OwnCheck) -> dict[str, str]:
    values = {base: f"{row.found[base].calculated:.6f}" for base in BASES}
    follows = ", ".join(row.fits) or DASH  # of a file: the same in every language
    return {"p_male": row.p_male, "p_female": row.p_female, "printed": row.printed, **values, "follows in": follows}
