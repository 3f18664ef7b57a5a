"""Jobs as cards: how far one is, what it did or what went wrong; on the page Jobs and on the page that starts them."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs, kinds
from evenhand.annotations.jobs.jobs import NO_JOB
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.types import Project
from evenhand.commands.jobs import read_words, words_of
from evenhand.core.errors import EvenhandError, NotFound, Notice
from evenhand.core.runs.kinds import RESUMED, JobKind
from evenhand.core.scoring.report import SoFar
from evenhand.pages.catalogue import page_of_command
from evenhand.pages.ui.charts import foot
from evenhand.pages.ui.numbers import duration, moment, size
from evenhand.pages.ui.sentences import reason_name
from evenhand.pages.ui.tables import element, joined, number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, literal, named, paragraph, plain, sentence
from evenhand.pages.ui.visitor import errors_shown, open_store, page_link, show_error, visitor

Settings = TypeVar("Settings")
ICONS: dict[jobs.State, str] = {
    "waiting": ":material/hourglass_empty:",
    "running": ":material/sync:",
    "done": ":material/check_circle:",
    "failed": ":material/error:",
    "cancelled": ":material/cancel:",
    "interrupted": ":material/power_off:",
}
LOG_LINES = 30
LISTED = 20
EVERY_S = 2


def state_name(state: jobs.State) -> str:
    """Return the state of a job in words."""
    return {
        "waiting": _("waiting to start"),
        "running": _("running"),
        "done": _("finished"),
        "failed": _("failed"),
        "cancelled": _("cancelled"),
        "interrupted": _("interrupted: the process ended unexpectedly"),
    }[state]


def _count(number: float) -> str:
    return f"{number:.1f}" if isinstance(number, float) and number < 10 else f"{number:,.0f}"


def progress_text(job: jobs.Job) -> str:
    """Return how far a job is: done, rate, time left. Before the first step is done, say that it prepares (loads a
    model)."""
    if not job.done:
        return _("Preparing …")
    kind = kinds.kind_of(job)
    amount = size if kind is not None and kind.unit == "bytes" else _count
    parts = [_("{done} of {total}").format(done=amount(job.done), total=amount(job.total) if job.total else "?")]
    if rate := job.rate():
        parts.append(_("{rate} per second").format(rate=amount(rate)))
    if (left := job.seconds_left()) is not None:
        parts.append(_("about {time} left").format(time=duration(left)))
    return " · ".join(parts)


def outcome(job: jobs.Job) -> str:
    """Return the message of a finished job in the visitor's language."""
    if job.result and "error" in job.result:
        return sentence(str(job.result["error"]), job.result.get("values"))
    kind, report = kinds.kind_of(job), kinds.report_of(job)
    if kind is None or report is None:
        return job.message
    return paragraph(jobs.title_in(notice, _) for notice in kind.summary(report))


def resuming_text(job: jobs.Job) -> str:
    """Return what remains of a job that did not end, and where it continues when it is resumed."""
    kind = kinds.kind_of(job)
    return _(kind.resuming if kind is not None else RESUMED)


def show_result_link(store: Store, job: jobs.Job) -> None:
    """Show the link to what a job has made: its run, or the project that it worked on."""
    name, command = kinds.run_name(job), job.group
    project = next(
        (stored_project.name for stored_project in projects(store) if stored_project.uid == job.project), None
    )
    label = _("See the results")
    if name and (page := page_of_command(command)) is not None:
        page_link(page.file, label=label, icon=":material/arrow_forward:", query_params={"run": name})
    elif project is not None:
        files = {"release": "release/page.py", "hub": "release/page.py", "judge": "judges/page.py"}
        file = files.get(command, "projects/page.py")
        page_link(file, label=label, icon=":material/arrow_forward:", query_params={"project": project})


def _change(uid: str, act: Literal["cancel", "resume", "dismiss"]) -> None:
    try:
        with open_store() as store:
            job = jobs.find(store, uid)
            if not job.is_for(visitor(store)):
                raise NotFound(NO_JOB, uid=uid)
            {"cancel": jobs.cancel, "resume": jobs.resume, "dismiss": jobs.dismiss}[act](store, job)
    except EvenhandError as error:  # it ended while the visitor reached for the button
        show_error(error)


def show_job(store: Store, job: jobs.Job) -> None:
    """Show one job: title, state, progress, what came of it, what can be done, its log."""
    with st.container(border=True, key=f"job-{job.uid}"):
        with foot():
            st.markdown(f"{ICONS[job.state]} **{plain(jobs.title_in(job.wording, _))}** {state_name(job.state)}")
            if job.active:
                st.button(_("Cancel"), key=f"cancel-{job.uid}", on_click=_change, args=(job.uid, "cancel"))
            elif job.state != "done":
                kind = kinds.kind_of(job)
                again = _("Restart") if kind is not None and kind.restarts else _("Resume")
                st.button(again, key=f"resume-{job.uid}", on_click=_change, args=(job.uid, "resume"))
            if not job.active:
                text = _("Removes the job from this list; its results stay.")
                st.button(
                    _("Dismiss"), key=f"dismiss-{job.uid}", on_click=_change, args=(job.uid, "dismiss"),
                    type="tertiary", icon=":material/close:", help=text,
                )  # fmt: skip
        if job.active:
            st.progress(job.share or 0.0, progress_text(job))
        if job.message and job.active:
            st.caption(plain(job.message))
        if job.state == "running":
            _show_so_far(store, job)
        if not job.active and (said := outcome(job)):
            st.text(said)
        if job.state == "done":
            show_result_link(store, job)
        _show_problems(job)
        if job.state in ("cancelled", "interrupted"):
            st.caption(resuming_text(job))
        parts = [_("run {name}").format(name=name)] if (name := kinds.run_name(job)) else []
        parts += [_("started {time}").format(time=moment(job.created))]
        if job.finished and (seconds := job.seconds()) is not None:
            parts.append(_("took {time}").format(time=duration(seconds)))
        st.caption(plain(" · ".join(parts)))
        if job.kind or job.command:
            with st.popover(_("Command"), icon=":material/terminal:", type="tertiary"):
                st.caption(_("This command does the same."))
                st.code(f"python cli.py {command_text(store, job)}", language=None, wrap_lines=True)
        if log := jobs.log_tail(store, job, LOG_LINES):
            with st.expander(_("Log")):
                st.code(log, language=None)


@st.cache_resource(max_entries=100, show_spinner=False)
def _reader(file: Path) -> tuple[Lock, SoFar]:
    return Lock(), SoFar(file)


def _show_so_far(store: Store, job: jobs.Job) -> None:
    """Show the partial result of a job that is running: how many rows there are, what came of each model, the last
    rows."""
    if (file := kinds.partial_file(job, store.path)) is None:
        return
    lock, found = _reader(file)
    with lock:
        if not found.read_on() or not found.rows:
            return
        text = _("Partial result, {rows} rows so far. It changes until the job ends and has no signature.")
        with st.expander(plain(text.format(rows=f"{found.rows:,}")), icon=":material/pending:"):
            if found.models:
                heads = (_("Model"), _("Rows so far"), _("Scored"), _("No score"), _("Male word"), _("Female word"))
                rows = [
                    (model, *(f"{number:,}" for number in (
                        entry["rows"], entry["scored"], entry["rows"] - entry["scored"], entry["male"], entry["female"],
                    )))
                    for model, entry in found.models.items()
                ]  # fmt: skip
                show_html(table(number_columns(heads, range(1, len(heads))), rows, kind="narrow"))
                caption("Male word, female word: sentences in which the model prefers that word, however slightly.")
            for row in found.last if not found.models else ():
                literal(str(row.get("sentence") or f"{row.get('context', '')}{row.get('completion', '')}"))


def _show_problems(job: jobs.Job) -> None:
    kind, report = kinds.kind_of(job), kinds.report_of(job)
    lines, total = kind.unusable(report) if kind is not None and report is not None else ((), 0)
    if not lines:
        return
    with st.expander(_("Unusable lines")):
        rows = [
            {_("Line"): line.line, _("Reason"): reason_name(line.reason), _("Sentence"): line.sentence}
            for line in lines
        ]
        st.dataframe(rows, hide_index=True, key=f"problems-{job.uid}")
        if total > len(lines):
            text = _("The first {shown} of {all} lines.")
            st.caption(text.format(shown=f"{len(lines):,}", all=f"{total:,}"))


def command_text(store: Store, job: jobs.Job) -> str:
    """Return the command that does the same as a job; of an uploaded file only the name."""
    words = words_of(job.kind, job.settings) if job.kind else job.command
    uploads = jobs.folder(store)
    return shlex.join(Path(word).name if Path(word).parent.parent == uploads else word for word in words)


def start_job(
    store: Store,
    kind: JobKind[Settings, Any],
    settings: Settings,
    title: str | Notice,
    *,
    project: Project | None = None,
    secrets: Mapping[str, str] | None = None,
) -> jobs.Job:
    """Start a job for the visitor; *project*: on which it works."""
    return jobs.start(store, kind, settings, title, secrets=secrets, project=project, account=visitor(store).account)


def every_job_of(store: Store, command: str = "") -> list[jobs.Job]:
    """Return the jobs of one command, or all, the newest first; one whose process is gone is marked as interrupted."""
    jobs.typed_from_command(store, read_words)
    jobs.mark_interrupted(store)
    return [job for job in jobs.jobs(store) if command in ("", job.group)]


def jobs_of(store: Store, command: str = "", project: Project | None = None) -> list[jobs.Job]:
    """Return the jobs of a command that the visitor may see. *project*: only jobs that work on it."""
    who = visitor(store)
    return [
        job
        for job in every_job_of(store, command)
        if job.is_for(who) and (project is None or job.project == project.uid)
    ]


def is_active(store: Store, command: str = "", project: Project | None = None) -> bool:
    """Return whether a job of this command (or of any) runs or waits, among the jobs that the visitor may see."""
    return any(job.active for job in jobs_of(store, command, project))


def follow(command: str = "", project: Project | None = None) -> None:
    """Show the jobs of *command* (in *project*) that are not done, again every two seconds while one of them is active.

    Without a command: every job, also those that are done. Once none is active any more the whole page runs again and
    finds `<command>_finished` set in the session.
    """
    with open_store(project) as store:
        active = st.session_state[f"{command}_active"] = is_active(store, command, project)
    st.fragment(_show_jobs, run_every=EVERY_S if active else None)(command, project)


def _say_states(jobs_on_page: list[jobs.Job]) -> None:
    """Let a screen reader say when one of the jobs starts or ends (`data-say` of web/static/page.js)."""
    texts = {job.uid: named(jobs.title_in(job.wording, _), state_name(job.state)) for job in jobs_on_page}
    if texts:
        show_html(joined(element("span", text, data_say=f"job-{uid}", hidden="hidden") for uid, text in texts.items()))


@errors_shown()
def _show_jobs(command: str, project: Project | None) -> None:
    with open_store(project) as store:
        every = jobs_of(store, command, project)
        shown = [job for job in every if job.state != "done"][:LISTED] if command else every
        if shown and command:
            st.header(_("Not finished"), anchor=False)
        for job in shown:
            show_job(store, job)
        _say_states(every[:LISTED])
        if st.session_state.get(f"{command}_active") and not any(job.active for job in every):
            st.session_state[f"{command}_active"] = False
            st.session_state[f"{command}_finished"] = True
            st.rerun()
