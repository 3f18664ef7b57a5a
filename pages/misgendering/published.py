"""Published numbers: what the misgendering paper prints or its released samples show, with their sizes."""

import streamlit as st

from evenhand.core import resources
from evenhand.core.published.own_runs import BesidePrinted, beside_misgendering, compared
from evenhand.core.statistics import wilson
from evenhand.core.statistics.estimate import NO_LABEL
from evenhand.pages.misgendering.results import cells, source_of
from evenhand.pages.misgendering.start import MISGENDERING
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.choose import model_label
from evenhand.pages.ui.numbers import DASH, POINTS, note_text, number, with_brackets
from evenhand.pages.ui.sentences import setting_name
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, plain, series, write
from evenhand.pages.ui.visitor import open_store, page_link

MEASURES = ("mcc", "kappa", "disagreement", "repetition", "people")
WHOLE_TABLE = 12  # figures of one printed table: as many are shown when asked for
Row = dict[str, str]


def show_published() -> None:
    """Show a table of figures, and what the first-pronoun rule finds in the released samples."""
    write(
        "For comparison with your own runs. These are large models on the published sets; results of a"
        " small model on a small set are not directly comparable."
    )
    _figures(_beside_own())
    st.header(_("First pronouns in the released samples"), anchor=False)
    heads = (_("Set"), _("Context ends"), _("Pronouns"), _("No pronoun"), _("Right"), _("Wrong"), _("Wrong, share"))
    body, rows = [], []
    for row in resources.table("published_first_pronouns"):
        none, right, wrong = (int(row[key]) for key in ("none", "right", "wrong"))
        share = wilson(wrong, none + right + wrong, nothing=NO_LABEL)
        shown = with_brackets(share, ".1%")
        cells = [row["dataset"].upper(), setting_name(row["setting"]), row["pronoun"], *map(str, (none, right, wrong))]
        body.append([*cells, shown])
        rows.append({**row, "wrong_share": share.value, "low": share.low, "high": share.high})
    show_html(table(number_columns(heads, (3, 4, 5, 6)), body, kind="text"))
    caption(
        "Six models combined, 150 texts per row. Wilson intervals treat the texts as independent; they"
        " are not (each context was continued five times), so the intervals are too narrow."
    )
    downloads(rows, key="samples")
    st.header(_("Caveats"), anchor=False)
    for line in [
        _(
            "Of the 23 MCC intervals in Table 1, three exclude 0; about one is expected to do so by chance,"
            " and one remains after Holm correction."
        ),
        _(
            "Two kappas of 0.000 are reported with ±0.185 and ±0.180. They come from tables with a single"
            " row: one method always gave the same verdict, so kappa is 0 by definition and has no interval."
        ),
        _("The paper does not say how the disagreement rates (all, xe) were averaged, and the outputs are not public."),
        _(
            "The 2,400 texts judged by people come from 40 distinct contexts. Intervals over contexts are"
            " 1.14 to 1.84 times as wide."
        ),
        _("Sizes: MISGENDERED 750 instances per pronoun set, RUFF 1,800, TANGO 480 (320 to 475 with both verdicts)."),
    ]:
        st.markdown(f"- {line}")
    page_link(
        "published/page.py", label=_("Published numbers"), query_params={"view": "papers"}, icon=":material/fact_check:"
    )


def measure_name(measure: str) -> str:
    """Return a measure of the published table in words."""
    return {
        "mcc": "MCC",
        "kappa": _("Cohen's kappa"),
        "disagreement": _("share of instances on which the methods disagree"),
        "repetition": _("repetition (context and completion)"),
        "people": _("agreement of two annotators on the label"),
    }[measure]


def _beside_own() -> list[BesidePrinted] | None:
    """Return every printed value with the value of a run that the visitor chooses; None while none is chosen."""
    with open_store() as store:
        runs = {run.name: run for run in MISGENDERING.finished(store)}
    with st.container(horizontal=True):
        name = st.selectbox(
            _("Compare with your own run"), list(runs), index=None, key="beside-run", placeholder=_("none"),
            disabled=not runs, help=None if runs else _("There is no finished run yet."),
        )  # fmt: skip
        if name is None:
            return None
        found = cells(source_of(runs[name]))
        models = list(dict.fromkeys(key.get("model", "") for key, _metrics in found))
        model: str | None = models[0]
        if len(models) > 1:
            model = st.selectbox(_("Model"), models, key="beside-model", format_func=model_label)
    beside = beside_misgendering([(key, metrics) for key, metrics in found if key.get("model", "") == model])
    text = _(
        "{model}: {n} of {all} reported values have a counterpart in your run (same set, setting and"
        " pronouns). Intervals of the run are over its units. The reported values are from other models, so"
        " differences reflect both models and texts."
    )
    st.caption(plain(text.format(model=model or name, n=compared(beside), all=len(beside))))
    return beside


def _figures(beside: list[BesidePrinted] | None) -> None:
    heads = [_("Where"), _("Model"), _("Pronouns"), _("Value"), _("95% interval, or ± as reported"), "n"]
    heads += [] if beside is None else [_("Own run"), _("Difference"), _("Reason for the missing value")]
    columns = number_columns(heads, (3, 4, 5, *(() if beside is None else (6, 7))))
    for measure in MEASURES:
        name = measure_name(measure)
        st.markdown(f"**{plain(name[:1].upper() + name[1:])}**")
        rest: list[list[str]] = []
        for place, rows in _by_table(measure, beside).items():
            if len(rows) < WHOLE_TABLE:
                rest += rows
                continue
            with st.expander(plain(_("{place}: {number} values").format(place=place, number=len(rows)))):
                show_html(table(columns, rows, kind="text"))
        if rest:
            show_html(table(columns, rest, kind="text"))
    downloads(
        [dict(row) | _record(number, beside) for number, row in enumerate(resources.table("published_misgendering"))],
        key="published",
    )


def _by_table(measure: str, beside: list[BesidePrinted] | None) -> dict[str, list[list[str]]]:
    """Return the figures of a measure by the printed table, setting and set that they are from."""
    result: dict[str, list[list[str]]] = {}
    for place, row in enumerate(resources.table("published_misgendering")):
        if row["measure"] == measure:
            cells = _figure(row)
            if beside is not None:
                printed = beside[place]
                own, apart = ("z.1%", POINTS) if measure == "disagreement" else ("+.3f", "+.3f")
                cells += [with_brackets(printed.own, own), number(printed.difference, apart), note_text(printed.reason)]
            result.setdefault(_place(row), []).append(cells)
    return result


def _record(place: int, beside: list[BesidePrinted] | None) -> dict[str, float | str | None]:
    if beside is None:
        return {}
    printed = beside[place]
    return {
        "own": printed.own.value,
        "own_low": printed.own.low,
        "own_high": printed.own.high,
        "difference": printed.difference,
        "method": printed.own.method,
        "reason": note_text(printed.reason),
    }


def _figure(row: Row) -> list[str]:
    whose = {"all": _("all"), "all models": _("all models")}
    who = [whose.get(row[key], row[key]) for key in ("model", "pronoun")]
    ends = [row[key] for key in ("value", "low", "high")]
    if row["measure"] in ("disagreement", "people"):
        ends = [f"{100 * float(end):.1f}%" if end else "" for end in ends]
    value, low, high = (end.replace("-", "−") for end in ends)
    interval = f"[{low}, {high}]" if low else f"± {row['plus_minus']}" if row["plus_minus"] else DASH
    return [_place(row), *who, value, interval, f"{int(row['n']):,}" if row["n"] else DASH]


def _place(row: Row) -> str:
    named = {"Text": _("text"), "Samples": _("released samples"), "Appendix G": _("appendix G")}
    number = row["table"].removeprefix("Table ")
    where = named.get(row["table"]) or _("Table {number}", number=number)
    parts = [where, row["dataset"].upper(), setting_name(row["setting"])]
    return series(part for part in parts if part)
