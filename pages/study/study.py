"""A new study, and one study: its link, its people, its pay, its codes, and what the lead can do."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import Person, require
from evenhand.annotations.projects.consent import NAMES, USES, Use
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.quality.known_answers import known_items
from evenhand.annotations.quantities.studies import pay_estimates
from evenhand.annotations.study import studies
from evenhand.annotations.study.default_texts import ADULT, CONSENT, WARNING
from evenhand.annotations.study.people import (
    LEAST_LABELS,
    Participant,
    Pay,
    State,
    outcomes_by_id,
    participant_of_id,
    participants,
    pay,
    withdraw,
)
from evenhand.annotations.study.studies import path_for
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, NotFound
from evenhand.core.language import LANGUAGES, Count, Language
from evenhand.pages.ui.choose import language_name
from evenhand.pages.ui.numbers import DASH, moment, number
from evenhand.pages.ui.quantities import quantity_tile
from evenhand.pages.ui.tables import Tile, show_records, show_tiles
from evenhand.pages.ui.text import _, caption, named, plain, warn
from evenhand.pages.ui.visitor import address_on_this_server, confirmed, errors_shown, open_store, visitor

NOBODY = N_("No participant has the id {id}, or the id has been erased.")
NUMBERS = ("items", "places", "minutes", "pause", "keep_days", "questions", "pass_mark")
LINES = ("contact", "currency")


def state_names() -> dict[State, str]:
    """Return the states of people, in the order in which people reach them."""
    return {
        "test": _("taking the test"),
        "ready": _("not started"),
        "working": _("labelling"),
        "finished": _("finished"),
        "screened_out": _("screened out"),
        "withdrew": _("withdrew"),
        "timed_out": _("timed out"),
    }


def _act(uid: str, work: Callable[[Store, studies.Study, Person], object]) -> None:
    """Do *work* to a study, after checking again that the visitor may."""
    with errors_shown(), open_store() as store:
        who, study = visitor(store), studies.study_of_uid(store, uid)
        require(who, "change_projects", project=study.project)
        work(store, study, who)


def _close(store: Store, study: studies.Study, who: Person) -> None:
    studies.set_closed(store, study, study.closed is None, author=who.name)


def _change_consent(store: Store, study: studies.Study, who: Person) -> None:
    texts: dict[Language, str] = {one: st.session_state[f"consent-{one}-{study.uid}"] for one in ("en", "zh")}
    studies.change_consent(store, study, texts, st.session_state[f"uses-{study.uid}"], author=who.name)


def _withdraw(store: Store, study: studies.Study, who: Person) -> None:
    outside = st.session_state[f"withdraw-{study.uid}"]
    participant = participant_of_id(store, study, outside)
    if participant is None:
        raise NotFound(NOBODY, id=outside)
    withdraw(store, study, participant)
    st.rerun()


def show_study(store: Store, study: studies.Study) -> None:
    """Show one study: its address, state, pay, participants, completion codes and consent."""
    st.code(address_on_this_server(path_for(store, study)), language=None, wrap_lines=True)
    st.caption(
        _("Give this address to the platform or the participants. It is valid as long as the study is open.")
        if study.closed is None
        else _("Closed since {when}: no new participants.", when=moment(study.closed))
    )
    st.button(
        _("Close") if study.closed is None else _("Reopen"), key=f"close-{study.uid}", on_click=_act,
        args=(study.uid, _close),
    )  # fmt: skip
    _show_as_it_goes(study.uid)
    names = state_names()
    st.header(_("Completion codes"), anchor=False)
    show_records([{_("Outcome"): names[outcome], _("Code"): study.code(outcome)} for outcome in studies.OUTCOMES])
    _show_consent(store, study)


@st.fragment(run_every=30)
@errors_shown()
def _show_as_it_goes(uid: str) -> None:
    """Show the pay and where each participant is; redrawn as long as the page is open, after checking again that the
    visitor may."""
    with open_store() as store:
        study = studies.study_of_uid(store, uid)
        require(visitor(store), "change_projects", project=study.project)
        people = participants(store, study)
        _show_pay(study, pay(study, people))
        _show_people(store, study, people)


def _show_pay(study: studies.Study, found: Pay) -> None:
    settings = study.settings
    if found.below:
        warn(
            "The pay is below {floor} {currency} per hour. Raise the reward or reduce the number of texts.",
            icon=":material/payments:",
            floor=number(settings.floor, ".2f"),
            currency=settings.currency,
        )
    explained = _("Reward divided by the median time from consent to the last label, including test and instructions.")
    done, work = _("No participant has finished yet."), _("No participant has labelled {n} texts yet.", n=LEAST_LABELS)
    if found.minutes is not None:
        done = _(
            "median {minutes} min, {n} {n:person|people}", minutes=number(found.minutes, ".1f"), n=Count(found.people)
        )
    if found.minutes_at_work is not None:
        work = _("{minutes} min expected, {n} {n:person|people}")
        work = work.format(minutes=number(found.minutes_at_work, ".1f"), n=Count(found.people_at_work))
    numbers = pay_estimates(found)

    def pay_tile(id_: str, name: str, line: str) -> Tile:
        tile = quantity_tile(id_, numbers[id_], line, more=explained)
        return replace(tile, name=name, value=_amount(study, numbers[id_].value))

    show_tiles(
        [
            pay_tile("study.hourly.finished", _("Hourly pay (finished)"), done),
            pay_tile("study.hourly.working", _("Hourly pay (in progress)"), work),
            Tile(_("Reward per participant"), _amount(study, settings.reward)),
        ]
    )


def _amount(study: studies.Study, value: float | None) -> str:
    return f"{number(value, '.2f')} {study.settings.currency}" if value is not None else number(None)


def _show_people(store: Store, study: studies.Study, people: list[Participant]) -> None:
    st.header(_("Participants by stage"), anchor=False)
    names = state_names()
    counts = [named(names[state], n) for state in names if (n := sum(person.state == state for person in people))]
    st.markdown(plain(" · ".join(counts) or _("No participants yet.")))
    show_records(
        [
            {
                _("Pseudonym in the data"): person.pseudonym or DASH,
                _("State"): names[person.state],
                _("Labels"): f"{person.labelled} / {study.settings.items}",
                _("Consent form"): f"v{person.consent}",
                _("Test"): DASH if person.right is None else f"{person.right} / {study.settings.questions}",
                _("Minutes"): number((person.seen - person.came) / 60, ".0f"),
            }
            for person in people
        ]
    )
    if study.service == "link":
        return
    with st.expander(_("Platform ids, for payment")):
        st.caption(
            _(
                "Platform ids are stored separately from the pseudonyms in the data and erased after {days}"
                " {days:day|days}."
            ).format(days=Count(study.settings.keep_days))
        )
        show_records([{_("Id"): outside, _("State"): names[state]} for outside, state in outcomes_by_id(store, study)])
        who = st.text_input(_("Withdraw the labels of the participant with this id"), key=f"withdraw-{study.uid}")
        text = _("The labels of {id} no longer count. This cannot be undone.")
        if confirmed(_("Withdraw"), text.format(id=who.strip() or DASH), _("Withdraw these labels"),
                     key=f"withdraw-it-{study.uid}"):  # fmt: skip
            _act(study.uid, _withdraw)


def _show_consent(store: Store, study: studies.Study) -> None:
    newest = studies.consent(store, study)
    with st.expander(_("Consent form, version {n}").format(n=newest.version)):
        for one, text in (("en", newest.en), ("zh", newest.zh)):
            st.text_area(language_name(one), text, key=f"consent-{one}-{study.uid}", height=260)
        ask_uses(f"uses-{study.uid}", newest.uses)
        st.caption(_("A changed text becomes a new version. Earlier participants agreed to the earlier version."))
        st.button(
            _("Save as a new version"),
            key=f"consent-save-{study.uid}",
            on_click=_act,
            args=(study.uid, _change_consent),
        )


def _make(uid: str) -> None:
    """Make the study of the form, after checking again that the visitor may."""
    typed = {str(key)[4:]: value for key, value in st.session_state.items() if str(key).startswith("new-")}
    values: dict[str, Any] = {text: int(typed[text]) for text in NUMBERS} | {line: typed[line] for line in LINES}
    values |= {"reward": float(typed["reward"]), "floor": float(typed["floor"]), "cover": bool(typed["cover"])}
    values |= {"service": typed["service"], "warning_en": typed["warning_en"], "warning_zh": typed["warning_zh"]}
    values["pause"] = values["pause"] or None
    codes = {one: typed[one].strip() for one in ("code_finished", "code_screened_out", "code_withdrew")}
    texts: dict[Language, str] = {"en": typed["consent_en"], "zh": typed["consent_zh"]}
    with errors_shown(), open_store() as store:
        who = visitor(store)
        require(who, "change_projects", project=uid)
        project = project_by_uid(store, uid)
        questions = [
            (known_item.item, known_item.choice)
            for known_item in known_items(store, project)
            if known_item.item.uid in typed["test"]
        ]
        settings = studies.Settings(**values, **{name: code for name, code in codes.items() if code})
        made = studies.create_study(
            store, project, typed["name"], settings, questions=questions, consent=texts, uses=typed["uses"],
            minimum_age=int(typed["minimum_age"]), kept_years=int(typed["kept_years"]), author=who.name,
        )  # fmt: skip
        st.session_state[f"study-{uid}"] = made.uid


def show_new(store: Store, project: Project, *, open_at_first: bool) -> None:
    """Show the form for a new study."""
    standard = studies.Settings(contact="-")
    with st.expander(_("New study"), expanded=open_at_first, icon=":material/add:"), st.form("new-study", border=False):
        st.text_input(_("Name (shown to participants)"), key="new-name", max_chars=80)
        names = {"link": _("A link for your own participants"), "prolific": "Prolific", "mturk": "Mechanical Turk"}
        st.selectbox(_("Recruitment service"), studies.SERVICES, key="new-service", format_func=names.__getitem__)
        st.text_input(_("Contact for questions (address or name)"), key="new-contact", max_chars=200)
        _numbers(standard)
        known = {known_item.item.uid: known_item for known_item in known_items(store, project)}
        st.multiselect(
            _("Test texts, taken from the known answers on the Quality page"),
            list(known),
            key="new-test",
            format_func=lambda uid: f"{known[uid].item.text[:60]} · {known[uid].choice}",
            max_selections=studies.MOST_QUESTIONS,
            help=_("These texts are copied. The second attempt uses other texts where available."),
        )
        left, right = st.columns(2)
        left.number_input(_("Questions per attempt (0 = no test)"), 0, 20, 0, key="new-questions")
        right.number_input(_("Correct answers needed to pass"), 0, 20, 0, key="new-pass_mark")
        caption(
            "In the consent form, {…} is replaced by the contact, number of texts, reward, minimum age and"
            " storage period above."
        )
        for code in LANGUAGES[::-1]:
            label = _("Consent form, {language}", language=language_name(code))
            st.text_area(label, CONSENT[code], key=f"new-consent_{code}", height=220)
            label = _("Content warning before the first text, {language}", language=language_name(code))
            st.text_area(label, WARNING[code], key=f"new-warning_{code}")
        ask_uses("new-uses")
        with st.container(horizontal=True):
            codes = {"finished": _("Code: finished"), "screened_out": _("Code: screened out")}
            for outcome, label in {**codes, "withdrew": _("Code: withdrew")}.items():
                place = _("generated at random")
                st.text_input(label, key=f"new-code_{outcome}", max_chars=60, placeholder=place, width=220)
        st.form_submit_button(_("Create study"), key="make", type="primary", on_click=_make, args=(project.uid,))


def ask_uses(key: str, chosen: Sequence[Use] = ()) -> None:
    """Ask which uses of labels a consent form mentions. Participants need not agree to any of them."""
    names = {use: _(name) for use, name in NAMES.items()}
    st.multiselect(
        _("Uses of single labels, by consent"), USES, list(chosen), key=key, format_func=names.__getitem__,
        help=_(
            "The consent form shows a checkbox for each use. Participants can leave it empty and still take"
            " part."),
    )  # fmt: skip


def _numbers(standard: studies.Settings) -> None:
    labels = {
        "items": (_("Texts per participant"), 1),
        "places": (_("Number of participants"), 1),
        "reward": (_("Reward per participant"), 0.0),
        "floor": (_("Minimum hourly pay (0 = no warning)"), 0.0),
        "minutes": (_("Inactivity limit (minutes)"), 5),
        "pause": (_("Break reminder (minutes; 0 = never)"), 0),
        "keep_days": (_("Days to keep platform ids"), 0),
        "minimum_age": (_("Minimum age"), studies.FACTS["minimum_age"][0]),
        "kept_years": (_("Years to keep labels (0 = as long as the data set)"), studies.FACTS["kept_years"][0]),
    }
    rows = (
        ("items", "places"),
        ("reward", "floor"),
        ("minutes", "pause"),
        ("minimum_age", "keep_days"),
        ("kept_years",),
    )
    values = asdict(standard) | {"minimum_age": ADULT, "kept_years": 0}
    for row in rows:
        for column, name in zip(st.columns(2), row, strict=False):
            label, least = labels[name]
            column.number_input(label, least, value=values[name], key=f"new-{name}")
    st.text_input(_("Currency"), standard.currency, key="new-currency", max_chars=8, width=120)
    st.checkbox(_("Blur texts until opened"), standard.cover, key="new-cover")
