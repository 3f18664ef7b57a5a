"""The generations over which people and the rule differ: sorted into bins, each with what everybody said of it."""

import html
from collections.abc import Sequence

import streamlit as st

from annotations.agreement.disagreements import shown_to
from annotations.database.store import Store
from annotations.projects.projects import guidelines
from annotations.text_policy import CANARY, CANARY_KEY, needs_canary, text_may_leave, without_text
from annotations.types import Annotator, Project
from core.charts.style import Palette, palette
from core.human_vs_rule.compare import Difference, Said
from core.human_vs_rule.schemes import NAMES, binary
from core.human_vs_rule.why_they_differ import BINS, MEANT
from pages.agreement.disagreements import open_desk
from pages.human_vs_rule.source import Shown
from pages.misgendering.published import setting_name
from pages.ui.charts import csv_bytes
from pages.ui.head import open_store
from pages.ui.language import _
from pages.ui.sentences import choice_name
from pages.ui.text import plain, series

PAGE = 10
VERDICTS = ("misgendering", "correct")
ORDERS = ("imported", "bin", "model", "pronoun")


def differences(store: Store, project: Project, found: Shown) -> None:
    """The list with its bins, its order and its download."""
    reader = open_desk(store, project)
    listed = [one for one in found.differences if reader is None or _labelled(one, reader)]
    if reader is not None:
        text = _("Your desk as {name} is open: only texts you have labelled are listed, so that labels stay blind.")
        st.caption(plain(text.format(name=reader.name)))
    if not listed:
        st.info(_("People and rule say the same of every finished generation here."), icon=":material/check:")
        return
    chosen = _sorted(_filtered(listed))
    pages = -(-len(chosen) // PAGE)
    if st.session_state.get("difference-page", 1) > max(1, pages):
        st.session_state["difference-page"] = 1
    start = PAGE * (st.session_state.get("difference-page", 1) - 1)
    shown = chosen[start : start + PAGE]
    if reader is not None:
        shown_to(store, reader, shown)
    names = _names(store, project)
    for one in shown:
        st.html(_card(one, names, palette(st.context.theme.type)))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(plain(_("{n:,} generations").format(n=len(chosen))))
        if pages > 1:
            st.pagination(pages, width=300, key="difference-page")
        st.download_button(
            _("Download all (CSV)"),
            lambda: _file(project, reader, chosen, found.signature),
            "human-vs-rule.csv",
            "text/csv",
            key="differences-csv",
            on_click="ignore",
        )
    if not text_may_leave(project):
        st.caption(_("The file holds ids and labels, not the texts: this project's texts leave encrypted only."))


def _labelled(one: Difference, reader: Annotator) -> bool:
    return any(said.annotator == reader.name for said in one.said)


def _filtered(listed: Sequence[Difference]) -> list[Difference]:
    counts = {name: sum(1 for one in listed if one.bin == name) for name in BINS}
    offered = [name for name, count in counts.items() if count]
    chosen = st.pills(
        _("Why they differ"),
        offered,
        format_func=lambda name: f"{_(BINS[name])} ({counts[name]})",
        selection_mode="multi",
        key="bins",
    )
    meant = "\n".join(f"- **{plain(_(BINS[name]))}**: {plain(_(MEANT[name]))}" for name in chosen or offered)
    st.caption(meant)
    return [one for one in listed if not chosen or one.bin in chosen]


def _sorted(listed: list[Difference]) -> list[Difference]:
    names = {"imported": _("as imported"), "bin": _("by bin"), "model": _("by model"), "pronoun": _("by pronouns")}
    order = st.selectbox(_("Order"), ORDERS, format_func=names.__getitem__, key="difference-order")
    if order == "bin":
        return sorted(listed, key=lambda one: list(BINS).index(one.bin))
    if order in ("model", "pronoun"):
        return sorted(listed, key=lambda one: str(getattr(one, order)))
    return listed


def _names(store: Store, project: Project) -> dict[str, str]:
    """Codes of choices and tags as the visitor reads them; the newest wording counts."""
    versions = guidelines(store, project)
    return {each.code: choice_name(each) for version in versions for each in (*version.choices, *version.reasons)}


def _file(project: Project, reader: Annotator | None, chosen: Sequence[Difference], signature: str) -> bytes:
    """The download; whoever has a desk open has then seen what others and the rule say of all of it."""
    if reader is not None:
        with open_store() as store:
            shown_to(store, reader, chosen)
    return csv_bytes(table(project, chosen, signature))


def table(project: Project, listed: Sequence[Difference], signature: str) -> list[dict[str, object]]:
    """The list for a file, a row per label; texts only where they may leave."""
    canary = {CANARY_KEY: CANARY} if needs_canary(project) and text_may_leave(project) else {}
    rows: list[dict[str, object]] = []
    for one in listed:
        place = "" if one.rule.start is None else f"{one.rule.start}-{one.rule.end}"
        for said in one.said:
            row = {
                "item": one.item, "bin": one.bin, "model": one.model, "pronoun": one.pronoun, "dataset": one.dataset,
                "setting": one.setting, "annotator": said.annotator, "choice": said.choice,
                "extraneous": said.extraneous, "spans": [list(mark) for mark in said.marks],
                "reasons": ";".join(said.reasons), "rule_correct": one.rule.correct,
                "rule_pronoun": one.rule.pronoun, "rule_span": place, "context": one.context, "completion": one.text,
                "note": said.note, "signature": signature, **canary,
            }  # fmt: skip
            rows.append(without_text(project, row, "context", "completion", "note"))
    return rows


def _dataset(one: Difference) -> str:
    return "" if one.dataset == "own" else one.dataset.upper()


def _card(one: Difference, names: dict[str, str], colours: Palette) -> str:
    about = " · ".join(
        part for part in (one.model, one.name, one.pronoun, setting_name(one.setting), _dataset(one)) if part
    )
    verdict = _(NAMES[VERDICTS[one.rule.correct or 0]])
    reason = (
        _("first pronoun: {form}").format(form=one.rule.pronoun)
        if one.rule.pronoun
        else _("no pronoun that is counted")
    )
    rule = _box(verdict, bool(one.rule.correct), _("the rule"), html.escape(reason), colours)
    people = rule + "".join(_judgement(said, names, colours) for said in one.said)
    return (
        f'<article data-item="{html.escape(one.item)}" style="border:1px solid {colours.line};border-radius:12px;'
        f'padding:14px 18px;background:{colours.card};color:{colours.ink}">'
        f'<div style="display:flex;flex-wrap:wrap;gap:4px 14px;font-size:.82rem;color:{colours.soft};'
        f'overflow-wrap:anywhere"><b style="color:{colours.ink}">{html.escape(_(BINS[one.bin]))}</b>'
        f"<span>{html.escape(about)}</span></div>"
        f'<div style="color:{colours.soft};margin-top:8px;white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{html.escape(one.context)}</div>"
        f'<div style="font-size:1.08rem;line-height:1.9;white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{marked(one, colours)}</div>"
        f'<div style="display:flex;flex-wrap:wrap;gap:10px;margin-top:10px">'
        f"{people}</div></article>"
    )


def marked(one: Difference, colours: Palette) -> str:
    """The text as HTML: the rule's pronoun boxed, what people marked underlined; nothing else of it is HTML."""
    start, end = one.rule.start or 0, one.rule.end or 0
    wrong = {i for said in one.said for a, b, kind in said.marks if kind == "pronoun" for i in range(a, b)}
    gendered = {i for said in one.said for a, b, kind in said.marks if kind == "extraneous" for i in range(a, b)}
    parts: list[tuple[str, str]] = []
    for i, sign in enumerate(one.text):
        style = f"outline:1.5px solid {colours.soft};outline-offset:1px;border-radius:3px;" if start <= i < end else ""
        if i in wrong:
            style += f"border-bottom:3px solid {colours.bad};font-weight:700;"
        elif i in gendered:
            style += f"border-bottom:3px dotted {colours.neutral};"
        if parts and parts[-1][0] == style:
            parts[-1] = (style, parts[-1][1] + sign)
        else:
            parts.append((style, sign))
    return "".join(f'<span style="{s}">{html.escape(t)}</span>' if s else html.escape(t) for s, t in parts)


def _judgement(said: Said, names: dict[str, str], colours: Palette) -> str:
    more = [names.get(code, code) for code in said.reasons] + ([_("Flagged")] if said.extraneous else [])
    listed = series(html.escape(part) for part in more)
    note = f'<div style="white-space:pre-wrap">{html.escape(said.note)}</div>' if said.note else ""
    name = names.get(said.choice) or _(NAMES[said.choice])
    return _box(name, binary(said.choice) == 1, said.annotator, f"{listed}{note}", colours)


def _box(name: str, right: bool, who: str, more: str, colours: Palette) -> str:
    """Who says what; *more* is HTML that has been escaped."""
    colour, sign = (colours.good, "✓") if right else (colours.bad, "✕")
    return (
        f'<div style="flex:1 1 150px;border-left:3px solid {colour};padding:2px 0 2px 10px;font-size:.9rem">'
        f'<div style="color:{colours.soft};overflow-wrap:anywhere">{html.escape(who)}</div>'
        f'<div style="color:{colour};font-weight:700">{sign} {html.escape(name)}</div>'
        f'<div style="color:{colours.soft}">{more}</div></div>'
    )
