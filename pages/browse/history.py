"""The history of an item on the page Browse: one line per entry, oldest first."""

from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.browse.history import Entry, ItemRecord
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Annotator, Kind, Project
from evenhand.pages.browse.filters import form_name, status_name
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.sentences import choice_sign
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _, named, plain, series, warn

CHOSEN = ("label", "again", "settlement", "known", "gold")  # entries that hold a choice


def show_history(
    store: Store, project: Project, found: ItemRecord, reader: Annotator | None, names: dict[str, str]
) -> None:
    """The entries; while labels are missing, those that reveal a choice are behind a button."""
    st.subheader(_("History"), anchor=False)
    entries = list(found.history)
    if reader is None and not found.finished:
        entries = _unfinished(found, entries)
    for name, state in found.held:
        st.caption(plain(_held(state).format(name=name)), width="stretch")
    threads = {one.uid: one.name for one in annotators(store, project, active=False)}
    show_html(joined(_line(one, found, names, threads) for one in entries))
    rows = [_row(one, project, names, threads) for one in entries]
    downloads(rows, key=f"history-{found.row.item.uid[:8]}")


def _held(state: str) -> str:
    if state == "sent_back":
        return _("Awaiting relabelling by {name}.")
    return _("This item is on {name}'s desk now.")


def _unfinished(found: ItemRecord, entries: list[Entry]) -> list[Entry]:
    telling = [one for one in entries if one.tells]
    if not telling:
        return entries
    warn(
        "This item is still awaiting labels. If you label in this project, do not look at the labels of others.",
        icon=":material/visibility_off:",
    )
    key = f"unfinished-{found.row.item.uid}"
    text = _("Show the labels so far ({n})", n=len(telling))
    if not st.toggle(text, key=key):
        return [one for one in entries if not one.tells]
    return entries


def _line(one: Entry, found: ItemRecord, names: dict[str, str], threads: dict[str, str]) -> Markup:
    chosen = str(one.data.get("choice")) if one.kind in CHOSEN else ""
    sign, tone = choice_sign(chosen)
    kind: Kind = "generations" if found.row.item.word is None else "sentences"
    replaced = one.kind == "label" and not one.data["stands"]
    notes = (element("div", note, "soft verbatim") for note in _notes(one, found, names))
    what = element("div", joined([entry_text(one, names, threads, kind), *notes]), "what soft" if replaced else "what")
    when = element("time", moment(one.when), "small nowrap")
    return element("div", joined([span(sign, f"strong {tone or 'soft'}"), what, when]), "entry")


def entry_text(one: Entry, names: dict[str, str], threads: dict[str, str], kind: Kind) -> str:
    """An entry as one sentence."""
    data = one.data
    who = one.who or _("somebody")
    choice = names.get(str(data.get("choice")), str(data.get("choice")))
    if one.kind == "label":
        return _label(data, who, choice)
    if one.kind == "again":
        text = _("{who}, retest: {choice}") if data["choice"] else _("{who} undid the retest label")
        return text.format(who=who, choice=choice)
    if one.kind == "gold":
        return _gold_label(data, choice)
    if one.kind == "settlement":
        texts = {
            "decide": _("{who} decided: {choice}"),
            "leave": _("{who} confirmed the labels"),
            "reopen": _("{who} reopened the case"),
        }
        return texts[data["action"]].format(who=who, choice=choice)
    if one.kind == "comment":
        if data["thread"]:
            return _("{who}, in the thread with {name}:", who=who, name=threads.get(data["thread"], "?"))
        return _("{who}, to everybody:", who=who)
    return _other(one, who, choice, kind)


def _gold_label(data: dict[str, Any], choice: str) -> str:
    if not data["holds"]:
        return _("Gold label of {file} removed by undoing the import", file=data["package"])
    if data["choice"] is None:
        return _("No gold label in {file}", file=data["package"])
    return _("Gold label from {file}, without its single labels: {choice}", file=data["package"], choice=choice)


def _label(data: dict[str, Any], who: str, choice: str) -> str:
    if data["choice"] is None:
        return _("{who} undid the label", who=who)
    text = _("{who}: {choice}", who=who, choice=choice)
    if data["superseded"]:
        text += " · " + _("another desk was first")
    elif not data["stands"]:
        text += " · " + _("replaced later")
    if data["after_reveal"]:
        text += " · " + _("after seeing others' opinions")
    return text


def _other(one: Entry, who: str, choice: str, kind: Kind) -> str:
    data = one.data
    if one.kind == "imported":
        return _("Imported from {file}", file=data["file"])
    if one.kind == "guideline":
        return _("Guideline v{version}", version=data["version"])
    if one.kind == "skip":
        return _("{who} skipped the item", who=who)
    if one.kind == "revealed":
        return _("{who} saw an opinion of others or of a model", who=who)
    if one.kind == "known":
        if data["choice"] is None:
            return _("{who} removed the known answer", who=who)
        return _("{who} set a known answer: {choice}", who=who, choice=choice)
    if one.kind == "released":
        return _("In release {version}: {status}", version=data["version"], status=status_name(data["status"], kind))
    return f"{action_name(data['action'])} · {who}"


def action_name(action: str) -> str:
    """An act of the lead in words."""
    names = {
        "sent_back": _("Labels sent back for relabelling"),
        "handed_out": _("Handed out again"),
        "hidden_gold": _("Known answers set"),
        "replaced": _("Annotator replaced"),
        "deactivated": _("Annotator left"),
        "renamed": _("Annotator renamed"),
        "given_back": _("Items returned"),
        "labels_withdrawn": _("Labels withdrawn by their annotator"),
        "study_made": _("Study created"),
        "study_consent": _("Consent form of a study changed"),
        "study_closed": _("Study closed"),
        "study_reopened": _("Study reopened"),
        "mined": _("Mined candidates imported"),
        "import_undone": _("Import undone"),
        "labels_undone": _("Imported labels removed by undoing an import"),
        "new_version": _("New version of the guideline"),
        "read_changes": _("Guideline changes read"),
        "pilot_started": _("Pilot started"),
        "sample_started": _("Sample drawn"),
        "sample_closed": _("Sample closed"),
        "pilot_closed": _("Pilot closed"),
        "plan": _("Labelling plan changed"),
        "settings": _("Settings changed"),
        "settling": _("Items are being recounted"),
        "settled": _("Items have been recounted"),
        "gold_corrected": _("Gold labels corrected"),
        "preregistered": _("Pre-registration added"),
        "follow_up_drawn": _("Follow-up sample drawn"),
        "lead_labels": _("Lead chose whether to label"),
        "release": _("Release created"),
        "exported": _("File exported"),
    }
    return names.get(action, action.replace("_", " "))


def _notes(one: Entry, found: ItemRecord, names: dict[str, str]) -> list[str]:
    """The line under the sentence: reasons, marks, notes, how it was labelled."""
    data = one.data
    if one.kind in ("label", "again"):
        return _label_notes(data, found, names)
    if one.kind == "settlement":
        return [note for note in (series(names.get(code, code) for code in data["reasons"]), data["why"]) if note]
    if one.kind == "event":
        return [series(named(name, value) for name, value in data["data"].items())] if data["data"] else []
    keys = {"comment": "text", "known": "why", "guideline": "changes"}
    return [note] if (note := data.get(keys.get(one.kind, ""), "")) else []


def _label_notes(data: dict[str, Any], found: ItemRecord, names: dict[str, str]) -> list[str]:
    if data["choice"] is None:
        return []
    kinds = {"pronoun": _("wrong pronoun"), "extraneous": _("gendered word")}
    lines = [series(names.get(code, code) for code in data["reasons"])]
    lines.append(
        series(
            named(names.get(kind) or kinds.get(kind, kind), found.row.item.text[a:b]) for a, b, kind in data["spans"]
        )
    )
    lines.append(_("extraneous gendered language") if data["extraneous"] else "")
    lines.append(_("tags: {tags}", tags=series(data["tags"])) if data["tags"] else "")
    lines.append(data["note"])
    how = [f"v{data['guideline']}", *([form_name(data["form"])] if data["form"] else [])]
    if data["seconds"] is not None:
        how.append(_("{seconds} s", seconds=f"{data['seconds']:.1f}"))
    if data["file"]:
        how.append(_("from {file}", file=data["file"]))
    return [line for line in (*lines, " · ".join(how)) if line]


def _row(one: Entry, project: Project, names: dict[str, str], threads: dict[str, str]) -> dict[str, Any]:
    data = one.data
    quotes = text_may_leave(project)  # notes and comments may quote the text
    note = str(data.get("note") or data.get("why") or data.get("text") or data.get("changes") or "")
    return {
        "when": one.when,
        "kind": one.kind,
        "who": one.who,
        "what": entry_text(one, names, threads, project.kind),
        "choice": data.get("choice") or "",
        "reasons": ";".join(data.get("reasons", ())),
        "note": note if quotes else "",
        "guideline": data.get("guideline", ""),
        "form": data.get("form", ""),
        "seconds": data.get("seconds"),
    }
