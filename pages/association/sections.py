"""The sections of a finished run: hypotheses with their tables, professions, shares of women, person words, print.

Every text is escaped; undefined is a dash with its reason.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from evenhand.annotations.quantities.quantity import FORMS
from evenhand.annotations.quantities.runs import run_estimates
from evenhand.core.association import measures, report
from evenhand.core.association.measures import Difference, Group, read_associations, rows_of, signature
from evenhand.core.charts.association import CLASS_NAMES, CLASS_ROW, GENDER_NAMES, leans, shares, warmth
from evenhand.core.report.numbers import interval, plain_number, signed_number
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import ANSWERS, equivalence
from evenhand.pages.ui.charts import colours, downloads, range_says, show_chart
from evenhand.pages.ui.choose import choose, model_label
from evenhand.pages.ui.equivalence import against, margin_box, shown_from
from evenhand.pages.ui.numbers import DASH, methods_text, note_text, number
from evenhand.pages.ui.quantities import entry_of, explained, explained_all, quantity_number
from evenhand.pages.ui.results import show_conclusion
from evenhand.pages.ui.tables import Column, below, element, joined, number_columns, show_html, span, table
from evenhand.pages.ui.text import _, caption, clauses, in_brackets, inform, named, paragraph, plain, show_signature

MARKS = {"yes": "✓", "half": "◐", "no": "✗", "undecided": "?"}


def _table(heads: Sequence[str], rows: Sequence[Sequence[str | Markup]], words: Sequence[int] = ()) -> Markup:
    """Return a table with numbers after the first column.

    The columns at the places *words* (from 0) hold words instead, each on one line.
    """
    columns = number_columns(heads, set(range(1, len(heads))) - set(words))
    return table([Column(column.name, "short") if at in words else column for at, column in enumerate(columns)], rows)


def _estimate(name: str, estimate: Estimate, *, lean: bool = False, after: str = "") -> Markup:
    """Return a value with its interval below, by the id and row *name*.

    *lean*: in the colour of the side that it leans to; *after*: a mark.
    """
    if estimate.value is None:
        return span(DASH, title=note_text(estimate.reason))
    tone = ("male" if estimate.value > 0 else "female") if lean else ""
    value = span(quantity_number(name, estimate) + after, f"strong {tone}" if tone else "")
    ends = interval(estimate.low, estimate.high, signed=True) or note_text(estimate.note)
    return joined([value, element("div", ends, "small", title=note_text(estimate.note))])


def class_name(kind: str) -> str:
    """Return a class of professions in words."""
    return _(CLASS_NAMES.get(kind, kind))


def difference_table(
    id_: str, differences: Sequence[Difference], without: Sequence[Difference], head: str = "",
    margin: float | None = None,
) -> Markup:  # fmt: skip
    """Return a table of W, M, M - W (quantity *id_*) with its interval, and W - M as in the thesis; * = Holm.

    With *without*, another column holds M - W without pairs of one word. The last column compares M - W with *margin*
    (ln) and gives about the smallest difference that such data show.
    """
    bare = {difference.name: difference for difference in without}
    heads = [head or _("Professions"), "W", "M", _("M − W (ln)"), _("W − M, as in the thesis")]
    if bare:
        heads.append(_("M − W without bera/bera"))
    heads.append(_("Against the margin"))
    lines: list[list[str | Markup]] = []
    for difference in differences:
        star = " *" if difference.stays else ""
        cells = [
            signed_number(difference.female),
            signed_number(difference.male),
            _estimate(f"{id_}:{difference.name}", difference.estimate, lean=True, after=star),
        ]
        cells.append(signed_number(difference.w_minus_m))
        if bare:
            two = bare.get(difference.name)
            name = f"run.association.difference_of_two_words:{difference.name}"
            cells.append(_estimate(name, two.estimate, lean=True) if two else DASH)
        tested = equivalence(difference.estimate, margin)
        cells.append(joined([_(ANSWERS[tested.answer]), below(shown_from(tested) or DASH)]))
        units = _("{p} professions × {w} pairs") if difference.unit == "pair" else _("{p} professions × {w} words")
        drawn = units.format(p=difference.professions, w=difference.words)
        lines.append([joined([class_name(difference.name), below(drawn)]), *cells])
    return _table(heads, lines)


def group_table(groups: Sequence[Group]) -> Markup:
    """Return the describe table of the thesis: mean, standard deviation, extremes and quartiles."""
    heads = [_("Professions"), "n", _("Mean"), _("SD"), _("Max"), "75%", "50%", "25%", _("Min")]
    lost = any(group.undefined for group in groups)
    heads += [_("Unscored")] if lost else []
    lines: list[list[str | Markup]] = []
    for group in groups:
        numbers = group.numbers
        rest = (numbers.std, numbers.max, numbers.q75, numbers.q50, numbers.q25, numbers.min)
        words = _(GENDER_NAMES.get(group.gender, group.gender))
        side = group.gender if group.gender in ("male", "female") else ""
        mean = _estimate(f"run.association.mean:{group.kind}/{group.gender}", group.mean)
        cells = [f"{numbers.n:,}", mean, *(plain_number(value) for value in rest)]
        cells += [f"{group.undefined:,}"] if lost else []
        lines.append([joined([class_name(group.kind), below(span(words, side))]), *cells])
    return _table(heads, lines)


def word_table(found: pd.DataFrame, kinds: Sequence[str]) -> Markup:
    """Return a table of one person word a line: pieces, mean association by class, sentences without a number."""
    heads = [_("Person word"), _("Gender"), _("Subwords"), *(class_name(kind) for kind in kinds)]
    heads.append(_("Unscored"))
    lines: list[list[str | Markup]] = []
    for row in found.to_dict("records"):
        gender = _(GENDER_NAMES.get(row["person_gender"], row["person_gender"]))
        means = [signed_number(_number(row.get(kind))) for kind in kinds]
        pieces = plain_number(_number(row["pieces"]), 0)
        lines.append([str(row["person_key"]).replace("_", " "), gender, pieces, *means, f"{row['undefined']:,}"])
    return _table(heads, lines, words=(1,))


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def printed_table(
    found: Sequence[report.Printed],
    verdicts: Mapping[str, Sequence[report.HypothesisResult]],
    model: str,
    own: Sequence[Difference],
) -> Markup:
    """Return the run's own differences, then the printed ones; a flag where one does not follow, and the verdicts on
    print."""
    heads = [_("Model"), _("Professions"), "W", "M", "W − M", "M − W", _("Hypotheses")]
    lines: list[list[str | Markup]] = []
    for place, one in enumerate(own):
        name = joined([model, below(_("this run"))]) if place == 0 else ""
        means = [signed_number(value) for value in (one.female, one.male, one.w_minus_m)]
        difference = _estimate(f"run.association.difference:{one.name}", one.estimate, lean=True)
        lines.append([name, class_name(one.name), *means, difference, ""])
    for row in found:
        flag = ""
        if not row.follows:
            text = _("inconsistent with the reported means: {value}")
            flag = "⚠ " + text.format(value=f"{float(row.woman) - float(row.man):.3f}")
        lean = span(signed_number(row.m_minus_w), f"strong {'male' if row.m_minus_w > 0 else 'female'}")
        first = row.kind == "female"
        name = joined([row.model, below(_("as printed"))]) if first else ""
        summary = _summary(verdicts.get(row.model, ())) if first else ""
        difference = joined([_minus(row.difference), below(flag)])
        lines.append([name, class_name(row.kind), _minus(row.woman), _minus(row.man), difference, lean, summary])
    return _table(heads, lines, words=(1, 6))


def _minus(printed: str) -> str:
    """Return a number as printed, with a minus sign."""
    return printed.replace("-", "−")


def _summary(verdicts: Sequence[report.HypothesisResult]) -> Markup:
    parts = [
        named(f"{verdict.name} {_reading(verdict)}", _(report.OUTCOMES[verdict.outcome]))
        for verdict in verdicts
        if (verdict.name, verdict.reading) != ("H2", "relative")
    ]
    return joined(parts, Markup("<br>"))


def _reading(verdict: report.HypothesisResult) -> str:
    return _("literal reading") if verdict.reading == "literal" else _("relative reading")


def _verdict(verdict: report.HypothesisResult, *, alone: bool) -> Markup:
    lead = "" if alone else named(_reading(verdict), "")
    outcome = span(f"{MARKS[verdict.outcome]} {_(report.OUTCOMES[verdict.outcome])}", "strong")
    sure = ""
    if verdict.outcome != "undecided" and verdict.clear is not None:
        text = _("every interval excludes 0") if verdict.clear else _("some intervals include 0")
        sure = in_brackets("", text)
    items = (
        []
        if verdict.name == "H2" and verdict.reading == "relative"
        else [element("li", _item(item)) for item in verdict.evidence]
    )
    said = [note_text(verdict.remark)]
    if verdict.equivalence is not None and verdict.equivalence.smallest is not None:
        text = _("Minimum detectable difference: {smallest} (80% power).")
        said.append(text.format(smallest=plain_number(verdict.equivalence.smallest)))
    parts = [lead, outcome, span(sure, "small"), element("ul", joined(items)), below(paragraph(said))]
    return element("div", joined(parts), "part")


def _item(item: report.Evidence) -> str:
    name = _(CLASS_NAMES.get(item.what, item.what))
    value, ends = signed_number(item.estimate.value), interval(item.estimate.low, item.estimate.high, signed=True)
    mark = {True: "✓", False: "✗", None: ""}[item.holds]
    if item.what == report.BALANCED:
        mark = ""
    text = f"{value} {ends} {mark}"
    return named(name, text if item.equivalence is None else in_brackets(text, against(item.equivalence)))


CHANCE = 0.05


@st.cache_data(max_entries=8, show_spinner=False)
def rows(table: str, version: str, model: str) -> pd.DataFrame:
    """Return the rows of one model of a run."""
    del version  # only part of the key
    return rows_of(read_associations(Path(table)), model)


@st.cache_data(max_entries=16, show_spinner=False)
def measures_of(table: str, version: str, model: str) -> report.ModelMeasures:
    """Return the measures of one model, without a margin."""
    return report.ModelMeasures.of(rows(table, version, model), None)


def show_hypotheses(table: str, version: str, model: str, models: tuple[str, ...]) -> None:
    """Show H1 to H4 in both readings, then the numbers behind the verdicts."""
    with st.spinner(_("Computing intervals over professions and person words …"), show_time=True):
        whole = measures_of(table, version, model)
    place = st.container()
    margin = margin_box("ln", "margin")
    groups, found = whole.groups, whole.differences
    result = [*whole.with_margin(margin).hypotheses, _fourth(table, version, model, models, margin)]
    data = frame_of(found)
    says = paragraph((_direction(), _chance(found)))
    named_classes = data.assign(name=[class_name(name) for name in data["name"]])
    chart = leans(named_classes, description=says, row=CLASS_ROW, say=_, palette=colours())
    with place:
        show_conclusion(_hypotheses_say(found, result))
        show_chart(chart, data, key="differences", says=says, below=_chance(found))
    st.header(_("Hypotheses"), anchor=False)
    cards = []
    for name, question in report.QUESTIONS.items():
        readings = [verdict for verdict in result if verdict.name == name]
        parts = joined(_verdict(reading, alone=len(readings) == 1) for reading in readings)
        inside = joined([element("h3", name), element("p", _(question), "small"), parts])
        cards.append(element("div", inside, "card"))
    show_html(element("div", joined(cards), "cards"))
    if any(entry.name == "balanced" for entry in found):
        caption("The verdict follows the values, as in the thesis; a note says whether the intervals agree.")
    st.header(_("Differences"), anchor=False)
    without = whole.differences_without_equal_pairs
    show_html(difference_table("run.association.difference", found, without, margin=margin))
    text = _(
        "In brackets: 95% interval. *: differs from 0 after the Holm correction over the rows."
        " Against the margin: two one-sided tests. Minimum detectable difference: approximate, at"
        " 80% power."
    )
    st.caption(plain(text), help=explained_all(run_estimates("association", whole)))
    fields = [difference for difference in whole.fields if difference.name]
    if fields:
        st.header(_("By field"), anchor=False)
        id_ = "run.association.difference_of_field"
        show_html(difference_table(id_, fields, [], head=_("Field"), margin=margin))
    st.header(_("Mean association per group (ln)"), anchor=False)
    show_html(group_table(groups))
    downloads(_group_rows(groups), key="groups")
    show_signature(signature(found[0].unit if found else "pair"))


def method_of(table: str, version: str, model: str) -> str:
    """Return how the intervals of the differences were made."""
    return methods_text(entry.estimate for entry in measures_of(table, version, model).differences)


def _hypotheses_say(differences: Sequence[Difference], verdicts: Sequence[report.HypothesisResult]) -> str:
    """Return in how many classes the two genders differ, and what each hypothesis comes to, read literally."""
    clear = sum(difference.stays for difference in differences)
    first = _(
        "Male and female words differ clearly in {n} of {all} classes of professions", n=clear, all=len(differences)
    )
    literal = {verdict.name: verdict for verdict in reversed(verdicts)}
    parts = [named(name, _(report.OUTCOMES[literal[name].outcome])) for name in report.QUESTIONS if name in literal]
    return _("{text}.", text=clauses([first, *parts]))


def _fourth(
    table: str, version: str, model: str, models: tuple[str, ...], margin: float | None
) -> report.HypothesisResult:
    """Return the verdict on H4: *model* against a model of the other kind (monolingual, multilingual) in the run."""
    compared = report.compared_models(model, models)
    if compared is None:
        return report.multilingual(None, None)
    one, other = (rows(table, version, name) for name in compared)
    return report.multilingual(one, other, margin)


def frame_of(differences: list[Difference]) -> pd.DataFrame:
    """Return differences as a table: name; value, low, high (M - W, ln); W, M, professions, words, women, stays."""
    missing = float("nan")
    data = [
        {
            "name": difference.name,
            "value": missing if difference.estimate.value is None else difference.estimate.value,
            "low": missing if difference.estimate.low is None else difference.estimate.low,
            "high": missing if difference.estimate.high is None else difference.estimate.high,
            "W": difference.female,
            "M": difference.male,
            "professions": difference.professions,
            difference.unit: difference.words,
            "women": missing if difference.women is None else difference.women,
            "stays": difference.stays,
            "method": difference.estimate.method,
        }
        for difference in differences
    ]
    return pd.DataFrame(data)


def _direction() -> str:
    return _("M − W in ln: on the right the profession raises the male words more, on the left the female words.")


def _chance(differences: list[Difference]) -> str:
    many = sum(difference.estimate.low is not None for difference in differences)
    text = _(
        "Expected false positives among {m} intervals: {n:.1f}. Filled points exclude 0 after the Holm correction."
    )
    return text.format(m=many, n=CHANCE * many)


def show_professions(table: str, version: str, model: str) -> None:
    """Show a ranking of professions by M - W, and the mean association of each with each group of words."""
    with st.spinner(_("Computing intervals over professions and person words …"), show_time=True):
        differences = measures_of(table, version, model).professions
    frame = rows(table, version, model)
    kind_of = dict(zip(frame["profession_key"], frame["class"], strict=True))
    kinds = ["", *measures.kinds_of(frame)] if any(kind_of.values()) else [""]
    names = {"": _("all professions")} | {kind: class_name(kind) for kind in kinds if kind}
    kind = choose(_("Professions shown"), names, "kind")
    shown = [difference for difference in differences if not kind or kind_of[difference.name] == kind]
    data = frame_of(shown)
    data["class"] = [kind_of[name] for name in data["name"]]
    says = paragraph((_direction(), _chance(differences)))
    if data["value"].notna().any():
        show_conclusion(range_says(_("M − W (ln)"), data, signed_number, "name"))
    show_chart(leans(data, description=says, say=_, palette=colours()), data, key="ranking", says=says)
    st.header(_("Mean association with each group of person words"), anchor=False)
    cells = measures.cells(frame)
    order = {difference.name: i for i, difference in enumerate(shown)}
    cells = cells[cells["profession"].isin(order)]
    cells = cells.sort_values("profession", key=lambda column: column.map(order), kind="stable")
    says = _(
        "Green: the profession makes these words more likely than when it is masked; red: less likely. Cells show ln."
    )
    show_chart(warmth(cells, description=says, say=_, palette=colours()), cells, key="warmth", says=says)


def show_shares(table: str, version: str, model: str) -> None:
    """Show M - W against the share of women, with the Pearson and the Spearman correlation."""
    whole = measures_of(table, version, model)
    found, correlations = whole.professions, whole.women_share
    if correlations["pearson"].value is None:
        st.info(plain(note_text(correlations["pearson"].reason)))
        return
    frame = rows(table, version, model)
    kind_of = dict(zip(frame["profession_key"], frame["class"], strict=True))
    data = frame_of(found)
    data["class"] = [kind_of[name] for name in data["name"]]
    show_conclusion(_shares_say(correlations["spearman"]))
    says = _(
        "Each point is a profession. A correlation below 0 means: the more women work in a"
        " profession, the further the model leans towards the female words. Interval: Fisher's z"
        " over professions. The shares form three clusters (few, half, most), so the correlation"
        " adds little to the three classes."
    )
    show_chart(shares(data, description=says, say=_, palette=colours()), data, key="shares", says=says, below="")
    places = st.columns(2)
    names = {"pearson": _("Pearson correlation"), "spearman": _("Spearman correlation")}
    for place, (method, name) in zip(places, names.items(), strict=True):
        with place:
            _metric(name, f"run.association.share_correlation:{method}", correlations[method])
    st.caption(plain(says))


def _shares_say(found: Estimate) -> str:
    """Return whether a model leans further to female words where more women work, by the Spearman correlation."""
    if found.value is None:
        return note_text(found.reason)
    if found.low is None or found.high is None or found.low <= 0 <= found.high:
        text = _("No clear relation to the share of women: Spearman correlation {value} {interval}.")
    elif found.high < 0:
        text = _("The more women in a profession, the further towards female words: Spearman {value} {interval}.")
    else:
        text = _("The more women in a profession, the further towards male words: Spearman {value} {interval}.")
    ends = interval(found.low, found.high, 2, signed=True)
    return text.format(value=signed_number(found.value, 2), interval=ends).replace(" .", ".")


def _metric(name: str, id_: str, estimate: Estimate) -> None:
    span = interval(estimate.low, estimate.high, signed=True)
    units = _("{n} professions", n=estimate.units)
    value = number(estimate.value, FORMS[entry_of(id_).unit])
    st.metric(name, value, help=plain(explained(id_.partition(":")[0], note_text(estimate.reason))))
    st.caption(plain(f"{span} · {units}" if span else units))


def show_words(table: str, version: str, model: str) -> None:
    """Show each person word: its pieces in this model, and its mean association by class."""
    person_words = measures.person_words(rows(table, version, model))
    caption(
        "Subwords: the number of tokens into which the model splits the word. Words of many subwords"
        " have smaller probabilities, which cancels in the ratio, but the model represents such"
        " words less well."
    )
    show_html(word_table(person_words, measures.kinds_of(rows(table, version, model))))
    downloads(person_words, key="words")


def show_printed(language: str, table: str, version: str, model: str) -> None:
    """Show the thesis's table of this language as printed, and what its hypotheses come to."""
    found = report.printed(language)
    if not found:
        inform("The papers report no table for these sentences.")
        return
    caption(
        "Values as in the thesis, for reference only: its code attends to padding and truncates long"
        " sentences. Means of models with different tokenizers are not comparable, so these values"
        " and your own run have separate axes."
    )
    own = measures_of(table, version, model).differences
    show_html(printed_table(found, report.printed_verdicts(language), model_label(model), own))
    data = [
        {"model": printed.model, "class": printed.kind, "W": float(printed.woman), "M": float(printed.man),
         "W - M as printed": float(printed.difference), "follows": printed.follows}
        for printed in found
    ]  # fmt: skip
    downloads(data, key="printed")


def _group_rows(groups: list[Group]) -> list[dict[str, object]]:
    return [
        {"class": group.kind, "gender": group.gender, "n": group.numbers.n, "undefined": group.undefined,
         "mean": group.mean.value, "low": group.mean.low, "high": group.mean.high, "method": group.mean.method,
         "std": group.numbers.std, "max": group.numbers.max, "q75": group.numbers.q75, "q50": group.numbers.q50,
         "q25": group.numbers.q25, "min": group.numbers.min}
        for group in groups
    ]  # fmt: skip
