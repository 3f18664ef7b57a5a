"""What a visitor chooses: one of a few options, models, a language, own words and pronoun sets, one of the projects."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import PurePath
from typing import Any, TypeVar

import streamlit as st

from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import NAME as DEMO_GENERATIONS
from evenhand.annotations.demo.sentences import NAME as DEMO_SENTENCES
from evenhand.annotations.permissions import OPEN, allowed
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.text_policy import SHORTEST_PASSWORD
from evenhand.annotations.types import Annotator, Kind, Project
from evenhand.core.language import Count
from evenhand.core.models.catalogue import ModelEntry
from evenhand.core.resources import DATA
from evenhand.core.sentence_bias.keyword_packs import LANGUAGES, PackWord
from evenhand.core.servers.addresses import SERVER, SERVERS, is_trusted, key_from_environment, servers_allowed
from evenhand.core.text.pronouns import CASES, more_sets, own_set, set_named, sets
from evenhand.core.worker.client import is_open_to_all, is_open_to_leads, known_models
from evenhand.pages.ui.address import PROJECT, PROJECT_PAGES, asked_for, enter_project, keep, project_of_visit
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.text import _, caption, in_brackets, inform, language, named, plain, series, warn, write
from evenhand.pages.ui.visitor import errors_shown, may, open_store, own_projects, page_here, page_link, visitor

AUTO = "auto"  # the language of each sentence is recognised
ENDINGS = ["tsv", "txt"]
ADDED = "added_pronoun_sets"  # in the session: names of sets that the visitor wrote


def language_name(code: str) -> str:
    """Return the name of a language in the visitor's language; its code where the language has no pack."""
    names = {"zh": _("Chinese"), "en": _("English"), "ja": _("Japanese"), "es": _("Spanish"), "eu": _("Basque")}
    return names.get(code, code)


def chosen_language(key: str) -> str | None:
    """Return the language under the widget *key*; None where it is to be recognised."""
    code = str(st.session_state.get(key) or AUTO)
    return None if code == AUTO else code


def choose_language(key: str, own: Sequence[PackWord]) -> None:
    """Ask for the language of the sentences: recognised, one that has a pack, or one of the visitor's *own* words."""
    values = dict.fromkeys((*LANGUAGES, *(pack_word.pair.language for pack_word in own)))
    names = {AUTO: _("Language: auto-detect"), **{code: language_name(code) for code in values}}
    if st.session_state.get(key) not in names:
        st.session_state[key] = AUTO
    st.selectbox(
        _("Language of the sentence"), list(names), format_func=names.__getitem__, key=key, persist_state="session",
        label_visibility="collapsed", width=230,
    )  # fmt: skip


def say_what_a_table_is() -> None:
    """Show the format of a table of the visitor's own words, and offer an example to start from."""
    write(
        "A tab-separated table with the columns male and female; optional: kind, other (further"
        " forms to show) and language. For this visit, its words are added to the built-in ones."
    )
    shown = language() if language() != "zh" else "en"
    download(_("Example table"), (DATA / f"words_{shown}.tsv").read_bytes(), f"words_{shown}.tsv")


def say_what_was_read(own: Sequence[PackWord], name: str) -> None:
    """Show how many pairs a table has."""
    caption("{count} pairs read from {file}.", count=len(own), file=name)


def choose_pronoun_sets(key: str) -> tuple[str, ...]:
    """Return the names of the chosen sets, in the order of the tables; at the start he, she, they and xe.

    Sets that the visitor adds stay for the visit, on every page with this choice.
    """
    usual = list(sets("own"))
    added: list[str] = st.session_state.setdefault(ADDED, [])
    names = list(dict.fromkeys((*usual, *more_sets(), *added)))
    st.session_state[key] = st.session_state.pop(f"{key}-next", st.session_state.get(key, usual))
    # Not in one row: on a telephone the pills would run out of it instead of into the next line.
    chosen = st.pills(
        _("Pronoun sets"), names, selection_mode="multi", key=key, format_func=_forms_beginning,
        help=_("Each with all five forms; others can be added."),
    )  # fmt: skip
    with st.popover(_("Your own set"), icon=":material/add:", type="tertiary"):
        _add(key, names)
    return tuple(name for name in names if name in chosen)


def _forms_beginning(name: str) -> str:
    pronoun_set = set_named(name)
    return plain(f"{pronoun_set.nom}/{pronoun_set.acc}" if name not in sets("own") else name)


def _add(key: str, names: list[str]) -> None:
    labels = (
        _("nominative"),
        _("accusative"),
        _("possessive before a noun"),
        _("possessive on its own"),
        _("reflexive"),
    )
    examples = more_sets()["ze"].forms
    with st.form(f"{key}-own", border=False):
        given = [
            st.text_input(label, key=f"{key}-{case}", max_chars=20, placeholder=example)
            for case, label, example in zip(CASES, labels, examples, strict=True)
        ]
        pressed = st.form_submit_button(_("Add"), icon=":material/add:")
    if not pressed:
        return
    with errors_shown():
        pronoun_set = own_set("/".join(form.replace("/", " ") for form in given))
        if pronoun_set.name not in names:
            st.session_state[ADDED] = [*st.session_state[ADDED], pronoun_set.name]
        # The pills are drawn already in this run: what they hold is put there before the next one draws them.
        st.session_state[f"{key}-next"] = [*dict.fromkeys((*st.session_state[key], pronoun_set.name))]
        st.rerun()


Option = TypeVar("Option", bound=str)
FIRST_MODELS = {"zh": ("demo-zh", "random-zh"), "en": ("demo-en",)}  # random-zh is the reference for demo-zh
ANY_LANGUAGE = ("", "mul")  # of a model: not known, or several
NEW = ""  # the choice of a project that is not there yet
DEMOS = (DEMO_SENTENCES, DEMO_GENERATIONS)


def choose(
    label: str,
    names: Mapping[Option, str],
    key: str,
    *,
    first: Option | None = None,
    address: str = "",
    heading: bool = True,
    explained: str | None = None,
    as_list: bool = False,
) -> Option:
    """Return one of a few options, all in view; exactly one is always chosen. *as_list*: in a list that opens.

    *names*: option to the words on its button, in their order. *first*: what is chosen at the start, else the first.
    *address*: a name in the address where the choice is kept, so that a link opens it. *heading*: False hides *label*
    (a screen reader still says it). *explained*: the help next to the label.
    """
    text = asked_for(address, key) if address else None
    if text in names or st.session_state.get(key) not in names:
        at_start = next(iter(names)) if first is None else first
        st.session_state[key] = next((option for option in names if option == text), at_start)
    look: dict[str, Any] = {
        "format_func": names.__getitem__, "key": key, "label_visibility": "visible" if heading else "collapsed",
        "help": explained,
    }  # fmt: skip
    if as_list:
        st.selectbox(label, list(names), width=260, **look)
    else:
        st.segmented_control(label, list(names), required=True, **look)
    chosen: Option = st.session_state[key]
    if address:
        keep(address, key, chosen)
    return chosen


def show_view(place: str, *given: object) -> None:
    """Draw a view, as "model_bias.extremes:show_extremes"; only its own module is imported, so none waits for all."""
    module, _colon, function = place.partition(":")
    getattr(import_module(f"evenhand.pages.{module}"), function)(*given)


def switch(label: str, value: bool = False, *, key: str, explained: str, box: bool = False, **look: Any) -> bool:
    """Return the state of a switch, or of a checkbox with *box*; its explanation is a caption below it.

    Streamlit draws the help sign of a switch inside its label, where a click on the sign flips the switch.
    *look*: further arguments of the widget; its `width` is that of both.
    """
    with st.container(gap="xxsmall", width=look.pop("width", "stretch")):
        state = bool((st.checkbox if box else st.toggle)(label, value, key=key, **look))
        st.caption(explained)
    return state


def ask_trim(value: bool = False) -> bool:
    """Ask whether contexts lose the space at their end; *value*: at first."""
    text = _(
        "Most models generate the space themselves and perform worse if the context already ends in one."
        " The published code keeps it."
    )
    return switch(_("Remove trailing space"), value, key="trim", box=True, explained=text)


def ask_password(key: str) -> str | None:
    """Return the password of an archive, None until one is typed that is long enough."""
    text = _("The archive opens only with this password. It is not stored anywhere; without it, the texts are lost.")
    typed = st.text_input(_("Archive password"), type="password", key=key, width=320, help=text)
    if len(typed.strip()) < SHORTEST_PASSWORD:
        inform("Enter a password of at least {least} characters.", least=SHORTEST_PASSWORD)
        return None
    return typed


def choose_model(
    label: str, names: Sequence[str], key: str, *, first: str | None = None, help: str | None = None
) -> str:
    """Return one model of *names* (*first*, else the first of them, at the start), or any other that is typed; "" for
    none."""
    if first is not None:
        st.session_state.setdefault(key, first)
    any_model, offered = may_load_models(), models_offered(names)
    typed = [name for name in [st.session_state.get(key)] if name and name not in offered and any_model]
    chosen = st.selectbox(
        label, [*offered, *typed], key=key, accept_new_options=any_model, placeholder=_any_model(), help=help,
        format_func=model_label,
    )  # fmt: skip
    return next(iter(models_to_use([str(chosen or "")])), "")


def choose_models(
    names: Sequence[str], key: str, *, first: Sequence[str], help: str | None = None, label: str = ""
) -> tuple[str, ...]:
    """Ask for any number of models: of *names* (*first* is preset), or typed where the visitor may load models."""
    any_model, offered = may_load_models(), models_offered(names)
    st.session_state.setdefault(key, [name for name in first if name in offered or any_model])
    typed = [name for name in st.session_state[key] if name not in offered and any_model]
    chosen = st.multiselect(
        label or _("Models"), [*offered, *typed], key=key, accept_new_options=any_model, placeholder=_any_model(),
        help=help, format_func=model_label,
    )  # fmt: skip
    return tuple(models_to_use(chosen))


def model_label(model: str) -> str:
    """Return the name of a model in a list of choices. A model of the page Tune has the name of its run, not of its
    folder."""
    place = PurePath(model)
    if place.is_absolute() and place.parent.name.endswith("-tunes"):
        return in_brackets(place.name, _("tuned"))
    return model


def choose_server(label: str, key: str) -> tuple[str, bool]:
    """Return the address of a server, and whether the key of this installation may be sent there; "" for none.

    Any in the open mode; with accounts one of those that the installation names, since this server could be made to ask
    any address that it alone can reach.
    """
    st.session_state.setdefault(key, os.environ.get(SERVER, "http://localhost:8000/v1"))
    with stores.borrow() as store:
        any_address = visitor(store) is OPEN
    offered = servers_allowed()
    if any_address:
        address = st.text_input(label, key=key).strip()
    elif offered:
        if st.session_state.get(key) not in offered:
            st.session_state[key] = offered[0]
        address = str(st.selectbox(label, offered, key=key))
    else:
        inform(
            "No server is available to this page. The administrator of this installation lists servers in {variable}.",
            variable=SERVERS,
        )
        return "", False
    trusted = is_trusted(address)
    if key_from_environment() and not trusted:
        text = _("The API key of this installation is not sent to this address, only to the one in {variable}.")
        st.caption(plain(text.format(variable=SERVER)))
    return address, trusted


def every_model() -> list[ModelEntry]:
    """Return the known masked models, then the known causal models."""
    return [*known_models(), *known_models("causal")]


def first_models(written: str) -> list[str]:
    """Return the built-in models to begin with for a sentence of a language; empty where none ships with the app."""
    here = {entry.name for entry in known_models() if entry.builtin and entry.available}
    return [name for name in FIRST_MODELS.get(written, ()) if name in here]


def begin_with(key: str, written: str) -> None:
    """Preset the choice of models under *key* with the models of the language *written*.

    The choice follows the language until the visitor changes it.
    """
    before, first = st.session_state.get(f"{key}-first"), first_models(written)
    if st.session_state.get(key) in (None, before):
        st.session_state[key] = st.session_state[f"{key}-first"] = first


def warn_of_language(models: Sequence[str], written: str) -> list[str]:
    """Warn if some of *models* were trained on another language only; return these models."""
    languages = {entry.name: entry.language for entry in every_model()}
    strangers = [model for model in models if languages.get(model, "") not in (written, *ANY_LANGUAGE)]
    if strangers:
        text = _("{models} was not trained on {language}, so its values are meaningless here.")
        values = {"models": series(strangers), "language": language_name(written)}
        st.warning(plain(text.format(**values)), icon=":material/translate:")
    return strangers


def say_what_does_not_fit(models: Sequence[str], written: str, key: str) -> None:
    """Warn of models trained on another language only, and offer a button that chooses others under *key*."""
    strangers = warn_of_language(models, written)
    better = first_models(written)
    if better and strangers:
        label = _("Run {models} instead", models=series(better))
        st.button(label, key=f"{key}-fitting", on_click=st.session_state.update, args=({key: better},))
    elif not better and (strangers or not models):
        caption("The app has no built-in model for this language. Enter a model on the Hugging Face Hub, or a folder.")


def may_load_models() -> bool:
    """Return whether the visitor may name any model. Such a name, on the hub or of a folder, makes this server fetch or
    read it."""
    with stores.borrow() as store:
        return may(store, "load_models")


def models_offered(names: Sequence[str]) -> list[str]:
    """Return the *names* that the visitor may choose: all, or the ones that ship with the app."""
    return list(names) if may_load_models() else [name for name in names if is_open_to_all(name)]


def models_to_use(asked: Sequence[str]) -> list[str]:
    """Return the models in *asked* that the visitor may have this server load, and warn of the others.

    In open mode, these are all. Otherwise all visitors may use built-in models, and leads also names on the hub and one
    folder of models. It does not matter where the names in *asked* come from.
    """
    with stores.borrow() as store:
        person = visitor(store)
        leads = may(store, "load_models")
    named = [name for name in asked if name]
    if person is OPEN:
        return named
    names = [name for name in named if (is_open_to_leads if leads else is_open_to_all)(name)]
    for name in named:
        if name not in names:
            text = _(
                "{name} cannot be used here: only built-in models can. Leads may also use models from the"
                " Hugging Face Hub and the models folder."
            )
            st.warning(plain(text.format(name=name)), icon=":material/lock:")
    return names


def _any_model() -> str:
    return _("Choose, or type a name on the Hugging Face Hub or a folder")


def choose_project(store: Store, key: str = "project", *, kind: Kind | None = None) -> Project | None:
    """Return the project of this visit, and let the visitor choose another.

    Return None and say what to do if no project exists, or if the visitor has to choose first: nothing is shown of a
    project that was not chosen. ?project=NAME opens that project. The choice is kept from page to page and in the
    address. *kind*: only projects of this kind; without one, return None and say nothing: the page knows what it needs.
    """
    every = {project.name: project for project in own_projects(store)}
    result = {name: project for name, project in every.items() if kind in (None, project.kind)}
    if not result and kind is not None:
        return None
    if not result:
        inform("There are no projects yet. Create one, or create the demo project, on the Projects page.")
        page_link("projects/page.py", label=_("Projects"), icon=":material/folder_open:")
        return None
    asked = st.query_params.get("project")
    if asked and asked not in every:
        warn("There is no open project named {name}.", name=asked)
    name = project_of_visit(list(every))
    if name not in result:
        if name is not None:
            inform("This page does not apply to {project}, which is a different kind of project.", project=name)
        _ask_project(store, list(result.values()))
        return None
    enter_project(name)
    if not has_project_choice(page_here()):
        st.session_state[key] = name
        st.selectbox(_("Project"), list(result), key=key, on_change=_picked, args=(key,))
    return result[name]


def has_project_choice(page: str) -> bool:
    """Return whether the rail of *page*, an address, has the choice of the project, so that the page has none."""
    return page in PROJECT_PAGES or (page == "projects" and "project" in st.query_params)


def choose_in_rail(name: str, names: Sequence[str]) -> None:
    """Show the choice of the project of this visit, *name*, in the rail."""
    st.session_state["project"] = name
    offered = list(names) if name in names else [name, *names]
    st.selectbox(_("Project"), offered, key="project", on_change=_picked, args=("project",),
                 label_visibility="collapsed")  # fmt: skip


@contextmanager
def open_chosen_project() -> Iterator[tuple[Store, Project]]:
    """Yield the database and the project of this visit (`choose_project`); without a project the page ends here."""
    with open_store() as store:
        project = choose_project(store)
        if project is None:
            st.stop()
        yield store, project


def _picked(key: str) -> None:
    enter_project(st.session_state[key])


def _ask_project(store: Store, projects: Sequence[Project]) -> None:
    """Show a card with counts for each project, whose button chooses it; demo projects are last."""
    st.header(_("Which project?"), anchor=False)
    kinds = {"sentences": _("Sentences"), "generations": _("Generations")}
    columns = st.columns(3)
    for number, project in enumerate(sorted(projects, key=lambda project: project.name in DEMOS)):
        with columns[number % 3], st.container(border=True, key=f"which-{project.uid}"):
            st.button(plain(project.name), key=f"project-{project.uid}", on_click=enter_project, args=(project.name,),
                      icon=":material/folder_open:")  # fmt: skip
            items, people = Count(counts(store, project).items), Count(len(annotators(store, project)))
            text = _("{n} {n:item|items}, {m} {m:annotator|annotators}", n=items, m=people)
            st.caption(plain(named(kinds[project.kind], text)))


def targets(found: Collection[str]) -> list[str]:
    """Return the projects into which something may go, the most likely first: that of this visit, a NEW one, the
    others.

    A demo project is never the first, so that nothing is put into it without a choice.
    """
    here = str(st.session_state.get(PROJECT, NEW))
    first = [here] if here in found and here not in DEMOS else []
    others = sorted((name for name in found if name not in first), key=lambda name: name in DEMOS)
    return [*first, NEW, *others]


def own_desks(store: Store, project: Project) -> list[Annotator]:
    """Return the desks that the visitor may open: every one on a server without accounts, else the own one."""
    person = visitor(store)
    return [
        annotator
        for annotator in annotators(store, project)
        if allowed(person, "label", project=project.uid, annotator=annotator.uid)
    ]


def annotator_at_desk(store: Store, project: Project) -> Annotator | None:
    """Return the annotator as whom the visitor must not see what others labelled first; None if there is none.

    With an account, it is the annotator of the account, whether the desk is open or not. In the open mode, it is the
    annotator whose desk is open in this visit.
    """
    who = visitor(store)
    everybody = annotators(store, project, active=False)
    if who is not OPEN:
        return next((annotator for annotator in everybody if annotator.uid == who.annotator), None)
    if st.session_state.get("desk_project") != project.name:
        return None
    name = st.session_state.get("desk_annotator")
    return next((annotator for annotator in everybody if annotator.name == name), None)
