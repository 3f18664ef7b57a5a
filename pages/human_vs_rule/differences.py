"""The generations over which people and the rule differ: sorted into bins, each with what everybody said of it."""

from collections.abc import Sequence
from itertools import groupby

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.agreement.disagreements import record_reveals
from evenhand.annotations.database.store import Store
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary, text_may_leave, without_text
from evenhand.annotations.types import Annotator, Project
from evenhand.core.human_vs_rule.apply_rule import NAMES, binary
from evenhand.core.human_vs_rule.compare import BINS, MEANT, AnnotatorLabel, Difference
from evenhand.pages.human_vs_rule.charts import PageNumbers
from evenhand.pages.ui.charts import csv_bytes, download, foot
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.notices import say_blind
from evenhand.pages.ui.results import show_item_links
from evenhand.pages.ui.sentences import item_card, judgement, names_of, setting_name
from evenhand.pages.ui.tables import joined, page_of, show_html, show_pages, span
from evenhand.pages.ui.text import _, caption, in_brackets, inform, named, plain
from evenhand.pages.ui.visitor import asks, open_store

PAGE = 6
VERDICTS = ("misgendering", "correct")
ORDERS = ("imported", "bin", "model", "pronoun")


@asks("see_all_labels")
def differences(store: Store, project: Project, found: PageNumbers) -> None:
    """Show the list with its bins, its order and its download."""
    reader = annotator_at_desk(store, project)
    listed = list(found.differences)
    if reader is not None:
        listed = [
            difference for difference in listed if reader.name in {label.annotator for label in difference.labels}
        ]
    if reader is not None:
        say_blind(reader)
    if not listed:
        inform("Annotators and rule agree on every fully labelled generation here.", icon=":material/check:")
        return
    chosen = _sorted(_filtered(listed))
    shown = page_of(chosen, "difference-page", PAGE)
    if reader is not None:
        record_reveals(store, reader, shown)
    names = names_of(store, project)
    for difference in shown:
        show_html(_card(difference, names))
        show_item_links(project, difference.item, difference.text)
    with foot():
        caption("{n:,} generations", n=len(chosen))
        show_pages(len(chosen), "difference-page", PAGE)
        file, name = (lambda: _file(project, reader, chosen, found.signature)), "human-vs-rule.csv"
        download(_("Download all (CSV)"), file, name, key="differences-csv", type="secondary")
    if not text_may_leave(project):
        caption("The file holds ids and labels, not texts: texts of this project can only be exported encrypted.")


def _filtered(listed: Sequence[Difference]) -> list[Difference]:
    counts = {name: sum(1 for difference in listed if difference.bin == name) for name in BINS}
    offered = [name for name, count in counts.items() if count]
    chosen = st.pills(
        _("Reasons for differences"),
        offered,
        format_func=lambda name: in_brackets(_(BINS[name]), counts[name]),
        selection_mode="multi",
        key="bins",
    )
    meant = "\n".join("- " + named(f"**{plain(_(BINS[name]))}**", plain(_(MEANT[name]))) for name in chosen or offered)
    st.caption(meant)
    return [difference for difference in listed if not chosen or difference.bin in chosen]


def _sorted(listed: list[Difference]) -> list[Difference]:
    names = {"imported": _("as imported"), "bin": _("by bin"), "model": _("by model"), "pronoun": _("by pronouns")}
    order = st.selectbox(_("Order"), ORDERS, format_func=names.__getitem__, key="difference-order")
    if order == "bin":
        return sorted(listed, key=lambda one: list(BINS).index(one.bin))
    if order in ("model", "pronoun"):
        return sorted(listed, key=lambda one: str(getattr(one, order)))
    return listed


def _file(project: Project, reader: Annotator | None, chosen: Sequence[Difference], signature: str) -> bytes:
    """Return the download as CSV. If the visitor has a desk open, record that this annotator has seen what others and
    the rule say of all of it."""
    with open_store(project) as store:
        if reader is not None:
            record_reveals(store, reader, chosen)
    return csv_bytes(table(project, chosen, signature))


def table(project: Project, listed: Sequence[Difference], signature: str) -> list[dict[str, object]]:
    """Return the list for a file, a row per label; texts only where they may leave."""
    canary = {CANARY_KEY: CANARY} if needs_canary(project) and text_may_leave(project) else {}
    rows: list[dict[str, object]] = []
    for difference in listed:
        place = "" if difference.rule.start is None else f"{difference.rule.start}-{difference.rule.end}"
        for label in difference.labels:
            row = {
                "item": difference.item, "bin": difference.bin, "model": difference.model,
                "pronoun": difference.pronoun, "dataset": difference.dataset,
                "setting": difference.setting, "annotator": label.annotator, "choice": label.choice,
                "extraneous": label.extraneous, "spans": [list(mark) for mark in label.marks],
                "reasons": ";".join(label.reasons), "rule_correct": difference.rule.correct,
                "rule_pronoun": difference.rule.pronoun, "rule_span": place, "context": difference.context,
                "completion": difference.text,
                "note": label.note, "signature": signature, **canary,
            }  # fmt: skip
            rows.append(without_text(project, row, "context", "completion", "note"))
    return rows


def _dataset(difference: Difference) -> str:
    return "" if difference.dataset == "own" else difference.dataset.upper()


def _card(difference: Difference, names: dict[str, str]) -> Markup:
    facts = (
        difference.model,
        difference.name,
        difference.pronoun,
        setting_name(difference.setting),
        _dataset(difference),
    )
    about = joined([span(_(BINS[difference.bin]), "strong"), " · ".join(part for part in facts if part)], " · ")
    form = _("first pronoun: {form}", form=difference.rule.pronoun) if difference.rule.pronoun else ""
    verdict = {"rule": _(NAMES[VERDICTS[difference.rule.correct or 0]])}
    rule = judgement(
        _("the rule"), "rule", verdict, [form or _("no covered pronoun")], right=bool(difference.rule.correct)
    )
    people = [rule, *(_judgement(label, names) for label in difference.labels)]
    return item_card(difference.item, marked(difference), people, about=about, context=difference.context)


def marked(difference: Difference) -> Markup:
    """Return the text as HTML: the rule's pronoun boxed, what people marked underlined; nothing else of it is HTML."""
    start, end = difference.rule.start or 0, difference.rule.end or 0
    wrong = {i for label in difference.labels for a, b, kind in label.marks if kind == "pronoun" for i in range(a, b)}
    gendered = {
        i for label in difference.labels for a, b, kind in label.marks if kind == "extraneous" for i in range(a, b)
    }

    def kind(place: int) -> str:
        line = "wrong" if place in wrong else "gendered" if place in gendered else ""
        return f"{'hit' if start <= place < end else ''} {line}".strip()

    pieces = groupby(range(len(difference.text)), kind)
    return joined(_piece(difference.text, list(places), look) for look, places in pieces)


def _piece(text: str, places: list[int], look: str) -> str | Markup:
    piece = text[places[0] : places[-1] + 1]
    return span(piece, look) if look else piece


def _judgement(label: AnnotatorLabel, names: dict[str, str]) -> Markup:
    lines = [names.get(code, code) for code in label.reasons] + ([_("Flagged")] if label.extraneous else [])
    named = {**names, label.choice: names.get(label.choice) or _(NAMES[label.choice])}
    return judgement(label.annotator, label.choice, named, lines, label.note, right=binary(label.choice) == 1)
