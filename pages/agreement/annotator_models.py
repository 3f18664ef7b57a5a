"""Dawid-Skene and MACE beside the vote: how reliable annotators are, and the items on which a model says otherwise."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.agreement.annotator_models import AnnotatorModels, ModelledItem, annotator_models
from evenhand.annotations.agreement.disagreements import ItemText, finished_items, item_texts, record_reveals
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.agreement.schemes import Way
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects.pipeline_counts import state
from evenhand.annotations.projects.projects import guideline
from evenhand.annotations.projects.pseudonyms import pseudonyms
from evenhand.annotations.types import Project
from evenhand.core.statistics.annotator_models import FEWEST_LABELS
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import note_text, percent, probability
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, with_keyword
from evenhand.pages.ui.tables import show_html, show_records
from evenhand.pages.ui.text import named, paragraph, plain, show_signature
from evenhand.pages.ui.visitor import may

PAGE = 10


def show_annotator_models(store: Store, project: Project, report: AgreementReport, way: Way) -> None:
    """What the models say of annotators and, to who may see labels, of items."""
    changing = (*state(store), str(guideline(store, project).version))
    with st.spinner(_("Comparing the labels …"), show_time=False):
        models = _models(project.uid, changing, way, report.on, report.version, project)
    text = _(
        "Two models estimate, from at least {fewest} labels per item, how reliable each annotator is and"
        " which choice is probably right. They stand beside the vote: they never decide a gold label."
    )
    st.caption(plain(text.format(fewest=FEWEST_LABELS)))
    if models.reason is not None:
        st.info(plain(note_text(models.reason)), icon=":material/group:")
        return
    if not models.settled:
        text = _("A model did not settle within its rounds; its figures are provisional.")
        st.warning(text, icon=":material/warning:")
    st.markdown(plain(_counts(models)))
    _people(store, project, models)
    if may(store, "see_all_labels", project):
        st.subheader(_("Where a model and the vote differ"))
        differing_items(store, project, models)
    show_signature(models.signature)


@st.cache_data(max_entries=8, show_spinner=False)
def _models(
    uid: str, state_of_store: tuple[str, ...], way: Way, on: ItemScope, version: int | None, _project: Project
) -> AnnotatorModels:
    with open_store(_project) as store:
        return annotator_models(store, _project, way=way, on=on, version=version)


def _counts(models: AnnotatorModels) -> str:
    with_enough = _("{items} items with {fewest} labels or more; {fewer} with fewer are left out.")
    values = {"items": f"{len(models.items):,}", "fewest": FEWEST_LABELS, "fewer": f"{models.fewer:,}"}
    against = _("Dawid-Skene says something else than the vote on {skill}, MACE on {habit}; the vote ties on {tied}.")
    counts = {"skill": models.against_vote("dawid_skene"), "habit": models.against_vote("mace"), "tied": models.tied}
    return paragraph((with_enough.format(**values), against.format(**{k: f"{n:,}" for k, n in counts.items()})))


def _people(store: Store, project: Project, models: AnnotatorModels) -> None:
    codes = {} if may(store, "see_names", project) else pseudonyms(store, project)
    names = [codes.get(one.name, one.name) for one in models.annotators]
    show_records(
        [
            {
                _("Annotator"): name,
                _("Labels"): f"{one.labels:,}",
                _("Right, by Dawid-Skene"): percent(one.right),
                _("Competence, by MACE"): percent(one.competence),
            }
            for name, one in zip(names, models.annotators, strict=True)
        ]
    )
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        text = _(
            "Right: the share of an annotator's labels that Dawid-Skene expects to be right. Competence: the share"
            " given from knowing the item rather than from habit. Where many share an error, or hold a minority"
            " view, the models take the majority for right."
        )
        st.caption(plain(text))
        downloads([_person(name, one, models) for name, one in zip(names, models.annotators, strict=True)],
                  key="annotator-models-people")  # fmt: skip


def _person(name: str, one: Any, models: AnnotatorModels) -> dict[str, object]:
    row: dict[str, object] = {
        "annotator": name, "labels": one.labels, "right": one.right, "competence": one.competence,
    }  # fmt: skip
    for truth, errors in zip(models.choices, one.errors, strict=True):
        for place, said in enumerate(models.choices):
            row[f"{said.code}_of_{truth.code}"] = None if errors is None else errors[place]
    return row | {"signature": models.signature}


@asks("see_all_labels")
def differing_items(store: Store, project: Project, models: AnnotatorModels) -> None:
    """The fully labelled items on which a model says something else than the vote, ten at a time."""
    reader = annotator_at_desk(store, project)
    differ = [one for one in models.items if one.differs]
    open_to = finished_items(store, project, [one.row for one in differ], reader)
    listed = [one for one in differ if one.row in open_to]
    if not listed:
        st.info(_("On all fully labelled items, the vote and both models say the same."), icon=":material/check:")
        return
    start = page_start("annotator-models-page", len(listed))
    shown = listed[start : start + PAGE]
    texts = item_texts(store, [one.row for one in shown])
    if reader is not None:
        record_reveals(store, reader, texts)
    for one, text in zip(shown, texts, strict=True):
        show_html(_card(one, text, models))
    below_list("annotator-models", len(listed), lambda: _rows(listed, open_to, models))


def page_start(key: str, total: int) -> int:
    """The place of the first item on the chosen page of a list."""
    if st.session_state.get(key, 1) > -(-total // PAGE):
        st.session_state[key] = 1
    return PAGE * int(st.session_state.get(key, 1) - 1)


def below_list(key: str, total: int, rows: Callable[[], list[dict[str, object]]]) -> None:
    """How many items a list has, its pages, and all of it to download."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(plain(_("{n:,} items").format(n=total)))
        if total > PAGE:
            st.pagination(-(-total // PAGE), width=300, key=f"{key}-page")
        downloads(rows(), key=f"{key}-items")


def _card(one: ModelledItem, text: ItemText, models: AnnotatorModels) -> Markup:
    names = {choice.code: choice_name(choice) for choice in models.choices}
    names[""] = _("tied")
    votes = [named(choice_name(choice), n) for choice, n in zip(models.choices, one.votes, strict=True) if n]
    said = [
        judgement(_("Vote"), _code(models, one.vote), names, votes),
        judgement(
            "Dawid-Skene",
            _code(models, one.dawid_skene),
            names,
            _sure(one.dawid_skene_probability),
        ),
        judgement("MACE", _code(models, one.mace), names, _sure(one.mace_probability)),
    ]
    return item_card(text.item, with_keyword(text.text, text.word, text.side), said, context=text.context or "")


def _sure(share: float) -> list[str]:
    return [named(_("probability"), probability(share))]


def _code(models: AnnotatorModels, place: int | None) -> str:
    return "" if place is None else models.choices[place].code


def _rows(listed: list[ModelledItem], public: Mapping[int, str], models: AnnotatorModels) -> list[dict[str, object]]:
    """Ids and labels; texts are in the project's own exports."""
    return [
        {
            "item": public[one.row],
            **{f"votes_{choice.code}": n for choice, n in zip(models.choices, one.votes, strict=True)},
            "vote": _code(models, one.vote),
            "dawid_skene": _code(models, one.dawid_skene),
            "dawid_skene_probability": one.dawid_skene_probability,
            "mace": _code(models, one.mace),
            "mace_probability": one.mace_probability,
            "signature": models.signature,
        }
        for one in listed
    ]
