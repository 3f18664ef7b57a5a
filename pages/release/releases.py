"""The releases of a project: what each holds, what changed, its papers and its files."""

from typing import Literal

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.release import Release, file_facts, release_file, releases
from evenhand.annotations.release.write_out import archive_elsewhere, locked_texts
from evenhand.annotations.text_policy import SHORTEST_PASSWORD
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.core.language import translate
from evenhand.pages.release.hub import show_push
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.choose import choose, switch
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import DASH, moment, size
from evenhand.pages.ui.text import paragraph, plain, show_signature
from evenhand.pages.ui.visitor import may


def show_releases(store: Store, project: Project) -> None:
    """Every release, the newest first."""
    found = releases(store, project)
    st.subheader(_("Releases"), anchor=False)
    if not found:
        st.caption(_("No releases yet. A release stays here permanently, with all its files."))
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
    st.caption(_("Content hash (SHA-256): identical for the same judgements of the same texts."))
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
    text = _("95% interval {low} to {high}")
    return text.format(low=_three(found["low"]), high=_three(found["high"]))


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
        typed = st.text_input(
            _("Archive password"), type="password", key=f"password-{one.uid}", width=320,
            help=_(
                "The archive opens only with this password. It is not stored anywhere; without it, the texts"
                " are lost."
            ),
        )  # fmt: skip
        if len(typed.strip()) < SHORTEST_PASSWORD:
            least = _("Enter a password of at least {least} characters.").format(least=SHORTEST_PASSWORD)
            st.caption(plain(least))
            return
        password = typed
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
    st.download_button(
        _("Download everything (ZIP)"), data, name, "application/zip", key=f"zip-{one.uid}", type="primary",
        icon=":material/download:", on_click="ignore",
    )  # fmt: skip


def _show_paper(store: Store, one: Release) -> None:
    names = {"method": _("Method section"), "datasheet": _("Data sheet"), "changes": _("What changed")}
    chosen = choose(_("Document"), names, f"paper-{one.uid}", heading=False)
    try:
        text = release_file(store, one, f"{chosen}.{language()}.md").decode()
    except EvenhandError as error:
        show_error(error)
        return
    st.code(text, language=None, wrap_lines=True, height=420)


def _show_files(store: Store, project: Project, one: Release) -> None:
    found, locked = file_facts(store, one), locked_texts(project, one)
    if locked:
        st.caption(_("Files with text (🔒) are exported only in the encrypted archive."))
    names = {file.name: file for file in found if file.name not in locked}
    chosen = st.selectbox(
        _("File"), list(names), key=f"file-{one.uid}", format_func=lambda name: f"{name} · {size(names[name].size)}"
    )

    def data() -> bytes:
        with open_store(project) as fresh:
            return release_file(fresh, one, chosen)

    st.download_button(
        _("Download"), data, chosen.rpartition("/")[2], key=f"one-{one.uid}", icon=":material/download:",
        on_click="ignore",
    )  # fmt: skip
    rows = [{"file": f.name + (" 🔒" if f.name in locked else ""), "bytes": f.size, "sha256": f.sha256} for f in found]
    st.dataframe(rows, hide_index=True, column_config={
        "file": _("File"), "bytes": st.column_config.NumberColumn(_("Bytes"), format="localized"), "sha256": "SHA-256",
    })  # fmt: skip
