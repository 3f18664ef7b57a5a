"""The map of methods: what the survey names, where the app does it, and where it does not, why."""

import streamlit as st
from markupsafe import Markup

from evenhand.core.other_measures.methods_map import FAMILIES, KINDS, Method, of
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, language, named, plain
from evenhand.pages.ui.visitor import page_link


def show_methods() -> None:
    """One kind of model at a time: its measures beside its mitigations."""
    caption(
        "Measures and mitigations by kind of model: formula, source, what is known against it, and where the app"
        " does it, or why not."
    )
    families = {name: _(title) for name, title in FAMILIES.items()}
    family = choose(_("Kind of model"), families, "family", address="family")
    for column, (kind, title) in zip(st.columns(2), KINDS.items(), strict=True):
        with column:
            st.subheader(_(title), anchor=False)
            for number, one in enumerate(of(family, kind)):
                with st.container(border=True, key=f"method-{kind}-{number}"):
                    _show(one)


def _show(one: Method) -> None:
    here = language()
    lines = [element("strong", one.name[here]), below(span(one.formula[here], "formula"))]
    lines += [below(one.source), below(named(_("Known limitations"), one.against[here]))]
    show_html(joined(lines, Markup("")))
    if one.page:
        page_link(one.page, label=plain(_("Where the app does it")), icon=":material/arrow_forward:",
                  query_params=one.parameters)  # fmt: skip
    else:
        st.caption(":material/block: " + plain(_("Not here: {why}", why=one.why[here])))
