"""The dry run: the first 5 MB through the filters, in seconds, before anything is started."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from evenhand.core.mining.report import Report
from evenhand.core.mining.run import mine
from evenhand.core.mining.settings import Settings
from evenhand.pages.mining.examples import show_candidates, show_examples
from evenhand.pages.mining.report import show_figures, show_problems, show_read
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.corpus import Source
from evenhand.pages.ui.numbers import size
from evenhand.pages.ui.text import _, caption

LIMIT = 5_000_000  # bytes
SHOWN = 60  # candidates of each word that are kept for a look


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
        if len(some) < SHOWN:
            some.append(line)

    report = mine(_paths, _settings, on_candidate=keep, limit_bytes=LIMIT)
    return Trial(report, tuple(one for some in kept.values() for one in some))


def try_out(source: Source, settings: Settings) -> Trial:
    """The dry run of these settings over that source; computed again only where one of them changed."""
    with st.spinner(_("Trying out the first {size} …").format(size=size(min(LIMIT, source.bytes)))):
        return _tried((source.key, settings.signature, settings.seed), source.paths, settings)


def show_trial(trial: Trial) -> None:
    """What the dry run found: how much, the funnel, examples of each filter, candidates."""
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
