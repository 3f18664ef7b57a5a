"""Runs on pages: the form that starts one, and those that are finished: facts, failures, table, scores and deletion.

A page describes its runs by a `RunPage` and passes what only it can say as functions and sentences. Runs that go on
are jobs: `pages.ui.jobs.follow` shows them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs.kinds import run_name
from evenhand.annotations.permissions import may_see_work
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Notice, Refused
from evenhand.core.files.csv_out import spreadsheet_copy
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.runs.kinds import JobKind
from evenhand.core.runs.loop import check_models
from evenhand.core.runs.records import TABLE, Kind, Run, free_name, run_file, runs_folder, runs_in
from evenhand.pages.ui.address import asked_for, keep
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.jobs import every_job_of, start_job
from evenhand.pages.ui.numbers import duration, moment
from evenhand.pages.ui.text import _, plain, sentence, series
from evenhand.pages.ui.uploads import empty_place, hand_over
from evenhand.pages.ui.visitor import asks, asks_at_click, errors_shown, open_store, visitor

LISTED = 20
OfKind = TypeVar("OfKind", bound=Run)
Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True)
class RunPage:
    """What the runs of one page have of their own.

    `kind`: names their folder. `command`: of the jobs that make them. `form_key`, `run_key`: how the keys of the form
    and of the widgets of a finished run are formed. `ending`: of the file that a run writes.
    """

    kind: Kind
    command: str
    form_key: str = "{part}"
    run_key: str = "{part}-{run}"
    ending: str = TABLE

    def finished(self, store: Store) -> Sequence[Run]:
        """Return the finished runs that the visitor may see, the newest first."""
        return own_runs(store, self.every_finished(store))

    def every_finished(self, store: Store) -> Sequence[Run]:
        """Return the finished runs of all visitors, who share the names of runs."""
        return runs_in(runs_folder(store.path, self.kind))

    def free_name(self, store: Store, label: str) -> str:
        """Return a name that no finished run has and no job writes: *label*, the day, and a number where that is
        needed."""
        taken = {run.name for run in self.every_finished(store)}
        return free_name(label, taken | {run_name(job) for job in every_job_of(store, self.command)})


def own_runs(store: Store, found: Sequence[OfKind]) -> list[OfKind]:
    """Return the runs in *found* that the visitor may see: their own, and those of their own projects. The owner of the
    server sees all, including runs without a recorded owner."""
    who = visitor(store)
    return [run for run in found if may_see_work(who, *run.owner)]


def with_run_name(settings: Settings, name: str) -> Settings:
    """Return *settings* with the name of the run."""
    return replace(settings, run_name=name)  # type: ignore[type-var]


@dataclass(frozen=True, slots=True)
class RunRequest(Generic[Settings]):
    """A run to start: of which kind, with which settings; `title` names the job.

    `named`: returns the settings of the run of a name; it may make the folder that the run writes to.
    `uploads` go with the job; `place` is the key of the place for an upload that is empty afterwards.
    `project`: whose texts are asked about; its leads see the run. `models`: each must be known, or a name on the hub.
    `check`: raises EvenhandError where the job would fail.
    """

    title: str | Notice
    kind: JobKind[Settings, Any]
    settings: Settings
    named: Callable[[Settings, str], Settings] = with_run_name
    models: Sequence[str] = ()
    uploads: Sequence[Path] = ()
    place: str = ""
    check: Callable[[], object] = lambda: None
    project: Project | None = None

    def refuse_wrong(self) -> None:
        """Say at once what the job would fail of. Raises EvenhandError."""
        self.check()
        if self.models:
            check_models(self.models, fetch=False)

    def start(self, store: Store, name: str) -> None:
        """Start the job that writes the run of that name."""
        start_job(store, self.kind, self.named(self.settings, name), self.title, project=self.project)


def show_start_form(
    store: Store,
    page: RunPage,
    label: str,
    request: RunRequest[Any] | None,
    *,
    work: str = "",
    start: str = "",
) -> None:
    """Show the name of the run (*label* and the day unless the visitor gives one), the button, and how much *work* it
    is.

    *request* None: something is missing, *work* says what. What the job would fail of is said at once, and nothing is
    started. *start*: what the button says instead of Start.
    """
    proposed = page.free_name(store, label)
    name_key = page.form_key.format(part="name")
    name = st.text_input(_("Run name"), key=name_key, placeholder=proposed, max_chars=80).strip() or proposed
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            start or _("Start"), key=page.form_key.format(part="start"), type="primary", icon=":material/play_arrow:",
            disabled=request is None,
        )  # fmt: skip
        if work:
            st.caption(plain(work))
    if pressed and request is not None:
        with errors_shown():
            start_run(store, page, request, name)


@asks("start_jobs")
def start_run(store: Store, page: RunPage, request: RunRequest[Any], name: str) -> None:
    """Start the job and run the page again. Raises Refused where *name* is none, or taken, and as `request.check`."""
    request.refuse_wrong()
    taken = {run.name for run in page.every_finished(store)}
    if name in taken or any(job.active and run_name(job) == name for job in every_job_of(store, page.command)):
        raise Refused(N_("A run named {name} already exists. Choose another name."), name=name)
    run_file(runs_folder(store.path, page.kind), name, page.ending)
    request.start(store, name)
    hand_over(*request.uploads)
    if request.place:
        empty_place(request.place)
    st.session_state.pop(page.form_key.format(part="name"), None)
    st.rerun()


def show_finished_runs(found: Sequence[OfKind], show_run: Callable[[OfKind], None], nothing: str) -> None:
    """Show the finished runs, the newest first, each drawn by *show_run*. Without a run, show *nothing*, which says
    what will be here."""
    st.header(_("Finished runs"), anchor=False)
    if not found:
        st.caption(nothing)
    for run in found[:LISTED]:
        with st.container(border=True, key=f"run-{run.name}"):
            st.markdown(f"**{plain(run.name)}**")
            show_run(run)
    if len(found) > LISTED:
        st.caption(plain(_("The latest {shown} of {all} runs.").format(shown=LISTED, all=f"{len(found):,}")))


def choose_run(found: Sequence[Run], key: str = "run", *, address: bool = True) -> Run:
    """Return one of *found* (at least one), the newest at first. *address*: ?run=NAME opens it, and is kept up to
    date."""
    runs = {run.name: run for run in found}
    text = asked_for("run", key) if address else None
    if text in runs or st.session_state.get(key) not in runs:
        st.session_state[key] = text if text in runs else next(iter(runs))
    name = st.selectbox(_("Run"), list(runs), key=key)
    if address:
        keep("run", key, name)
    return runs[name]


def finished_at(run: Run) -> str:
    """Return the time at which a run was finished, to the minute."""
    return moment(run.created or None)


def show_facts(run: Run, facts: str, *more: str) -> None:
    """Show the facts of a run (*facts*: its settings and when it was finished), how long it took, and *more*."""
    took = [] if run.seconds is None else [_("took {time}").format(time=duration(run.seconds))]
    st.caption(plain(" · ".join([facts, *took, *more])))


def show_notices(run: Run) -> None:
    """Show what a person should know of the run, and the models that could not be used, with the reasons."""
    for notice in run.notices:
        st.caption(":material/info: " + plain(sentence(notice.message, notice.values)))
    for failure in run.failures:
        st.caption(":material/error: " + plain(sentence(failure.error, failure.values)))


def download_table(page: RunPage, run: Run) -> None:
    """Offer the table of a run."""
    key = page.run_key.format(part="table", run=run.name)
    download(_("Table (CSV)"), run.table.read_bytes, run.table.name, key=key)
    if run.table.suffix == TABLE:
        text = _(
            "Puts an apostrophe before each text that a spreadsheet would run as a formula (= + - @)."
            " Without it, texts stay unchanged and offsets match."
        )
        key, label = page.run_key.format(part="spreadsheet", run=run.name), _("Download for Excel (formula-safe)")
        file = f"{run.name}.for-spreadsheets.csv"
        download(label, lambda: spreadsheet_copy(run.table), file, key=key, help=text)


def offer_deletion(page: RunPage, run: Run, lost: str = "", *, in_menu: bool = False) -> None:
    """Offer the button that deletes a run, behind another one; *lost* says what goes and what stays.

    *in_menu*: the other button is in a menu, in which Streamlit opens no second one.
    """
    key = page.run_key.format(part="deleting", run=run.name)
    behind: Any = (
        st.expander(_("Delete"), icon=":material/delete:", key=key)
        if in_menu
        else st.popover(_("Delete"), icon=":material/delete:", type="tertiary", key=key)
    )
    with behind:
        if lost:
            st.caption(lost)
        key = page.run_key.format(part="delete", run=run.name)
        st.button(_("Delete this run"), key=key, on_click=_delete, args=(page, run.name))


NAMED = 3  # models that the line above a result names


@dataclass(frozen=True, slots=True)
class ResultBar:
    """The line above a result: what is shown (`say`), `change` with what else can be, `more` to take away or delete."""

    shown: "DeltaGenerator"
    change: "DeltaGenerator"
    more: "DeltaGenerator"

    def say(self, name: str, models: Sequence[str] = (), *facts: str) -> None:
        """Say the name of the run or file, the first of its models, and what else tells it apart."""
        rest = [_("{n} more", n=len(models) - NAMED)] if len(models) > NAMED else []
        parts = [f"**{plain(name)}**", plain(series([*models[:NAMED], *rest])), *map(plain, facts)]
        self.shown.markdown(" · ".join(filter(None, parts)), width="content")

    def offer_run(self, page: RunPage, run: Run, lost: str = "") -> None:
        """Put the table of a run and its deletion into the menu; *lost*: as for `offer_deletion`."""
        with self.more:
            download_table(page, run)
            offer_deletion(page, run, lost, in_menu=True)


def result_bar() -> ResultBar:
    """Return the line above a result, to be filled as the run, its models and its files become known."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="result-bar"):
        shown = st.empty()
        change = st.popover(_("Change"), icon=":material/swap_horiz:", type="tertiary", key="result-change")
        more = st.popover(_("Files"), icon=":material/more_horiz:", type="tertiary", key="result-files")
    return ResultBar(shown, change, more)


@asks_at_click("start_jobs")
def _delete(page: RunPage, name: str) -> None:
    with open_store() as store:
        for run in page.finished(store):
            if run.name == name:
                run.delete()


if TYPE_CHECKING:
    import pandas as pd
    from streamlit.delta_generator import DeltaGenerator


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """A score file as it was when the page looked: another time of change is another source.

    `sent`: a visitor uploaded it; no run of this server wrote it.
    """

    name: str
    path: str
    changed: int
    size: int
    sent: bool = False


def score_file(path: Path, name: str, *, sent: bool = False) -> ScoreFile:
    """Return the file at *path* as it is now. *sent*: as `ScoreFile` has it."""
    state = path.stat()
    return ScoreFile(name, str(path), state.st_mtime_ns, state.st_size, sent)


def score_runs() -> list[Run]:
    """Return the score runs of this database that the visitor may see, the newest first."""
    with open_store() as store:
        return own_runs(store, runs_in(runs_folder(store.path, "scores")))


@st.cache_data(max_entries=3, show_spinner=False)
def score_frame(file: ScoreFile) -> "pd.DataFrame":
    """Return the rows of a score file, checked, each with its prior-corrected value."""
    from evenhand.core.model_bias import prior_corrected, read_scores

    frame = run_bounded(read_scores, file.path, file=file.name) if file.sent else read_scores(file.path)
    return frame.assign(corrected_log10=prior_corrected(frame))


@st.cache_data(max_entries=3, show_spinner=False)
def models_scored(file: ScoreFile) -> list[str]:
    """Return the models of a file, in its order."""
    from evenhand.core.model_bias import models_of

    return models_of(score_frame(file))
