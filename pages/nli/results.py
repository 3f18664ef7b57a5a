"""What a classifier answered: score, direction, order, labels of each set, every occupation, the paper's models."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import FORMS
from evenhand.annotations.quantities.runs import run_estimates
from evenhand.core import resources
from evenhand.core.nli.files import measured_file
from evenhand.core.nli.measure import Inference, against_margin, published
from evenhand.core.nli.types import LABELS, SETS
from evenhand.core.published.own_runs import BesidePrinted, beside_inference
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.intervals import ALIKE_AT_AN_END
from evenhand.pages.nli.start import NLI, inference_runs, label_names, model_banner, order_in_words
from evenhand.pages.ui.charts import colours, downloads, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.equivalence import difference_says, margin_box
from evenhand.pages.ui.numbers import DASH, bracketed, interval, methods_text, note_text, number, percent
from evenhand.pages.ui.quantities import explained
from evenhand.pages.ui.results import show_conclusion, show_method
from evenhand.pages.ui.runs import ResultBar, choose_run, finished_at, result_bar
from evenhand.pages.ui.tables import Column, Tile, estimate_cell, number_columns, show_html, table, tile_grid
from evenhand.pages.ui.text import (
    _,
    caption,
    in_brackets,
    inform,
    named,
    paragraph,
    plain,
    sentence,
    warn,
)
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown

if TYPE_CHECKING:
    from evenhand.core.nli.measure import ByOccupation, Inference


def conclusion(model: str, inference: "Inference") -> str:
    """Return in one sentence whether the answers follow the stereotype, by the interval of the directional
    component."""
    found = run_estimates("nli", inference)["run.nli.directional"]
    if found.value is None:
        return _("{model}: no directional component. {reason}", model=model, reason=note_text(found.reason))
    if found.low is None or found.high is None:
        text = _("{model}: the directional component is {value}, without an interval.")
    elif found.low > 0:
        text = _("{model} follows the gender stereotype of occupations: directional component {value} {interval}.")
    elif found.high < 0:
        text = _("{model} contradicts the gender stereotype of occupations: directional component {value} {interval}.")
    else:
        text = _("{model} shows no clear gender stereotype of occupations: directional component {value} {interval}.")
    return text.format(model=model, value=number(found.value, "+z.3f"), interval=bracketed(found, "+z.3f"))


def show_facts(inference: "Inference") -> None:
    """Show the measures with their intervals, and the directional component against a margin."""
    tiles = [_tile(id_, estimate) for id_, estimate in run_estimates("nli", inference).items()]
    tiles.append(Tile(_("Order: e_p > e_a, c_a > c_p"), order_in_words(inference.order), ("",)))
    show_html(tile_grid(tiles))
    if not inference.by_class:
        warn(
            "The directional component is pooled over all occupations, because the answers do not tell the class of"
            " each occupation or contain only one class. A classifier that reads only the gender word is then not at 0."
            " Add a column gender or class."
        )
    margin = margin_box("share", "nli-margin")
    if tested := difference_says(inference["directional"], margin, "z.3f"):
        st.caption(plain(named(_(ENTRIES["run.nli.directional"].name), tested)))
    compared = against_margin(inference, margin)
    rows = [
        {
            "measure": name, "value": estimate.value, "low": estimate.low, "high": estimate.high,
            "units": estimate.units,
            "reason": str(estimate.reason or ""), "note": str(estimate.note or ""), "method": estimate.method,
            "intervals": inference.signature, "margin": margin if name in compared else None,
            "answer": compared[name].answer if name in compared else "",
            "smallest_shown": compared[name].smallest if name in compared else None,
        }
        for name, estimate in inference.estimates.items()
    ]  # fmt: skip
    downloads([*rows, {"measure": "order", "value": inference.order}], key="nli-measures")


def show_how(inference: "Inference", *facts: str, signature: str = "") -> None:
    """Show, folded, *facts* of the run, how the intervals are made, and what the measures mean."""
    told = [estimate.reason or estimate.note for estimate in inference.estimates.values()]
    # That a share of 0 or 1 cannot vary is seen in its interval; the table of the download says it.
    notes = dict.fromkeys(note_text(note) for note in told if note is not None and note.message != ALIKE_AT_AN_END)
    unit = _("occupations") if inference.unit == "occupation" else _("rows")
    units = len(inference.occupations) or inference.rows
    text = _("95% intervals over {units} {unit}; stereotyped and neutral ones are separate samples.")
    methods = methods_text(inference.estimates.values())
    intervals = paragraph([text.format(units=f"{units:,}", unit=unit), methods, *notes])
    show_method(*facts, intervals, _measures_mean(), signature=signature)


def _measures_mean() -> str:
    """Return what s, the directional component and 1 − FN mean."""
    return _(
        "s is the mean of three shares: entailment where the gender fits the stereotype (e_p),"
        " contradiction where it does not (c_a), and non-neutral answers on neutral occupations (1 − n_n)."
        " Random guessing gets 0.444, and always giving the same non-neutral label gets 0.667: s alone"
        " does not separate bias from poor inference. The directional component does: it is 0 for both,"
        " because it compares the two genders on the same sentences, and it is the mean of occupations"
        " stereotyped as female and as male, so that a classifier that reads only the gender word is at 0. 1 −"
        " FN counts every non-neutral answer, whatever its direction. A low value is not better by itself: a"
        " classifier that always answers neutral gets 0 everywhere and has learned nothing."
    )


def _tile(id_: str, estimate: Estimate) -> Tile:
    """Return the small tile of a quantity, with its interval in brackets and its n; its range is in the explanation."""
    name = _(ENTRIES[id_].name)
    value = number(estimate.value, FORMS[ENTRIES[id_].unit])
    lines = (bracketed(estimate), _("n = {n}", n=f"{estimate.units:,}"))
    more = paragraph(filter(None, (_("{text}.", text=name), note_text(estimate.reason))))
    return Tile(re.split("[(（]", name)[0].rstrip(), value, lines, explained(id_, more))


def show_shares(inference: "Inference") -> None:
    """Show the chart of labels per set."""
    from evenhand.core.charts.nli import label_shares

    rows = [
        {
            "set": name, "label": label, "rows": inference.counts[i][k],
            "share": inference[f"{label[0]}_{short}"].value,
            "low": inference[f"{label[0]}_{short}"].low, "high": inference[f"{label[0]}_{short}"].high,
        }
        for i, (name, short) in enumerate(zip(SETS, "pan", strict=True))
        for k, label in enumerate(LABELS)
    ]  # fmt: skip
    shares = [percent(inference[key].value) for key in ("e_p", "c_a", "n_n")]
    says = _("Entailment in PS {e}, contradiction in AS {c}, neutral in NS {n}.", e=shares[0], c=shares[1], n=shares[2])
    chart = label_shares(inference, description=says, say=_, palette=colours())
    show_chart(chart, rows, key="nli-labels-chart", says=says)


def show_share_table(inference: "Inference") -> None:
    """Show the share of each label on each set, with intervals."""
    names = label_names()
    st.header(_("Distribution of answers"), anchor=False)
    columns = [Column(_("Set")), *(Column(name, "number") for name in (_("Rows"), *(names[label] for label in LABELS)))]
    show_html(table(columns, (_set_row(inference, i) for i in range(len(SETS)))))


def _set_row(inference: "Inference", i: int) -> list[str | Markup]:
    texts = {
        "PS": _("PS, gender fits the stereotype"),
        "AS": _("AS, gender contradicts the stereotype"),
        "NS": _("NS, neutral occupations"),
    }
    name, short = SETS[i], "pan"[i]
    shares = (inference[f"{label[0]}_{short}"] for label in LABELS)
    return [texts[name], f"{sum(inference.counts[i]):,}", *(estimate_cell(share, ".3f") for share in shares)]


def show_scale(own: list[tuple[str, Estimate]]) -> None:
    """Show s of the visitor's classifiers and of the paper's models, with marks for trivial strategies."""
    from evenhand.core.charts.nli import Point, score_scale

    points = [Point(_short(name), e.value, e.low, e.high, own=True) for name, e in own if e.value is not None]
    if not points:
        return
    st.header(_("s with reference points"), anchor=False)
    points += [Point(published_model.model, published_model.printed) for published_model in published()]
    says = _(
        "Marks: 0 always neutral, 0.444 random guessing, 0.667 always the same non-neutral label, 1 always"
        " the stereotype. Hollow points: Table 4 of the paper, on its own Japanese sentences; not a ranking."
    )
    chart = score_scale(points, description=says, say=_, palette=colours())
    rows = [{"model": p.name, "s": p.value, "low": p.low, "high": p.high, "own": p.own} for p in points]
    show_chart(chart, rows, key="nli-scale", says=says)


def _short(name: str) -> str:
    return name if len(name) <= 32 else "…" + name[-31:]


def show_published(own: Inference | None = None, asked_in: str = "") -> None:
    """Show tables 3 and 4: the printed score, the score from the printed shares, and what is not in the paper.

    *own*, with sentences in the language *asked_in*: its shares are shown next to those of Table 3.
    """
    with st.expander(_("The five models of the paper (Tables 3 and 4)"), icon=":material/menu_book:"):
        heads = [
            _("Model"), _("s, Table 4"), _("s from Table 3"), _("Rank in the paper"), _("Directional component"),
            "1 − FN", _("Order condition"),
        ]  # fmt: skip
        rows = [
            [
                published_model.model, f"{published_model.printed:.3f}", f"{published_model.from_shares:.4f}",
                str(published_model.rank),
                f"{published_model.directional:.4f}", f"{published_model.one_minus_fn:.4f}",
                order_in_words(published_model.order),
            ]
            for published_model in published()
        ]  # fmt: skip
        show_html(table(number_columns(heads, range(1, 6)), rows))
        caption(
            "Anantaprayoon, Kaneko and Okazaki 2024; Japanese, 5,420 pairs; the paper gives no"
            " intervals. The directional component, 1 − FN and the order condition are computed from"
            " Table 3 and are not in the paper. By 1 − FN Laboro ranks above Waseda, by s below."
        )
        _shares(None if own is None else beside_inference(own, asked_in))
        downloads(
            [
                {
                    "model": published_model.model, "s_printed": published_model.printed,
                    "s_from_table_3": published_model.from_shares, "rank": published_model.rank,
                    "directional": published_model.directional, "fn": published_model.fn,
                    "one_minus_fn": published_model.one_minus_fn, "order": published_model.order,
                }
                for published_model in published()
            ],
            key="nli-published",
        )  # fmt: skip


def _shares(beside: list[BesidePrinted] | None) -> None:
    """Show table 3 as printed: the shares of the three answers of each model on each set, with the visitor's own
    shares."""
    st.markdown("**" + plain(_("Table 3: distribution of answers on each set")) + "**")
    heads = [_("Model"), _("Set"), *LABELS]
    rows = resources.table("published_inference_shares")
    body = [[row["model"], row["set"], *(row[name] for name in LABELS)] for row in rows]
    if beside is None:
        show_html(table(number_columns(heads, (2, 3, 4)), body))
        downloads(list(rows), key="nli-shares")
        return
    reasons = dict.fromkeys(note_text(beside_printed.reason) for beside_printed in beside if beside_printed.reason)
    if any(beside_printed.reason is None for beside_printed in beside):
        heads += [_("Own: {answer}", answer=name) for name in LABELS]
        for row, start in zip(body, range(0, len(beside), len(LABELS)), strict=True):
            for beside_printed in beside[start : start + len(LABELS)]:
                own = number(beside_printed.own.value, ".3f")
                row.append(
                    own
                    if beside_printed.difference is None
                    else in_brackets(own, number(beside_printed.difference, "+.3f"))
                )
    show_html(table(number_columns(heads, range(2, len(heads))), body))
    text = _("Own share; in brackets own minus reported. The reported shares are from other models and sentences.")
    st.caption(plain(paragraph([text, *reasons])))
    numbers = [
        {**beside_printed.row, "printed": beside_printed.printed, "own": beside_printed.own.value,
        "difference": beside_printed.difference, "n": beside_printed.own.units,
         "reason": note_text(beside_printed.reason)}
        for beside_printed in beside
    ]  # fmt: skip
    downloads(numbers, key="nli-shares")


ROWS = 9  # that fit into the height of the table


def show_occupations(inference: "Inference") -> None:
    """Show the table, those with the largest share of biased answers first; the stereotyped words or the neutral
    ones."""
    if not inference.occupations:
        return
    st.header(_("By occupation"), anchor=False)
    groups = {
        "stereo": [occupation for occupation in inference.occupations if "NS" not in occupation.sets],
        "neutral": [occupation for occupation in inference.occupations if "NS" in occupation.sets],
    }
    names = {"stereo": _("stereotyped (PS and AS)"), "neutral": _("neutral (NS)")}
    kept = {group: name for group, name in names.items() if groups[group]}
    group = choose(_("Occupations"), kept, "nli-group", heading=False)
    words = sorted(groups[group], key=lambda one: -(one.biased.value or 0.0))
    if group == "stereo":
        caption("Biased: entailment with the stereotyped gender, contradiction with the other.")
    else:
        caption("Biased: any answer other than neutral.")
    rows = [
        _row(by_occupation, [name for name in SETS if any(name in word.sets for word in words)])
        for by_occupation in words
    ]
    share = st.column_config.ProgressColumn(_("biased"), format="percent", min_value=0.0, max_value=1.0)
    height: int | Literal["auto"] = 360 if len(rows) > ROWS else "auto"
    st.dataframe(rows, hide_index=True, column_config={_("Biased"): share}, key="nli-occupations", height=height)
    downloads([_exact(word) for word in words], key="nli-occupations-table")
    caption(
        "95% Wilson intervals over the answers for one word. With only ten templates, interpret"
        " the intervals with caution."
    )


def _row(one: "ByOccupation", sets: list[str]) -> dict[str, object]:
    counts = {name: " / ".join(map(str, row)) if sum(row) else DASH for name, row in zip(SETS, one.counts, strict=True)}
    result: dict[str, object] = {
        _("Occupation"): one.word,
        _("Biased"): one.biased.value,
        _("95% interval"): interval(one.biased, "%") or DASH,
    }
    return result | {named(name, "e / c / n"): text for name, text in counts.items() if name in sets}


def _exact(one: "ByOccupation") -> dict[str, object]:
    cells: dict[str, object] = {
        f"{name}_{label}": one.counts[i][k] for i, name in enumerate(SETS) for k, label in enumerate(LABELS)
    }
    head: dict[str, object] = {"occupation": one.word, "biased": one.biased.value}
    return head | {"low": one.biased.low, "high": one.biased.high} | cells


SHOWN = 10


@dataclass(frozen=True, slots=True)
class Answers:
    """What a classifier answered: its name, the measures, the language asked in, facts of the run, the signature."""

    name: str
    inference: "Inference"
    language: str = ""
    facts: tuple[str, ...] = ()
    signature: str = ""


def show_results(store: Store) -> None:
    """Choose a run or a file of predictions; its conclusion, the chart, everything else about it."""
    bar = result_bar()
    names = {"run": _("A run"), "file": _("Predictions from a file")}
    with bar.change:
        kind = choose(_("Source of answers"), names, "nli-source")
    found = None
    with errors_shown():
        found = _from_file(bar) if kind == "file" else _from_run(store, bar)
    if found is None:
        show_published()
        return
    show_conclusion(conclusion(found.name, found.inference))
    show_shares(found.inference)
    show_facts(found.inference)
    show_scale([(found.name, found.inference["s"])])
    show_share_table(found.inference)
    show_occupations(found.inference)
    show_published(found.inference, found.language)
    show_how(found.inference, *found.facts, signature=found.signature)


def _from_run(store: Store, bar: ResultBar) -> Answers | None:
    runs = inference_runs(store)
    if not runs:
        bar.say(_("No run yet"))
        inform(
            "No classifier has been run yet. Choose Run a classifier above; the built-in one takes less than a minute."
        )
        return None
    with bar.change:
        run = choose_run(runs, "nli-run")
    inference, _signatures, _errors = measured(run.table)
    model = str(run.record.get("model", run.name))
    bar.say(run.name, [model], _("{rows} pairs", rows=f"{run.count('rows'):,}"))
    bar.offer_run(NLI, run)
    rows, seconds = f"{run.count('rows'):,}", f"{run.seconds or 0:.0f}"
    facts = [_("{rows} pairs in {seconds} s, finished {time}", rows=rows, seconds=seconds, time=finished_at(run))]
    if checked := run.facts("sanity"):
        text = sentence(str(checked.get("message", "")), checked.get("values"))
        if checked.get("verdict") == "fits":
            facts.append(text)
        else:
            st.warning(plain(text))
    for reason, count in run.facts("undefined").items():
        warn("{count} pairs without an answer: {reason}", count=f"{count:,}", reason=_(reason))
    model_banner(model)
    lines = [str(run.record.get("signature", "")), str(run.facts("set").get("signature", ""))]
    signature = "\n".join(line for line in lines if line)
    return Answers(model, inference, str(run.facts("set").get("language", "")), tuple(facts), signature)


@st.cache_data(max_entries=12, show_spinner=False)
def _measured(path: str, changed: float) -> tuple[Inference, list[str], list[tuple[str, dict[str, object]]]]:
    inference, read = measured_file([path])
    return inference, read.signatures, [(error.message, error.values) for error in read.errors]


def measured(path: Path) -> tuple[Inference, list[str], list[tuple[str, dict[str, object]]]]:
    """Return the measures of a table, the signatures in it, and the lines that could not be used. Raises BadFile."""
    return _measured(str(path), path.stat().st_mtime)


def _from_file(bar: ResultBar) -> Answers | None:
    bar.say(_("Predictions from a file"))
    path = choose_upload(
        _("File with the columns set and label, and preferably occupation"),
        ["csv", "tsv", "jsonl", "json"],
        key="nli-predictions",
        help=_("set is PS, AS or NS; label is entailment, contradiction or neutral. One row per answer."),
    )
    if path is None:
        return None
    inference, signatures, errors = measured(path)
    if errors:
        warn("{count} lines cannot be used.", count=f"{len(errors):,}")
        lines = [sentence(message, values) for message, values in errors]
        with st.expander(_("First unusable lines"), icon=":material/error:"):
            for line in lines[:SHOWN]:
                st.text(line)
            downloads([{"problem": line} for line in lines], key="nli-problems")
    if inference.unit == "row":
        warn(
            "There is no column for the occupation, so all rows count as independent and the intervals are too narrow."
        )
    bar.say(path.name)
    return Answers(path.name, inference, signature="\n".join(signatures))
