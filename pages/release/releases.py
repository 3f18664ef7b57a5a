"""The releases of a project with their papers and files, and samples for people outside the project."""

from typing import Literal

import streamlit as st

from evenhand.annotations.audit.follow_up import METHOD, FollowUp, create_follow_up, follow_ups
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.release.records import Release, file_facts, release_file, releases
from evenhand.annotations.release.write_out import archive_elsewhere, locked_texts
from evenhand.annotations.types import Project
from evenhand.core.language import translate
from evenhand.pages.release.hub import show_push
from evenhand.pages.ui.charts import download, downloads
from evenhand.pages.ui.choose import ask_password, choose, switch
from evenhand.pages.ui.head import errors_shown, open_store
from evenhand.pages.ui.numbers import DASH, moment, note_text, size, with_brackets
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.text import _, caption, language, names_in, paragraph, plain, show_signature, write
from evenhand.pages.ui.visitor import may, own_new_project


def show_releases(store: Store, project: Project) -> None:
    """Every release, the newest first."""
    found = releases(store, project)
    st.subheader(_("Releases"), anchor=False)
    if not found:
        caption("No releases yet. A release stays here permanently, with all its files.")
        return
    for one in reversed(found):
        with st.container(border=True, key=f"release-{one.uid}"):
            _show(store, project, one)
    rows = [
        {"version": one.version, "day": one.created[:10], "items": one.items, "labels": one.labels, "hash": one.hash}
        for one in found
    ]
    downloads(rows, key=f"releases-{project.id}")


def _show(store: Store, project: Project, one: Release) -> None:
    st.markdown(f"**{plain(one.version)}** · {plain(moment(one.created))}")
    total, found = one.facts["total"], one.facts["agreement"]["krippendorff_alpha"]
    with st.container(horizontal=True):
        st.metric(_("Kept"), f"{one.items:,}", width=150)
        st.metric(_("Reviewed"), f"{total['reviewed']:,}", width=150)
        st.metric(_("Labels"), f"{one.labels:,}", width=150)
        alpha = DASH if found["value"] is None else _three(found["value"])
        explained = _words_of(found, "value") or _interval(found) or _words_of(found, "note")
        name = _("Alpha before filtering")
        st.metric(name, alpha, width=190)
    st.caption(plain(f"{name} · {explained}"))  # in view: a number stands beside its interval, a dash beside its reason
    st.caption(plain(_changes(one)))
    caption("Content hash (SHA-256): identical for the same judgements of the same texts.")
    st.code(one.hash, language=None, wrap_lines=True)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _show_archive(project, one)
        show_signature(one.facts["agreement"]["signature"])
    with st.expander(_("Documentation")):
        _show_paper(store, one)
    with st.expander(_("Files")):
        _show_files(store, project, one)
    if may(store, "release", project):
        with st.expander(_("Upload to the Hugging Face Hub")):
            show_push(store, project, one)


def _words_of(found: dict[str, object], about: Literal["value", "note"]) -> str:
    """What a number of the facts says of itself: why it is undefined (value), or why it has no interval (note)."""
    said = translate(str(found.get("value_reason" if about == "value" else "note", "")), language())
    values = found.get(f"{about}_values")
    return said.format(**values) if isinstance(values, dict) and values else said


def _interval(found: dict[str, float | None]) -> str:
    if found["low"] is None or found["high"] is None:
        return ""
    return _("95% interval {low} to {high}", low=_three(found["low"]), high=_three(found["high"]))


def _three(value: float) -> str:
    return f"{value:z.3f}".replace("-", "−")


def _changes(one: Release) -> str:
    found = one.facts["changes"]
    if found["from"] is None:
        return _("The first release.")
    text = _("Since {version}: {kept_added} items added, {kept_removed} removed.")
    labels = _("Labels published one by one: {labels_added} new, {labels_changed} changed, {labels_removed} removed.")
    if everybody := found.get("all_labels"):  # releases of before counted published labels only
        every = _("Labels of all annotators: {added} new, {changed} changed, {removed} no longer valid.")
        labels = paragraph((every.format(**everybody), labels))
    gold = _("Gold labels: {gold_changed} changed.")  # releases of before counted no more
    if "gold_none_now" in found:
        gold = _(
            "Gold labels: {gold_same} unchanged, {gold_another} changed, {gold_none_now} dropped, {gold_first} new."
        )
    return paragraph(one.format(version=found["from"], **found) for one in (text, labels, gold))


def _show_archive(project: Project, one: Release) -> None:
    """The whole release as one ZIP; with a password where text must not leave in plain."""
    password: str | None = None
    if locked_texts(project, one):
        password = ask_password(f"password-{one.uid}")
        if password is None:
            return
    package = not switch(
        _("Without the package"), key=f"public-{one.uid}",
        explained=_(

                "The package can be re-imported. It reveals known answers and the random share, so leave it"
                " out of files for annotators while labelling continues."

        ),
    )  # fmt: skip

    def data() -> bytes:
        with open_store(project) as store:
            return archive_elsewhere(store, project_by_uid(store, project.uid), one, password, package=package)

    name = f"{project.name}-{one.version}.zip".replace("/", "-")
    download(_("Download everything (ZIP)"), data, name, key=f"zip-{one.uid}", type="primary")


def _show_paper(store: Store, one: Release) -> None:
    names = {"method": _("Method section"), "datasheet": _("Data sheet"), "changes": _("What changed")}
    chosen = choose(_("Document"), names, f"paper-{one.uid}", heading=False)
    with errors_shown():
        text = release_file(store, one, f"{chosen}.{language()}.md").decode()
        st.code(text, language=None, wrap_lines=True, height=420)


def _show_files(store: Store, project: Project, one: Release) -> None:
    found, locked = file_facts(store, one), locked_texts(project, one)
    if locked:
        caption("Files with text (🔒) are exported only in the encrypted archive.")
    names = {file.name: file for file in found if file.name not in locked}
    chosen = st.selectbox(
        _("File"), list(names), key=f"file-{one.uid}", format_func=lambda name: f"{name} · {size(names[name].size)}"
    )

    def data() -> bytes:
        with open_store(project) as fresh:
            return release_file(fresh, one, chosen)

    download(_("Download"), data, chosen.rpartition("/")[2], key=f"one-{one.uid}", type="secondary")
    rows = [{"file": f.name + (" 🔒" if f.name in locked else ""), "bytes": f.size, "sha256": f.sha256} for f in found]
    st.dataframe(rows, hide_index=True, column_config={
        "file": _("File"), "bytes": st.column_config.NumberColumn(_("Bytes"), format="localized"), "sha256": "SHA-256",
    })  # fmt: skip


@asks("release")
def show_follow_ups(store: Store, project: Project) -> None:
    """The samples of a project, and a form for one more."""
    st.subheader(_("Are kept sentences neutral?"), anchor=False)
    write(
        "Kept sentences, mixed with rejected ones, go to people outside the project. The keyword is"
        " covered and nothing shows which were kept. The share that all of them call neutral goes into"
        " the data sheet."
    )
    for one in follow_ups(store, project):
        _show_sample(one)
    with st.expander(_("Draw a follow-up sample"), icon=":material/add:"):
        _form(store, project)


def _show_sample(one: FollowUp) -> None:
    names = {"kept": _("kept"), "rejected": _("rejected")}
    with st.container(border=True):
        st.markdown("**" + plain(one.project.name) + "**")
        for stratum, found in one.strata.items():
            text = _("{stratum}: {neutral} of {judged} judged sentences are neutral: {share} ({drawn} drawn)").format(
                stratum=names[stratum], neutral=found.neutral, judged=found.judged, drawn=found.drawn,
                share=with_brackets(found.share, ".1%") if found.judged else note_text(found.share.reason),
            )  # fmt: skip
            st.write(plain(text))
        caption("{n} people outside the project. Intervals: {method}.", n=one.people, method=METHOD)
        if one.left_out:
            st.caption(plain(why_left_out(one)))


def why_left_out(one: FollowUp) -> str:
    """How many labels do not count, and why, as the data sheet says it."""
    text = _(
        "Existing labels that do not count: {left_out} ({elsewhere} not made at a desk of this database,"
        " but from a file or of unknown origin; {inside} by people of the project)."
    )
    return text.format(left_out=one.left_out, elsewhere=one.elsewhere, inside=one.left_out - one.elsewhere)


@asks("create_projects")
def _form(store: Store, project: Project) -> None:
    name = st.text_input(_("Name of the new project"), f"{project.name} follow-up", key="follow-up-name")
    people = st.text_area(_("People outside the project, one per line"), key="follow-up-people", height=90)
    with st.container(horizontal=True):
        kept = st.number_input(_("Kept sentences"), 1, None, 50, key="follow-up-kept", width=150)
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
