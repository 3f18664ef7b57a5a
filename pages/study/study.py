"""One study: its link, its people, its pay, its codes, and what the lead can do."""

from collections.abc import Callable

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import Person, require
from evenhand.annotations.study import studies
from evenhand.annotations.study.links import path_for
from evenhand.annotations.study.pay import LEAST_LABELS, Pay, pay
from evenhand.annotations.study.people import Participant, State, outcomes_by_id, participant_of_id, participants
from evenhand.annotations.study.studies import Study, consent, study_of_uid
from evenhand.annotations.study.withdrawal import withdraw
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, NotFound
from evenhand.core.language import Count, Language
from evenhand.pages.study.new import ask_uses
from evenhand.pages.ui.head import in_one_sentence, open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, moment, number
from evenhand.pages.ui.own_words import language_name
from evenhand.pages.ui.parts import confirmed
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import named, plain
from evenhand.pages.ui.tiles import Tile, show_tiles
from evenhand.pages.ui.visitor import address_on_this_server, visitor

NOBODY = N_("Nobody took part with the id {id}, or the id has been erased.")


def state_names() -> dict[State, str]:
    """The states of people, in the order of their way."""
    return {
        "test": _("taking the test"),
        "ready": _("not started"),
        "working": _("labelling"),
        "finished": _("finished"),
        "screened_out": _("screened out"),
        "withdrew": _("withdrew"),
        "timed_out": _("timed out"),
    }


def _act(uid: str, work: Callable[[Store, Study, Person], object]) -> None:
    """Do something to a study; asked anew whether the visitor may."""
    try:
        with open_store() as store:
            who, study = visitor(store), study_of_uid(store, uid)
            require(who, "change_projects", project=study.project)
            work(store, study, who)
    except EvenhandError as error:
        st.session_state["study-error"] = error


def _close(store: Store, study: Study, who: Person) -> None:
    studies.set_closed(store, study, study.closed is None, author=who.name)


def _change_consent(store: Store, study: Study, who: Person) -> None:
    texts: dict[Language, str] = {one: st.session_state[f"consent-{one}-{study.uid}"] for one in ("en", "zh")}
    studies.change_consent(store, study, texts, st.session_state[f"uses-{study.uid}"], author=who.name)


def _withdraw(store: Store, study: Study, who: Person) -> None:
    outside = st.session_state[f"withdraw-{study.uid}"]
    found = participant_of_id(store, study, outside)
    if found is None:
        raise NotFound(NOBODY, id=outside)
    withdraw(store, study, found)


def show_study(store: Store, project: Project, study: Study) -> None:
    """Everything about one study."""
    st.code(address_on_this_server(path_for(store, study)), language=None, wrap_lines=True)
    caption = _("Give this address to the platform or the participants. It is valid as long as the study is open.")
    st.caption(
        caption
        if study.closed is None
        else _("Closed since {when}: no new participants.").format(when=moment(study.closed))
    )
    st.button(
        _("Close") if study.closed is None else _("Reopen"), key=f"close-{study.uid}", on_click=_act,
        args=(study.uid, _close),
    )  # fmt: skip
    _show_as_it_goes(study.uid)
    _show_codes(study)
    _show_consent(store, study)


@st.fragment(run_every=30)
@in_one_sentence
def _show_as_it_goes(uid: str) -> None:
    """The pay and who is where, drawn anew as long as the page is open; asked anew whether the visitor may."""
    with open_store() as store:
        study = study_of_uid(store, uid)
        require(visitor(store), "change_projects", project=study.project)
        people = participants(store, study)
        _show_pay(study, pay(study, people))
        _show_people(store, study, people)


def _show_pay(study: Study, found: Pay) -> None:
    settings = study.settings
    if found.below:
        st.warning(
            plain(
                _(
                    "The pay is below {floor} {currency} per hour. Raise the reward or reduce the number of texts."
                ).format(floor=number(settings.floor, ".2f"), currency=settings.currency)
            ),
            icon=":material/payments:",
        )
    explained = _("Reward divided by the median time from consent to the last label, including test and instructions.")
    done, work = _("Nobody has finished yet."), _("Nobody has labelled {n} texts yet.").format(n=LEAST_LABELS)
    if found.minutes is not None:
        done = _("median {minutes} min, {n} {n:person|people}").format(
            minutes=number(found.minutes, ".1f"), n=Count(found.people)
        )
    if found.minutes_at_work is not None:
        work = _("{minutes} min expected, {n} {n:person|people}")
        work = work.format(minutes=number(found.minutes_at_work, ".1f"), n=Count(found.people_at_work))
    show_tiles(
        [
            Tile(_("Hourly pay (finished)"), _amount(study, found.hourly), (done,), explained),
            Tile(_("Hourly pay (in progress)"), _amount(study, found.hourly_at_work), (work,), explained),
            Tile(_("Reward per participant"), _amount(study, settings.reward)),
        ]
    )


def _amount(study: Study, value: float | None) -> str:
    return f"{number(value, '.2f')} {study.settings.currency}" if value is not None else number(None)


def _show_people(store: Store, study: Study, people: list[Participant]) -> None:
    st.subheader(_("Participants by stage"), anchor=False)
    names = state_names()
    counts = [named(names[state], n) for state in names if (n := sum(one.state == state for one in people))]
    st.markdown(plain(" · ".join(counts) or _("No participants yet.")))
    show_records(
        [
            {
                _("Pseudonym in the data"): one.pseudonym or DASH,
                _("State"): names[one.state],
                _("Labels"): f"{one.labelled} / {study.settings.items}",
                _("Consent form"): f"v{one.consent}",
                _("Test"): DASH if one.right is None else f"{one.right} / {study.settings.questions}",
                _("Minutes"): number((one.seen - one.came) / 60, ".0f"),
            }
            for one in people
        ]
    )
    if study.service == "link":
        return
    with st.expander(_("Platform ids, for payment")):
        st.caption(
            _("They are stored apart from the pseudonyms in the data and erased after {days} {days:day|days}.").format(
                days=Count(study.settings.keep_days)
            )
        )
        show_records([{_("Id"): outside, _("State"): names[state]} for outside, state in outcomes_by_id(store, study)])
        who = st.text_input(_("Withdraw the labels of the participant with this id"), key=f"withdraw-{study.uid}")
        text = _("The labels of {id} no longer count. This cannot be undone.")
        if confirmed(_("Withdraw"), text.format(id=who.strip() or DASH), _("Withdraw these labels"),
                     key=f"withdraw-it-{study.uid}"):  # fmt: skip
            _act(study.uid, _withdraw)
            st.rerun()


def _show_codes(study: Study) -> None:
    names = state_names()
    st.subheader(_("Completion codes"), anchor=False)
    show_records([{_("Outcome"): names[one], _("Code"): study.code(one)} for one in studies.OUTCOMES])


def _show_consent(store: Store, study: Study) -> None:
    newest = consent(store, study)
    with st.expander(_("Consent form, version {n}").format(n=newest.version)):
        for one, text in (("en", newest.en), ("zh", newest.zh)):
            st.text_area(language_name(one), text, key=f"consent-{one}-{study.uid}", height=260)
        ask_uses(f"uses-{study.uid}", newest.uses)
        st.caption(_("A changed text becomes a new version. Those who agreed before agreed to the earlier version."))
        st.button(
            _("Save as a new version"),
            key=f"consent-save-{study.uid}",
            on_click=_act,
            args=(study.uid, _change_consent),
        )
