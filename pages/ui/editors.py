"""Tables to edit: choices and reasons of a guideline, a scheme of one's own, quotas of a project."""

from collections.abc import Hashable, Mapping
from dataclasses import asdict
from typing import Any, Literal

import pandas as pd
import streamlit as st

from evenhand.annotations.guideline.import_schemes import scheme_from_bytes
from evenhand.annotations.guideline.scheme import LONGEST_ABOUT, LONGEST_NAME, OwnScheme, as_data
from evenhand.annotations.types import Choice, Question, Scheme
from evenhand.core.errors import EvenhandError
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.resources import keyword_pairs, quotas
from evenhand.core.types import Side
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.text import _, caption, in_brackets, plain, warn
from evenhand.pages.ui.uploads import read_upload
from evenhand.pages.ui.visitor import show_error

Quotas = dict[tuple[str, str], int]  # keyword pair and side to accepted sentences wanted
PRINTED_TOTAL = (
    20_000  # below Table 1 of the conference paper, whose rows sum to 19,000 (docs/methods.md#keyword-pairs)
)


def edit_options(options: tuple[Choice, ...], *, key: str, fixed: bool = False) -> tuple[Choice, ...]:
    """Show choices or reasons as a table to edit, and return the edited ones.

    *fixed*: only the names can change, not the keys, the codes or the number of rows.
    """
    frame = pd.DataFrame(
        [{"key": option.key, "code": option.code, "zh": option.zh, "en": option.en} for option in options]
    )
    columns = {
        "key": st.column_config.TextColumn(_("Key"), max_chars=1, width="small", disabled=fixed),
        "code": st.column_config.TextColumn(_("Code"), max_chars=40, disabled=fixed),
        "zh": st.column_config.TextColumn("中文", width="medium"),
        "en": st.column_config.TextColumn("English", width="medium"),
    }
    edited = st.data_editor(
        frame, key=key, column_config=columns, hide_index=True, num_rows="fixed" if fixed else "dynamic"
    )
    rows = edited.fillna("").astype(str).to_dict("records")
    return tuple(
        Choice(row["code"].strip(), row["key"].strip(), row["zh"].strip(), row["en"].strip())
        for row in rows
        if any(value.strip() for value in row.values())
    )


SchemeName = Literal["built-in", "preference", "own"]


def scheme_name(scheme: Scheme | None) -> SchemeName:
    """Return the name under which *scheme* is among the choices; None is the built-in scheme."""
    return "built-in" if scheme is None else "preference" if scheme.compares else "own"


def choose_scheme(first: SchemeName, *, key: str) -> SchemeName:
    """Ask for the scheme of a project of generations; *first* is chosen at the start."""
    names: dict[SchemeName, str] = {
        "built-in": _("Built-in: four labels"), "preference": _("Preference: two texts"), "own": _("Custom scheme"),
    }  # fmt: skip
    return choose(_("Scheme"), names, key, first=first, heading=False)


def edit_scheme(begun: OwnScheme, *, key: str) -> OwnScheme:
    """Show a scheme as four tables to edit, without spans for comparisons. It is checked only when it is stored, so
    that a row may be half filled until then."""
    rows, pairs = as_data(begun), begun.more.compares
    if pairs:
        caption(
            "Each item has two texts. A label says which one is better: first or second, in the order of the file. The"
            " desk places them left and right at random for each annotator and item. If you remove the row tie,"
            " annotators must choose one."
        )
    caption(
        "Labels store the code. A key is one letter or digit; entries without a key are clicked. One of the two names"
        " is enough. Needs a span: the code of the kind that must be marked with this choice or flag."
    )
    st.markdown(_("**Choices**: each label has exactly one; the gold label is one of them."))
    result = {"choices": _scheme_table(rows["choices"], f"{key}-choices", needs=not pairs)}
    st.markdown(_("**Flags**: any number."))
    result["flags"] = _scheme_table(rows["flags"], f"{key}-flags", needs=not pairs)
    result["spans"] = []
    if not pairs:
        st.markdown(_("**Kinds of spans**: words that are marked in the text."))
        result["spans"] = _scheme_table(rows["spans"], f"{key}-spans", needs=False)
    st.markdown(_("**Questions**: a scale from one whole number to another, or, with both left empty, a text."))
    questions, told = _question_table(begun, f"{key}-questions")
    every = [row for part in result.values() for row in part]
    return OwnScheme(
        tuple(map(_option, result["choices"])),
        tuple(map(_option, result["flags"])),
        Scheme(
            tuple(map(_option, result["spans"])),
            tuple((row["code"], row["needs"]) for row in every if row.get("needs")),
            (*((row["code"], row["about"]) for row in every if row.get("about")), *(row for row in told if row[1])),
            questions,
            pairs,
        ),
    )


def _scheme_table(rows: list[dict[str, str]], key: str, *, needs: bool) -> list[dict[str, str]]:
    names = ("key", "code", "zh", "en", "about", *(("needs",) if needs else ()))
    frame = pd.DataFrame([{name: row.get(name, "") for name in names} for row in rows], columns=list(names), dtype=str)
    columns = {
        "key": st.column_config.TextColumn(_("Key"), max_chars=1, width="small"),
        "code": st.column_config.TextColumn(_("Code"), max_chars=40),
        "zh": st.column_config.TextColumn("中文", max_chars=LONGEST_NAME),
        "en": st.column_config.TextColumn("English", max_chars=LONGEST_NAME),
        "about": st.column_config.TextColumn(_("Description"), max_chars=LONGEST_ABOUT, width="medium"),
        "needs": st.column_config.TextColumn(_("Needs a span"), max_chars=40),
    }
    edited = st.data_editor(
        frame, key=key, column_config={name: columns[name] for name in names}, hide_index=True, num_rows="dynamic"
    )
    result = [
        {str(name): str(value).strip() for name, value in row.items()}
        for row in edited.fillna("").astype(str).to_dict("records")
    ]
    return [row for row in result if any(row.values())]


def _option(row: Mapping[str, str]) -> Choice:
    return Choice(row["code"], row["key"], row["zh"], row["en"])


def _question_table(begun: OwnScheme, key: str) -> tuple[tuple[Question, ...], list[tuple[str, str]]]:
    """Return the questions, and (code, description) of each that has one."""
    about = dict(begun.more.about)
    names = ("key", "code", "zh", "en", "low", "high", "required", "low_zh", "low_en", "high_zh", "high_en", "about")
    rows = [asdict(question) | {"about": about.get(question.code, "")} for question in begun.more.questions]
    frame = pd.DataFrame([{name: row[name] for name in names} for row in rows], columns=list(names))
    kinds = dict.fromkeys(("low", "high"), "Int64") | {"required": "boolean"}
    frame = frame.astype({name: kinds.get(name, "string") for name in names})
    ends = {"low": _("Lowest"), "high": _("Highest")}
    columns: dict[str, Any] = {
        "key": st.column_config.TextColumn(_("Key"), max_chars=1, width="small"),
        "code": st.column_config.TextColumn(_("Code"), max_chars=40),
        "zh": st.column_config.TextColumn("中文", max_chars=LONGEST_NAME),
        "en": st.column_config.TextColumn("English", max_chars=LONGEST_NAME),
        "about": st.column_config.TextColumn(_("Description"), max_chars=LONGEST_ABOUT),
        "required": st.column_config.CheckboxColumn(_("Required"), default=False),
    }
    for end, name in ends.items():
        columns[end] = st.column_config.NumberColumn(name, min_value=0, max_value=100, step=1, width="small")
        columns |= {f"{end}_{tag}": st.column_config.TextColumn(in_brackets(name, word), max_chars=LONGEST_NAME)
                    for tag, word in (("zh", "中文"), ("en", "English"))}  # fmt: skip
    edited = st.data_editor(frame, key=key, column_config=columns, hide_index=True, num_rows="dynamic")
    result = [
        row for row in edited.to_dict("records") if any(pd.notna(row[name]) and row[name] != "" for name in names[:6])
    ]
    return tuple(_question(row) for row in result), [(_word(row["code"]), _word(row["about"])) for row in result]


def _question(row: Mapping[Hashable, Any]) -> Question:
    words = {name: _word(row[name]) for name in ("code", "key", "zh", "en", "low_zh", "low_en", "high_zh", "high_en")}
    low, high = (None if pd.isna(row[end]) else int(row[end]) for end in ("low", "high"))
    return Question(**words, low=low, high=high, required=bool(pd.notna(row["required"]) and row["required"]))


def _word(value: Any) -> str:
    return "" if pd.isna(value) else str(value).strip()


def scheme_from_file(*, key: str) -> OwnScheme | None:
    """Return a scheme from a file of the visitor; None where there is none, or where it cannot be read, which is
    said."""
    try:
        sent = read_upload(
            _("Scheme from a file (JSON, TOML, YAML), a Label Studio configuration (XML) or Potato's (YAML)"),
            ["json", "toml", "yaml", "yml", "xml"], key=key,
        )  # fmt: skip
        if sent is None:
            return None
        other_scheme = run_bounded(scheme_from_bytes, sent[1], sent[0], file=sent[0])
    except EvenhandError as error:
        show_error(error)
        return None
    if other_scheme.left_out:
        st.warning(
            "\n".join(f"- {plain(_(notice.message).format(**notice.values))}" for notice in other_scheme.left_out)
        )
    return other_scheme.scheme


def edit_quotas(wanted: Quotas, *, key: str) -> Quotas:
    """Show quotas per keyword pair and side as a table to edit. An empty cell means no quota."""
    pairs = [pair.name for pair in keyword_pairs()]
    pairs += [pair for pair, _side in wanted if pair not in pairs]
    sides: tuple[Side, ...] = ("male", "female")
    frame = pd.DataFrame(
        {"pair": dict.fromkeys(pairs)} | {side: {pair: wanted.get((pair, side)) for pair in pairs} for side in sides}
    )
    frame["pair"] = frame.index
    frame = frame.astype({"male": "Int64", "female": "Int64"})
    columns = {
        "pair": st.column_config.TextColumn(_("Keyword pair"), disabled=True),
        "male": st.column_config.NumberColumn(_("Male word"), min_value=0, step=1),
        "female": st.column_config.NumberColumn(_("Female word"), min_value=0, step=1),
    }
    edited = st.data_editor(frame, key=key, column_config=columns, hide_index=True, height=320)
    return {
        (str(row["pair"]), side): int(row[side])
        for row in edited.to_dict("records")
        for side in sides
        if pd.notna(row[side])
    }


def preset_names() -> dict[str, str]:
    """Return the presets of quotas in words."""
    return {"none": _("No quotas"), "table1": _("Table 1 of the paper"), "released": _("As in the released file")}


def ask_quotas(presets: Mapping[str, str], key: str, *, table: str = "", heading: bool = True) -> Quotas:
    """Return the quotas of one of *presets* as they were edited; *table*: how the key of the table begins."""
    preset = choose(_("Quotas"), presets, key, heading=heading)
    if preset == "none":
        caption("All sentences are handed out, alternating between pairs and sides.")
        return {}
    wanted = edit_quotas(quotas("table1" if preset == "table1" else "released"), key=f"{table or key}-{preset}")
    say_total(wanted, preset)
    return wanted


def say_total(wanted: Quotas, preset: str | None = None) -> None:
    """Show the sum of quotas; for Table 1 also that another one is printed below it."""
    total = sum(wanted.values())
    caption("Total: {total} accepted sentences.", total=f"{total:,}")
    if preset == "table1" and wanted == quotas("table1"):
        warn(
            "The rows of Table 1 sum to {total}; the printed total is {printed}.",
            total=f"{total:,}",
            printed=f"{PRINTED_TOTAL:,}",
        )
