"""The next version of the guideline on the page Pilot: written with a preview, compared, published."""

import json
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline import relabelling
from evenhand.annotations.guideline.drafts import Draft, discard_draft, read_draft, save_draft, write_version
from evenhand.annotations.guideline.scheme import START, OwnScheme, as_data
from evenhand.annotations.guideline.versions import (
    PREFERENCE,
    changed_codes,
    clashing_numbers,
    guideline,
    guideline_parts,
    guidelines,
    with_keys,
)
from evenhand.annotations.pilot.start_relabelling import START_RELABELLING, Settings
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Choice, Guideline, Project, Scheme
from evenhand.core.errors import N_, Notice
from evenhand.core.guidelines import recognise
from evenhand.pages.ui.charts import download, foot
from evenhand.pages.ui.editors import choose_scheme, edit_options, edit_scheme, scheme_from_file, scheme_name
from evenhand.pages.ui.jobs import follow, start_job
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.sentences import asked_as, choice_name, desk_html, difference_html
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, caption, in_brackets, paragraph, plain, series, write
from evenhand.pages.ui.visitor import (
    ask_author,
    asks,
    asks_at_click,
    confirmed,
    errors_shown,
    open_store,
    page_link,
    remembered,
)

JOB = "guideline"


@asks("change_projects")
def show_guideline(store: Store, project: Project) -> None:
    """Show the draft, its differences from the version in use, and the effect of publishing it."""
    published(project)
    newest = guideline(store, project)
    base, place = _opened(store, project)
    _head(store, project, base, newest)
    written = _edit(project, base, newest, place)
    now = read_draft(store, project)
    if replace(now, saved=None) != replace(written, saved=None):
        now = save_draft(store, project, written)
        st.session_state[f"draft-{project.uid}"].update(base=now.base, saved=now.saved)
    _differences(now, newest)
    if now.differs(newest):
        publish(store, project, now)
    else:
        caption("There are no changes from the version in use yet.")
        send_older(store, project, newest)
    versions = guidelines(store, project)
    with st.expander(_("Versions so far ({number})").format(number=len(versions))):
        for version in reversed(versions):
            said = version.changes or (_("the first version") if version.version == 1 else _("no description"))
            text = _("Version {version}, {when}: {changes}")
            st.markdown(plain(text.format(version=version.version, when=moment(version.created), changes=said)))
            st.caption(plain(series(choice_name(reason) for reason in version.reasons)))


def _opened(store: Store, project: Project) -> tuple[Draft, str]:
    """Return the draft with which the widgets were created, and the prefix of their keys.

    A draft that was changed elsewhere (a tag became a criterion, another window) gets new widgets.
    """
    now, known = read_draft(store, project), st.session_state.get(f"draft-{project.uid}")
    if known is None or (known["base"], known["saved"]) != (now.base, now.saved):
        turn = known["turn"] + 1 if known else 0
        known = {"begun": now, "base": now.base, "saved": now.saved, "turn": turn}
        st.session_state[f"draft-{project.uid}"] = known
    return known["begun"], f"draft-{project.uid}-{known['turn']}"


def _head(store: Store, project: Project, base: Draft, newest: Guideline) -> None:
    now = read_draft(store, project)
    if base.base != newest.version:
        text = _(
            "Version {newest} was published after this draft was started from version {base}. See the"
            " differences below. If you continue with this draft, add the changes of version {newest} again."
        )
        st.warning(plain(text.format(newest=newest.version, base=base.base)), icon=":material/call_merge:")
        label = _("Continue from version {version}", version=newest.version)
        st.button(plain(label), key="rebase", on_click=_rebase, args=(project, newest.version))
    with foot():
        if now.saved is None:
            caption("Version {version} is in use. Any change starts a draft.", version=newest.version)
            return
        text = _("Draft of version {next}, based on version {base}. Every change is saved; last change {when}.")
        st.caption(plain(text.format(next=newest.version + 1, base=base.base, when=moment(now.saved))))
        with st.popover(_("Discard draft"), icon=":material/delete:", type="tertiary"):
            write("The text reverts to the version in use. Decisions about tags are kept.")
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
        caption("Preview at the desk")
        with st.container(border=True, height=420):
            show_html(desk_html(text))
    if recognise(text):
        caption(
            "The built-in guideline is shown in each reader's language. Once it is edited, all readers see it as"
            " written."
        )
    choices, reasons, scheme = _edit_options(project, begun, place)
    changes = st.text_area(
        _("What changed, in a sentence or two"), begun.changes, key=f"{place}-changes", height=80, max_chars=2000,
        placeholder=_("Annotators read this the next time they open their desk."),
    )  # fmt: skip
    if scheme is None:
        for number, choice in clashing_numbers(newest.text, text, newest.reasons, with_keys(project.kind, reasons)):
            told = _(
                "{number} is new in the text, but at the desk {key} is the key of another reason: {reason}."
                " Keys never change."
            )
            more = _("Leave the number out of the text: the desk lists every reason with its key below the guideline.")
            words = told.format(number=number, key=choice.key, reason=choice_name(choice))
            st.warning(plain(paragraph([words, more])), icon=":material/keyboard:")
    return Draft(begun.base, text, choices, reasons, changes, scheme=scheme)


def _edit_options(
    project: Project, begun: Draft, place: str
) -> tuple[tuple[Choice, ...], tuple[Choice, ...], Scheme | None]:
    """Edit and return choices, criteria and, of generations, the project's own scheme (None: built-in)."""
    if project.kind == "generations":
        st.header(_("Scheme"), anchor=False)
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
    st.header(head, anchor=False)
    reasons = edit_options(begun.reasons, key=f"{place}-reasons")
    with st.expander(_("Choices")):
        choices = edit_options(begun.choices, key=f"{place}-choices", fixed=True)
    return choices, reasons, None


def _scheme_file(project: Project, begun: Draft, edited: OwnScheme, place: str) -> None:
    """Offer the scheme as a download, and a scheme from a file to replace the tables."""
    with st.expander(_("Scheme as a file")):
        written = json.dumps(as_data(edited), ensure_ascii=False, indent=2)
        download(_("Download"), written, f"{project.name}-scheme.json", key=f"{place}-scheme-out", type="secondary")
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
            caption("Criteria for rejecting")
            show_html(difference_html(*lines))
        lines = ["\n".join(map(_line, options)) for options in (newest.choices, now.choices)]
        if lines[0] != lines[1]:
            caption("Choices")
            show_html(difference_html(*lines))
        lines = ["\n".join(_scheme_lines(scheme)) for scheme in (newest.scheme, now.scheme)]
        if lines[0] != lines[1]:
            caption("Scheme")
            show_html(difference_html(*lines))


def _scheme_lines(scheme: Scheme | None) -> list[str]:
    """Return what a scheme has in addition to choices and flags, one line each."""
    if scheme is None:
        return []
    needs = [f"{code} → {kind}" for code, kind in scheme.needs]
    asked = [_line(asked_as(question)) for question in scheme.questions]
    pairs = [_("Comparisons of two texts")] if scheme.compares else []
    return [*pairs, *map(_line, scheme.spans), *asked, *needs, *(f"{code}: {text}" for code, text in scheme.about)]


def _line(option: object) -> str:
    key, code, zh, en = (getattr(option, name) for name in ("key", "code", "zh", "en"))
    return f"{key or '·'}  {code}: {zh} / {en}"


def publish(store: Store, project: Project, now: Draft) -> None:
    """Ask for the labels to send back for relabelling, with counts, and publish a version on confirmation."""
    newest = guideline(store, project)
    st.header(_("Publish version {version}", version=newest.version + 1), anchor=False)
    also = _ask_also(now, newest)
    affected = _counted(store, project, now.choices, now.beside, also)
    which = _ask_which(affected, key="which")
    _show_people(affected, which)
    who = ask_author(store, _("Your name"), key="pilot_author", width=260, help=_("Stored with the version."))
    label = _("Publish version {version}", version=newest.version + 1)
    text = _(
        "Version {version} of {project} will be published to {people} annotators, and {labels} labels are sent back for"
        " relabelling. A published version cannot be changed or withdrawn."
    )
    values = {"version": newest.version + 1, "project": project.name, "people": len(annotators(store, project))}
    text = text.format(**values, labels=f"{_chosen(affected, which).labels:,}")
    if confirmed(plain(label), text, label, key="publish", icon=":material/publish:", primary=True):
        with errors_shown():
            _publish(store, project, now, which, also, who, _chosen(affected, which).labels)
            st.rerun()


@asks("change_projects")
def _publish(
    store: Store, project: Project, now: Draft, which: relabelling.Which, also: Sequence[str], author: str, labels: int
) -> None:
    large = labels > relabelling.CHUNK
    made, sent = write_version(store, project, now, which="none" if large else which, also=also, author=author)
    if large:
        _start_job(store, project, made.version, which, also, author)
    st.session_state["published"] = (project.uid, made.version, sent.labels, large)


@asks("change_projects")
def _start_job(
    store: Store, project: Project, version: int, which: relabelling.Which, also: Sequence[str], author: str
) -> None:
    settings = Settings(project.name, version, which, ",".join(also), author.strip())
    title = Notice(N_("Relabelling: {project}"), {"project": project.name})
    start_job(store, START_RELABELLING, settings, title, project=project)


def published(project: Project) -> None:
    """Show the result of publishing, once, and a job that still sends labels back."""
    follow(JOB)
    told = st.session_state.pop("published", None)
    if told is None or told[0] != project.uid:
        return
    text = _(
        "Version {version} is published, and annotators see it at their desks. Labels sent back for"
        " relabelling: {labels}."
    )
    if told[3]:
        text = _(
            "Version {version} is published, and annotators see it at their desks. Labels are being sent"
            " back for relabelling."
        )
    st.success(plain(text.format(version=told[1], labels=f"{told[2]:,}")), icon=":material/check:")
    with st.container(horizontal=True):
        where = {"project": project.name}
        page_link("plan/page.py", label=_("Labelling plan"), icon=":material/event_note:", query_params=where)
        page_link("progress/page.py", label=_("Progress"), icon=":material/trending_up:", query_params=where)


@asks("change_projects")
def send_older(store: Store, project: Project, newest: Guideline) -> None:
    """Send labels of older versions for relabelling later, under the version in use; and the open ones."""
    if left := relabelling.remaining_to_relabel(store, project):
        listed = series(f"{name} {number:,}" for name, number in left.items())
        caption("Waiting for relabelling: {people}.", people=listed)
    if newest.version == 1:
        return
    with st.expander(_("Relabel decisions under older versions")):
        affected = _counted(store, project, newest.choices, newest.beside, ())
        if not affected.older.labels:
            caption("There are no valid blind labels from older versions.")
            return
        which = _ask_which(affected, key="which_older", keep=False)
        _show_people(affected, which)
        labels = _chosen(affected, which).labels
        text = _(
            "{labels} labels go back to their annotators and no longer count until the items are labelled again."
            " This cannot be undone."
        )
        if confirmed(
            _("Send back"), text.format(labels=f"{labels:,}"),
            _("Send back {labels} labels").format(labels=f"{labels:,}"), key="send_older", disabled=not labels,
        ):  # fmt: skip
            if labels > relabelling.CHUNK:
                _start_job(store, project, newest.version, which, (), "")
            else:
                relabelling.send_for_relabelling(store, project, newest.version, which)
            st.rerun()


def _ask_also(now: Draft, newest: Guideline) -> list[str]:
    old = {choice.code: choice for choice in (*newest.choices, *newest.beside)}
    codes = changed_codes((*newest.choices, *newest.beside), (*now.choices, *now.beside))
    rest = [code for code in old if code not in codes.touched]
    lines = [
        (_("New: {criteria}"), [choice for choice in now.beside if choice.code in codes.added]),
        (_("Dropped: {criteria}"), [old[code] for code in codes.dropped]),
        (_("Reworded: {criteria}"), [old[code] for code in codes.changed]),
    ]
    for text, options in lines:
        if options:
            st.write(
                plain(text.format(criteria=series(in_brackets(choice_name(option), option.code) for option in options)))
            )
    return st.multiselect(
        _("Criteria that change in meaning but not in name"),
        rest,
        key="also",
        format_func=lambda code: in_brackets(choice_name(old[code]), code),
        placeholder=_("none"),
    )


def _ask_which(affected: relabelling.Affected, *, key: str, keep: bool = True) -> relabelling.Which:
    named = _("relabel labels that name a changed or dropped criterion: {labels} labels on {items} items")
    every = _("also relabel accepts, because a criterion is new: {labels} labels on {items} items")
    names: dict[relabelling.Which, str] = {
        "none": _("keep all labels from older versions: {labels}", labels=f"{affected.older.labels:,}"),
        "named": named.format(labels=f"{affected.named.labels:,}", items=f"{affected.named.items:,}"),
        "all": every.format(labels=f"{affected.all.labels:,}", items=f"{affected.all.items:,}"),
    }
    offered = [one for one in relabelling.WHICH if keep or one != "none"]
    picked = st.radio(_("Labels from older versions"), offered, key=key, format_func=lambda one: plain(names[one]))
    chosen: relabelling.Which = picked or offered[0]
    caption(
        "Each annotator relabels only their own items; the old label stays in the history and no longer counts. A"
        " reject with a tag but no criterion is treated as naming a changed criterion."
    )
    if affected.shown:
        caption(
            "{labels} labels are kept in any case: their annotators have seen an opinion or other labels"
            " and can no longer judge blind.",
            labels=f"{affected.shown:,}",
        )
    if affected.left and chosen == "all":
        text = _("{labels} of them are by former annotators: these items become available to others.")
        st.caption(plain(text.format(labels=f"{affected.left:,}")))
    return chosen


def _chosen(affected: relabelling.Affected, which: relabelling.Which) -> relabelling.RelabelCounts:
    return {"none": relabelling.RelabelCounts(0, 0), "named": affected.named, "all": affected.all}[which]


def _show_people(affected: relabelling.Affected, which: relabelling.Which) -> None:
    counts = _chosen(affected, which).annotators
    if counts:
        rows = [
            {_("Annotator"): name, _("Labels sent back for relabelling"): number} for name, number in counts.items()
        ]
        st.dataframe(rows, hide_index=True, width=360)


def _counted(
    store: Store, project: Project, choices: Sequence[Choice], reasons: Sequence[Choice], also: Sequence[str]
) -> relabelling.Affected:
    """Return the counts, recomputed after a new label, version or event."""
    last = events(store, project, last=1)
    now = (*state(store), str(last[0].id if last else 0))
    return remembered(now, relabelling.count_affected, project, tuple(choices), tuple(reasons), tuple(also))
