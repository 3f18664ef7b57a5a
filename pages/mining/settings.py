"""What a run of mining looks for: pairs, filters, cleaning; and two tries on the first 5 MB: the pairs, the filters."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import streamlit as st
from markupsafe import Markup

from evenhand.core.errors import EvenhandError
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.mining.filters import FILTERS, SCARCE, Filter
from evenhand.core.mining.pairs_check import SURNAME, PairReport, PairsCheck, WordReport, check_pairs
from evenhand.core.mining.report import Report
from evenhand.core.mining.run import mine
from evenhand.core.mining.settings import Settings
from evenhand.core.mining.types import LONGEST, SHORTEST, Mode
from evenhand.core.resources import keyword_pairs
from evenhand.core.types import KeywordPair, Side
from evenhand.pages.mining.report import show_candidates, show_examples, show_figures, show_problems, show_read
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import choose, switch
from evenhand.pages.ui.numbers import size
from evenhand.pages.ui.sentences import side_word
from evenhand.pages.ui.tables import Column, below, estimate_cell, joined, show_html, span, table
from evenhand.pages.ui.text import _, caption, in_brackets, paragraph, plain, series, show_signature
from evenhand.pages.ui.uploads import Source, choose_upload
from evenhand.pages.ui.visitor import errors_shown, show_error

AUTO = "auto"
ORDER: tuple[Mode, ...] = ("off", "flag", "reject")
PRESETS = ("table1", "released", "own")
PATTERN = "male\tfemale\tlanguage\n先生\t女士\tzh\n姐夫\t嫂子\tzh\nactor\tactress\ten\n"
Wish = dict[str, Any]
LINE = Markup('<hr style="margin:0;border:0;border-top:1px solid color-mix(in srgb,currentColor 14%,transparent)">')


def mode_name(mode: str) -> str:
    """Return in words what a filter does."""
    return {"off": _("off"), "flag": _("flag"), "reject": _("reject"), AUTO: _("by pair")}[mode]


def preset_name(preset: str) -> str:
    """Return a list of pairs in words."""
    return {
        "table1": _("Table 1: {number} pairs", number=len(keyword_pairs("table1"))),
        "released": _("Released file: {number} pairs", number=len(keyword_pairs("released"))),
        "own": _("My own pairs"),
    }[preset]


def ask_pairs() -> tuple[KeywordPair, ...]:
    """Ask for the pairs to look for; empty while an own list is missing or wrong."""
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
    """Return the mode of each filter, and the modes of single pairs where they differ."""
    modes: dict[str, Mode] = {}
    caption(
        "Reject drops a sentence. Flag keeps it, last in the queue; only leads see the flag. Filters"
        " run in this order, and a sentence is counted at the first one it fails."
    )
    with st.container(border=True, key="filters"):
        for number, filter_ in enumerate(FILTERS.values()):
            if number:
                show_html(LINE)
            mode = _ask_filter(filter_)
            if mode not in (AUTO, filter_.default) or (mode == filter_.default != filter_.rare):
                modes[filter_.code] = cast(Mode, mode)
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
    """Return the pixels that a column head needs to show a name whole. A Chinese character is as wide as two
    letters."""
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
    for code, filter_ in FILTERS.items():
        name = _(filter_.name)
        columns[code] = st.column_config.SelectboxColumn(name, options=list(words), width=_column_width(name))
    key = f"pair_modes-{hash(tuple(pair.name for pair in pairs))}"
    edited = st.data_editor(frame, key=key, column_config=columns, hide_index=True, placeholder="")
    result: dict[tuple[str, str], Mode] = {}
    for row in edited.to_dict("records"):
        for code in FILTERS:
            if (mode := words.get(str(row[code]))) is not None:
                result[str(row[_("Keyword pair")]), code] = mode
    return result


def ask_cleaning() -> Wish:
    """Ask for the settings of cleaning: quotation marks, conversion, text column, sentence length."""
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
                    "The keywords are in simplified characters; the original sentence is stored with"
                    " the converted sentence."
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
    """Ask for all settings that can change a candidate; return None while pairs are missing or invalid."""
    st.header(_("Keyword pairs to search for"), anchor=False)
    pairs = ask_pairs()
    if not pairs:
        return None
    st.header(_("Filters"), anchor=False)
    modes, pair_modes = ask_modes(pairs)
    cleaning = ask_cleaning()
    with errors_shown():
        return Settings(pairs, modes, pair_modes, **cleaning)
    return None


def settings_file(folder: Path, settings: Settings) -> Path:
    """Write the settings where a job reads them."""
    import json

    path = folder / "settings.json"
    path.write_text(json.dumps(settings.to_json(), ensure_ascii=False, indent=1), encoding="utf-8")
    return path


LIMIT = 5_000_000  # bytes of a text that is tried at once
COMPOUNDS = 4  # compounds of a word on each side


def verdict_name(verdict: str) -> str:
    """Return the verdict in a word or two."""
    return {
        "symmetric": _("similar usage"),
        "asymmetric": _("different usage"),
        "doubtful": _("somewhat different usage"),
        "rare": _("too rare to assess"),
        "absent": _("does not occur"),
    }[verdict]


@st.cache_data(max_entries=4, show_spinner=False)
def _checked(key: tuple[Any, ...], _paths: tuple[str, ...], _pairs: tuple[KeywordPair, ...]) -> PairsCheck:
    return check_pairs(_paths, _pairs, limit_bytes=LIMIT)


def show_pairs_check(source: Source, pairs: tuple[KeywordPair, ...]) -> None:
    """Show how both words of each pair are used, with a verdict.

    Each word comes with its frequency, its most frequent compounds and how often the other word takes them.
    """
    with st.expander(_("Are both words of a pair used in the same way?"), icon=":material/compare_arrows:"):
        caption(
            "Where the neighbouring words predict which word of the pair occurs, a preference"
            " reflects usage more than gender: 王女士 is common, 王男士 is not, so the papers excluded"
            " 男士/女士."
        )
        if not st.toggle(_("Check the first 5 MB"), key="checking"):
            return
        with st.spinner(_("Comparing the words in {size} …").format(size=size(min(LIMIT, source.bytes)))):
            found = _checked((source.key, pairs), source.paths, pairs)
        columns = (Column(_("Keyword pair"), "short"), _("Verdict"), _("Male word"), _("Female word"))
        show_html(table([*columns, Column(_("Separability"), "number")], map(_row, found.pairs)))
        caption(
            "Separability: how well the neighbouring words predict which word of the pair occurs;"
            " 0.5: not at all, 1: always. In brackets: how often the other word occurs in the same"
            " compound."
        )
        show_signature(found.signature)


def _row(pair_report: PairReport) -> tuple[str | Markup, ...]:
    tone = {"symmetric": " good", "asymmetric": " bad"}.get(pair_report.verdict, "")
    verdict = joined([span(verdict_name(pair_report.verdict), f"strong{tone}"), below(_(pair_report.why))])
    words = (_word(pair_report.male, "male"), _word(pair_report.female, "female"))
    return (pair_report.pair.name, verdict, *words, estimate_cell(pair_report.asymmetry))


def _word(word: WordReport, side: Side) -> Markup:
    compounds = [*word.left[:COMPOUNDS], *word.right[:COMPOUNDS]]
    listed = "、".join(
        in_brackets(f"{_named(compound.text)} {compound.count:,}", f"{compound.swapped_count:,}")
        for compound in compounds
    )
    return joined([span(word.word, f"side {side}", side_word(side)), f" {word.count:,}", below(listed)])


def _named(compound: str) -> str:
    """Return a compound; where any surname can be in it, the word for that is in the visitor's language."""
    return compound.replace(SURNAME, "⟨" + _("surname") + "⟩")


TRIED = 60  # candidates of each word that are kept for a look


@dataclass(frozen=True, slots=True)
class Trial:
    """What a dry run found: the report and the first candidates of every word."""

    report: Report
    candidates: tuple[dict[str, Any], ...]


@st.cache_data(max_entries=6, show_spinner=False)
def _tried(key: tuple[Any, ...], _paths: tuple[str, ...], _settings: Settings) -> Trial:
    kept: dict[str, list[dict[str, Any]]] = {}

    def keep(line: dict[str, Any]) -> None:
        some = kept.setdefault(line["pair"] + line["keyword"], [])
        if len(some) < TRIED:
            some.append(line)

    report = mine(_paths, _settings, on_candidate=keep, limit_bytes=LIMIT)
    return Trial(report, tuple(entry for some in kept.values() for entry in some))


def try_out(source: Source, settings: Settings) -> Trial:
    """Return the dry run of these settings over that source; computed again only where one of them changed."""
    with st.spinner(_("Trying out the first {size} …").format(size=size(min(LIMIT, source.bytes)))):
        return _tried((source.key, settings.signature, settings.seed), source.paths, settings)


def show_trial(trial: Trial) -> None:
    """Show what the dry run found: how much, the funnel, examples of each filter, candidates."""
    report = trial.report
    if not report.read.whole:
        caption("This is a trial run on the first {size} only; nothing is stored.", size=size(report.read.bytes))
    show_read(report)
    show_problems(report, key="trial")
    views = {"funnel": _("Figures"), "rejected": _("Filter results"), "kept": _("Candidates")}
    view = choose(_("View"), views, "trial_view", heading=False)
    if view == "rejected":
        show_examples(report, key="trial")
    elif view == "kept":
        show_candidates(trial.candidates, key="trial")
    else:
        show_figures(report, key="trial")
