"""Models side by side: how several models lean on the same sentences, and what their numbers mix."""

import streamlit as st

from pages.model_bias.empty import nothing_yet
from pages.model_bias.models_sections import choose_section, show_section
from pages.model_bias.source import choose_models, choose_source
from pages.ui.head import page_head
from pages.ui.language import _
from pages.ui.score_files import models_scored

page_head(
    _("Models side by side"),
    _(
        "Which of two words do models prefer, on the same sentences? Positive leans to the male word, negative to the "
        "female word. A number alone can be mere word frequency: look also at what it mixes."
    ),
)
source, run = choose_source()
if source is None:
    nothing_yet()
    st.stop()
with st.spinner(_("Reading the scores …"), show_time=True):
    models = models_scored(source)
chosen, settings = choose_models(models)
section = choose_section()
if not chosen:
    st.info(_("Choose at least one model above."), icon=":material/arrow_upward:")
    st.stop()
show_section(section, source, run, chosen, settings)
