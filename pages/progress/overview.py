"""The frame of the page Progress: its numbers, kept for half a minute, the tiles and the signature."""

from dataclasses import replace

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import unselected
from evenhand.annotations.progress.dashboard import Dashboard, dashboard
from evenhand.annotations.projects.projects import annotators, counts
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Project
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.numbers import DASH, duration, moment, note_text, time_zone
from evenhand.pages.ui.tables import Tile, show_tiles
from evenhand.pages.ui.text import _, plain, show_signature, warn

KEPT_S = 30


def current(store: Store, project: Project) -> Dashboard:
    """The numbers of a project, recomputed after a label, an import or a change, or after 30 s."""
    there = (
        *state(store), str(counts(store, project)), str(annotators(store, project)), project.plan, str(project.share),
    )  # fmt: skip
    with st.spinner(_("Counting …"), show_time=False):
        return _dashboard(project.uid, there, str(time_zone()), project)


@st.cache_data(max_entries=8, ttl=KEPT_S, show_spinner=False)
def _dashboard(uid: str, there: tuple[str, ...], zone_name: str, _project: Project) -> Dashboard:
    with open_store(_project) as store:
        return dashboard(store, _project, zone=time_zone())


def for_reader(store: Store, project: Project, found: Dashboard) -> Dashboard:
    """*found*, or only the annotator's rows if a desk of this project is open in this visit."""
    reader = annotator_at_desk(store, project)
    if reader is None:
        return found
    text = _("Your desk as {name} is open: only you are listed among the annotators, so that labels stay blind.")
    st.caption(plain(text.format(name=reader.name)))
    people = tuple(one for one in found.people if one.annotator.id == reader.id)
    return replace(found, people=people, days=tuple(day for day in found.days if day.annotator == reader.name))


def forget() -> None:
    """Recompute at the next view, because items were released."""
    _dashboard.clear()


def tiles(project: Project, found: Dashboard) -> None:
    """How much is done and how much is ahead."""
    counted = [cell.counted for cell in found.cells]
    mined, reviewed = sum(one.mined for one in counted), sum(one.reviewed for one in counted)
    kept, wanted = sum(one.kept for one in counted), sum(one.quota or 0 for one in counted)
    within = sum(one.kept if one.quota is None else min(one.kept, one.quota) for one in counted)
    of_all = _("of {mined} in the project", mined=f"{mined:,}")
    today, week = (sum(getattr(one, name) for one in found.people) for name in ("today", "week"))
    decisions = _("decisions, changes included: {today} today, {week} in seven days")
    quotas = _("{within} of {wanted} required by quotas") if wanted else _("no quotas are set")
    done = Tile(_("Kept"), f"{kept:,}", (quotas.format(within=f"{within:,}", wanted=f"{wanted:,}"),))
    if project.kind == "generations":
        done = Tile(_("With a gold label"), f"{kept:,}", (of_all,))
    show_tiles(
        [
            Tile(_("Valid labels"), f"{found.labels:,}", (decisions.format(today=f"{today:,}", week=f"{week:,}"),)),
            Tile(_("Reviewed"), f"{reviewed:,}", (of_all,), _("Items that have all the labels they need.")),
            done,
            _ahead(found),
        ],
        4,
    )


def say_too_many(store: Store, project: Project) -> None:
    """A notice after a change from `stop` to `all`: the share kept is biased until the reopened items are finished."""
    if project.plan == "stop" or unselected(store, project, project.per_item) is None:
        return
    warn(
        "Until recently, labelling of an item stopped at its first reject. Accepted items have all their"
        " labels; rejected ones still lack theirs, so the share kept is too high until these are labelled.",
        icon=":material/hourglass_top:",
    )


def _ahead(found: Dashboard) -> Tile:
    about = _(
        "Labels still needed ÷ the annotators' mean labels per hour, over the last 60 labels of each,"
        " breaks excluded. With a quota, only as many candidates count as the quota is expected to need."
    )
    left = _("{labels} labels", labels=f"{found.ahead.labels:,}")
    each = _("{time} for each annotator", time=duration(3600 * found.each)) if found.each else ""
    hours = DASH if found.hours is None else duration(3600 * found.hours)
    return Tile(_("Remaining work"), hours, (left, each or note_text(found.hours_reason)), about)


def show_method(project: Project, found: Dashboard) -> None:
    """The signature, and its meaning in words."""
    text = _("As of {moment}. Only valid labels count; in daily counts, each change of a label counts again.")
    if project.plan == "stop":
        text = _(
            "As of {moment}. Only valid labels count; in daily counts, each change counts again."
            " Differences are computed on the random share that everybody labels."
        )
    st.caption(plain(text.format(moment=moment(found.moment))))
    show_signature(found.signature)
