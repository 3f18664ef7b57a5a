"""Exports of a project: the format, a password if it holds text, the first rows, the file."""

from dataclasses import replace
from hashlib import sha256

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files import export_formats
from evenhand.annotations.files.export import CONFIG, counted_elsewhere, export_preview, made_elsewhere, record_export
from evenhand.annotations.files.label_tables import USE_OF, left_out
from evenhand.annotations.files.other_tools import write
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.projects.consent import consenting
from evenhand.annotations.projects.steps import state
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import ask_password, switch
from evenhand.pages.ui.text import _, caption, language, plain
from evenhand.pages.ui.visitor import asks, errors_shown, open_store, remembered, visitor

PREVIEW_ROWS = 10
WITHOUT_TEXT = ("datasheet", "datasheet-tex", "soft-labels", "disaggregated", "disaggregated-training")


def export_name(name: str, kind: str) -> str:
    """Return an export format in words."""
    return {
        "slguset": _("SlguSet (CSV as published)"),
        "jsonl": _("Items (JSON Lines, can be imported again; without labels)"),
        "labels": _("Labels (CSV, one row per sentence and annotator)")
        if kind == "sentences"
        else _("Labels (CSV, one row per text and annotator)"),
        "labels-wide": _("Labels (CSV, one row per text, columns for each annotator)"),
        "labels-jsonl": _("Labels (JSON Lines, complete record)"),
        "soft-labels": _("Soft labels (CSV: share of each choice per item)"),
        "disaggregated": _("Labels one by one, of annotators who consented (CSV)"),
        "disaggregated-training": _("Labels one by one for training, of annotators who consented to that (CSV)"),
        "published": _("Published samples (context and completion in one column)"),
        "label-studio": _("Label Studio (JSON: tasks with annotations)"),
        "doccano": _("doccano (ZIP: JSON Lines, one file per annotator)"),
        "package": _("The whole project (items, labels, decisions; can be re-imported)"),
        "datasheet": _("Data sheet (Markdown)"),
        "datasheet-tex": _("Data sheet (LaTeX)"),
    }[name]


@asks("export_files")
def show_export(store: Store, project: Project) -> None:
    """Show an export: format, items, the first rows, their number, the file."""
    if project.kind == "generations":
        st.caption(_leaving_text(project))
    chosen: export_formats.ExportFormat = st.radio(
        _("Format"),
        export_formats.formats_of(project),
        key="export_format",
        format_func=lambda one: (
            export_name(one, project.kind) + (" 🔒" if export_formats.needs_password(project, one) else "")
        ),
    )
    wish, password = _ask_options(project, chosen)
    if wish is None:
        return
    with errors_shown():
        _show_file(store, project, wish, password)


def _leaving_text(project: Project) -> str:
    if text_may_leave(project):
        return _("This project allows unencrypted export of texts. Files with texts carry a canary line.")
    return _(
        "Model texts about people are exported only as an encrypted archive (🔒). Labels without texts are"
        " unencrypted and identify each text by its id."
    )


def _ask_options(
    project: Project, chosen: export_formats.ExportFormat
) -> tuple[export_formats.ExportOptions | None, str | None]:
    """Ask for the options and the password; None while the password is missing."""
    names = history = spreadsheet = False
    kept = "all"
    with st.container(horizontal=True):
        if chosen.startswith("labels") or chosen in ("label-studio", "doccano", "package"):
            names = switch(_("Include annotators' names"), key="names", explained=_("Otherwise: A1, A2, A3 …"))
        if chosen in ("labels", "labels-jsonl"):
            history = st.toggle(_("Include replaced and undone labels"), key="history")
        if export_formats.ENDING[chosen] == ".csv":
            spreadsheet = switch(
                _("Formula-safe for Excel"), key="spreadsheet",
                explained=_(
                    "Puts an apostrophe before each text that a spreadsheet would run as a formula (= + - @)."
                    " Without it, texts stay unchanged and offsets match."
                ),
            )  # fmt: skip
    if chosen in ("slguset", "jsonl", "published", "label-studio", "doccano"):
        released = chosen == "slguset"  # the file of a release holds what is kept
        kept = st.radio(
            _("Sentences") if project.kind == "sentences" else _("Texts"), ("all", "accepted"), int(released),
            key="export_items" if released else "export_items_other", horizontal=True,
            format_func=lambda which: _items_name(which, project.kind),
        )  # fmt: skip
    password, missing = _password(project, chosen)
    if missing:
        return None, None
    wish = export_formats.export_options(
        chosen, items=kept, names=names, history=history, locked=password is not None, language=language()
    )
    return replace(wish, spreadsheet=spreadsheet), password


def _items_name(which: str, kind: str) -> str:
    if kind == "generations":
        return _("all texts") if which == "all" else _("only with a gold label")
    return _("all sentences") if which == "all" else _("accepted only (for a release)")


def _password(project: Project, chosen: export_formats.ExportFormat) -> tuple[str | None, bool]:
    """Return the password, and whether the export has to wait for one."""
    needed = export_formats.needs_password(project, chosen)
    if not needed:
        holds = chosen not in WITHOUT_TEXT and project.kind == "generations"
        label = _("With texts and notes, as an encrypted archive")
        if text_may_leave(project):
            label = _("Encrypt the file")
        if not holds or not st.toggle(label, key="lock"):
            return None, False
    typed = ask_password("export_password")
    return typed, typed is None


def _show_file(store: Store, project: Project, wish: export_formats.ExportOptions, password: str | None) -> None:
    use = USE_OF.get(wish.format)
    there = (*state(store), *sorted(consenting(store, project, use) if use else ()))
    number = remembered(there, counted_elsewhere, project, wish)
    if use is not None:
        out = remembered(there, left_out, project, use)
        text = _(
            "Excluded: {labels} labels of {annotators} annotators who have not consented. Annotators answer on My"
            " record."
        )
        st.caption(plain(text.format(labels=f"{out.labels:,}", annotators=f"{out.annotators:,}")))
    is_sheet = wish.format.startswith("datasheet")
    if not is_sheet:
        st.metric(_("Rows"), f"{number:,}", width=150)
    if password is None and wish.format not in export_formats.ARCHIVES:
        caption("First lines of the file:")
        limit = 10_000 if is_sheet else PREVIEW_ROWS
        shown = export_preview(store, project, wish, limit=limit)
        st.code(shown or " ", language=None, wrap_lines=is_sheet)
    elif password is not None:
        caption("An AES-256 archive, readable with 7-Zip, Keka and this app. Its contents are not shown here.")
    kind = f"{wish.format}-for-spreadsheets" if wish.spreadsheet else wish.format
    name = f"{project.name}-{kind}".replace("/", "-")
    inner = name + export_formats.ENDING[wish.format]

    def data() -> bytes:
        with open_store(project, "export_files") as fresh:
            content = made_elsewhere(fresh, project, wish, inner, password)
            digest, who = sha256(content).hexdigest(), visitor(fresh).name
            record_export(fresh, project, wish, digest, encrypted=password is not None, author=who)
            return content

    file = f"{name}.zip" if password is not None or wish.format in export_formats.ARCHIVES else inner
    download(_("Download"), data, file, key="export", type="primary")
    if wish.format == "label-studio" and password is None:
        config = write.labelling_config(project, guideline(store, project))
        text = _("Paste this into Label Studio under Settings, Labeling Interface, Code.")
        label = _("Labelling configuration (XML)")
        download(label, config, name + CONFIG, key="export-config", help=text, type="secondary")
