"""What a classifier answered: the score on its scale, what it is made of, every occupation, the paper beside."""

from pathlib import Path

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.core.errors import EvenhandError
from evenhand.core.nli.files import measured_file
from evenhand.core.nli.measure import Inference
from evenhand.core.runs.records import Run
from evenhand.pages.nli.numbers import model_banner, show_facts, show_shares
from evenhand.pages.nli.occupations import show_occupations
from evenhand.pages.nli.published import show_published, show_scale
from evenhand.pages.nli.start import NLI, inference_runs
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.runs import choose_run, download_table, finished_at, offer_deletion
from evenhand.pages.ui.text import _, inform, plain, sentence, show_signature, warn
from evenhand.pages.ui.uploads import choose_upload

SHOWN = 10


def show_results(store: Store) -> None:
    """Choose a run or a file of predictions; everything about it."""
    names = {"run": _("A run"), "file": _("Predictions from a file")}
    kind = choose(_("Source of answers"), names, "nli-source")
    try:
        found = _from_file() if kind == "file" else _from_run(store)
    except EvenhandError as error:
        show_error(error)
        found = None
    if found is None:
        show_published()
        return
    name, inference, asked_in = found
    show_facts(inference)
    show_scale([(name, inference["s"])])
    show_shares(inference)
    show_occupations(inference)
    show_published(inference, asked_in)


def _from_run(store: Store) -> tuple[str, Inference, str] | None:
    found = inference_runs(store)
    if not found:
        inform(
            "No classifier has been run yet. Choose Run a classifier above; the built-in one takes less than a minute."
        )
        return None
    run = choose_run(found, "nli-run")
    inference, _signatures, _errors = measured(run.table)
    _describe(run)
    model = str(run.record.get("model", run.name))
    model_banner(model)
    return model, inference, str(run.facts("set").get("language", ""))


def _describe(run: Run) -> None:
    """How the run was made, what the obvious pairs say, what has no answer."""
    rows, seconds = f"{run.count('rows'):,}", f"{run.seconds or 0:.0f}"
    text = _("{rows} pairs in {seconds} s, finished {time}", rows=rows, seconds=seconds, time=finished_at(run))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(text))
        download_table(NLI, run)
        offer_deletion(NLI, run)
        lines = [str(run.record.get("signature", "")), str(run.facts("set").get("signature", ""))]
        show_signature("\n".join(line for line in lines if line))
    if checked := run.facts("sanity"):
        text = sentence(str(checked.get("message", "")), checked.get("values"))
        (st.caption if checked.get("verdict") == "fits" else st.warning)(plain(text))
    for reason, count in run.facts("undefined").items():
        warn("{count} pairs without an answer: {reason}", count=f"{count:,}", reason=_(reason))


@st.cache_data(max_entries=12, show_spinner=False)
def _measured(path: str, changed: float) -> tuple[Inference, list[str], list[tuple[str, dict[str, object]]]]:
    found, read = measured_file([path])
    return found, read.signatures, [(error.message, error.values) for error in read.errors]


def measured(path: Path) -> tuple[Inference, list[str], list[tuple[str, dict[str, object]]]]:
    """The measures of a table, the signatures in it, and the lines that could not be used. Raises BadFile."""
    return _measured(str(path), path.stat().st_mtime)


def _from_file() -> tuple[str, Inference, str] | None:
    path = choose_upload(
        _("File with the columns set and label, and preferably occupation"),
        ["csv", "tsv", "jsonl", "json"],
        key="nli-predictions",
        help=_("set is PS, AS or NS; label is entailment, contradiction or neutral. One row per answer."),
    )
    if path is None:
        return None
    inference, signatures, errors = measured(path)
    if errors:
        warn("{count} lines cannot be used.", count=f"{len(errors):,}")
        lines = [sentence(message, values) for message, values in errors]
        with st.expander(_("The first few of them"), icon=":material/error:"):
            for line in lines[:SHOWN]:
                st.text(line)
            downloads([{"problem": line} for line in lines], key="nli-problems")
    if inference.unit == "row":
        warn(
            "There is no column for the occupation, so all rows count as independent and the intervals are too narrow."
        )
    if signatures:
        show_signature("\n".join(signatures))
    return path.name, inference, ""
