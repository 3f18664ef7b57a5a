"""Dawid-Skene and MACE beside the vote: how reliable annotators are, and the items on which a model says otherwise."""

from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.agreement.annotator_models import AnnotatorModels, ModelledItem, annotator_models
from evenhand.annotations.agreement.disagreements import ItemText, finished_items
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.agreement.schemes import Way
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.projects.projects import guideline
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Project
from evenhand.core.statistics.annotator_models import FEWEST_LABELS
from evenhand.pages.agreement.disagreements import list_items
from evenhand.pages.ui.charts import caption_with_files
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.head import remembered
from evenhand.pages.ui.numbers import note_text, percent, probability
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, with_keyword
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import _, caption, inform, named, paragraph, plain, show_signature, warn
from evenhand.pages.ui.visitor import may


def show_annotator_models(store: Store, project: Project, report: AgreementReport, way: Way) -> None:
    """What the models say of annotators and, to who may see labels, of items."""
    changing = (*state(store), str(guideline(store, project).version))
    with st.spinner(_("Comparing the labels …"), show_time=False):
        models = remembered(changing, annotator_models, project, way=way, on=report.on, version=report.version)
    caption(
        "Two models estimate, from at least {fewest} labels per item, how reliable each annotator is and"
        " which choice is probably right. They stand beside the vote: they never decide a gold label.",
        fewest=FEWEST_LABELS,
    )
    if models.reason is not None:
        st.info(plain(note_text(models.reason)), icon=":material/group:")
        return
    if not models.settled:
        warn("A model did not settle within its rounds; its figures are provisional.", icon=":material/warning:")
    st.markdown(plain(_counts(models)))
    _people(store, project, models)
    if may(store, "see_all_labels", project):
        st.subheader(_("Where a model and the vote differ"))
        differing_items(store, project, models)
    show_signature(models.signature)


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
    text = _(
        "Right: the share of an annotator's labels that Dawid-Skene expects to be right. Competence: the share"
        " given from knowing the item rather than from habit. Where many share an error, or hold a minority"
        " view, the models take the majority for right."
    )
    rows = [_person(name, one, models) for name, one in zip(names, models.annotators, strict=True)]
    caption_with_files(text, rows, key="annotator-models-people")


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
        inform("On all fully labelled items, the vote and both models say the same.", icon=":material/check:")
        return
    rows = [
        {
            "item": open_to[one.row],
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
    list_items(store, reader, listed, lambda one, text: _card(one, text, models), key="annotator-models", rows=rows)


def _card(one: ModelledItem, text: ItemText, models: AnnotatorModels) -> Markup:
    names = {choice.code: choice_name(choice) for choice in models.choices}
    names[""] = _("tied")
    votes = [named(choice_name(choice), n) for choice, n in zip(models.choices, one.votes, strict=True) if n]
    said = [
        judgement(_("Vote"), _code(models, one.vote), names, votes),
        judgement("Dawid-Skene", _code(models, one.dawid_skene), names, _sure(one.dawid_skene_probability)),
        judgement("MACE", _code(models, one.mace), names, _sure(one.mace_probability)),
    ]
    return item_card(text.item, with_keyword(text.text, text.word, text.side), said, context=text.context or "")


def _sure(share: float) -> list[str]:
    return [named(_("probability"), probability(share))]


def _code(models: AnnotatorModels, place: int | None) -> str:
    return "" if place is None else models.choices[place].code
