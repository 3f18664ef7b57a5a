"""The form for a new project, with the guideline beside its preview."""

from typing import Any, get_args

import streamlit as st

from evenhand.annotations.guideline.scheme import START, scheme_text
from evenhand.annotations.guideline.versions import PREFERENCE, Criteria, built_in, generations_criteria
from evenhand.annotations.projects.projects import change_project, create_project
from evenhand.annotations.types import Form, GoldRule, Kind
from evenhand.core.guidelines import VERSIONS, Version, preference
from evenhand.core.resources import keyword_pairs, quotas
from evenhand.pages.projects.projects import leave, open_project
from evenhand.pages.ui.choose import choose, switch
from evenhand.pages.ui.editors import (
    Quotas,
    SchemeName,
    choose_scheme,
    edit_options,
    edit_quotas,
    edit_scheme,
    preset_names,
    say_total,
    scheme_from_file,
)
from evenhand.pages.ui.head import errors_shown, open_store
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import guideline_html
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, caption, language, warn
from evenhand.pages.ui.visitor import own_new_project


def agreed_name(rule: str) -> str:
    """The rule for gold in words, for labels of any kind."""
    return _("all annotators of the text agree") if rule == "unanimous" else _("most of them agree")


def ask_labels(per_item: int, doubled: int | None, *, place: str) -> dict[str, int | None]:
    """How many labels a text gets: all the same, or one each and a sample with several."""
    left, right = st.columns(2)
    with left:
        number = st.number_input(_("Labels per text"), 1, 100, per_item, key=f"{place}per_item")
    with right:
        sample = st.number_input(
            _("Only for this many texts, drawn at random"),
            0,
            1_000_000,
            doubled,
            key=f"{place}doubled",
            placeholder=_("all texts"),
            help=_("All other texts get one label. Empty: every text gets the same number of labels."),
        )
    if number == 1:
        warn("With one label per text, agreement between annotators cannot be measured.")
    return {"per_item": int(number), "doubled": None if sample is None else int(sample)}


def ask_desk(checked: bool, blur: bool, pause_minutes: int | None, *, place: str) -> dict[str, Any]:
    """Settings of the desk for the care of annotators."""
    rules = switch(
        _("Check labels against the rules before they are saved"),
        checked,
        key=f"{place}checked",
        box=True,
        explained=_(
            "Misgendering needs the wrong pronoun marked; no pronoun allows no such mark; the flag for"
            " extraneous gendered language needs its words marked."
        ),
    )
    hidden = st.checkbox(_("Blur each text until it is opened"), blur, key=f"{place}blur")
    return {"checked": rules, "blur": hidden, **_ask_pause(pause_minutes, place)}


def ask_care(blur: bool, pause_minutes: int | None, *, place: str) -> dict[str, Any]:
    """Settings of the desk for sentences for the care of annotators."""
    hidden = switch(
        _("Blur flagged sentences until they are opened"),
        blur,
        key=f"{place}blur",
        box=True,
        explained=_(
            "Sentences flagged by mining, and those whose column sensitive is not 0. Annotators see that a"
            " sentence is covered, but not why."
        ),
    )
    return {"blur": hidden, **_ask_pause(pause_minutes, place)}


def _ask_pause(pause_minutes: int | None, place: str) -> dict[str, int | None]:
    pause = st.number_input(
        _("Remind annotators to take a break after (minutes)"), 1, 600, pause_minutes, key=f"{place}pause",
        placeholder=_("never"), width=260,
    )  # fmt: skip
    return {"pause_minutes": None if pause is None else int(pause)}


OWN = "own"
LANGUAGE_NAMES = {"zh": "中文"}


def show_form() -> None:
    """The fields of a project, then the button that creates it."""
    st.button(_("All projects"), key="back", icon=":material/arrow_back:", type="tertiary", on_click=leave)
    st.subheader(_("New project"), anchor=False)
    kinds: dict[Kind, str] = {one: kind_name(one) for one in get_args(Kind)}
    kind = choose(_("What is judged"), kinds, "kind")
    if kind == "generations":
        _form_of_generations()
        return
    left, right = st.columns(2, gap="large")
    with left:
        name = st.text_input(_("Name"), key="name", max_chars=80)
        # Languages for which keyword pairs ship; sentences are found by them.
        languages = sorted({pair.language for pair in keyword_pairs()})
        spoken = st.selectbox(
            _("Language of the sentences"), languages, key="sentence_language", format_func=LANGUAGE_NAMES.__getitem__
        )
        people = _people()
    with right:
        settings = _settings()
    st.subheader(_("Guideline"), anchor=False)
    criteria = _criteria(spoken)
    st.subheader(_("Quotas"), anchor=False)
    wanted = _quotas()
    if st.button(_("Create project"), key="create", type="primary", icon=":material/check:"):
        _create(name, spoken, people, criteria, wanted, settings)


def kind_name(kind: str) -> str:
    """What a project holds, in words."""
    return {"sentences": _("Sentences"), "generations": _("Texts generated by language models")}[kind]


def _people() -> str:
    label, more = _("Annotators, one per line"), _("More can be added at any time.")
    return st.text_area(label, key="annotators", height=110, help=more)


def _form_of_generations() -> None:
    left, right = st.columns(2, gap="large")
    with left:
        name = st.text_input(_("Name"), key="name", max_chars=80)
        people = _people()
    with right:
        labels = ask_labels(2, None, place="generations_")
        rules = get_args(GoldRule)
        gold = st.radio(
            _("Rule for gold labels"), rules, key="generations_gold", horizontal=True, format_func=agreed_name
        )
        with st.expander(_("Desk and order of texts")):
            asked = ask_desk(checked=True, blur=False, pause_minutes=None, place="generations_")
            help_text = _("The same seed and texts give the same order.")
            seed = st.number_input(_("Seed"), 0, 2**31 - 1, 0, key="seed", help=help_text)
    st.subheader(_("Guideline"), anchor=False)
    chosen = choose_scheme("built-in", key="generations_scheme")
    criteria = _built_in_scheme() if chosen == "built-in" else _other_scheme(chosen)
    if st.button(_("Create project"), key="create", type="primary", icon=":material/check:"):
        settings = {"kind": "generations", "gold": gold, "seed": int(seed), "per_item": labels["per_item"]}
        later = {"doubled": labels["doubled"], **asked}
        _create(name, "en", people, criteria, {}, settings, later)


def _built_in_scheme() -> Criteria:
    caption("Four labels, a flag for extraneous gendered language, and marked spans, as in the published study.")
    caption("As long as the text is unchanged, all readers see it in their interface language.")
    start = generations_criteria(language())
    text = edit_text(start.text, key=f"guideline-generations-{language()}")
    with st.expander(_("Labels and tags")):
        caption("Labels store the code; the key is only the keyboard shortcut.")
        choices = edit_options(start.choices, key="choices-generations", fixed=True)
        tags = edit_options(start.reasons, key="reasons-generations")
    return Criteria(text, choices, tags)


def _other_scheme(chosen: SchemeName) -> Criteria:
    """The scheme preference or one of the visitor's own, to edit."""
    read = scheme_from_file(key="generations_scheme_file") if chosen == "own" else None
    made = PREFERENCE if chosen == "preference" else START if read is None else read
    # Another file gets tables of its own; what was typed into the others stays theirs.
    place = f"{chosen}-scheme" if read is None else f"{chosen}-scheme-{hash(read)}"
    scheme = edit_scheme(made, key=place)
    caption("An empty text says what the scheme has.")
    text = edit_text(preference(language()) if chosen == "preference" else "", key=f"guideline-{chosen}-scheme")
    return Criteria(text.strip() or scheme_text(scheme, language()), scheme.choices, scheme.flags, scheme.more)


def _settings() -> dict[str, Any]:
    per_item = st.number_input(_("Labels for each sentence"), 1, 100, 3, key="per_item")
    gold: GoldRule = st.radio(
        _("A sentence is accepted when"), get_args(GoldRule), key="gold", horizontal=True, format_func=gold_name
    )
    forms: tuple[Form, Form] = ("masked", "original")
    label = _("On the desk, the keyword is")
    form = st.radio(label, forms, key="presentation", horizontal=True, format_func=form_name)
    caption("Choose hidden for the journal criteria, which judge the sentence with its keyword masked.")
    with st.expander(_("Order of the sentences")):
        seed = st.number_input(
            _("Seed"), 0, 2**31 - 1, 0, key="seed", help=_("The same seed and sentences give the same order.")
        )
    return {"per_item": int(per_item), "gold": gold, "presentation": form, "seed": int(seed)}


def gold_name(rule: str) -> str:
    """The rule for gold in words."""
    return _("all annotators accept it") if rule == "unanimous" else _("most annotators accept it")


def form_name(form: str) -> str:
    """The presentation in words."""
    return _("hidden") if form == "masked" else _("shown")


def _criteria(spoken: str) -> Criteria:
    names = {"journal": _("Journal criteria"), "conference": _("Conference criteria"), OWN: _("Write my own")}
    version = choose(_("Criteria"), names, "guideline_version", heading=False)
    chosen: Version = next((one for one in VERSIONS if one == version), "journal")
    start = built_in(chosen, spoken)
    caption(
        "Both published versions, in our own words. The journal version masks the keyword and leaves"
        " names to a filter; the conference version has a rule on names and allows metaphors."
    )
    if version != OWN:
        caption("As long as the text is unchanged, all readers see it in their interface language.")
    text = edit_text("" if version == OWN else start.text, key=f"guideline-{version}-{spoken}")
    with st.expander(_("Choices and reject reasons")):
        caption("Labels store the code; the key is only the keyboard shortcut.")
        choices = edit_options(start.choices, key=f"choices-{version}", fixed=True)
        reasons = edit_options(start.reasons, key=f"reasons-{version}")
    return Criteria(text, choices, reasons)


def edit_text(text: str, *, key: str) -> str:
    """An editor of a guideline with a preview."""
    left, right = st.columns(2, gap="medium")
    with left:
        caption("Markdown")
        written = st.text_area(_("Guideline"), text, key=key, height=440, label_visibility="collapsed")
    with right:
        caption("Preview")
        with st.container(border=True, height=440):
            show_html(guideline_html(written))
    return written


def _quotas() -> Quotas:
    preset = choose(_("Quotas"), preset_names(), "quotas", heading=False)
    if preset == "none":
        caption("Every sentence is handed out for review, with pairs and sides taking turns.")
        return {}
    wanted = edit_quotas(quotas("table1" if preset == "table1" else "released"), key=f"quotas-{preset}")
    say_total(wanted, preset)
    return wanted


@asks("create_projects")
def _create(
    name: str,
    spoken: str,
    people: str,
    criteria: Criteria,
    wanted: Quotas,
    settings: dict[str, Any],
    later: dict[str, Any] | None = None,
) -> None:
    with errors_shown():
        with open_store() as store:
            made = create_project(
                store,
                name,
                language=spoken,
                annotators=[line for line in people.splitlines() if line.strip()],
                guideline_text=criteria.text,
                choices=criteria.choices,
                reasons=criteria.reasons,
                scheme=criteria.scheme,
                quotas=wanted,
                **settings,
            )
            own_new_project(store, made)
            if later:
                change_project(store, made, **later)
        open_project(made.name)
        st.rerun()
