"""The form for a new project with the guideline and its preview, the settings of a project, and its archive."""

from dataclasses import replace
from typing import Any, NamedTuple, get_args

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.scheme import START, scheme_text
from evenhand.annotations.guideline.versions import PREFERENCE, Criteria, built_in, generations_criteria
from evenhand.annotations.projects.projects import archive, change_project, create_project
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Form, GoldRule, Kind, Project
from evenhand.core.guidelines import VERSIONS, Version, preference
from evenhand.core.resources import keyword_pairs, table
from evenhand.pages.projects.projects import leave, open_project
from evenhand.pages.ui import editors
from evenhand.pages.ui.choose import choose, switch
from evenhand.pages.ui.sentences import guideline_html
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, caption, language, warn
from evenhand.pages.ui.visitor import asks, author, errors_shown, open_store, own_new_project, say_changes


def agreed_name(rule: str) -> str:
    """Return the rule for gold in words, for labels of any kind."""
    return _("all annotators of the text agree") if rule == "unanimous" else _("most of them agree")


def ask_labels(per_item: int, doubled: int | None, *, place: str) -> tuple[int, int | None]:
    """Ask how many labels a text gets: the same number for all, or one each and several for a sample."""
    left, right = st.columns(2)
    with left:
        number = st.number_input(_("Labels per text"), 1, 100, per_item, key=f"{place}per_item")
    with right:
        sample = st.number_input(
            _("Only for random texts (number)"),
            0,
            1_000_000,
            doubled,
            key=f"{place}doubled",
            placeholder=_("all texts"),
            help=_("All other texts get one label. Empty: every text gets the same number of labels."),
        )
    if number == 1:
        warn("With one label per text, agreement between annotators cannot be measured.")
    return int(number), None if sample is None else int(sample)


class LabelPlan(NamedTuple):
    """How the items of a new project are labelled."""

    kind: Kind
    per_item: int
    gold: GoldRule
    seed: int
    presentation: Form = "masked"


class DeskSettings(NamedTuple):
    """The settings of the desk: are labels checked, texts blurred, and when does it suggest a pause?"""

    checked: bool
    blur: bool
    pause_minutes: int | None


def ask_desk(checked: bool, blur: bool, pause_minutes: int | None, *, place: str) -> DeskSettings:
    """Ask for the settings of the desk: check of labels, blurred texts and pauses."""
    rules = switch(
        _("Check labels against the rules before they are saved"),
        checked,
        key=f"{place}checked",
        box=True,
        explained=_(
            "Misgendering requires that the wrong pronoun be marked; no pronoun excludes such a mark; the"
            " flag for extraneous gendered language requires marked words."
        ),
    )
    hidden = st.checkbox(_("Blur texts until opened"), blur, key=f"{place}blur")
    return DeskSettings(rules, hidden, _ask_pause(pause_minutes, place))


def ask_care(blur: bool, pause_minutes: int | None, *, place: str) -> tuple[bool, int | None]:
    """Ask for the settings that protect annotators of sentences: blurred sentences and pauses."""
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
    return hidden, _ask_pause(pause_minutes, place)


def _ask_pause(pause_minutes: int | None, place: str) -> int | None:
    pause = st.number_input(
        _("Break reminder (minutes)"), 1, 600, pause_minutes, key=f"{place}pause",
        placeholder=_("never"), width=260,
    )  # fmt: skip
    return None if pause is None else int(pause)


OWN = "own"
LANGUAGE_NAMES = {"zh": "中文"}


def show_form() -> None:
    """Show the fields of a project, then the button that creates it."""
    st.button(_("All projects"), key="back", icon=":material/arrow_back:", type="tertiary", on_click=leave)
    st.header(_("New project"), anchor=False)
    kinds: dict[Kind, str] = {arg: kind_name(arg) for arg in get_args(Kind)}
    kind = choose(_("Kind of items"), kinds, "kind")
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
        per_item = st.number_input(_("Labels per sentence"), 1, 100, 3, key="per_item")
        gold: GoldRule = st.radio(
            _("Rule for accepting sentences"), get_args(GoldRule), key="gold", horizontal=True, format_func=gold_name
        )
        forms: tuple[Form, Form] = ("masked", "original")
        label = _("Keyword on the desk")
        form = st.radio(label, forms, key="presentation", horizontal=True, format_func=form_name)
        caption("Choose hidden for the journal criteria: annotators judge sentences with the keyword masked.")
        with st.expander(_("Order of the sentences")):
            seed = st.number_input(
                _("Seed"), 0, 2**31 - 1, 0, key="seed", help=_("The same seed and sentences give the same order.")
            )
    st.subheader(_("Guideline"), anchor=False)
    criteria = _criteria(spoken)
    st.subheader(_("Quotas"), anchor=False)
    wanted = editors.ask_quotas(editors.preset_names(), "quotas", heading=False)
    if st.button(_("Create project"), key="create", type="primary", icon=":material/check:"):
        plan = LabelPlan("sentences", int(per_item), gold, int(seed), form)
        _create(name, spoken, people, criteria, wanted, plan)


def kind_name(kind: str) -> str:
    """Return in words what a project contains."""
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
        per_item, doubled = ask_labels(2, None, place="generations_")
        rules = get_args(GoldRule)
        gold = st.radio(
            _("Rule for gold labels"), rules, key="generations_gold", horizontal=True, format_func=agreed_name
        )
        with st.expander(_("Desk and order of texts")):
            desk = ask_desk(checked=True, blur=False, pause_minutes=None, place="generations_")
            help_text = _("The same seed and texts give the same order.")
            seed = st.number_input(_("Seed"), 0, 2**31 - 1, 0, key="seed", help=help_text)
    st.subheader(_("Guideline"), anchor=False)
    chosen = editors.choose_scheme("built-in", key="generations_scheme")
    criteria = _built_in_scheme() if chosen == "built-in" else _other_scheme(chosen)
    if st.button(_("Create project"), key="create", type="primary", icon=":material/check:"):
        _create(name, "en", people, criteria, {}, LabelPlan("generations", per_item, gold, int(seed)), desk, doubled)


def _built_in_scheme() -> Criteria:
    caption("Four labels, a flag for extraneous gendered language, and marked spans, as in the published study.")
    caption("As long as the text is unchanged, all readers see it in their interface language.")
    start = generations_criteria(language())
    text = edit_text(start.text, key=f"guideline-generations-{language()}")
    with st.expander(_("Labels and tags")):
        caption("Labels store the code; the key is only the keyboard shortcut.")
        choices = editors.edit_options(start.choices, key="choices-generations", fixed=True)
        tags = editors.edit_options(start.reasons, key="reasons-generations")
    return Criteria(text, choices, tags)


def _other_scheme(chosen: editors.SchemeName) -> Criteria:
    """Return the scheme preference or one of the visitor's own, to edit."""
    read = editors.scheme_from_file(key="generations_scheme_file") if chosen == "own" else None
    made = PREFERENCE if chosen == "preference" else START if read is None else read
    # Another file gets tables of its own; what was typed into the others stays theirs.
    place = f"{chosen}-scheme" if read is None else f"{chosen}-scheme-{hash(read)}"
    scheme = editors.edit_scheme(made, key=place)
    caption("If you leave the text empty, it lists the contents of the scheme.")
    text = edit_text(preference(language()) if chosen == "preference" else "", key=f"guideline-{chosen}-scheme")
    return Criteria(text.strip() or scheme_text(scheme, language()), scheme.choices, scheme.flags, scheme.more)


def gold_name(rule: str) -> str:
    """Return the rule for gold in words."""
    return _("all annotators accept") if rule == "unanimous" else _("most annotators accept")


def form_name(form: str) -> str:
    """Return the presentation in words."""
    return _("hidden") if form == "masked" else _("shown")


def _criteria(spoken: str) -> Criteria:
    names = {"journal": _("Journal criteria"), "conference": _("Conference criteria"), OWN: _("Custom criteria")}
    version = choose(_("Criteria"), names, "guideline_version", heading=False)
    chosen: Version = next((one for one in VERSIONS if one == version), "journal")
    start = built_in(chosen, spoken)
    caption(
        "Both published versions, paraphrased. The journal version masks the keyword and leaves names to a filter; the"
        " conference version has a rule on names and allows metaphors."
    )
    if version != OWN:
        caption("As long as the text is unchanged, all readers see it in their interface language.")
    text = edit_text("" if version == OWN else start.text, key=f"guideline-{version}-{spoken}")
    with st.expander(_("Choices and reject reasons")):
        caption("Labels store the code; the key is only the keyboard shortcut.")
        choices = editors.edit_options(start.choices, key=f"choices-{version}", fixed=True)
        reasons = editors.edit_options(start.reasons, key=f"reasons-{version}")
    return Criteria(text, choices, reasons)


def edit_text(text: str, *, key: str) -> str:
    """Show an editor of a guideline with a preview; return the edited text."""
    left, right = st.columns(2, gap="medium")
    with left:
        caption("Markdown")
        written = st.text_area(_("Guideline"), text, key=key, height=440, label_visibility="collapsed")
    with right:
        caption("Preview")
        with st.container(border=True, height=440):
            show_html(guideline_html(written))
    return written


@asks("create_projects")
def _create(
    name: str, spoken: str, people: str, criteria: Criteria, wanted: editors.Quotas, plan: LabelPlan,
    desk: DeskSettings | None = None, doubled: int | None = None,
) -> None:  # fmt: skip
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
                **plan._asdict(),
            )
            own_new_project(store, made)
            if desk:
                change_project(store, made, doubled=doubled, **desk._asdict())
        open_project(made.name)
        st.rerun()


# Settings whose change the method section states, where labels were made under both values.
IN_PAPERS = {"per_item", "doubled", "gold", "presentation", "opinion_model"}
BUILT_IN_MODELS = ("demo-zh", "random-zh", "known")


@asks("change_projects")
def show_settings(store: Store, project: Project) -> None:
    """Show the name, labels for each item, rule, and settings of this kind only; and the archive."""
    name = st.text_input(_("Name"), project.name, key="new_name", max_chars=80)
    wanted = _for_generations(project) if project.kind == "generations" else _for_sentences(project)
    changed = project.changes(replace(wanted, name=name))
    if changed:
        say_changes(
            [
                (_field(field), _value(project, field, getattr(project, field)), _value(project, field, value))
                for field, value in changed.items()
            ],
            published=bool(IN_PAPERS & set(changed)),
        )
    if st.button(_("Save"), type="primary", key="save_settings", disabled=not changed):
        with errors_shown():
            open_project(change_project(store, project, author=author(store), **changed).name)
            st.rerun()
    st.divider()
    _show_archive(store, project)


def _field(name: str) -> str:
    return {
        "name": _("Name"),
        "per_item": _("labels for each item"),
        "doubled": _("sample with several labels"),
        "gold": _("rule"),
        "presentation": _("keyword on the desk"),
        "opinion_model": _("opinion shown after a label"),
        "checked": _("check of labels before they are saved"),
        "blur": _("blur until opened"),
        "pause_minutes": _("reminder of a break (minutes)"),
        "open_text": _("unencrypted export of texts"),
    }.get(name, name)


def _value(project: Project, field: str, value: Any) -> str:
    if field == "open_text":
        return _("yes") if (text_may_leave(project) if value is None else value) else _("no")
    if value is None:
        return {"doubled": _("all texts"), "opinion_model": _("no opinion"), "pause_minutes": _("never")}[field]
    if field == "gold":
        return agreed_name(value) if project.kind == "generations" else gold_name(value)
    if field == "presentation":
        return form_name(value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value)


def _for_sentences(project: Project) -> Project:
    per_item = st.number_input(_("Labels per sentence"), 1, 100, project.per_item, key="new_per_item")
    rules: tuple[GoldRule, ...] = get_args(GoldRule)
    forms: tuple[Form, ...] = ("masked", "original")
    gold = st.radio(
        _("Rule for accepting sentences"), rules, rules.index(project.gold), key="new_gold", format_func=gold_name
    )
    form = st.radio(
        _("Keyword on the desk"), forms, forms.index(project.presentation),
        key="new_presentation", format_func=form_name,
    )  # fmt: skip
    hub = [row["name"] for row in table("models") if row["task"] == "masked" and row["language"] == project.language]
    offered = ["", *BUILT_IN_MODELS, *hub]
    options = offered if (project.opinion_model or "") in offered else [*offered, project.opinion_model or ""]
    opinion = st.selectbox(
        _("Opinion shown after a label"),
        options,
        options.index(project.opinion_model or ""),
        key="opinion_model",
        format_func=lambda model: model or _("no opinion"),
        help=_("Off by default. Labels made after an opinion was shown are marked and do not count for agreement."),
    )
    blur, pause = ask_care(project.blur, project.pause_minutes, place="new_")
    return replace(
        project, per_item=int(per_item), gold=gold, presentation=form, opinion_model=opinion or None, blur=blur,
        pause_minutes=pause,
    )  # fmt: skip


def _for_generations(project: Project) -> Project:
    per_item, doubled = ask_labels(project.per_item, project.doubled, place="new_")
    rules: tuple[GoldRule, ...] = get_args(GoldRule)
    gold = st.radio(
        _("Rule for gold labels"), rules, rules.index(project.gold), key="new_gold", format_func=agreed_name
    )
    desk = ask_desk(project.checked, project.blur, project.pause_minutes, place="new_")
    open_text: bool | None = switch(
        _("Allow unencrypted export of texts"),
        text_may_leave(project),
        key="new_open_text",
        box=True,
        explained=_("Otherwise files with texts are encrypted, and exported lists identify texts by id only."),
    )
    if not open_text and project.open_text is None:
        open_text = None  # as is usual for the kind, now and later
    return replace(project, per_item=per_item, doubled=doubled, gold=gold, open_text=open_text, **desk._asdict())


@asks("change_projects")
def _show_archive(store: Store, project: Project) -> None:
    if project.archived:
        caption("This project is archived: no items are handed out.")
        label, icon = _("Unarchive"), ":material/unarchive:"
    else:
        caption(
            "An archived project no longer appears in lists. Nothing is deleted, and the project can be"
            " unarchived at any time."
        )
        label, icon = _("Archive"), ":material/archive:"
    if st.button(label, key="archive", icon=icon):
        archive(store, project, archived=not project.archived)
        st.rerun()
