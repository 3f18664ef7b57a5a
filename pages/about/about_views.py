"""Views of the page About: the signature taken apart, the built-in models, known errors of the papers."""

import html
from collections.abc import Sequence

import streamlit as st

from core.models import known_models
from core.resources import MODELS, table
from pages.ui.language import _, language

SIGNATURE = "masked|demo-zh|weights:1a2b3c4d|independent|fp32|v1"


def signature_parts() -> list[tuple[str, str]]:
    """Each part of the example signature and what it says."""
    meanings = (
        _("the method: masked is a masked language model, one pass with all masks"),
        _("the model, by name"),
        _("the first eight digits of the SHA-256 of its weights: another file, another number"),
        _("how the characters of a word of two masks are put together"),
        _("the precision of the arithmetic"),
        _("the version of the method, not of the app"),
    )
    return list(zip(SIGNATURE.split("|"), meanings, strict=True))


def show_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """A table of text that wraps, with a header row a screen reader can find; nothing in it is read as HTML."""
    head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    style = (
        "<style>.sheet{width:100%;border-collapse:collapse;font-size:14px;line-height:1.5}"
        ".sheet th,.sheet td{text-align:left;vertical-align:top;padding:7px 12px 7px 0;"
        "border-bottom:1px solid color-mix(in srgb, currentColor 16%, transparent)}"
        ".wide{overflow-x:auto}</style>"
    )
    sheet = f'<table class="sheet"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    st.html(f'{style}<div class="wide" tabindex="0">{sheet}</div>')


def show_signature() -> None:
    """An example signature and what each part of it says."""
    st.write(
        _(
            "Every number carries a signature: all that could change it, in a stable order. Two numbers compare"
            " only where their signatures differ in nothing but the model and its weights."
        )
    )
    st.code(SIGNATURE, language=None)
    show_table((_("part"), _("what it says")), signature_parts())


def show_models() -> None:
    """The models that ship with the app, and what their cards say."""
    st.write(
        _(
            "These models are for trying the app, not for findings. Real models come by name from the Hugging Face"
            " hub or from a folder."
        )
    )
    builtin = [entry for entry in known_models(None) if entry.builtin]
    show_table((_("model"), _("language"), _("what it is")), [(e.name, e.language, _(e.note)) for e in builtin])
    for entry in builtin:
        card = MODELS / entry.name / "README.md"
        if card.is_file():
            with st.expander(_("Card of {model}").format(model=entry.name), icon=":material/description:"):
                st.markdown(without_front_matter(card.read_text(encoding="utf-8")))


def without_front_matter(card: str) -> str:
    """The text of a model card after its block of settings between two lines of dashes."""
    if card.startswith("---\n") and "\n---\n" in card[4:]:
        return card[4:].split("\n---\n", 1)[1].lstrip()
    return card


def show_known_errors() -> None:
    """What is wrong or open in the papers and data, and what the app does about it."""
    chosen = language()
    rows = [(row[f"source_{chosen}"], row[chosen], row[f"handling_{chosen}"]) for row in table("known_errors")]
    show_table((_("source"), _("what is wrong or open"), _("what the app does")), rows)
