"""Which sentences the page Professions asks about, of which models, how, and the start of the job."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.core.association.corpus import Sentence, corpus_tsv, sentences
from evenhand.core.association.run import ASSOCIATION, Settings, set_of
from evenhand.core.association.sets import LANGUAGES, AssociationSet, Attribute, Language, Target
from evenhand.core.errors import N_, Notice
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.worker.client import known_models
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import choose_models
from evenhand.pages.ui.runs import RunPage, RunRequest, show_start_form
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, inform, plain, series, warn
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown

PARTS = ("templates", "persons", "professions")
SHOWN = 6
SETS = {
    "en": N_("English (BEC-Pro)"),
    "es": N_("Spanish with articles (BEC-Pro)"),
    "es-noart": N_("Spanish without articles (BEC-Pro)"),
    "eu": N_("Basque (BEC-Pro)"),
    "zh": N_("Chinese (our own set)"),
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A set, the settings that make it, and the uploaded lists that go with the job."""

    found: AssociationSet
    settings: Settings
    uploads: tuple[Path, ...]


def set_name(language: str) -> str:
    """Return the name of a built-in set in the visitor's language."""
    return _(SETS[language]) if language in SETS else language


def choose_set() -> Chosen | None:
    """Return the set, with what its sources leave open in a small menu; None and the reason where it cannot be made."""
    wide, menu, own = st.columns([4, 1, 1], vertical_alignment="bottom")
    language: Language = wide.selectbox(_("Sentences"), LANGUAGES, format_func=set_name, key="set")
    with menu.popover(_("Options"), icon=":material/tune:", type="tertiary", key="set-options"):
        options = _options(language)
    with own.popover(_("Custom lists"), icon=":material/upload_file:", type="tertiary", key="own-lists"):
        files = _own_lists()
    settings = Settings(language=language, models=(), **options, **files)
    names = series(path.name for path in files.values())
    with errors_shown():
        association_set = run_bounded(set_of, settings, file=names) if files else set_of(settings)
        show_banner(language)
        return Chosen(association_set, settings, tuple(files.values()))
    return None


def show_banner(language: str) -> None:
    """Show what must be known before any number of this language is read."""
    if language in ("es", "es-noart"):
        warn(
            "In Spanish, articles and professions agree with the person in gender (una enfermera)"
            " and reveal it, so the values reflect grammar as well as bias (thesis, 4.4.2).",
            icon=":material/grading:",
        )
    if language == "eu":
        inform(
            "Basque bera means both she and he, so the difference of that pair is always 0."
            " Differences are shown with and without it.",
            icon=":material/info:",
        )


def _options(language: Language) -> dict[str, Any]:
    """Draw the options that count in this language, and return what is chosen."""
    values: dict[str, Any] = {}
    names = {"given": _("determiners such as this or my"), "none": _("none")}
    default = "none" if language == "eu" else "given"
    values["determiners"] = st.radio(
        _("Before nouns"), ("given", "none"), format_func=names.__getitem__, key=f"determiners-{language}",
        index=("given", "none").index(default),
    )  # fmt: skip
    if language == "en" and st.checkbox(_('"an" before vowels (the released file always has "a")'), key="an"):
        values["an"] = True
    if language in ("es", "es-noart", "eu"):
        spellings = {"corrected": _("corrected"), "printed": _("as printed")}
        values["spelling"] = st.radio(
            _("Misprints in the thesis"), tuple(spellings), format_func=spellings.__getitem__, key="spelling"
        )
    if language in ("es", "es-noart"):
        values["wife"] = st.radio(_("Spanish for wife"), ("mujer", "esposa"), key="wife")
    if language == "eu" and st.checkbox(_("The subject of templates 2 to 5 in the ergative (-k)"), key="ergative"):
        values["ergative"] = True
    return values


def _own_lists() -> dict[str, Any]:
    """Ask for the visitor's own lists; return their paths by part, without the parts that were not uploaded."""
    caption(
        "UTF-8 text with tab-separated columns. Lists you do not provide are taken from the built-in"
        " set. Neutral person words form a third group and are excluded from the differences."
    )
    labels = {
        "templates": _("Templates (columns: template; optional: name)"),
        "persons": _("Person words (columns: person, gender; optional: determiner, pair)"),
        "professions": _("Professions (columns: profession; optional: female, class, field, women)"),
    }
    chosen = {part: choose_upload(labels[part], ["tsv", "txt"], key=f"own-{part}") for part in PARTS}
    return {part: path for part, path in chosen.items() if path is not None}


def show_corpus(chosen: Chosen) -> None:
    """Show how many sentences there are, and a few of them with their masks."""
    association_set = chosen.found
    text = _("{sentences} sentences: {templates} templates × {persons} person words × {professions} professions.")
    values = {name: f"{len(getattr(association_set, name)):,}" for name in PARTS} | {
        "sentences": f"{association_set.sentences:,}"
    }
    st.caption(plain(text.format(**values)))
    every = list(sentences(association_set))
    picked = (
        [round(i * (len(every) - 1) / (SHOWN - 1)) for i in range(SHOWN)] if len(every) > SHOWN else range(len(every))
    )
    show_html(element("ol", joined(_line(i, every[i]) for i in picked), "sentences"))
    with st.container(horizontal=True, vertical_alignment="center"):
        download(
            _("All sentences (TSV)"),
            lambda: corpus_tsv(association_set),
            f"{association_set.language}.tsv",
            key="corpus",
        )


def _line(row: int, sentence: Sentence) -> Markup:
    """Return a sentence with person word and profession marked, and below it what the model reads of it."""
    kind = sentence.person.gender if sentence.person.gender in ("male", "female") else "neutral"
    parts: list[str | Markup] = []
    at = 0
    for start, end, name in sorted([(*sentence.person_at, kind), (*sentence.profession_at, "profession")]):
        parts += [sentence.text[at:start], span(sentence.text[start:end], name)]
        at = end
    masks = below(f"{sentence.tm} \u00a0·\u00a0 {sentence.tam}")
    return element("li", joined([span(f"{row:,}", "line"), span(joined([*parts, sentence.text[at:], masks]))]))


ASSOCIATIONS = RunPage("associations", "association")


def show_start(store: Store, chosen: Chosen) -> None:
    """Show the choice of models and method, and the form that starts a run."""
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
