"""Other measures, each with its null, a control and its known limitations; and the map of methods of the survey."""

import streamlit as st
from markupsafe import Markup

from evenhand.core.other_measures.methods_map import FAMILIES, KINDS, Method, of
from evenhand.pages.other_measures.own_predictions import show_own
from evenhand.pages.other_measures.results import show_finished
from evenhand.pages.other_measures.start import MEASURED, show_new
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, language, named, plain
from evenhand.pages.ui.visitor import open_store, page_head, page_link


def _show(method: Method) -> None:
    here = language()
    lines = [element("strong", method.name[here]), below(span(method.formula[here], "formula"))]
    lines += [below(method.source), below(named(_("Known limitations"), method.against[here]))]
    show_html(joined(lines, Markup("")))
    if method.page:
        page_link(method.page, label=plain(_("Where in the app")), icon=":material/arrow_forward:",
                  query_params=method.parameters)  # fmt: skip
    else:
        st.caption(":material/block: " + plain(_("Not implemented: {why}", why=method.why[here])))


def show_map() -> None:
    """Show the map of methods: measures and mitigations of one kind of model."""
    caption(
        "Measures and mitigations by kind of model: formula, source, known limitations, and where"
        " the app implements them, or why it does not."
    )
    families = {name: _(title) for name, title in FAMILIES.items()}
    family = choose(_("Kind of model"), families, "family", address="family")
    for column, (kind, title) in zip(st.columns(2), KINDS.items(), strict=True):
        with column:
            st.header(_(title), anchor=False)
            for number, method in enumerate(of(family, kind)):
                with st.container(border=True, key=f"method-{kind}-{number}"):
                    _show(method)


page_head(
    "Gender bias of a model by measures from the literature. Each is as originally defined, next to a randomly"
    " initialised copy, a control without gender, and its known limitations. None of them ranks models."
)
with open_store() as opened:
    names = {
        "measure": _("New measurement"),
        "results": _("Results"),
        "own": _("Own predictions and vectors"),
        "methods": _("Map of methods"),
    }
    first = "results" if MEASURED.finished(opened) else "measure"
    if st.session_state.pop("other-measures_finished", False):
        st.session_state["view"] = names["results"]
    with open_view(names, "view", first=first) as view:
        if view == "measure":
            show_new(opened)
        elif view == "results":
            show_finished(opened)
        elif view == "own":
            show_own()
        else:
            show_map()
follow("other-measures")
