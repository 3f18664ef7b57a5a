"""Tables to edit: choices and reasons of a guideline, quotas of a project."""

import pandas as pd
import streamlit as st

from annotations.types import Choice
from core.resources import keyword_pairs, quotas
from core.types import Side
from pages.ui.language import _

Quotas = dict[tuple[str, str], int]  # keyword pair and side to accepted sentences wanted
PRINTED_TOTAL = 20_000  # below Table 1 of the conference paper, whose rows sum to 19,000 (SPEC 1.1)


def edit_options(options: tuple[Choice, ...], *, key: str, fixed: bool = False) -> tuple[Choice, ...]:
    """Choices or reasons as a table to edit; `fixed`: only the words can change, not what there is to choose."""
    frame = pd.DataFrame([{"key": one.key, "code": one.code, "zh": one.zh, "en": one.en} for one in options])
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


def edit_quotas(wanted: Quotas, *, key: str) -> Quotas:
    """Quotas per keyword pair and side as a table to edit; an empty cell is no quota."""
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


def say_total(wanted: Quotas, preset: str | None = None) -> None:
    """The sum of quotas; for Table 1 also that another one is printed below it."""
    total = sum(wanted.values())
    st.caption(_("Sum: {total} accepted sentences.").format(total=f"{total:,}"))
    if preset == "table1" and wanted == quotas("table1"):
        st.warning(
            _("The rows of Table 1 add up to {total}; the printed total is {printed}.").format(
                total=f"{total:,}", printed=f"{PRINTED_TOTAL:,}"
            )
        )
