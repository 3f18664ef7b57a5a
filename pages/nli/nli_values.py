"""What the page Inference shows of a run, worked out once and kept; and its words."""

from pathlib import Path

import streamlit as st

from core.models.catalogue import BUILTIN
from core.nli.measure import Inference
from core.runs.nli import measured_file
from pages.ui.language import _
from pages.ui.numbers import DASH


def label_names() -> dict[str, str]:
    """The three labels in the visitor's language."""
    return {"entailment": _("entailment"), "contradiction": _("contradiction"), "neutral": _("neutral")}


@st.cache_data(max_entries=12, show_spinner=False)
def _measured(path: str, changed: float) -> tuple[Inference, list[str], list[tuple[str, dict[str, object]]]]:
    found, read = measured_file([path])
    return found, read.signatures, [(error.message, error.values) for error in read.errors]


def measured(path: Path) -> tuple[Inference, list[str], list[tuple[str, dict[str, object]]]]:
    """The measures of a table, the signatures in it, and the lines that could not be used. Raises BadFile."""
    return _measured(str(path), path.stat().st_mtime)


def order_in_words(order: bool | None) -> str:
    """Whether the order condition holds."""
    return DASH if order is None else _("holds") if order else _("does not hold")


def trial_banner(model: str) -> None:
    """What stands above every number of a model that ships with the app, or that was planted."""
    if model in BUILTIN:
        text = _("Built-in models ({models}) are for trying the app, not for findings.").format(models=model)
        st.caption(":material/info: " + text)
    elif model.startswith("planted:"):
        text = _("A planted classifier: its answers are known, so the measures can be checked against them.")
        st.caption(":material/info: " + text)
