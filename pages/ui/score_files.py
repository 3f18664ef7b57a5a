"""Files of scores, for the pages that read them: which there are, their rows, their models."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from evenhand.core.files.bounded import run_bounded
from evenhand.core.runs.records import Run, runs_folder, runs_in
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.runs import own_runs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """A score file as it was when the page looked: another time of change is another source.

    `sent`: a visitor uploaded it; no run of this server wrote it.
    """

    name: str
    path: str
    changed: int
    size: int
    sent: bool = False


def score_file(path: Path, name: str, *, sent: bool = False) -> ScoreFile:
    """The file at *path* as it is now. *sent*: as `ScoreFile` has it."""
    state = path.stat()
    return ScoreFile(name, str(path), state.st_mtime_ns, state.st_size, sent)


def score_runs() -> list[Run]:
    """The runs beside the database that the visitor may see, the newest first."""
    with open_store() as store:
        return own_runs(store, runs_in(runs_folder(store.path, "scores")))


@st.cache_data(max_entries=3, show_spinner=False)
def score_frame(file: ScoreFile) -> "pd.DataFrame":
    """The rows of a score file, checked, with the prior-corrected value beside each."""
    from evenhand.core.model_bias import prior_corrected, read_scores

    frame = run_bounded(read_scores, file.path, file=file.name) if file.sent else read_scores(file.path)
    return frame.assign(corrected_log10=prior_corrected(frame))


@st.cache_data(max_entries=3, show_spinner=False)
def models_scored(file: ScoreFile) -> list[str]:
    """The models of a file, in its order."""
    from evenhand.core.model_bias import models_of

    return models_of(score_frame(file))
