"""Publishing a version on the page Pilot, with the labels to be sent for relabelling counted first."""

from collections.abc import Sequence

import streamlit as st

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.drafts import Draft, write_version
from evenhand.annotations.guideline.relabelling import (
    CHUNK,
    WHICH,
    Affected,
    RelabelCounts,
    Which,
    count_affected,
    left_to_relabel,
    send_for_relabelling,
)
from evenhand.annotations.guideline.versions import changed_codes, guideline
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.pipeline_counts import state
from evenhand.annotations.types import Choice, Guideline, Project
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.pages.ui.guideline_html import option_name
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.jobs import follow, start_command
from evenhand.pages.ui.language import _
from evenhand.pages.ui.parts import asks, confirmed
from evenhand.pages.ui.text import in_brackets, plain, series
from evenhand.pages.ui.visitor import ask_author, page_link

JOB = "guideline"


def publish(store: Store, project: Project, now: Draft) -> None:
    """The choice of labels for relabelling, with counts, and the button."""
    newest = guideline(store, project)
    st.subheader(_("Publish version {version}").format(version=newest.version + 1), anchor=False)
    also = _ask_also(now, newest)
    found = _counted(store, project, now.choices, now.beside, also)
    which = _ask_which(found, key="which")
    _show_people(found, which)
    who = ask_author(store, _("Your name"), key="pilot_author", width=260, help=_("Kept with the version."))
    label = _("Publish version {version}").format(version=newest.version + 1)
    text = _(
        "Version {version} of {project} will be published to {people} annotators, and {labels} labels are sent back for"
        " relabelling. A published version cannot be changed or withdrawn."
    )
    values = {"version": newest.version + 1, "project": project.name, "people": len(annotators(store, project))}
    text = text.format(**values, labels=f"{_chosen(found, which).labels:,}")
    if confirmed(plain(label), text, label, key="publish", icon=":material/publish:", primary=True):
        try:
            _publish(store, project, now, which, also, who, _chosen(found, which).labels)
        except EvenhandError as error:
            show_error(error)
        else:
            st.rerun()


@asks("change_projects")
def _publish(
    store: Store, project: Project, now: Draft, which: Which, also: Sequence[str], author: str, labels: int
) -> None:
    large = labels > CHUNK
    made, sent = write_version(store, project, now, which="none" if large else which, also=also, author=author)
    if large:
        _start_job(store, project, made.version, which, also, author)
    st.session_state["published"] = (project.uid, made.version, sent.labels, large)


@asks("change_projects")
def _start_job(store: Store, project: Project, version: int, which: Which, also: Sequence[str], author: str) -> None:
    command = ["guideline", "send-back", "--version", str(version), "--which", which, "--json"]
    command += ["--also", ",".join(also)] if also else []
    command += ["--author", author] if author.strip() else []
    start_command(
        store,
        [*command, "--", project.name],
        Notice(N_("Relabelling: {project}"), {"project": project.name}),
        project=project,
    )


def published(project: Project) -> None:
    """The result of publishing, shown once; and a job that still sends labels back."""
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
    if left := left_to_relabel(store, project):
        listed = series(f"{name} {number:,}" for name, number in left.items())
        st.caption(plain(_("Waiting for relabelling: {people}.").format(people=listed)))
    if newest.version == 1:
        return
    with st.expander(_("Relabel decisions under older versions")):
        found = _counted(store, project, newest.choices, newest.beside, ())
        if not found.older.labels:
            st.caption(_("There are no valid blind labels from older versions."))
            return
        which = _ask_which(found, key="which_older", keep=False)
        _show_people(found, which)
        labels = _chosen(found, which).labels
        text = _(
            "{labels} labels go back to their annotators and no longer count until the items are labelled again."
            " This cannot be undone."
        )
        if confirmed(
            _("Send back"), text.format(labels=f"{labels:,}"),
            _("Send back {labels} labels").format(labels=f"{labels:,}"), key="send_older", disabled=not labels,
        ):  # fmt: skip
            if labels > CHUNK:
                _start_job(store, project, newest.version, which, (), "")
            else:
                send_for_relabelling(store, project, newest.version, which)
            st.rerun()


def _ask_also(now: Draft, newest: Guideline) -> list[str]:
    old = {one.code: one for one in (*newest.choices, *newest.beside)}
    found = changed_codes((*newest.choices, *newest.beside), (*now.choices, *now.beside))
    rest = [code for code in old if code not in found.touched]
    lines = [
        (_("New: {criteria}"), [one for one in now.beside if one.code in found.added]),
        (_("Dropped: {criteria}"), [old[code] for code in found.dropped]),
        (_("Reworded: {criteria}"), [old[code] for code in found.changed]),
    ]
    for text, options in lines:
        if options:
            st.write(plain(text.format(criteria=series(in_brackets(option_name(one), one.code) for one in options))))
    return st.multiselect(
        _("Criteria that change in meaning but not in name"),
        rest,
        key="also",
        format_func=lambda code: in_brackets(option_name(old[code]), code),
        placeholder=_("none"),
    )


def _ask_which(found: Affected, *, key: str, keep: bool = True) -> Which:
    named = _("relabel labels that name a changed or dropped criterion: {labels} labels on {items} items")
    every = _("also relabel accepts, because a criterion is new: {labels} labels on {items} items")
    names: dict[Which, str] = {
        "none": _("keep all labels from older versions: {labels}").format(labels=f"{found.older.labels:,}"),
        "named": named.format(labels=f"{found.named.labels:,}", items=f"{found.named.items:,}"),
        "all": every.format(labels=f"{found.all.labels:,}", items=f"{found.all.items:,}"),
    }
    offered = [one for one in WHICH if keep or one != "none"]
    picked = st.radio(_("Labels from older versions"), offered, key=key, format_func=lambda one: plain(names[one]))
    chosen: Which = picked or offered[0]
    text = _(
        "An item is relabelled only by its own annotator; the old label stays in the history and no longer"
        " counts. A reject with a tag and no criterion counts as naming a changed one."
    )
    st.caption(text)
    if found.shown:
        text = _(
            "{labels} labels are kept in any case: their annotators have seen an opinion or other labels"
            " and can no longer judge blind."
        )
        st.caption(plain(text.format(labels=f"{found.shown:,}")))
    if found.left and chosen == "all":
        text = _("{labels} of them belong to people who have left: these items become free for others.")
        st.caption(plain(text.format(labels=f"{found.left:,}")))
    return chosen


def _chosen(found: Affected, which: Which) -> RelabelCounts:
    return {"none": RelabelCounts(0, 0), "named": found.named, "all": found.all}[which]


def _show_people(found: Affected, which: Which) -> None:
    counts = _chosen(found, which).annotators
    if counts:
        rows = [
            {_("Annotator"): name, _("Labels sent back for relabelling"): number} for name, number in counts.items()
        ]
        st.dataframe(rows, hide_index=True, width=360)


def _counted(
    store: Store, project: Project, choices: Sequence[Choice], reasons: Sequence[Choice], also: Sequence[str]
) -> Affected:
    """The counts, recomputed after a new label, version or event."""
    last = events(store, project, last=1)
    now = (*state(store), str(last[0].id if last else 0))
    return _reckoned(project.uid, now, tuple(choices), tuple(reasons), tuple(also), project)


@st.cache_data(max_entries=16, show_spinner=False)
def _reckoned(
    uid: str,
    now: tuple[str, ...],
    choices: tuple[Choice, ...],
    reasons: tuple[Choice, ...],
    also: tuple[str, ...],
    _project: Project,
) -> Affected:
    with open_store(_project) as store:
        return count_affected(store, _project, choices, reasons, also)
