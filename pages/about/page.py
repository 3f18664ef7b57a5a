"""About: version, signatures, built-in models, known errors of the papers, privacy, licences."""

import re

import streamlit as st

from evenhand.core import resources
from evenhand.core.models import known_models
from evenhand.core.resources import MODELS
from evenhand.core.version import VERSION
from evenhand.pages.ui.tables import show_html, table
from evenhand.pages.ui.text import _, caption, language, write
from evenhand.pages.ui.visitor import page_head

SIGNATURE = "masked|demo-zh|weights:1a2b3c4d|independent|fp32|v1"


def show_signature() -> None:
    """Show an example signature and what each part of it says."""
    write(
        "Every number carries a signature that lists, in a fixed order, everything that could change it. Two"
        " numbers are comparable if their signatures differ only in the model and its weights."
    )
    st.code(SIGNATURE, language=None)
    meanings = (
        _("the method: masked is a masked language model, one forward pass with all masks"),
        _("the model, by name"),
        _("the first eight digits of the SHA-256 of its weights: a different file gives a different number"),
        _("how the characters of a word spanning two masks are combined"),
        _("the precision of the arithmetic"),
        _("the version of the method, not of the app"),
    )
    show_html(table((_("Part"), _("Meaning")), list(zip(SIGNATURE.split("|"), meanings, strict=True))))


def show_models() -> None:
    """Show the models that ship with the app, and what their cards say."""
    write(
        "These models are for trying out the app, not for research findings. Load real models by name"
        " from the Hugging Face Hub or from a folder."
    )
    builtin = [entry for entry in known_models(None) if entry.builtin]
    show_html(table((_("Model"), _("Language"), _("What it is")), [(e.name, e.language, _(e.note)) for e in builtin]))
    for entry in builtin:
        card = MODELS / entry.name / "README.md"
        if card.is_file():
            with st.expander(_("Card of {model}").format(model=entry.name), icon=":material/description:"):
                st.markdown(without_front_matter(card.read_text(encoding="utf-8")))


def without_front_matter(card: str) -> str:
    """Return the text of a model card after its block of settings between two lines of dashes.

    Its headings are two levels lower: the page itself has the first.
    """
    if card.startswith("---\n") and "\n---\n" in card[4:]:
        card = card[4:].split("\n---\n", 1)[1].lstrip()
    return re.sub(r"(?m)^(#+ )", r"##\1", card)


def show_known_errors() -> None:
    """Show what is wrong or open in the papers and data, and what the app does about it."""
    chosen = language()
    rows = [
        (row[f"source_{chosen}"], row[chosen], row[f"handling_{chosen}"]) for row in resources.table("known_errors")
    ]
    show_html(table((_("Source"), _("Error or open question"), _("What the app does")), rows))


page_head("What this app is, how its numbers are computed, and how it handles your data.")
caption("Version {version}", version=VERSION)

signatures, models, errors, privacy, licences = st.tabs(
    [_("Signatures"), _("Built-in models"), _("Known errors"), _("Privacy"), _("Licences")], key="about"
)
with signatures:
    show_signature()
with models:
    show_models()
with errors:
    write("Errors and open questions in the papers and data sets, found while building this app:")
    show_known_errors()
with privacy:
    write(
        "Everything stays on the machine that runs the app: sentences, labels and scores are stored in"
        " files next to the app, and no usage statistics are sent. A model that is not on this machine"
        " is downloaded from the Hugging Face Hub by name; your sentences are never sent there."
    )
    write(
        "Your browser stores your labels, without the sentences, until the server confirms them. Exports"
        " contain annotators' names only if you ask for them."
    )
with licences:
    write(
        "The code of Evenhand is licensed under the Apache License 2.0. SlguSet is published under"
        " MPL-2.0, BEC-Pro under CC BY 4.0; texts from Wikipedia are licensed under CC BY-SA. The card"
        " of each built-in model names the licences of its training data."
    )
