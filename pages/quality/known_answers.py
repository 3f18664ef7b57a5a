"""Known answers on the page Quality: scores of annotators, misses, the items, and how to add more."""

from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import find_item, import_known_answers
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.items.batch import item as one_item
from evenhand.annotations.quality import known_answers
from evenhand.annotations.quality.retest_agreement import Quality
from evenhand.annotations.text_policy import without_text
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import EvenhandError
from evenhand.core.language import explain
from evenhand.core.types import TableRow
from evenhand.pages.quality.retests import card, people_chart
from evenhand.pages.ui.charts import csv_bytes, download, downloads, foot, show_confusion
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import day, estimate_columns, interval_or_reason, percent
from evenhand.pages.ui.sentences import choice_name, judgement, names_of
from evenhand.pages.ui.tables import page_of, show_pages
from evenhand.pages.ui.text import _, caption, inform, language, literal, plain, show_signature, warn
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import ask_author, asks, author, errors_shown, open_store, show_error

PAGE = 5
SHORT = 60  # characters of a text in the list of items
MOST = 50  # drawn at once: each of them is read and answered
SHOWN = 5  # problems of a file


def score_list(quality: Quality) -> None:
    """Show each annotator against the known answers: a chart, a table, the signature."""
    if not quality.known:
        inform(
            "No item has a known answer yet. Choose some items below whose answer you know. Annotators"
            " cannot tell them from others, and scores appear only on this page.",
            icon=":material/key:",
        )
        return
    drawn = any(score.right + score.wrong for score in quality.scores)
    if drawn:
        says = _("Accuracy of each annotator on known answers, over {n} items, with 95% intervals.")
        shares = [(score.annotator, score.share) for score in quality.scores]
        says, title = says.format(n=len(quality.known)), _("Known answers, accuracy")
        people_chart(shares, key="known-answers", title=title, says=says, table=_downloaded(quality))
    else:
        caption("{n} items have a known answer; none of them has a valid label yet.", n=len(quality.known))
    st.dataframe([_row(score) for score in quality.scores], hide_index=True, key="known-table")
    with foot():
        caption(
            "Blind labels only. An answer taken from the labels does not count for the annotators who made"
            " those labels: they would only agree with themselves."
        )
        if not drawn:  # else next to the chart
            downloads(_downloaded(quality), key="known-answers-table")
    show_signature(quality.known_signature)


def _row(answer_score: known_answers.KnownAnswerScore) -> TableRow:
    return {
        _("Annotator"): answer_score.annotator
        if answer_score.active
        else _("{name} (has left)", name=answer_score.annotator),
        _("Right"): answer_score.right,
        _("Wrong"): answer_score.wrong,
        _("Not labelled"): answer_score.unlabelled,
        _("Known answers, accuracy"): percent(answer_score.share.value),
        _("95% interval"): interval_or_reason(answer_score.share, ".1%"),
    }


def _downloaded(quality: Quality) -> list[TableRow]:
    return [
        {
            "annotator": score.annotator,
            "active": score.active,
            "right": score.right,
            "wrong": score.wrong,
            "not_labelled": score.unlabelled,
            **estimate_columns("share", score.share),
            "signature": quality.known_signature,
        }
        for score in quality.scores
    ]


def what_missed(store: Store, project: Project, quality: Quality) -> None:
    """Show one annotator: answers against labels, and every miss."""
    people = {score.annotator: score for score in quality.scores if score.right + score.wrong}
    if not people:
        return
    name = st.selectbox(_("Annotator"), list(people), key="known-who")
    left, right = st.columns([2, 3], gap="large")
    with left:
        _confusion(store, project, people[name], quality.known_signature)
    with right:
        missed = known_answers.wrong_answers(store, project, name)
        if not missed:
            inform("All known answers are correct.", icon=":material/check:")
            return
        st.markdown(plain(_("{n} labels differ from the known answer", n=len(missed))))
        names = names_of(store, project)
        for wrong_answer in page_of(missed, "missed-page", PAGE):
            reasons = [names.get(code, code) for code in wrong_answer.reasons]
            answer = judgement(_("known answer"), wrong_answer.answer, names, note=wrong_answer.why)
            card(
                wrong_answer.item,
                wrong_answer.annotator,
                [answer, judgement(_("label"), wrong_answer.choice, names, reasons, wrong_answer.note)],
            )
        show_pages(len(missed), "missed-page", PAGE)


def _confusion(store: Store, project: Project, answer_score: known_answers.KnownAnswerScore, signature: str) -> None:
    choices = known_answers.answer_choices(store, project)
    used = [i for i in range(len(choices)) if sum(answer_score.table[i]) or any(row[i] for row in answer_score.table)]
    says = _("Rows: known answer; columns: label by {name}. {k} of {n} are correct.")
    show_confusion(
        [[answer_score.table[i][j] for j in used] for i in used],
        [choice_name(choices[i]) for i in used],
        "answer",
        "label",
        key="answer-and-label",
        says=says.format(name=answer_score.annotator, k=answer_score.right, n=answer_score.right + answer_score.wrong),
        titles={"answer": _("known answer"), "label": _("label")},
        signature=signature,
    )


@asks("change_projects")
def known_list(store: Store, project: Project, found: Quality) -> None:
    """Show all items with a known answer; chosen ones become ordinary items again."""
    if not found.known:
        return
    names = names_of(store, project)
    rows = [
        {
            _("Text"): _short(known_item.item.whole_text),
            _("Known answer"): names.get(known_item.choice, known_item.choice),
            _("Labels"): known_item.labels,
            _("Why"): known_item.why,
            _("From its labels"): known_item.from_labels,
            _("Set by"): known_item.author,
            _("Since"): day(known_item.created),
        }
        for known_item in found.known
    ]
    st.markdown(plain(_("Items with a known answer: {n}", n=len(rows))))
    # A new widget key for a changed table, so that selected rows never point to other items.
    key = f"known-items-{hash(tuple(known_item.item.uid for known_item in found.known))}"
    state: Any = st.dataframe(rows, hide_index=True, key=key, on_select="rerun", selection_mode="multi-row")
    chosen = [found.known[i].item.uid for i in state["selection"]["rows"] if i < len(rows)]
    with st.container(horizontal=True, vertical_alignment="center"):
        text = _("Select rows to turn back into ordinary items")
        if chosen:
            text = _("Turn {n} selected items back into ordinary ones", n=len(chosen))
        pressed = st.button(plain(text), key="withdraw-known", icon=":material/key_off:", disabled=not chosen)
        download(_("Download (CSV)"), lambda: _table(project), "known-answers.csv", key="known-items-csv")
    if pressed:
        with errors_shown():
            for uid in chosen:
                known_answers.set_known(store, project, uid, None, author=author(store))
            st.rerun()


def _table(project: Project) -> bytes:
    from evenhand.annotations.quality.known_answers import known_items

    with open_store(project) as store:
        items = known_items(store, project)
    rows = [
        {
            "item": known_item.item.uid,
            "text": known_item.item.whole_text,
            "choice": known_item.choice,
            "why": known_item.why,
            "from_labels": known_item.from_labels,
            "author": known_item.author,
            "created": known_item.created,
        }
        for known_item in items
    ]
    return csv_bytes([without_text(project, row, "text", "why") for row in rows])


def _short(text: str) -> str:
    return text if len(text) <= SHORT else text[:SHORT] + "…"


@asks("change_projects")
def mark_more(store: Store, project: Project) -> None:
    """Show three ways to more items with a known answer."""
    st.markdown(f"**{plain(_('More known answers'))}**")
    ask_author(store, _("Answers provided by"), persist_state="session", placeholder=_("Your name"))
    ways = {"draw": _("Draw at random"), "one": _("Single item"), "file": _("From a file")}
    way = choose(_("Selection"), ways, "mark-how", heading=False)
    if way == "draw":
        _draw(store, project)
    elif way == "one":
        _one(store, project)
    else:
        _file(store, project)


def _draw(store: Store, project: Project) -> None:
    names: dict[known_answers.Among, str] = {"unlabelled": _("Unlabelled items"), "agreed": _("Unanimous items")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        among = choose(_("Items to draw from"), names, "draw-among")
        number = st.number_input(_("Number of items"), 1, MOST, 10, key="draw-number", width=120)
        if st.button(_("Draw"), key="draw", icon=":material/casino:"):
            drawn = [item.uid for item in known_answers.draw_candidates(store, project, int(number), among)]
            st.session_state["drawn"] = (project.uid, among, drawn)
            if not drawn:
                st.toast(_("There is no such item."), icon=":material/info:")
    if among == "agreed":
        caption(
            "The answer is taken from the labels. It therefore tests only annotators who have not labelled"
            " the item yet, for example those who join later."
        )
    kept, made_among, uids = st.session_state.get("drawn", ("", among, []))
    if kept == project.uid and uids:
        _answers(store, project, made_among, uids)


def _answers(store: Store, project: Project, among: known_answers.Among, uids: list[str]) -> None:
    """Show the drawn items with the lead's answers; items without one are left out."""
    choices = {choice.code: choice_name(choice) for choice in guideline(store, project).choices}
    given: dict[str, str | None] = {}
    with st.form("drawn-answers"):
        for number, uid in enumerate(uids, 1):
            item = one_item(store, project, uid)
            card(item, _("{n} of {all}", n=number, all=len(uids)), [])
            given[uid] = st.pills(  # they wrap where a telephone has no room
                _("Answer for text {n}", n=number),
                list(choices),
                default=item.gold if among == "agreed" and item.gold in choices else None,
                format_func=lambda code: plain(choices[code]),
                key=f"answer-{uid}",
                label_visibility="collapsed",
            )
        with st.container(horizontal=True):
            kept = st.form_submit_button(_("Set as known answers"), type="primary", icon=":material/key:")
            dropped = st.form_submit_button(_("Discard"), icon=":material/close:")
        caption("Texts without an answer stay ordinary items.")
    if kept:
        for uid, choice in given.items():
            if choice is not None and not _keep(store, project, uid, choice, from_labels=among == "agreed"):
                return
    if kept or dropped:
        del st.session_state["drawn"]
        st.rerun()


@asks("change_projects")
def _keep(store: Store, project: Project, uid: str, choice: str, why: str = "", *, from_labels: bool = False) -> bool:
    # An answer that differs from the labels is the lead's own.
    same = from_labels and one_item(store, project, uid).gold == choice
    try:
        who = author(store)
        known_answers.set_known(store, project, uid, choice, why=why, author=who, from_labels=same)
    except EvenhandError as error:
        show_error(error)
        return False
    return True


def _one(store: Store, project: Project) -> None:
    label = _("Id or text of the item") if project.kind == "sentences" else _("Id of the item")
    asked = st.text_input(label, key="known-id").strip()
    if not asked:
        return
    item: Item | None = find_item(store, project, asked)
    if item is None:
        warn("This project has no such item.", icon=":material/search_off:")
        return
    card(item, item.uid, [])
    choices = {criterion.code: choice_name(criterion) for criterion in guideline(store, project).choices}
    choice = st.pills(
        _("Answer"), list(choices), format_func=lambda code: plain(choices[code]), key=f"known-choice-{item.uid}"
    )
    why = st.text_area(_("Why"), key=f"known-why-{item.uid}", height=80, placeholder=_("Optional: why this answer?"))
    pressed = st.button(
        _("Set as known answer"), type="primary", icon=":material/key:", key="known-keep", disabled=choice is None
    )
    if pressed and choice is not None and _keep(store, project, item.uid, choice, why):
        st.toast(_("This item now has a known answer."), icon=":material/key:")
        st.rerun()


@asks("change_projects")
def _file(store: Store, project: Project) -> None:
    caption("CSV, TSV, JSON Lines or Excel with the columns item or text, choice, and optionally why.")
    if project.kind == "generations":
        caption("The column context distinguishes items with the same text.")
    with errors_shown():
        path = choose_upload(_("File"), ["csv", "tsv", "jsonl", "json", "xlsx"], key="known-file", heading=False)
        if path is None:
            return
        if st.session_state.get("known-brought", ("",))[0] != path:
            who = author(store)
            report = import_known_answers(store, project, path, name=path.name, author=who)
            st.session_state["known-brought"] = (path, report)
            st.rerun()
        report = st.session_state["known-brought"][1]
        st.success(plain(_("Known answers set from this file: {n}.", n=report.marked)), icon=":material/key:")
        if report.problems:
            warn("{n} rows could not be used.", n=len(report.problems))
            lines = [_("Line {line}: {why}", line=p.line, why=explain(p, language())) for p in report.problems]
            for line in lines[:SHOWN]:
                literal(line, size=14)
            downloads([{"problem": line} for line in lines], key="known-problems")
