"""The page Adjudicate: the rule of the project, the queue of cases, one case with labels, comments and decision."""

import re
import uuid
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.adjudication import decisions
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.text_policy import without_text
from evenhand.annotations.types import Choice, Guideline, Mark, Project, Scheme
from evenhand.core.types import Span
from evenhand.pages.ui.charts import csv_bytes, download
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, judgement_lines, person_meant, with_keyword
from evenhand.pages.ui.tables import element, joined, show_html
from evenhand.pages.ui.text import _, in_brackets, paragraph, plain, series, spoken
from evenhand.pages.ui.visitor import ask_author, asks, author, errors_shown, open_store, say_changes

LEAVE = "as it is"  # no code of a label


def names_of(guideline: Guideline) -> dict[str, str]:
    """Return the names of choices, reasons and tags in the visitor's language, by code."""
    return {option.code: choice_name(option) for option in guideline.options}


def show_case(case: decisions.Case, guideline: Guideline) -> None:
    """Show the text with everybody's marks, and a card for each annotator."""
    names = names_of(guideline)
    people = [_judgement(label, case, names) for label in case.labels]
    item = case.item
    show_html(item_card(item.uid, _text(case), people, about=person_meant(item), context=item.context or ""))


def _text(case: decisions.Case) -> Markup:
    """Return the text in pieces, each with the letters of those who marked it."""
    item = case.item
    marks = [(label.letter, mark) for label in case.labels for mark in label.marks]
    if item.second is not None or (item.word is not None and item.side):
        return with_keyword(item.whole_text, item.word, item.side)
    edges = sorted({0, len(item.text), *(edge for _letter, mark in marks for edge in mark[:2])})
    pieces = []
    for start, end in pairwise(edges):
        inside = [(letter, mark.kind) for letter, mark in marks if mark.start <= start and end <= mark.end]
        pieces.append(_piece(item.text[start:end], inside))
    return joined(pieces)


def _piece(text: str, inside: Sequence[tuple[str, str]]) -> str | Markup:
    if not inside:
        return text
    wrong = any(kind == "pronoun" for _letter, kind in inside)
    letters = "".join(sorted({letter for letter, _kind in inside}))
    return joined([element("mark", text, "wrong" if wrong else "gendered"), element("sup", letters, "soft")])


def _judgement(anonymous_label: decisions.AnonymousLabel, case: decisions.Case, names: dict[str, str]) -> Markup:
    lines = judgement_lines(
        anonymous_label.reasons, anonymous_label.marks, case.item.text, names, extraneous=anonymous_label.extraneous
    )
    return judgement(anonymous_label.letter, anonymous_label.choice, names, lines, anonymous_label.note)


def show_decisions(case: decisions.Case, guideline: Guideline) -> None:
    """Show the acts of adjudicators on this case, oldest first."""
    names = names_of(guideline)
    for settlement in case.settlements:
        st.caption(plain(_line(settlement, names)), width="stretch")


def _line(settlement: decisions.AdjudicationDecision, names: dict[str, str]) -> str:
    texts = {
        "decide": _("{when}: {who} decided: {choice}."),
        "leave": _("{when}: {who} confirmed the labels."),
        "reopen": _("{when}: {who} reopened the case."),
    }
    when = moment(settlement.created)
    text = texts[settlement.action].format(
        when=when, who=settlement.adjudicator, choice=names.get(settlement.choice or "", settlement.choice)
    )
    reasons = series(names.get(code, code) for code in settlement.reasons)
    return " ".join(part for part in (text, reasons, settlement.why) if part)


@asks("settle")
def comment_list(store: Store, project: Project, found: decisions.Case) -> None:
    """Show the comments so far and a field for the next; names of annotators are not shown here."""
    st.header(_("Comments"))
    for comment in found.comments:
        by = comment.author if comment.annotator is None else _("an annotator")
        with st.container(border=True):
            st.caption(plain(f"{by} · {moment(comment.created)}"))
            st.text(comment.text)
    with st.form(f"comment-{found.item.uid}-{len(found.comments)}", border=False):
        text = st.text_area(_("Comment"), key=f"comment-text-{found.item.uid}-{len(found.comments)}", height=80)
        if st.form_submit_button(_("Add the comment"), icon=":material/chat:"):
            with errors_shown():
                who = author(store) or _("Lead")
                decisions.add_comment(store, project, found.item.uid, text, author=who)
                st.rerun()


def decision(store: Store, project: Project, case: decisions.Case, guideline: Guideline) -> None:
    """Show the fields of a decision on the case that is shown, and its buttons."""
    st.header(_("Decision"))
    if case.settlement is None:
        st.caption(plain(paragraph(_rules(project, guideline))), width="stretch")
    ask_author(store, _("Adjudicator"), persist_state="session", placeholder=_("Your name"))
    if case.settlement is not None:
        _settled(store, project, case)
        return
    key, names = case.item.uid, names_of(guideline)
    choice: str | None = None
    extraneous: bool | None = None
    marks: tuple[Mark, ...] = ()
    if not _by_button(project, guideline):  # what can be marked depends on the label
        choice = st.pills(  # they wrap where a telephone has no room
            _("Label"),
            [criterion.code for criterion in guideline.choices],
            format_func=lambda code: plain(names[code]),
            key=f"choice-{key}",
        )
        if guideline.scheme is None:
            extraneous, marks = _generation(case, choice)
        else:
            marks = _spans(case, guideline.scheme, choice, names)
    reasons = [*_reasons(project, guideline, case, names), *_answers(case, guideline)]
    why = _why(guideline, key)
    decided = _pressed(project, guideline, names, choice)
    if decided == LEAVE:
        _store(store, project, case, None, ((), None, ()), why)
    elif decided is not None:
        _store(store, project, case, decided, (tuple(reasons), extraneous, marks), why)


def _reasons(project: Project, guideline: Guideline, case: decisions.Case, names: dict[str, str]) -> list[str]:
    """Return the reasons of a reject, the tags of a generation; of an own scheme the flags, first those of the
    majority."""
    label, none = _("Tags"), _("no tag")
    start: list[str] = []
    if project.kind == "sentences":
        label, none = _("Reasons"), _("no reason")
    elif guideline.scheme is not None:
        label, none = _("Flags"), _("no flag")
        votes = Counter(code for anonymous_label in case.labels for code in anonymous_label.reasons)
        start = [reason.code for reason in guideline.reasons if 2 * votes[reason.code] > len(case.labels)]
    return st.multiselect(
        label, [reason.code for reason in guideline.reasons], start, format_func=names.__getitem__, placeholder=none,
        key=f"reasons-{case.item.uid}",
    )  # fmt: skip


def _answers(case: decisions.Case, guideline: Guideline) -> list[str]:
    """Ask for the answers to the scales of an own scheme and return them as codes.

    Each answer is typed as a number. Each box begins with the answer of more than half of the labels, if there is one.
    Next to each box is how often the annotators gave each answer.
    """
    given = []
    for scale in guideline.scheme.scales if guideline.scheme else ():
        votes = Counter(code for label in case.labels for code in label.reasons)
        points = range(scale.low or 0, (scale.high or 0) + 1)
        values = {point: votes[f"{scale.code}:{point}"] for point in points if votes[f"{scale.code}:{point}"]}
        first = next((point for point, times in values.items() if 2 * times > len(case.labels)), None)
        name = spoken(choice_name(Choice(scale.code, scale.key, scale.zh, scale.en)))
        value = st.number_input(
            in_brackets(name, f"{scale.low}–{scale.high}"), scale.low, scale.high, first, 1, width=220,
            key=f"scale-{scale.code}-{case.item.uid}",
        )  # fmt: skip
        st.caption(plain(_distribution(values)), width="stretch")
        if value is not None:
            given.append(f"{scale.code}:{value}")
    return given


def _distribution(said: dict[int, int]) -> str:
    if not said:
        return _("No annotator answered this scale.")
    each = [in_brackets(point, f"{times} ×") for point, times in said.items()]
    middle = median(point for point, times in said.items() for _time in range(times))
    return _("Annotators: {answers}; median {median}.", answers=series(each), median=f"{middle:g}")


def _why(guideline: Guideline, key: str) -> str:
    """Return the note of a decision; the text where the scheme asks for one, as in a label."""
    text = (
        next((question for question in guideline.scheme.questions if not question.points), None)
        if guideline.scheme
        else None
    )
    if text is None:
        return st.text_area(_("Why"), key=f"why-{key}", height=80, placeholder=_("Why this label?"))
    name = choice_name(Choice(text.code, "", text.zh, text.en))
    return st.text_area(
        spoken(name), key=f"why-{key}", height=80,
        help=_("The text that the scheme asks annotators for. It is stored as the note of the decision."),
    )  # fmt: skip


def _spans(case: decisions.Case, scheme: Scheme, choice: str | None, names: dict[str, str]) -> tuple[Mark, ...]:
    """Return the spans of a decision under an own scheme, first those of the annotators who made this choice."""
    made: list[Mark] = []
    for kind in scheme.spans if choice else ():
        alike = [
            mark for label in case.labels if label.choice == choice for mark in label.marks if mark.kind == kind.code
        ]
        made += _marked(case, kind.code, plain(names[kind.code]), alike, choice or "")
    return tuple(sorted(made))


def _rules(project: Project, guideline: Guideline) -> list[str]:
    """Return the rules that a decision has to keep, to be read before it is made."""
    rules = [_("A decision needs a reason or a note, so that others can check it.")]
    if project.kind == "sentences" and project.gold == "unanimous" and not project.rescue:
        rules.append(
            _(
                "This project accepts only sentences that all annotators accept: reject this case, or confirm its"
                " labels."
            )
        )
    if project.kind == "generations" and project.checked and guideline.scheme is None:
        rules.append(
            _(
                "Misgendering requires that the wrong pronoun be marked; no pronoun excludes such a mark; the"
                " flag for extraneous gendered language requires marked words."
            )
        )
    return rules


def _by_button(project: Project, guideline: Guideline) -> bool:
    """Return whether labels carry no marks in this project, so that one press decides."""
    return project.kind == "sentences" or guideline.compares


def _pressed(project: Project, guideline: Guideline, names: dict[str, str], choice: str | None) -> str | None:
    """Return the label that a button or its key decides on, LEAVE, or None. Of a sentence and of a comparison each
    label has its button.

    The keys are those of the desk. A key that is held down decides no further case: each needs a reason of its own.
    That is why there is none for leaving a case as it is.
    """
    decided = None
    with st.container(horizontal=True, key="decisions"):
        if _by_button(project, guideline):
            for criterion in guideline.choices:
                barred = criterion.code == "accept" and project.gold == "unanimous" and not project.rescue
                if st.button(
                    plain(names[criterion.code]), key=f"decide-{criterion.code}", type="primary", disabled=barred,
                    shortcut=criterion.key if criterion.key.isalnum() else None,
                ):  # fmt: skip
                    decided = criterion.code
        elif st.button(
            _("Save decision"), type="primary", icon=":material/gavel:", key="decide", disabled=not choice,
            shortcut="D",
        ):  # fmt: skip
            decided = choice
        if st.button(_("Confirm labels"), icon=":material/skip_next:", key="leave"):
            decided = LEAVE
        with st.popover(_("Keys"), icon=":material/keyboard:", type="tertiary"):
            show_html(_switch_of_keys())
    return decided


def _switch_of_keys() -> Markup:
    """Return the switch for keys that are a single letter or digit; web/static/page.js reads and sets it."""
    scopes = {
        "page": _("On the whole page"),
        "desk": _("Only while one of these buttons has the focus"),
        "off": _("Off"),
    }
    options = [
        element("label", joined([Markup('<input type="radio" name="evenhand-keys" value="{}"> ').format(scope), text]))
        for scope, text in scopes.items()
    ]
    legend = element("legend", _("Keys with a letter, digit or sign work"))
    return element("fieldset", joined([legend, *options]), "keyscope")


def _generation(case: decisions.Case, choice: str | None) -> tuple[bool, tuple[Mark, ...]]:
    """Return the flag and the marks of a decision on a generation, initially those of the annotators."""
    votes = [label.extraneous for label in case.labels]
    extraneous = st.checkbox(
        _("extraneous gendered language"), votes.count(True) > votes.count(False), key=f"extraneous-{case.item.uid}"
    )
    if choice is None:
        return extraneous, ()
    alike = [mark for label in case.labels if label.choice == choice for mark in label.marks if mark.kind == "pronoun"]
    wrong = _marked(case, "pronoun", _("Wrong pronouns"), [] if choice == "no_pronoun" else alike, choice)
    if not extraneous:
        return extraneous, wrong
    flagged = [mark for label in case.labels for mark in label.marks if mark.kind == "extraneous"]
    return extraneous, tuple(sorted((*wrong, *_marked(case, "extraneous", _("Extraneous gendered words"), flagged))))


def _marked(case: decisions.Case, kind: str, label: str, before: Sequence[Mark], place: str = "") -> tuple[Mark, ...]:
    """Return the marks of the adjudicator: any word of the text, and the annotators' marks."""
    names = places(case, kind)
    start = _apart(sorted((mark.start, mark.end) for mark in before))
    chosen = st.multiselect(
        label, list(names), start, format_func=names.__getitem__, key=f"{kind}-{place}-{case.item.uid}",
        placeholder=_("no word"),
    )  # fmt: skip
    return tuple(Mark(start, end, kind) for start, end in sorted(chosen))


def places(case: decisions.Case, kind: str) -> dict[Span, str]:
    """Return every word of the text and every mark of *kind*, each with a name; repeated words are numbered."""
    text = case.item.text
    marks = {(mark.start, mark.end) for label in case.labels for mark in label.marks if mark.kind == kind}
    spans = sorted(marks | {word.span() for word in re.finditer(r"\w+", text)})
    named: dict[Span, str] = {}
    times: Counter[str] = Counter()
    for start, end in spans:
        word = text[start:end]
        times[word] += 1
        named[start, end] = word if times[word] == 1 else in_brackets(word, times[word])
    return named


def _apart(spans: Sequence[Span]) -> list[Span]:
    """Return *spans* in order, without spans that overlap an earlier one."""
    kept: list[Span] = []
    for span in spans:
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


@asks("settle")
def _store(
    store: Store,
    project: Project,
    found: decisions.Case,
    choice: str | None,
    kept: tuple[tuple[str, ...], bool | None, tuple[Mark, ...]],
    why: str,
) -> None:
    reasons, extraneous, marks = kept
    base = found.settlements[-1].op_id if found.settlement else None
    # One id per screen, so that a double click is one decision.
    op_id = st.session_state.setdefault(f"op-{found.item.uid}-{len(found.settlements)}", uuid.uuid4().hex)
    with errors_shown():
        decisions.decide_case(
            store, project, found.item.uid, adjudicator=author(store), choice=choice,
            seen=found.seen, base=base, reasons=reasons, extraneous=extraneous, marks=marks, why=why, op_id=op_id,
        )  # fmt: skip
        st.toast(_("Settled."), icon=":material/gavel:")
        st.rerun()


@asks("settle")
def _settled(store: Store, project: Project, found: decisions.Case) -> None:
    if found.settlement is None or not st.button(_("Reopen"), icon=":material/undo:", key="reopen"):
        return
    with errors_shown():
        decisions.reopen(store, project, found.item.uid, adjudicator=author(store), base=found.settlement.op_id)
        st.rerun()


@asks("change_projects")
def rule(store: Store, project: Project) -> None:
    """Show whether adjudication may keep a rejected sentence, and store a change with a button of its own."""
    if project.gold != "unanimous":
        return
    rescue = switch(
        _("Adjudication may accept sentences without full agreement"),
        project.rescue,
        key=f"rescue-{project.uid}",
        explained=_("Off: a sentence is accepted only if all annotators accept it (the rule of the journal paper)."),
    )
    if rescue == project.rescue:
        return
    names = {True: _("allowed"), False: _("not allowed")}
    name = _("Adjudication accepts sentences without full agreement")
    say_changes([(name, names[project.rescue], names[rescue])], published=True)
    if st.button(_("Save this rule"), key="save_rule", type="primary", icon=":material/gavel:"):
        change_project(store, project, author=author(store), rescue=rescue)
        st.rerun()


def offer_decisions_file(store: Store, project: Project) -> None:
    """Offer all settlements as CSV: ids and decisions, no text of any item."""
    if next(decisions.each_decision_row(store, project), None) is None:
        return
    download(_("Download settled cases (CSV)"), lambda: _table(project), "settlements.csv", key="settlements-csv")


def _table(project: Project) -> bytes:
    with open_store(project) as store:
        # The reason of a decision may quote the text, so the same policy holds for it.
        rows = list(decisions.each_decision_row(store, project))
    for row in rows:
        row["reasons"], row["seen"] = ";".join(row["reasons"]), ";".join(row["seen"])
    return csv_bytes([without_text(project, row, "why") for row in rows])
