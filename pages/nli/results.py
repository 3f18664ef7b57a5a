"""What a classifier answered: the score on its scale, what it is made of, every occupation, the paper beside."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from annotations.database.store import Store
from core.errors import EvenhandError
from core.runs.records import Run, delete_run, runs_folder, runs_in
from pages.nli.nli_values import measured, trial_banner
from pages.nli.numbers import show_facts, show_shares
from pages.nli.occupations import show_occupations
from pages.nli.published import show_published, show_scale
from pages.nli.runs import inference_runs
from pages.ui.charts import downloads
from pages.ui.choose import choose
from pages.ui.head import open_store, show_error
from pages.ui.language import _
from pages.ui.text import plain
from pages.ui.uploads import choose_upload

if TYPE_CHECKING:
    from core.nli.measure import Inference

SHOWN = 10


def show_results(store: Store) -> None:
    """Choose a run or a file of predictions; everything about it."""
    names = {"run": _("A run"), "file": _("Predictions from a file")}
    kind = choose(_("Answers"), names, "nli-source")
    try:
        found = _from_file() if kind == "file" else _from_run(store)
    except EvenhandError as error:
        show_error(error)
        found = None
    if found is None:
        show_published()
        return
    name, inference = found
    show_facts(inference)
    show_scale([(name, inference["s"])])
    show_shares(inference)
    show_occupations(inference)
    show_published()


def _from_run(store: Store) -> "tuple[str, Inference] | None":
    found = {run.name: run for run in inference_runs(store)}
    if not found:
        st.info(
            _("No classifier has been asked yet. Choose Ask a classifier above; the built-in one takes under a minute.")
        )
        return None
    asked = st.query_params.get("run")
    if st.session_state.get("nli-run") not in found:
        st.session_state["nli-run"] = asked if asked in found else next(iter(found))
    name = st.selectbox(_("Run"), list(found), key="nli-run")
    st.query_params["run"] = name
    run = found[name]
    inference, _signatures, _errors = measured(run.table)
    _describe(run)
    model = str(run.record.get("model", name))
    trial_banner(model)
    return model, inference


def _describe(run: Run) -> None:
    """How the run was made, what the obvious pairs say, what has no answer."""
    facts: dict[str, Any] = run.record
    made = facts.get("set") if isinstance(facts.get("set"), dict) else {}
    text = _("{rows} pairs in {seconds} s, finished {time}").format(
        rows=f"{int(facts.get('rows') or 0):,}",
        seconds=f"{run.seconds or 0:.0f}",
        time=run.created[:16].replace("T", " ") + " UTC",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(text))
        st.download_button(
            _("Table (CSV)"), run.table.read_bytes, run.table.name, "text/csv", key="nli-table",
            icon=":material/download:", type="tertiary", on_click="ignore",
        )  # fmt: skip
        with st.popover(_("Delete"), icon=":material/delete:", type="tertiary", key="nli-deleting"):
            st.button(_("Delete this run"), key="nli-delete", on_click=_delete, args=(run.name,))
    checked = facts.get("sanity")
    if isinstance(checked, dict):
        told = _(str(checked.get("message", ""))).format(**checked.get("values", {}))
        (st.caption if checked.get("verdict") == "fits" else st.warning)(plain(told))
    for reason, count in (facts.get("undefined") or {}).items():
        st.warning(plain(_("{count} pairs have no answer: {reason}").format(count=f"{count:,}", reason=_(reason))))
    lines = [str(facts.get("signature", "")), str((made or {}).get("signature", ""))]
    st.code("\n".join(line for line in lines if line), language=None, wrap_lines=True)


def _delete(name: str) -> None:
    with open_store() as store:
        for run in runs_in(runs_folder(store.path, "nli")):
            if run.name == name:
                delete_run(run)


def _from_file() -> "tuple[str, Inference] | None":
    path = choose_upload(
        _("File with set and label, and if possible occupation"),
        ["csv", "tsv", "jsonl", "json"],
        key="nli-predictions",
        help=_("set is PS, AS or NS; label is entailment, contradiction or neutral. One row an answer."),
    )
    if path is None:
        return None
    inference, signatures, errors = measured(path)
    if errors:
        st.warning(_("{count} lines could not be used.").format(count=f"{len(errors):,}"))
        lines = [_(message).format(**values) for message, values in errors]
        with st.expander(_("The first of them"), icon=":material/error:"):
            for line in lines[:SHOWN]:
                st.text(line)
            downloads([{"problem": line} for line in lines], key="nli-problems")
    if inference.unit == "row":
        st.warning(
            _("No column names the occupation: every row counts as independent, so the intervals are too narrow.")
        )
    if signatures:
        st.code("\n".join(signatures), language=None, wrap_lines=True)
    return path.name, inference
