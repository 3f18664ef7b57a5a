"""Which models are asked about the sentences, how, and the start of the job."""

from dataclasses import replace

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.core.association.run import ASSOCIATION
from evenhand.core.association.sets import Attribute, Target
from evenhand.core.errors import N_, Notice
from evenhand.core.worker.client import known_models
from evenhand.pages.association.source import SETS, Chosen
from evenhand.pages.ui.choose import choose_models
from evenhand.pages.ui.runs import RunPage, RunRequest, show_start_form
from evenhand.pages.ui.text import _

ASSOCIATIONS = RunPage("associations", "association")


def show_start(store: Store, chosen: Chosen) -> None:
    """Models, method, name, button."""
    wide, narrow = st.columns([5, 1], vertical_alignment="bottom")
    with wide:
        models = _choose_models(chosen.found.language)
    with narrow.popover(_("Method"), icon=":material/tune:", type="tertiary", key="professions-method"):
        target, attribute = _method(chosen)
    request = None
    if models:
        names = [Notice(SETS[chosen.settings.language]), *(path.name for path in chosen.uploads)]
        title = Notice(N_("Professions: {set} with {models}"), {"set": names, "models": list(models)})
        settings = replace(chosen.settings, models=models, target=target, attribute=attribute)
        request = RunRequest(title, ASSOCIATION, settings, models=models, uploads=chosen.uploads)
    show_start_form(store, ASSOCIATIONS, chosen.found.language, request, work=_work(chosen, models))


def _choose_models(language: str) -> tuple[str, ...]:
    base = language.partition("-")[0]
    entries = [entry for entry in known_models() if entry.language in (base, "mul")]
    first = [entry.name for entry in entries if entry.name == f"demo-{base}" and entry.available]
    with st.container(key="professions-models"):
        return choose_models([entry.name for entry in entries], f"professions-models-{language}", first=first)


def _method(chosen: Chosen) -> tuple[Target, Attribute]:
    targets: dict[Target, str] = {
        "all": _("one mask per subword, log-probabilities summed"),
        "first_piece": _("the first subword only"),
    }
    attributes: dict[Attribute, str] = {
        "word": _("one mask per whitespace-separated word"),
        "piece": _("one mask per subword"),
    }
    target = st.radio(
        _("Person words of several subwords"), tuple(targets), format_func=targets.__getitem__, key="target"
    )
    st.caption(_("The code of Bartl et al. uses only the first subword; the thesis does not say."))
    attribute = st.radio(
        _("Masked professions"), tuple(attributes), format_func=attributes.__getitem__,
        index=tuple(attributes).index(chosen.found.attribute), key=f"attribute-{chosen.found.attribute}",
    )  # fmt: skip
    return target, attribute


def _work(chosen: Chosen, models: tuple[str, ...]) -> str:
    if not models:
        return _("Choose at least one model.")
    text = _(
        "{probes} probes per model: {sentences} sentences, each with the profession visible and masked."
        " Identical masked sentences are run once."
    )  # fmt: skip
    sentences = chosen.found.sentences
    return text.format(probes=f"{2 * sentences:,}", sentences=f"{sentences:,}")
