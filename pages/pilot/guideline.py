"""The next version of the guideline on the page Pilot: written with a preview, compared, published."""

import json
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.comparison import PREFERENCE
from evenhand.annotations.guideline.drafts import Draft, discard_draft, read_draft, save_draft
from evenhand.annotations.guideline.reason_keys import clashing_numbers, with_keys
from evenhand.annotations.guideline.scheme import START, OwnScheme, as_data
from evenhand.annotations.guideline.versions import guideline, guideline_parts, guidelines
from evenhand.annotations.types import Choice, Guideline, Project, Scheme
from evenhand.core.guidelines import recognise
from evenhand.pages.pilot.publish import publish, published, send_older
from evenhand.pages.ui.editors import choose_scheme, edit_options, edit_scheme, scheme_from_file, scheme_name
from evenhand.pages.ui.guideline_html import desk_html, difference_html, option_name
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.parts import asks, asks_at_click
from evenhand.pages.ui.sentences import asked_as
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import paragraph, plain, series


@asks("change_projects")
def show_guideline(store: Store, project: Project) -> None:
    """The draft, its differences from the version in use, and the effect of publishing it."""
    published(project)
    newest = guideline(store, project)
    base, place = _opened(store, project)
    _head(store, project, base, newest)
    written = _edit(project, base, newest, place)
    now = read_draft(store, project)
    if replace(now, saved=None) != replace(written, saved=None):
        now = save_draft(store, project, written)
        _remember_saved(project, now)
    _differences(now, newest)
    if now.differs(newest):
        publish(store, project, now)
    else:
        st.caption(_("There are no changes from the version in use yet."))
        send_older(store, project, newest)
    _versions(store, project)


def _opened(store: Store, project: Project) -> tuple[Draft, str]:
    """The draft with which the widgets were created, and the prefix of their keys.

    A draft that was changed elsewhere (a tag became a criterion, another window) gets new widgets.
    """
    now, known = read_draft(store, project), st.session_state.get(f"draft-{project.uid}")
    if known is None or (known["base"], known["saved"]) != (now.base, now.saved):
        turn = known["turn"] + 1 if known else 0
        known = {"begun": now, "base": now.base, "saved": now.saved, "turn": turn}
        st.session_state[f"draft-{project.uid}"] = known
    return known["begun"], f"draft-{project.uid}-{known['turn']}"


def _remember_saved(project: Project, now: Draft) -> None:
    st.session_state[f"draft-{project.uid}"].update(base=now.base, saved=now.saved)


def _head(store: Store, project: Project, base: Draft, newest: Guideline) -> None:
    now = read_draft(store, project)
    if base.base != newest.version:
        text = _(
            "Version {newest} was published after this draft was started from version {base}. See the"
            " differences below. If you continue with this draft, add the changes of version {newest} again."
        )
        st.warning(plain(text.format(newest=newest.version, base=base.base)), icon=":material/call_merge:")
        label = _("Continue from version {version}").format(version=newest.version)
        st.button(plain(label), key="rebase", on_click=_rebase, args=(project, newest.version))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if now.saved is None:
            st.caption(
                plain(_("Version {version} is in use. Any change starts a draft.").format(version=newest.version))
            )
            return
        text = _("Draft of version {next}, based on version {base}. Every change is saved; last change {when}.")
        st.caption(plain(text.format(next=newest.version + 1, base=base.base, when=moment(now.saved))))
        with st.popover(_("Discard draft"), icon=":material/delete:", type="tertiary"):
            st.write(_("The text reverts to the version in use. Decisions about tags are kept."))
            st.button(_("Discard it"), key="discard_draft", on_click=_discard, args=(project,))


@asks_at_click("change_projects")
def _rebase(project: Project, version: int) -> None:
    with open_store(project) as store:
        save_draft(store, project, replace(read_draft(store, project), base=version))


@asks_at_click("change_projects")
def _discard(project: Project) -> None:
    with open_store(project) as store:
        discard_draft(store, project)


def _edit(project: Project, begun: Draft, newest: Guideline, place: str) -> Draft:
    left, right = st.columns(2, gap="medium")
    with left:
        text = st.text_area(_("Guideline (Markdown)"), begun.text, key=f"{place}-text", height=420)
    with right:
        st.caption(_("Preview at the desk"))
        with st.container(border=True, height=420):
            show_html(desk_html(text))
    if recognise(text):
        told = _(
            "The built-in guideline is shown in each reader's language. Once it is edited, everybody reads"
            " it as written."
        )
        st.caption(told)
    choices, reasons, scheme = _edit_options(project, begun, place)
    changes = st.text_area(
        _("What changed, in a sentence or two"), begun.changes, key=f"{place}-changes", height=80, max_chars=2000,
        placeholder=_("Annotators read this the next time they open their desk."),
    )  # fmt: skip
    if scheme is None:
        _warn_of_numbers(project, newest, text, reasons)
    return Draft(begun.base, text, choices, reasons, changes, scheme=scheme)


def _warn_of_numbers(project: Project, newest: Guideline, text: str, reasons: Sequence[Choice]) -> None:
    """Warn where a new number in the text is at the desk the key of an older reason."""
    for number, one in clashing_numbers(newest.text, text, newest.reasons, with_keys(project.kind, reasons)):
        told = _(
            "{number} is new in the text, but at the desk {key} is another reason's key: {reason}. Keys never move."
        )
        more = _("Leave the number out of the text: the desk lists every reason with its key below the guideline.")
        words = told.format(number=number, key=one.key, reason=option_name(one))
        st.warning(plain(paragraph([words, more])), icon=":material/keyboard:")


def _edit_options(
    project: Project, begun: Draft, place: str
) -> tuple[tuple[Choice, ...], tuple[Choice, ...], Scheme | None]:
    """Choices and criteria; of generations the scheme, built-in or the project's own."""
    if project.kind == "generations":
        st.subheader(_("Scheme"), anchor=False)
        stands = scheme_name(begun.scheme)
        chosen = choose_scheme(stands, key=f"{place}-scheme")
        if chosen != "built-in":
            first = PREFERENCE if chosen == "preference" else START
            if begun.scheme is not None and chosen == stands:
                first = OwnScheme(begun.choices, begun.reasons, begun.scheme)
            place = place if chosen == "own" else f"{place}-{chosen}"
            edited = edit_scheme(first, key=place)
            _scheme_file(project, begun, edited, place)
            return edited.choices, edited.flags, edited.more
        if begun.scheme is not None:
            _text, built, tags = guideline_parts(project.kind, project.language, None, None, None)
            begun = replace(begun, choices=tuple(built), reasons=tuple(tags))
    head = _("Criteria for rejecting") if project.kind == "sentences" else _("Tags available for a label")
    st.subheader(head, anchor=False)
    reasons = edit_options(begun.reasons, key=f"{place}-reasons")
    with st.expander(_("Choices")):
        choices = edit_options(begun.choices, key=f"{place}-choices", fixed=True)
    return choices, reasons, None


def _scheme_file(project: Project, begun: Draft, edited: OwnScheme, place: str) -> None:
    """Out as a file, and in from one: what comes in takes the place of the tables."""
    with st.expander(_("Scheme as a file")):
        written = json.dumps(as_data(edited), ensure_ascii=False, indent=2)
        st.download_button(
            _("Download"), written, f"{project.name}-scheme.json", "application/json", key=f"{place}-scheme-out"
        )
        read = scheme_from_file(key=f"{place}-scheme-in")
        if read is not None and st.button(_("Use this scheme"), key=f"{place}-scheme-use", type="primary"):
            _use_scheme(project, begun, read)
            st.rerun()


@asks("change_projects")
def _use_scheme(project: Project, begun: Draft, read: OwnScheme) -> None:
    with open_store(project) as store:
        draft = read_draft(store, project)
        made = replace(draft, base=begun.base, choices=read.choices, reasons=read.flags, scheme=read.more)
        save_draft(store, project, made)


def _differences(now: Draft, newest: Guideline) -> None:
    if not now.differs(newest):
        return
    with st.expander(_("Changes from version {version}").format(version=newest.version), expanded=True):
        if now.text.strip() != newest.text.strip():
            show_html(difference_html(newest.text.strip(), now.text.strip()))
        lines = ["\n".join(map(_line, options)) for options in (newest.reasons, now.reasons)]
        if lines[0] != lines[1]:
            st.caption(_("Criteria for rejecting"))
            show_html(difference_html(*lines))
        lines = ["\n".join(map(_line, options)) for options in (newest.choices, now.choices)]
        if lines[0] != lines[1]:
            st.caption(_("Choices"))
            show_html(difference_html(*lines))
        lines = ["\n".join(_scheme_lines(scheme)) for scheme in (newest.scheme, now.scheme)]
        if lines[0] != lines[1]:
            st.caption(_("Scheme"))
            show_html(difference_html(*lines))


def _scheme_lines(scheme: Scheme | None) -> list[str]:
    """What a scheme has beside choices and flags, a line each."""
    if scheme is None:
        return []
    needs = [f"{code} → {kind}" for code, kind in scheme.needs]
    asked = [_line(asked_as(one)) for one in scheme.questions]
    pairs = [_("Comparisons of two texts")] if scheme.compares else []
    return [*pairs, *map(_line, scheme.spans), *asked, *needs, *(f"{code}: {text}" for code, text in scheme.about)]


def _line(option: object) -> str:
    key, code, zh, en = (getattr(option, name) for name in ("key", "code", "zh", "en"))
    return f"{key or '·'}  {code}: {zh} / {en}"


def _versions(store: Store, project: Project) -> None:
    versions = guidelines(store, project)
    with st.expander(_("Versions so far ({number})").format(number=len(versions))):
        for one in reversed(versions):
            said = one.changes or (_("the first version") if one.version == 1 else _("no description"))
            text = _("Version {version}, {when}: {changes}")
            st.markdown(plain(text.format(version=one.version, when=moment(one.created), changes=said)))
            st.caption(plain(series(option_name(each) for each in one.reasons)))
