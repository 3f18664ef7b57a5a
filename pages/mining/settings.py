"""What a run looks for: the pairs, what each filter does, how text is cleaned."""

from pathlib import Path
from typing import Any, Literal, cast

import streamlit as st
from markupsafe import Markup

from evenhand.core.errors import EvenhandError
from evenhand.core.files.bounded import run_bounded
from evenhand.core.mining.filters import FILTERS, SCARCE, Filter
from evenhand.core.mining.settings import Settings
from evenhand.core.mining.types import LONGEST, SHORTEST, Mode
from evenhand.core.resources import keyword_pairs
from evenhand.core.types import KeywordPair
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, caption, paragraph, plain, series
from evenhand.pages.ui.uploads import choose_upload

AUTO = "auto"
ORDER: tuple[Mode, ...] = ("off", "flag", "reject")
PRESETS = ("table1", "released", "own")
PATTERN = "male\tfemale\tlanguage\n先生\t女士\tzh\n姐夫\t嫂子\tzh\nactor\tactress\ten\n"
Wish = dict[str, Any]
LINE = Markup('<hr style="margin:0;border:0;border-top:1px solid color-mix(in srgb,currentColor 14%,transparent)">')


def mode_name(mode: str) -> str:
    """What a filter does, in words."""
    return {"off": _("off"), "flag": _("flag"), "reject": _("reject"), AUTO: _("by pair")}[mode]


def preset_name(preset: str) -> str:
    """A list of pairs in words."""
    return {
        "table1": _("Table 1: {number} pairs", number=len(keyword_pairs("table1"))),
        "released": _("Released file: {number} pairs", number=len(keyword_pairs("released"))),
        "own": _("My own pairs"),
    }[preset]


def ask_pairs() -> tuple[KeywordPair, ...]:
    """The pairs to look for; empty while an own list is not there or wrong."""
    preset = st.segmented_control(
        _("Keyword pairs"),
        PRESETS,
        default="table1",
        required=True,
        key="pairs",
        format_func=preset_name,
        label_visibility="collapsed",
    )
    if preset == "own":
        return _own_pairs()
    pairs = keyword_pairs("released" if preset == "released" else "table1")
    _list(pairs)
    return pairs


def _list(pairs: tuple[KeywordPair, ...]) -> None:
    st.caption(plain("　".join(pair.name for pair in pairs)))


def _own_pairs() -> tuple[KeywordPair, ...]:
    from evenhand.core.mining.keyword_lists import read_pairs

    caption(
        "A TSV file: the first line names the columns male and female; then one pair per line."
        " Optional columns: male_stem, female_stem (the part that differs, as 0:1) and language. Any"
        " language works, with or without spaces."
    )
    download(_("Example file"), PATTERN.encode("utf-8-sig"), "pairs.tsv", key="pairs-pattern")
    try:
        path = choose_upload(_("Pairs (TSV)"), ["tsv", "txt"], key="own_pairs", heading=False)
        pairs: tuple[KeywordPair, ...] = () if path is None else run_bounded(read_pairs, path, file=path.name)
    except EvenhandError as error:
        show_error(error)
        return ()
    if pairs:
        _list(pairs)
    return pairs


def ask_modes(pairs: tuple[KeywordPair, ...]) -> tuple[dict[str, Mode], dict[tuple[str, str], Mode]]:
    """What each filter does, and where a pair differs."""
    modes: dict[str, Mode] = {}
    caption(
        "Reject drops a sentence. Flag keeps it, last in the queue; only leads see the flag. Filters"
        " run in this order, and a sentence is counted at the first one it fails."
    )
    with st.container(border=True, key="filters"):
        for number, one in enumerate(FILTERS.values()):
            if number:
                show_html(LINE)
            mode = _ask_filter(one)
            if mode not in (AUTO, one.default) or (mode == one.default != one.rare):
                modes[one.code] = cast(Mode, mode)
    with st.expander(_("Other modes for individual pairs")):
        return modes, _ask_pair_modes(pairs)


def _ask_filter(one: Filter) -> str:
    by_pair = one.rare != one.default
    explanation = _(one.explanation)
    if by_pair:
        by_pair_text = _("By pair: {mode}, but {rare} for rare pairs.")
        by_pair_text = by_pair_text.format(mode=mode_name(one.default), rare=mode_name(one.rare))
        explanation = paragraph((explanation, by_pair_text))
    text, choice = st.columns([3, 2], vertical_alignment="center", gap="small")
    text.markdown(f"**{plain(_(one.name))}**  \n:small[:gray[{plain(explanation)}]]")
    with choice:
        return str(
            st.segmented_control(
                _(one.name),
                (*ORDER, AUTO) if by_pair else ORDER,
                default=AUTO if by_pair else one.default,
                required=True,
                key=f"mode-{one.code}",
                format_func=mode_name,
                label_visibility="collapsed",
            )
        )


def _column_width(name: str) -> int:
    """Pixels in which a name stands whole as the head of a column; a Chinese character is as wide as two letters."""
    return 64 + sum(15 if ord(character) > 0x2E7F else 8 for character in name)


def _ask_pair_modes(pairs: tuple[KeywordPair, ...]) -> dict[tuple[str, str], Mode]:
    import pandas as pd

    rare = series(pair.name for pair in pairs if pair.name in SCARCE)
    text = _("Strict where sentences are plentiful, lenient where they are rare. An empty cell uses the setting above.")
    st.caption(paragraph([text, plain(_("Rare: {pairs}", pairs=rare))] if rare else [text]))
    frame = pd.DataFrame(
        {_("Keyword pair"): [pair.name for pair in pairs]} | {code: [None] * len(pairs) for code in FILTERS},
        dtype=object,
    )
    columns: dict[str, Any] = {_("Keyword pair"): st.column_config.TextColumn(disabled=True, pinned=True)}
    words = {mode_name(mode): mode for mode in ORDER}
    for code, one in FILTERS.items():
        name = _(one.name)
        columns[code] = st.column_config.SelectboxColumn(name, options=list(words), width=_column_width(name))
    key = f"pair_modes-{hash(tuple(pair.name for pair in pairs))}"
    edited = st.data_editor(frame, key=key, column_config=columns, hide_index=True, placeholder="")
    found: dict[tuple[str, str], Mode] = {}
    for row in edited.to_dict("records"):
        for code in FILTERS:
            if (mode := words.get(str(row[code]))) is not None:
                found[str(row[_("Keyword pair")]), code] = mode
    return found


def ask_cleaning() -> Wish:
    """Quotes, traditional characters, the column of tables, the length of a sentence."""
    with st.expander(_("Cleaning and length")):
        left, right = st.columns(2, gap="large")
        with left:
            quotes = st.radio(
                _("Unpaired quotation mark at the end of a sentence"),
                ("delete", "complete"),
                key="quotes",
                format_func=lambda how: _("Delete it") if how == "delete" else _("Complete it"),
            )
            converted = switch(
                _("Convert traditional to simplified characters"),
                key="convert",
                explained=_(
                    "The keywords are in simplified characters; the original sentence is stored with the converted one."
                ),
            )
        with right:
            column = st.text_input(
                _("Text column of tables"), key="column", help=_("Empty: the column with the longest texts.")
            )
            shortest, longest = st.slider(_("Sentence length in characters"), 1, 300, (SHORTEST, LONGEST), key="length")
    convert: Literal["t2s"] | None = "t2s" if converted else None
    return {
        "quotes": quotes,
        "convert": convert,
        "column": column.strip() or None,
        "shortest": shortest,
        "longest": longest,
    }


def ask_settings() -> Settings | None:
    """Everything that can change a candidate; None while the pairs are missing."""
    st.subheader(_("Keyword pairs to search for"), anchor=False)
    pairs = ask_pairs()
    if not pairs:
        return None
    st.subheader(_("Filters"), anchor=False)
    modes, pair_modes = ask_modes(pairs)
    cleaning = ask_cleaning()
    try:
        return Settings(pairs, modes, pair_modes, **cleaning)
    except EvenhandError as error:
        show_error(error)
        return None


def settings_file(folder: Path, settings: Settings) -> Path:
    """Write the settings where a job reads them."""
    import json

    path = folder / "settings.json"
    path.write_text(json.dumps(settings.to_json(), ensure_ascii=False, indent=1), encoding="utf-8")
    return path
