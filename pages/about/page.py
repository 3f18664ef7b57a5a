"""About: version, signatures, built-in models, known errors of the papers, privacy, licences."""

import streamlit as st

from core.version import VERSION
from pages.about.about_views import show_known_errors, show_models, show_signature
from pages.ui.head import page_head
from pages.ui.language import _

page_head(
    _("About"),
    _("What this app is, where its numbers come from, and what it does with what you enter."),
)
st.caption(_("Version {version}").format(version=VERSION))

signatures, models, errors, privacy, licences = st.tabs(
    [_("Signatures"), _("Built-in models"), _("Known errors"), _("Privacy"), _("Licences")], key="about"
)
with signatures:
    show_signature()
with models:
    show_models()
with errors:
    st.write(_("No paper is free of slips, and no description is complete. What was found while building this app:"))
    show_known_errors()
with privacy:
    st.write(
        _(
            "Everything stays on the machine that runs the app: sentences, labels and scores are in files beside"
            " it, and no usage statistics are sent. A model that is not on this machine is fetched from the Hugging"
            " Face hub by its name; your sentences are never sent there."
        )
    )
    st.write(
        _(
            "Your browser keeps decisions that the server has not confirmed yet, without the text of the sentences,"
            " and removes them once they are stored. Names of annotators leave in exports only when asked for."
        )
    )
with licences:
    st.write(
        _(
            "The code of Evenhand is under the Apache License 2.0. SlguSet is published under MPL-2.0, BEC-Pro under"
            " CC BY 4.0; texts of Wikipedia are under CC BY-SA. The card of each built-in model names the licences"
            " of the data that it was trained on."
        )
    )
