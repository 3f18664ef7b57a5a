"""Asking a classifier: which one, which sentences, how its labels are read; a job, or one pair at once."""

from itertools import permutations
from math import exp

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, Notice
from evenhand.core.nli.run import NLI_ASK
from evenhand.core.nli.sets import ProbeSet
from evenhand.core.nli.settings import AskSettings
from evenhand.core.nli.types import LABELS, Language, SentencePair
from evenhand.core.runs.records import Run
from evenhand.core.types import Score
from evenhand.core.worker.client import known_models, shared
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.choose import choose, choose_model
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH, percent
from evenhand.pages.ui.runs import RunPage, RunRequest, show_start_form
from evenhand.pages.ui.sentences import bar
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, inform, plain, series, show_signature
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown

NLI = RunPage("nli", "nli", form_key="nli-{part}", run_key="nli-{part}")
PLANTED = ("planted:nli=0.3", "planted:nli=0", "planted:nli=entailment")
PLACE = "nli-file-0"
SHOWN = 6


def label_names() -> dict[str, str]:
    """Return the three labels in the visitor's language."""
    return {"entailment": _("entailment"), "contradiction": _("contradiction"), "neutral": _("neutral")}


def order_in_words(order: bool | None) -> str:
    """Return in words whether the order condition holds."""
    return DASH if order is None else _("holds") if order else _("does not hold")


def model_banner(model: str) -> None:
    """Show the note above every number of a model that ships with the app, or whose answers were planted."""
    trial_banner([model])
    if model.startswith("planted:"):
        text = _("A planted classifier: its answers are known, so it tests whether the measures are correct.")
        st.caption(":material/info: " + text)


def inference_runs(store: Store, kind: str = "inference") -> list[Run]:
    """Return the finished runs of a kind (inference, rates), newest first."""
    return [run for run in NLI.finished(store) if run.record.get("kind") == kind]


def choose_classifier(key: str, *, planted: bool = True) -> str:
    """Return a classifier by name; anything may be typed."""
    names = [entry.name for entry in known_models("nli") if entry.builtin and entry.available]
    names += PLANTED if planted else ()
    if key not in st.session_state and (model := st.query_params.get("model")):
        st.session_state[key] = model
    help = _("A three-label model trained for inference: entailment, contradiction, neutral.")
    return choose_model(_("Classifier"), names, key, help=help)


def choose_labels(key: str) -> str | None:
    """Return what outputs 0, 1 and 2 mean, as chosen by hand; None where the model states it itself."""
    orders = ["", *(",".join(order) for order in permutations(LABELS))]
    names = label_names()

    def order_text(order: str) -> str:
        return " · ".join(names[one] for one in order.split(",")) if order else _("as the model states")

    chosen = st.selectbox(
        _("Meaning of outputs 0, 1 and 2"),
        orders,
        format_func=order_text,
        key=key,
        help=_("Needed for models whose labels are LABEL\\_0 to LABEL\\_2. The sanity check reveals a wrong order."),
    )
    return chosen or None


def choose_model_and_labels(place: str, *, planted: bool = True) -> tuple[str, str | None]:
    """Return a classifier, and next to it what its outputs mean; *place*: how the keys of the widgets begin."""
    left, right = st.columns(2)
    with left:
        model = choose_classifier(f"{place}-model", planted=planted)
    with right:
        return model, choose_labels(f"{place}-labels")


def show_new(store: Store) -> None:
    """Show the form."""
    with st.container(border=True, key="nli-form"):
        model, labels = choose_model_and_labels("nli")
        language = choose_language("nli-language")
        sizes = {
            "full": _("all occupations"),
            "sample": _("200 rows each (down-sampled)"),
            "files": _("my own set"),
        }
        size = choose(_("Sentences"), sizes, "nli-size")
        paths: list[str] = []
        with errors_shown():
            if size == "files":
                path = choose_upload(
                    _("File with set, premise, hypothesis and occupation"),
                    ["csv", "tsv", "jsonl", "json"],
                    key=PLACE,
                    help=_("A copy of the released files also works: add a column set with PS, AS or NS."),
                )
                paths = [] if path is None else [str(path)]
            settings = AskSettings(model, language, size == "sample", probes=tuple(paths), labels=labels)
            if paths or size != "files":
                probes = settings.probe_set()
                _show_rows(probes)
                _show_start(store, probes, settings)


def choose_language(key: str) -> Language:
    """Return the language of the sentences."""
    names: dict[Language, str] = {"en": _("English"), "ja": _("Japanese"), "zh": _("Chinese")}
    return choose(_("Language of the sentences"), names, key, first="en")


def _show_rows(probes: ProbeSet) -> None:
    counts = series(f"{count:,} {name}" for name, count in probes.counts().items())
    text = _(
        "{rows} pairs: {counts}. PS: gender fits the stereotype; AS: gender contradicts it; NS: neutral occupations."
    )
    st.caption(plain(text.format(rows=f"{len(probes.rows):,}", counts=counts)))
    with st.expander(_("Example pairs"), icon=":material/visibility:"):
        step = max(1, len(probes.rows) // SHOWN)  # and one further each time, so that the templates differ
        rows = [
            {_("Set"): row.set, _("Premise"): row.premise, _("Hypothesis"): row.hypothesis}
            for row in (probes.rows[(i * step + i) % len(probes.rows)] for i in range(SHOWN))
        ]
        st.table(rows)
        everything = [
            {
                "set": row.set, "premise": row.premise, "hypothesis": row.hypothesis, "occupation": row.occupation,
                "class": row.kind, "gender": row.gender, "template": row.template,
            }
            for row in probes.rows
        ]  # fmt: skip
        downloads(everything, key="nli-set")
        show_signature(probes.signature)


def _show_start(store: Store, probes: ProbeSet, settings: AskSettings) -> None:
    model = settings.model
    title = Notice(N_("NLI bias: {model}, {rows} pairs"), {"model": model, "rows": f"{len(probes.rows):,}"})
    models = [] if model.startswith("planted:nli") else [model]  # planted ones are not loaded
    request = RunRequest(title, NLI_ASK, settings, models=models, place=PLACE)
    show_start_form(store, NLI, f"{model.rsplit('/', 1)[-1]} {settings.language}", request if model else None)


FIRST = ("A nurse is reading a newspaper on a bench.", "A woman is reading a newspaper on a bench.")


def show_pair() -> None:
    """Show the inputs and the answer."""
    model, labels = choose_model_and_labels("pair")
    st.session_state.setdefault("premise", FIRST[0])
    st.session_state.setdefault("hypothesis", FIRST[1])
    premise = st.text_input(_("Premise"), key="premise", max_chars=600, persist_state="session")
    hypothesis = st.text_input(_("Hypothesis"), key="hypothesis", max_chars=600, persist_state="session")
    if not (model and premise.strip() and hypothesis.strip()):
        inform("Type two sentences: does the second follow from the first?")
        return
    model_banner(model)
    told = None if labels is None else tuple(labels.split(","))
    with errors_shown():
        with st.spinner(_("Running {model} …").format(model=plain(model)), show_time=True):
            score = _answer(model, premise, hypothesis, told)
        _show(score)


@st.cache_data(max_entries=200, show_spinner=False)
def _answer(model: str, premise: str, hypothesis: str, labels: tuple[str, ...] | None) -> Score:
    (score,) = shared().classify(model, [SentencePair(premise, hypothesis)], labels=labels)
    return score


def _show(score: Score) -> None:
    if score.reason is not None:
        st.warning(plain(_(score.reason)))
        return
    names = label_names()
    shares = [exp(p) if p is not None else 0.0 for p in score.logprobs]
    most = max(shares)
    cells = []
    for label, share in zip(LABELS, shares, strict=True):
        cells.append(span(names[label], "strong" if share == most else ""))
        cells.append(bar([("ink", share)]))
        cells.append(span(percent(share), "number"))
    show_html(element("div", joined(cells), "bars"))
    caption("Probabilities of the three labels; they sum to 1.")
    show_signature(score.signature)
