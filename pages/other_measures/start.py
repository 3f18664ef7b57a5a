"""Which measure, on which set, of which models; the start of the job."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, Notice
from evenhand.core.other_measures.run import OTHER_MEASURES, read_request
from evenhand.core.other_measures.settings import MEASURES, Measure, Settings
from evenhand.core.other_measures.weat import TESTS
from evenhand.core.worker.client import known_models
from evenhand.pages.ui.choose import choose, choose_models, first_models, language_name, switch
from evenhand.pages.ui.runs import RunPage, RunRequest, show_start_form
from evenhand.pages.ui.text import _, language, paragraph, plain
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown

MEASURED = RunPage("measures", "other-measures", form_key="om-{part}", run_key="om-{part}-{run}")
PLACE = "om-set-0"
LPBS = ("en", "zh", "es", "eu")  # in which languages its built-in set is


def variant_names() -> Mapping[str, str]:
    """Return the name of each variant of a measure for people; the published variants come first."""
    return {
        "published": _("as published: sum over shared tokens"),
        "changed": _("changed tokens only"),
        "mean": _("mean over shared tokens"),
        "sentences": _("as published: sentences as units"),
        "words": _("words as units: mean over their sentences"),
        "type 1": _("type 1: meaning decides"),
        "type 2": _("type 2: grammar decides"),
    }


def names_of_tests() -> Mapping[str, str]:
    """Return the tests of Caliskan et al. by name."""
    return {
        "career": _("career and family, by names"),
        "math": _("mathematics and arts"),
        "science": _("science and arts"),
        "flowers": _("flowers and insects (no gender)"),
        "instruments": _("instruments and weapons (no gender)"),
        "disease": _("mental and physical disease (no gender)"),
        "age": _("names of young and old people (no gender)"),
    }


def show_new(store: Store) -> None:
    """Show the form."""
    with st.container(border=True, key="om-form"):
        titles: dict[str, str] = {measure.name: _(measure.title) for measure in MEASURES}
        # The only measure whose built-in set is also in Chinese; the others ship with English sets.
        first = "lpbs" if language() == "zh" else "seat"
        name = choose(_("Measure"), titles, "measure", address="measure", first=first)
        what = next(measure for measure in MEASURES if measure.name == name)
        show_criticism(what)
        request, work = None, ""
        with errors_shown():
            request = _request(what)
        if request is None:
            lacking = what.file and not what.built_in and not st.session_state.get("om-has-file")
            work = _("Choose your copy of the data set.") if lacking else _("Choose at least one model.")
        show_start_form(store, MEASURED, titles[name], request, work=work)


def show_criticism(what: Measure) -> None:
    """Show what a measure asks, and what is known against it."""
    st.caption(plain(paragraph([_(what.asks), _("Source: {source}.").format(source=what.source)])))
    known = _("Known limitations: {what}").format(what=_(what.against))
    st.caption(":material/report: " + plain(known))


def _request(what: Measure) -> RunRequest[Settings] | None:
    models = _models(what)
    path = _file(what)
    st.session_state["om-has-file"] = path is not None
    variant = ""
    if what.variants:
        names = {text: variant_names()[text] for text in what.variants}
        variant = choose(_("Variant"), names, f"om-variant-{what.name}")
    options = _options(what, path)
    untrained = switch(
        _("Also score a randomly initialised copy"), value=True, key="om-untrained", box=True,
        explained=_(
            "The same architecture and tokenizer with random weights: the value for a model that"
            " knows nothing. Doubles the running time."
        ),
    )  # fmt: skip
    if not models or (path is None and not what.built_in):
        return None
    settings = Settings(what.name, models, variant, path, no_untrained=not untrained, **options)
    read_request(settings)  # says at once what the job would fail of
    title = Notice(N_("{measure} with {models}"), {"measure": what.title, "models": list(models)})
    files = [path] if path else []
    return RunRequest(title, OTHER_MEASURES, settings, models=models, uploads=files, place=PLACE if path else "")


def _models(what: Measure) -> tuple[str, ...]:
    entries = [*known_models(), *(known_models("causal") if what.causal else [])]
    written = "en"  # the language of the set, as far as it is known before the models are
    if what.name == "lpbs":
        written = str(st.session_state.setdefault("om-language", language() if language() in LPBS else "en"))
    first = first_models(written)[:1]
    help = None if what.causal else _("This measure needs a masked language model.")
    names = [entry.name for entry in entries]
    models = choose_models(names, f"om-models-{what.causal:d}-{written}", first=first, help=help)
    if written != language() and what.name != "lpbs":
        st.caption(_("The published data set is in English, so an English model is preselected."))
    return models


def _file(what: Measure) -> Path | None:
    """Return the user's copy of the set, or None for the one that ships with the app."""
    if not what.file:
        return None
    if what.built_in:
        sources = {"built-in": _("Built in: {name}").format(name=what.built_in), "file": _("My own copy")}
        if choose(_("Set"), sources, f"om-source-{what.name}") == "built-in":
            return None
    asks = {
        "crows": (_("CrowS-Pairs file (columns sent_more and sent_less)"), ["csv"]),
        "stereoset": (_("StereoSet file (intrasentence items)"), ["json"]),
        "words": (_("Word sets: names and lists of words (JSON)"), ["json"]),
        "twins": (_("Sentence pairs: columns pro and anti, with brackets as in WinoBias"), ["tsv", "csv"]),
    }
    label, endings = asks[what.file]
    helps = {
        "crows": _("Not included because of its licence (CC BY-SA 4.0). Source: nyu-mll/crows-pairs on GitHub."),
        "stereoset": _("Not included because of its licence (CC BY-SA 4.0). Source: moinnadeem/StereoSet on GitHub."),
    }
    return choose_upload(label, endings, key=PLACE, help=helps.get(what.file))


def _options(what: Measure, path: Path | None) -> dict[str, Any]:
    """Return what else a measure is asked for, by the fields of its settings."""
    if what.file == "crows":
        bias = st.text_input(_("Only pairs of this bias_type"), value="gender", key="om-bias").strip()
        return {"bias": bias or None}
    if what.name == "lpbs":
        languages = {lpb: language_name(lpb) for lpb in LPBS}
        return {"language": choose(_("Language of the sentences"), languages, "om-language")}
    if what.file != "words":
        return {}
    if path is None:
        names = names_of_tests()
        chosen = st.multiselect(
            _("Tests"), list(TESTS), ["career", "math", "science"], format_func=names.__getitem__, key="om-tests"
        )
        tests = tuple(chosen)
    else:
        text = st.text_input(
            _("Four sets: X,Y,A,B"), key="om-own-test", placeholder="targ1,targ2,attr1,attr2",
            help=_("Names of sets in your file; separate several tests with spaces."),
        )  # fmt: skip
        tests = tuple(text.split())
    if what.name != "seat":
        return {"tests": tests}
    poolings = {"": _("as published: first or (causal) last token"), "mean": _("mean over all tokens")}
    left, right = st.columns([3, 1])
    with left:
        pooling = choose(_("Vector of a sentence"), poolings, "om-pooling")
    layer = right.number_input(_("Layer"), -100, 100, -1, key="om-layer", help=_("0 is the input, -1 the last layer."))
    return {"tests": tests, "layer": int(layer), "pooling": pooling or None}
