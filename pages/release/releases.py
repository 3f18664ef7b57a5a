"""Making a release, the releases of a project with their files and uploads, and samples for people outside it."""

import re
from dataclasses import replace

import streamlit as st

from evenhand.annotations.audit.follow_up import METHOD, FollowUp, create_follow_up, follow_ups
from evenhand.annotations.database.events import EXPORTED, events
from evenhand.annotations.database.store import Store
from evenhand.annotations.hub.client import checked_repo, endpoint_name, has_token
from evenhand.annotations.hub.push import PUSH, Gate, Settings
from evenhand.annotations.projects.projects import change_project, project_by_uid
from evenhand.annotations.projects.steps import state
from evenhand.annotations.quantities.agreement import measure_id
from evenhand.annotations.quantities.catalogue import QUANTITIES
from evenhand.annotations.quantities.changes import change_estimates
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.annotations.release.changes import release_estimates
from evenhand.annotations.release.make import archive_elsewhere, locked_texts
from evenhand.annotations.release.readiness import (
    Check,
    checked_creators,
    checked_reason,
    checked_version,
    readiness,
    to_explain,
)
from evenhand.annotations.release.stored_releases import Release, file_facts, release_file, releases
from evenhand.annotations.text_policy import checked_password
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Notice
from evenhand.core.statistics import Estimate
from evenhand.pages.ui.charts import download, downloads
from evenhand.pages.ui.choose import ask_password, choose, switch
from evenhand.pages.ui.jobs import is_active, start_job
from evenhand.pages.ui.numbers import DASH, moment, note_text, number, size, with_brackets
from evenhand.pages.ui.quantities import quantity_tile
from evenhand.pages.ui.tables import show_tiles
from evenhand.pages.ui.text import (
    _,
    caption,
    inform,
    language,
    names_in,
    paragraph,
    plain,
    sentence,
    show_signature,
    write,
)
from evenhand.pages.ui.visitor import (
    ask_author,
    asks,
    author,
    confirmed,
    errors_shown,
    may,
    open_store,
    own_new_project,
    page_link,
    remembered,
)


@asks("release")
def show_push(store: Store, project: Project, one: Release) -> None:
    """Ask for the name and the access of a release on the Hub; the button starts the upload job."""
    caption("The files of this release, without the package, will be uploaded to {endpoint}.", endpoint=endpoint_name())
    for pushed in events(store, project, action=EXPORTED):
        if pushed.data.get("format") == "hub" and pushed.data.get("version") == one.version:
            address = f"{pushed.data['endpoint']}/datasets/{pushed.data['repo']}"
            st.text(_("On the Hub since {time}: {address}").format(time=moment(pushed.created), address=address))
    if not has_token():
        inform(
            "Set HF_TOKEN on the machine that runs the app, or sign in there with `hf auth login`. The app"
            " does not store tokens."
        )
        return
    gates: dict[Gate | None, str] = {
        None: _("no: anyone can download"),
        "auto": _("automatic: anyone who accepts the terms can download"),
        "manual": _("manual: you approve each user"),
    }
    with st.container():
        repo = st.text_input(
            _("Data set on the Hub"), key=f"hub-repo-{one.uid}", placeholder="OWNER/NAME", max_chars=200
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            gated = st.selectbox(
                _("Gated"), list(gates), format_func=gates.__getitem__, key=f"hub-gated-{one.uid}", width=320
            )
            private = st.checkbox(_("Private"), key=f"hub-private-{one.uid}")
        password = _ask_password(project, one)
        text = _("Release {version} of {project} will be uploaded to {repo}. Copies made there cannot be recalled.")
        pressed = confirmed(
            _("Upload to the Hub"),
            text.format(version=one.version, project=project.name, repo=repo.strip() or DASH),
            _("Upload it"), key=f"hub-push-{one.uid}", icon=":material/cloud_upload:",
            disabled=is_active(store, "hub"),
        )  # fmt: skip
    if pressed:
        with errors_shown():
            _start_upload(store, project, one, repo, gated, private=private, password=password)
            st.rerun()


def _ask_password(project: Project, release: Release) -> str | None:
    if not locked_texts(project, release):
        return None
    return st.text_input(
        _("Archive password"), type="password", key=f"hub-password-{release.uid}", width=320,
        help=_(
            "Texts are uploaded as an encrypted archive (texts.zip), which can be opened only with this password."
        ),
    )  # fmt: skip


@asks("release")
def _start_upload(
    store: Store, project: Project, one: Release, repo: str, gated: Gate | None, *, private: bool, password: str | None
) -> None:
    name = checked_repo(repo)
    settings = Settings(project.name, one.version, name, private=private, gated=gated, uid=project.uid)
    title = Notice(
        N_("Upload release {version} of {project} to the Hub"), {"version": one.version, "project": project.name}
    )
    secrets = None if password is None else {"EVENHAND_PASSWORD": checked_password(password)}
    start_job(store, PUSH, settings, title, project=project, secrets=secrets)


def show_releases(store: Store, project: Project) -> None:
    """Show every release, the newest first."""
    found = releases(store, project)
    st.header(_("Releases"), anchor=False)
    if not found:
        caption("No releases yet. A release stays here permanently, with all its files.")
        return
    for release in reversed(found):
        with st.container(border=True, key=f"release-{release.uid}"):
            _show(store, project, release)
    rows = [
        {
            "version": release.version,
            "day": release.created[:10],
            "items": release.items,
            "labels": release.labels,
            "hash": release.hash,
        }
        for release in found
    ]
    downloads(rows, key=f"releases-{project.id}")


def _show(store: Store, project: Project, release: Release) -> None:
    st.markdown(f"**{plain(release.version)}** · {plain(moment(release.created))}")
    alpha = measure_id("alpha", release.facts["agreement"]["on"])
    found = release_estimates(release)
    ids = ("items.kept", "items.reviewed", "labels.valid", alpha)
    tiles = [quantity_tile(id_, found[id_]) for id_ in ids]
    show_tiles([*tiles[:3], replace(tiles[3], name=_("Alpha before filtering"))], 4)
    st.caption(plain(_changes(release)))
    caption("Content hash (SHA-256): identical for the same judgements of the same texts.")
    st.code(release.hash, language=None, wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _show_archive(project, release)
        show_signature(release.facts["agreement"]["signature"])
    with st.expander(_("Documentation")):
        names = {"method": _("Method section"), "datasheet": _("Data sheet"), "changes": _("What changed")}
        chosen = choose(_("Document"), names, f"paper-{release.uid}", heading=False)
        with errors_shown():
            text = release_file(store, release, f"{chosen}.{language()}.md").decode()
            st.code(text, language=None, wrap_lines=True, height=420)
    with st.expander(_("Files")):
        _show_files(store, project, release)
    if may(store, "release", project):
        with st.expander(_("Upload to the Hugging Face Hub")):
            show_push(store, project, release)


def _changes(release: Release) -> str:
    """Return the changes since the release before; older releases did not count all of them."""
    version = release.facts["changes"]["from"]
    if version is None:
        return _("The first release.")
    found = change_estimates(release.facts["changes"])
    numbers = {id_.removeprefix("changes."): number(one.value, ",.0f") for id_, one in found.items()}
    texts = [_("Since {version}: {items_added} items added, {items_removed} removed.")]
    if "all_labels_added" in numbers:
        texts.append(
            _(
                "Labels of all annotators: {all_labels_added} new, {all_labels_changed} changed, {all_labels_removed}"
                " no longer valid."
            )
        )
    texts.append(
        _("Labels published one by one: {labels_added} new, {labels_changed} changed, {labels_removed} removed.")
    )
    if "gold_none_now" in numbers:
        texts.append(
            _("Gold labels: {gold_same} unchanged, {gold_another} changed, {gold_none_now} dropped, {gold_first} new.")
        )
    return paragraph(text.format(version=version, **numbers) for text in texts)


def _show_archive(project: Project, release: Release) -> None:
    """Offer the whole release as one ZIP; with a password where text must not leave in plain."""
    password: str | None = None
    if locked_texts(project, release):
        password = ask_password(f"password-{release.uid}")
        if password is None:
            return
    package = not switch(
        _("Without the package"), key=f"public-{release.uid}",
        explained=_(

                "The package can be re-imported. It reveals known answers and the random share, so leave it"
                " out of files for annotators while labelling continues."

        ),
    )  # fmt: skip

    def data() -> bytes:
        with open_store(project) as store:
            return archive_elsewhere(store, project_by_uid(store, project.uid), release, password, package=package)

    name = f"{project.name}-{release.version}.zip".replace("/", "-")
    download(_("Download everything (ZIP)"), data, name, key=f"zip-{release.uid}", type="primary")


def _show_files(store: Store, project: Project, release: Release) -> None:
    facts, locked = file_facts(store, release), locked_texts(project, release)
    if locked:
        caption("Files with text (🔒) are exported only in the encrypted archive.")
    names = {file.name: file for file in facts if file.name not in locked}
    chosen = st.selectbox(
        _("File"), list(names), key=f"file-{release.uid}", format_func=lambda name: f"{name} · {size(names[name].size)}"
    )

    def data() -> bytes:
        with open_store(project) as fresh:
            return release_file(fresh, release, chosen)

    download(_("Download"), data, chosen.rpartition("/")[2], key=f"one-{release.uid}", type="secondary")
    rows = [{"file": f.name + (" 🔒" if f.name in locked else ""), "bytes": f.size, "sha256": f.sha256} for f in facts]
    st.dataframe(rows, hide_index=True, column_config={
        "file": _("File"), "bytes": st.column_config.NumberColumn(_("Bytes"), format="localized"), "sha256": "SHA-256",
    })  # fmt: skip


@asks("release")
def show_follow_ups(store: Store, project: Project) -> None:
    """Show the samples of a project, and a form for one more."""
    st.header(_("Are accepted sentences neutral?"), anchor=False)
    write(
        "Accepted sentences, mixed with rejected ones, go to people outside the project. The keyword is covered, and"
        " nothing shows which sentences were accepted. The share that all of them judge neutral goes into the data"
        " sheet."
    )
    for follow_up in follow_ups(store, project):
        names = {"kept": _("accepted"), "rejected": _("rejected")}
        with st.container(border=True):
            st.markdown("**" + plain(follow_up.project.name) + "**")
            for stratum, judged in follow_up.strata.items():
                text = _("{stratum}: {neutral} of {judged} judged sentences are neutral: {share} ({drawn} drawn)")
                text = text.format(
                    stratum=names[stratum], neutral=judged.neutral, judged=judged.judged, drawn=judged.drawn,
                    share=with_brackets(judged.share, ".1%") if judged.judged else note_text(judged.share.reason),
                )  # fmt: skip
                st.write(plain(text))
            caption("{n} people outside the project. Intervals: {method}.", n=follow_up.people, method=METHOD)
            if follow_up.left_out:
                st.caption(plain(why_left_out(follow_up)))
    with st.expander(_("Draw a follow-up sample"), icon=":material/add:"):
        _form(store, project)


def why_left_out(follow_up: FollowUp) -> str:
    """Return how many labels do not count, and why, in the words of the data sheet."""
    text = _(
        "Existing labels that do not count: {left_out} ({elsewhere} not made at a desk of this database, but imported"
        " or of unknown origin; {inside} by members of the project)."
    )
    return text.format(
        left_out=follow_up.left_out, elsewhere=follow_up.elsewhere, inside=follow_up.left_out - follow_up.elsewhere
    )


@asks("create_projects")
def _form(store: Store, project: Project) -> None:
    name = st.text_input(_("Name of the new project"), f"{project.name} follow-up", key="follow-up-name")
    people = st.text_area(_("People outside the project, one per line"), key="follow-up-people", height=90)
    with st.container(horizontal=True):
        kept = st.number_input(_("Accepted sentences"), 1, None, 50, key="follow-up-kept", width=150)
        rejected = st.number_input(_("Rejected sentences"), 0, None, 50, key="follow-up-rejected", width=150)
        per_item = st.number_input(_("Number of labels per sentence"), 1, 100, 3, key="follow-up-labels", width=150)
        seed = st.number_input(_("Seed"), 0, None, 0, key="follow-up-seed", width=120)
    if not st.button(_("Draw sample"), key="follow-up-draw"):
        return
    names = names_in(people)
    with errors_shown():
        made = create_follow_up(
            store, project, name, names, kept=kept, rejected=rejected, per_item=per_item, seed=seed,
            language="zh" if language() == "zh" else "en",
        )  # fmt: skip
        own_new_project(store, made)
        st.rerun()


ICONS = {"missing": ":material/cancel:", "note": ":material/info:", "done": ":material/check_circle:"}


def show_checks(store: Store, project: Project) -> bool:
    """Show the checklist; return True if a release can be made."""
    st.header(_("Before a release"), anchor=False)
    checks = readiness(store, project)
    words = {"missing": _("missing"), "note": _("note"), "done": _("done")}
    for check in checks:
        st.markdown(
            f"{ICONS[check.state]} **{plain(words[check.state])}** · {plain(sentence(check.message, check.values))}"
        )
    _show_ways(checks)
    return all(check.state != "missing" for check in checks)


def _show_ways(checks: list[Check]) -> None:
    pages = {
        "pilot": ("pilot/page.py", _("Pilot and guideline")), "cases": ("adjudication/page.py", _("Adjudicate")),
        "kept": ("review/page.py", _("Review")), "open": ("review/page.py", _("Review")),
        "items": ("projects/page.py", _("Projects")),
    }  # fmt: skip
    shown = set()
    with st.container(horizontal=True):
        for check in checks:
            if check.state != "done" and check.code in pages and pages[check.code] not in shown:
                path, name = pages[check.code]
                shown.add(pages[check.code])
                page_link(path, label=name, icon=":material/arrow_forward:")


@asks("release")
def show_rights(store: Store, project: Project) -> None:
    """Show a form for licence and source statement, which all later releases contain."""
    with st.form(f"rights-{project.id}", border=True, enter_to_submit=False):
        licence = st.text_input(
            _("Data set licence"),
            project.licence,
            placeholder="CC BY 4.0",
            max_chars=200,
            key=f"licence-{project.id}",
        )
        statement = st.text_area(
            _("Source statement"), project.source_statement, max_chars=4_000, key=f"source-{project.id}",
            placeholder=_("Where the texts come from and on what basis they may be redistributed"), height=110,
        )  # fmt: skip
        if st.form_submit_button(_("Save")):
            with errors_shown():
                rights = {"licence": licence.strip(), "source_statement": statement.strip()}
                who = author(store)
                change_project(store, project, author=who, **rights)
                st.rerun()


@asks("release")
def show_form(store: Store, project: Project, *, ready: bool) -> None:
    """Ask for version, author, notes and creators of a release; the button starts the job."""
    busy = is_active(store, "release")
    with st.container(border=True):
        first, second = st.columns(2)
        last = releases(store, project)
        suggested = next_version(last[-1].version if last else None)
        version = first.text_input(_("Version"), suggested, max_chars=40, key=f"version-{project.id}-{len(last)}")
        with second:
            who = ask_author(
                store,
                _("Your name"),
                key="release_author",
                help=_("Stored in the database only; not written to any file."),
            )
        notes = st.text_area(
            _("Notes"), max_chars=4_000, key=f"notes-{project.id}-{len(last)}", height=80,
            placeholder=_("Further remarks on this release"),
        )  # fmt: skip
        known = last[-1].facts["release"].get("creators", []) if last else []
        creators = st.text_area(
            _("Creators, one per line, for the citation"), "\n".join(known), height=80,
            key=f"creators-{project.id}-{len(last)}", placeholder=_("Family name, given name; or an organisation"),
        )  # fmt: skip
        reason = _ask_reason(store, project, f"{project.id}-{len(last)}") if ready else ""
        text = _(
            "Release {version} of {project} will contain {items} accepted items. A release cannot be changed, withdrawn"
            " or deleted."
        )
        items = number(remembered(state(store), _accepted, project).value, ",.0f")
        pressed = confirmed(
            _("Create release"),
            text.format(version=version, project=project.name, items=items),
            _("Create release {version}").format(version=version),
            key="create-release", icon=":material/inventory_2:", primary=True, disabled=not ready or busy,
        )  # fmt: skip
    if not ready:
        st.caption(_("The button becomes active once nothing on the list is missing."))
    if pressed:
        with errors_shown():
            _start_release(project, version, who, notes, reason, creators)
            st.rerun()


def _accepted(store: Store, project: Project) -> Estimate:
    return QUANTITIES["items.kept"].compute(Snapshot(store, project))


def _ask_reason(store: Store, project: Project, place: str) -> str:
    """Ask why the set is released although checks speak against it; return "" where none does."""
    checks = remembered(state(store), to_explain, project)
    if not checks:
        return ""
    for check in checks:
        st.markdown(f":material/warning: {plain(sentence(check.message, check.values))}")
    return st.text_area(
        _("Reason for releasing anyway (goes into the data sheet)"), max_chars=4_000, key=f"reason-{place}", height=80
    )


@asks("release")
def _start_release(project: Project, version: str, who: str, notes: str, reason: str, creators: str) -> None:
    from evenhand.annotations.release.make import RELEASE, Settings
    from evenhand.annotations.release.stored_releases import refuse_taken

    version = checked_version(version)
    with open_store(project) as store:
        refuse_taken(store, project, version)
        checked_reason(store, project, reason)
        settings = Settings(
            project.name, version, notes=notes.strip(), reason=reason.strip(), author=who.strip(),
            creators=tuple(checked_creators(creators.splitlines())), uid=project.uid,
        )  # fmt: skip
        title = Notice(N_("Release {version} of {project}"), {"version": version, "project": project.name})
        start_job(store, RELEASE, settings, title, project=project)


def next_version(last: str | None) -> str:
    """Return the proposed version of the next release: 1.0 first, 1.1 after 1.0; "" after any other name."""
    if last is None:
        return "1.0"
    match = re.fullmatch(r"(\d{1,9})\.(\d{1,9})", last)
    return f"{match[1]}.{int(match[2]) + 1}" if match else ""
