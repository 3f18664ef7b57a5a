"""The lists on the page Browse, twenty items per page, and the log of the project; both as files."""

import csv
import io
import json
import zlib

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.browse.search import PAGE, Filters, SearchRow, rows, search_ids, search_words
from evenhand.annotations.database.events import Event, events
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.gold import generation_status
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary, text_may_leave
from evenhand.annotations.types import Project
from evenhand.core.files.csv_out import neutralised
from evenhand.core.types import TableRow
from evenhand.pages.browse.filters import LONGEST, found_in, marked, marks, state_name, veiled
from evenhand.pages.browse.item import action_name, open_item
from evenhand.pages.ui.charts import csv_bytes, download, foot
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.results import show_try_link
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, inform, named, plain, series
from evenhand.pages.ui.visitor import open_store, page_link

MOST = 100_000  # lines of a file
COLUMNS = (
    "id", "pair", "side", "status", "gold", "labels", "wanted", "marks", "context", "text", "keyword", "counterpart",
    "file", "line", "flags",
)  # fmt: skip
KEPT_FROM_READERS = ("status", "gold", "labels", "wanted", "marks")
SHOWN = 50


def show_list(store: Store, project: Project, filters: Filters) -> None:
    """Show one page of the list with its number of items, the pages and the download."""
    ids = search_ids(store, project, filters)
    if not ids:
        _nothing(filters)
        return
    pages = -(-len(ids) // PAGE)
    key, at = _page(project, filters, pages)
    st.caption(plain(_("Items found: {n}", n=f"{len(ids):,}")), width="stretch")
    words = search_words(filters.text)
    for row in rows(store, ids[PAGE * (at - 1) : PAGE * at]):
        with st.container(horizontal=True, vertical_alignment="center", key=f"row-{row.item.uid}", wrap=False):
            show_html(_row(row, project, filters, words))
            st.button(
                _("Open"), key=f"open-{row.item.uid}", type="tertiary", icon=":material/chevron_right:",
                on_click=open_item, args=(row.item.uid,), help=_("All details"),
            )  # fmt: skip
            show_try_link(project, row.item.text)
    with foot():
        if pages > 1:
            st.pagination(pages, width=330, default=at, key=key)
        download(
            _("Download the list (CSV)"),
            lambda: table(project, filters),
            "items.csv",
            key="browse-csv",
            help=_("The first {most} items.", most=f"{MOST:,}") if len(ids) > MOST else None,
        )
        if len(words) == 1:
            where = {"word": words[0]}
            label = _("Concordance of {word}", word=words[0])
            page_link(
                "concordance/page.py", label=plain(label), icon=":material/format_align_center:", query_params=where
            )


def _page(project: Project, filters: Filters, pages: int) -> tuple[str, int]:
    """Return the widget key of the pages and the open page: that of the address, unless the filters changed."""
    key = f"browse-page-{zlib.crc32(repr((project.uid, filters)).encode())}-{pages}"
    asked = st.query_params.get("page", "1") if st.session_state.get("browse-list") in (None, key) else "1"
    st.session_state["browse-list"] = key
    at = min(max(1, st.session_state.get(key) or (int(asked) if asked.isdecimal() else 1)), pages)
    if at > 1:
        st.query_params["page"] = str(at)
    elif "page" in st.query_params:
        del st.query_params["page"]
    return key, at


def _nothing(filters: Filters) -> None:
    if filters == Filters(reader=filters.reader):
        text = _("There is nothing here yet. Import a file on the Projects page.")
        if filters.reader is not None:
            text = _("You have not labelled anything here yet.")
        st.info(text, icon=":material/inbox:")
        return
    inform("No items match. Remove a filter or search for fewer words.", icon=":material/search_off:")
    if filters.choice is not None and not filters.unfinished:
        caption(
            "Labels are searched only in fully labelled items; a switch under Labels and files includes the others."
        )


def _row(row: SearchRow, project: Project, filters: Filters, words: list[str]) -> Markup:
    item = row.item
    context = element("div", found_in(item.context, words), "soft clamped") if item.context else ""
    text = joined([context, element("div", marked(item, words, longest=LONGEST), "clamped")])
    shown = element("div", text, "veiled", tabindex="0") if veiled(project, item) else text
    return element("article", joined([shown, _about(row, project, filters)]), "found-item", data_item=item.uid)


def _about(row: SearchRow, project: Project, filters: Filters) -> Markup:
    item = row.item
    facts: list[str | Markup] = []
    if filters.reader is None:
        tone = {"accepted": "good", "rejected": "bad"}.get(item.status, "soft")
        facts = [span(state_name(row, project), f"strong {tone}")]
    facts += [item.pair] if item.pair else []
    if filters.reader is None:
        facts.append(_("labels: {labels} of {wanted}", labels=row.labels, wanted=row.wanted))
        facts += marks(row, project)
    return below(joined([*facts, f"{item.file} · {item.line:,}"], " · "))


def table(project: Project, filters: Filters) -> bytes:
    """Return the items as CSV in UTF-8 with a BOM; texts and context only where they may leave; no cell runs as a
    formula."""
    names = [name for name in COLUMNS if _leaves(project, filters, name)]
    canary = {CANARY_KEY: CANARY} if needs_canary(project) and text_may_leave(project) else {}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([*names, *canary])
    with open_store(project) as store, store.read():
        for row in rows(store, search_ids(store, project, filters)[:MOST]):
            values = _values(row)
            writer.writerow([neutralised(str(values[name])) for name in names] + list(canary.values()))
    return text.getvalue().encode("utf-8-sig")


def _leaves(project: Project, filters: Filters, name: str) -> bool:
    if filters.reader is not None and name in KEPT_FROM_READERS:
        return False
    if project.kind == "sentences" and name == "context":
        return False
    if project.kind == "generations" and name in ("side", "keyword", "counterpart"):
        return False
    return name not in ("text", "context") or text_may_leave(project)


def _values(row: SearchRow) -> dict[str, object]:
    item = row.item
    held = {
        "aside": row.aside, "split": row.split, "settled": row.settled, "pilot": row.pilot,
        "hidden gold": row.known is not None, "random share": row.shared,
    }  # fmt: skip
    flags = item.extra.get("flags")
    status = item.status if item.word else generation_status(item.status, row.split)
    return {
        "id": item.uid, "pair": item.pair, "side": item.side, "status": status, "gold": item.gold or "",
        "labels": row.labels, "wanted": row.wanted, "marks": ";".join(name for name, so in held.items() if so),
        "context": item.context or "", "text": item.text, "keyword": item.keyword or "",
        "counterpart": item.counterpart or "", "file": item.file, "line": item.line,
        "flags": ";".join(map(str, flags)) if isinstance(flags, list) else "",
    }  # fmt: skip


def show_log(store: Store, project: Project) -> None:
    """Show the last events of a project; all of them as a file."""
    found = events(store, project, last=SHOWN)
    if not found:
        return
    with st.expander(_("Log of this project"), icon=":material/history:"):
        names = {annotator.uid: annotator.name for annotator in annotators(store, project, active=False)}
        rows = [_event_row(event, names) for event in reversed(found)]
        st.dataframe(rows, hide_index=True, key="browse-log")
        with foot():
            text = _("The last {n}; the file contains all entries.") if len(found) == SHOWN else ""
            st.caption(plain(text.format(n=SHOWN)))
            download(_("Download all (CSV)"), lambda: log_table(project), "events.csv", key="browse-log-csv")


def _event_row(event: Event, names: dict[str, str]) -> TableRow:
    about = names.get(event.annotator or "", "")
    said = series(named(name, value) for name, value in event.data.items() if value not in (None, "", [], {}))
    return {
        _("When"): moment(event.created),
        _("What"): action_name(event.action),
        _("Who"): event.author or about,
        _("Details"): " · ".join(part for part in (about if event.author else "", said) if part),
    }


def log_table(project: Project) -> bytes:
    """Return all events as CSV, oldest first. Data that may quote a text follows the policy for texts."""
    with open_store(project) as store:
        result = events(store, project)
    quotes = text_may_leave(project)
    return csv_bytes(
        [
            {
                "created": event.created, "action": event.action, "author": event.author, "item": event.item or "",
                "annotator": event.annotator or "",
                "data": json.dumps(event.data, ensure_ascii=False, sort_keys=True) if quotes else "",
            }
            for event in result
        ]
    )  # fmt: skip
