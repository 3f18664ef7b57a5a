"""Judges against people, kept until a label is added: every judge, then one of them: agreement, confusion, the test."""

from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.against_people import AgainstPeople, Disagreed, Drift, against_people, drift
from evenhand.annotations.judges.estimates import Estimates, estimates
from evenhand.annotations.judges.judges import (
    RULE_NAME,
    Failure,
    Judge,
    choose_margin,
    failures,
    judge,
    judges,
    state_of_judges,
)
from evenhand.annotations.labels.generation_labels import item_table, people_labels
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.projects.steps import state
from evenhand.annotations.text_policy import text_may_leave, without_text
from evenhand.annotations.types import Project
from evenhand.core.judges.alternative_annotator import Against, AltTestResult
from evenhand.core.language import p_value
from evenhand.pages.ui.charts import downloads, foot
from evenhand.pages.ui.choose import annotator_at_desk, choose
from evenhand.pages.ui.numbers import moment, note_text, number, percent
from evenhand.pages.ui.sentences import item_card, judgement, names_of, setting_name
from evenhand.pages.ui.tables import (
    estimate_cell,
    estimate_tile,
    number_columns,
    page_of,
    show_html,
    show_pages,
    show_tiles,
    span,
    table,
)
from evenhand.pages.ui.text import _, caption, inform, named, paragraph, plain, sentence, show_signature
from evenhand.pages.ui.visitor import asks, author, errors_shown, open_store


@dataclass(frozen=True)
class Found:
    """Every judge that has labelled something: against people, its rates with theirs, how it drifts."""

    judges: tuple[Judge, ...]
    against: dict[str, AgainstPeople]
    estimates: dict[str, Estimates]
    drift: dict[str, Drift]


def for_the_lead(store: Store, project: Project) -> bool:
    """Return whether to show the page. An annotator with an open desk is asked first."""
    reader = annotator_at_desk(store, project)
    if reader is None or st.session_state.get("judges-shown") == project.uid:
        return True
    text = _("Your desk as {name} is open. This page reveals judges' labels of texts that you have not labelled.")
    st.warning(plain(text.format(name=reader.name)), icon=":material/visibility_off:")
    if st.button(_("I lead this project: show the page"), key="judges-show", icon=":material/visibility:"):
        st.session_state["judges-shown"] = project.uid
        st.rerun()
    return False


def current(store: Store, project: Project) -> Found:
    """Return the numbers of a project as they are now."""
    active = [person.uid for person in annotators(store, project)]
    return _reckoned(project.uid, (*state(store), *state_of_judges(store), *active), project)


# Shared between visits and never changed, so that the tables of a large project are not copied.
@st.cache_resource(max_entries=4, show_spinner=False)
def _reckoned(uid: str, state_of_store: tuple[str, ...], _project: Project) -> Found:
    with open_store(_project) as store:
        every = tuple(stored_judge for stored_judge in judges(store, _project) if stored_judge.labels)
        if not every:
            return Found((), {}, {}, {})
        table, said = item_table(store, _project), people_labels(store, _project)
        return Found(
            every,
            {stored_judge.name: against_people(store, _project, stored_judge, said=said) for stored_judge in every},
            {stored_judge.name: estimates(store, _project, stored_judge, table) for stored_judge in every},
            {stored_judge.name: drift(store, stored_judge) for stored_judge in every},
        )


def judge_label(name: str) -> str:
    """Return a judge's name for a page; the usual name of the rule is in the visitor's language."""
    return _(RULE_NAME) + name.removeprefix(RULE_NAME) if name.startswith(RULE_NAME) else name


def chosen_judge(found: Found, key: str = "judge") -> Judge:
    """Ask for one of the judges that have labelled something, and return it."""
    by_name = {stored_judge.name: stored_judge for stored_judge in found.judges}
    if st.session_state.get(key) not in by_name:
        st.session_state[key] = found.judges[0].name
    labels = {name: judge_label(name) for name in by_name}
    return by_name[str(st.selectbox(_("Judge"), list(by_name), key=key, format_func=labels.__getitem__))]


PAGE = 10


def show_disagreements(project: Project, against: AgainstPeople, names: dict[str, str]) -> None:
    """Show the disagreements, `PAGE` at a time, filtered by the judge's label."""
    every = against.disagreements
    if not every:
        inform("The judge and all annotators agree on every compared text.", icon=":material/check:")
        return
    counts = {code: sum(1 for disagreed in every if disagreed.judge == code) for code in against.choices}
    offered = [code for code, count in counts.items() if count]
    chosen = st.pills(
        _("The judge's label"), offered, selection_mode="multi", key="judge-said",
        format_func=lambda code: f"{plain(names.get(code) or code)} {counts[code]:,}",
    )  # fmt: skip
    listed = [disagreed for disagreed in every if not chosen or disagreed.judge in chosen]
    for disagreed in page_of(listed, "judge-page", PAGE):
        show_html(_card(disagreed, judge_label(against.judge.name), names))
    with foot():
        caption("{n:,} texts", n=len(listed))
        show_pages(len(listed), "judge-page", PAGE)
        downloads([_row(project, disagreed, against.signature) for disagreed in listed], key="judge-disagreements")
    if not text_may_leave(project):
        caption("The file holds ids and labels, not texts: texts of this project can only be exported encrypted.")


def _card(one: Disagreed, who: str, names: dict[str, str]) -> Markup:
    share = [_("probability {share}", share=percent(one.share))] if one.share is not None else []
    said = [judgement(who, one.judge, names, share)]
    for label in one.people:
        lines = [names.get(code, code) for code in label.reasons] + ([_("Flagged")] if label.extraneous else [])
        said.append(judgement(label.annotator, label.choice, names, lines, label.note))
    about = " · ".join(part for part in (one.model, one.pronoun) if part)
    return item_card(one.item, _marked(one), said, about=about, context=one.context)


def _marked(one: Disagreed) -> Markup:
    """Return the text as HTML, what the judge marked boxed; nothing else of it is HTML."""
    result, at = Markup(""), 0
    for start, end, _kind in one.judge_marks:
        result += Markup("{}{}").format(one.text[at:start], span(one.text[start:end], "hit"))
        at = end
    return result + one.text[at:]


def _row(project: Project, one: Disagreed, signature: str) -> dict[str, object]:
    row: dict[str, object] = {
        "item": one.item, "model": one.model, "pronoun": one.pronoun, "judge": one.judge, "share": one.share,
        "people": ";".join(f"{label.annotator}={label.choice}" for label in one.people), "context": one.context,
        "completion": one.text, "signature": signature,
    }  # fmt: skip
    return without_text(project, row, "context", "completion")


LISTED, MOST_SHOWN = 20, 80  # texts that are listed, and the characters of each


def show_against(store: Store, project: Project, found: Found) -> None:
    """Show every judge, then the chosen one."""
    heads = (_("Judge"), _("Labels"), _("Agreement with people"), _("Cohen's kappa"), _("Compared texts"))
    rows = [
        (
            judge_label(stored_judge.name),
            f"{stored_judge.labels:,}",
            estimate_cell(found.against[stored_judge.name].agreement.estimate, ".1%"),
            estimate_cell(found.against[stored_judge.name].kappa, ".2f"),
            f"{found.against[stored_judge.name].items:,}",
        )
        for stored_judge in found.judges
    ]
    with st.container(key="judges-all"):
        show_html(table(number_columns(heads, (1, 2, 3, 4)), rows, kind="stacked"))
    one = chosen_judge(found)
    against = found.against[one.name]
    if not against.items:
        inform(
            "No text has both a label by this judge and all its human labels yet, so nothing can be compared.",
            icon=":material/visibility_off:",
        )
        _show_failures(failures(store, one))
        return
    names = names_of(store, project)
    _figures(project, against)
    st.header(_("Where they agree"))
    _groups(against, names)
    st.header(_("Human labels vs. judge"))
    _confusion(against, names)
    st.header(_("Can it replace an annotator?"))
    _test(store, project, against)
    st.header(_("Where they differ"))
    show_disagreements(project, against, names)
    _show_failures(failures(store, one))
    show_signature(against.signature)


def _figures(project: Project, against: AgainstPeople) -> None:
    text = _("How often judge and annotator give the same label, on {items} of {finished} fully labelled texts.")
    meaning = text.format(items=f"{against.items:,}", finished=f"{against.finished:,}")
    tiles = [
        estimate_tile(_("Agreement with people"), against.agreement.estimate, meaning, "z.1%"),
        estimate_tile(_("Agreement between annotators"), against.among_people.estimate,
                      _("How often two annotators give the same label on the same texts."), "z.1%"),
        estimate_tile(_("Cohen's kappa"), against.kappa,
                      _("Chance-corrected agreement: 0 = chance level, 1 = perfect.")),
    ]  # fmt: skip
    if project.kind == "generations":
        tiles.append(
            estimate_tile(_("Agreement on the flag"), against.flags.estimate,
                          _("Extraneous gendered language: yes or no."), "z.1%")
        )  # fmt: skip
    with st.container(key="judge-figures"):
        show_tiles(tiles, 2)


def _groups(against: AgainstPeople, names: dict[str, str]) -> None:
    ways = {"choice": _("label"), "pronoun": _("pronouns"), "language": _("language"), "model": _("model"),
            "setting": _("setting")}  # fmt: skip
    by = choose(_("Group by"), ways, "judge-by")
    heads = (ways[by], _("Texts"), _("Agreement"))
    rows = []
    for group in against.groups(by):
        key = names.get(group.key, group.key) if by == "choice" else setting_name(group.key)
        cell = estimate_cell(group.agreement.estimate, ".1%")
        rows.append((key or _("not named"), f"{group.items:,}", cell))
    with st.container(key="judge-groups"):
        show_html(table(number_columns(heads, (1, 2)), rows))
    if by == "choice":
        caption("By human label: share of the texts with this label to which the judge gives it too.")


def _confusion(against: AgainstPeople, names: dict[str, str]) -> None:
    heads = (_("People"), *(names.get(code, code) for code in against.choices))
    rows: list[list[str | Markup]] = [
        [names.get(code, code), *(f"{against.confusion[code][other]:,}" for other in against.choices)]
        for code in against.choices
    ]
    with st.container(key="judge-confusion"):
        show_html(table(number_columns(heads, range(1, len(heads))), rows, kind="pinned"))
    caption("Rows: human labels; columns: the judge's labels. Every human label counts.")


def _test(store: Store, project: Project, against: AgainstPeople) -> None:
    stored_judge = against.judge
    if against.verdict is None or stored_judge.eps is None:
        caption(
            "The alternative annotator test checks whether the judge agrees with the other annotators about"
            " as well as each annotator does. First set eps, the margin by which the judge may be worse. The"
            " result is shown afterwards, and eps cannot be changed."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            eps = st.number_input(_("eps"), 0.0, 1.0, 0.15, 0.05, key="judge-eps-now", width=160)
            if st.button(_("Record eps and test"), key="judge-test", type="primary"):
                _record(store, project, stored_judge.name, float(eps))
        return
    _verdict(against.verdict)
    text = (
        _("eps {eps}, recorded {time}, before the judge had labelled anything.")
        if stored_judge.eps_labels == 0
        else _("eps {eps}, recorded {time}, when the judge had given {labels} labels.")
    )
    st.caption(
        plain(
            text.format(
                eps=f"{stored_judge.eps:g}",
                time=moment(stored_judge.eps_chosen),
                labels=f"{stored_judge.eps_labels or 0:,}",
            )
        )
    )


def _verdict(verdict: AltTestResult) -> None:
    if verdict.winning_rate is None:
        st.info(note_text(verdict.reason), icon=":material/info:")
    else:
        text = _("Winning rate {rate}, advantage {advantage}.")
        first = text.format(rate=percent(verdict.winning_rate), advantage=number(verdict.advantage, ".2f"))
        second = (
            _("The judge can replace an annotator.")
            if verdict.passes
            else _("The test does not show that the judge can replace an annotator.")
        )
        settled = verdict.passes and verdict.note is None
        sentences = filter(None, (first, second, note_text(verdict.note)))
        (st.success if settled else st.warning)(plain(paragraph(sentences)))
    heads = (_("Annotator"), _("Texts"), _("Judge"), _("Own agreement"), "p", _("Judge wins"))
    with st.container(key="judge-verdict"):
        show_html(table(number_columns(heads, (1, 2, 3, 4)), map(_against, verdict.annotators), kind="stacked"))
    caption(
        "Shares of texts on which one (the judge, or the annotator) agrees with the others at least as"
        " well as the other does."
    )


def _against(one: Against) -> tuple[str | Markup, ...]:
    if one.reason is not None:
        return one.annotator, f"{one.items:,}", number(None), number(None), number(None), note_text(one.reason)
    won = _("yes") if one.won else _("not shown")
    return (
        one.annotator, f"{one.items:,}", percent(one.judge_share), percent(one.own_share), p_value(one.p), won,
    )  # fmt: skip


@asks("change_projects")
def _record(store: Store, project: Project, name: str, eps: float) -> None:
    with errors_shown():
        choose_margin(store, project, judge(store, project, name), eps, author=author(store))
        st.rerun()


def _show_failures(found: list[Failure]) -> None:
    if not found:
        return
    final = all(failure.final for failure in found)
    text = (
        _("Texts that this judge cannot label: {number}")
        if final
        else _("Texts without a label by this judge: {number}. Another run tries them again.")
    )
    with st.expander(plain(text.format(number=f"{len(found):,}")), icon=":material/error:"):
        for failure in found[:LISTED]:
            text = failure.text if len(failure.text) <= MOST_SHOWN else failure.text[:MOST_SHOWN] + "…"
            st.text(named(text, sentence(failure.message, failure.values)))
        if len(found) > LISTED:
            caption("The first {number} are listed.", number=LISTED)
